/*
 * Copyright the DSTL authors.
 *
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */

package dev.dstl.tool;

import static org.assertj.core.api.Assertions.assertThat;

import dev.dstl.changelog.fixture.GuardedFileSystem;
import dev.dstl.tool.checkpoint.RetainedCheckpoints;
import dev.dstl.tool.files.FileAccess;
import dev.dstl.tool.fixture.ToolRun;
import dev.dstl.tool.orphan.OrphanReport;
import dev.dstl.tool.orphan.OrphanSearch;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Deletions that are interrupted or fail. */
class OrphansDeletionFaultsTest extends ToolTest {

    private TwoWriters writers;

    @BeforeEach
    void write() throws Exception {
        writers = TwoWriters.write(basePath(), checkpoints().resolve("job"));
    }

    @Test
    void anInterruptedDeletion_saysWhatIsDeletedAndWhatIsNot() throws Exception {
        Path second = writers.orphan.resolveSibling("99-1.seg");
        Files.writeString(second, "half a segm");
        TwoWriters.makeOld(second);
        OrphanSearch search =
                new OrphanSearch(
                        FileAccess.of(basePath().toString()),
                        Duration.ofHours(1).toMillis(),
                        System.currentTimeMillis(),
                        Set.of());
        OrphanReport found =
                search.search(
                        () ->
                                RetainedCheckpoints.below(
                                        List.of(FileAccess.of(checkpoints().toString())), false));
        AtomicInteger deletions = new AtomicInteger();

        OrphanReport report = search.delete(found, () -> deletions.getAndIncrement() > 0);

        assertThat(report.json()).containsEntry("deletedSegments", 1);
        assertThat(report.problem().orElseThrow())
                .contains("1 of 2 orphans could not be deleted", "the tool was interrupted");
        assertThat(segments()).hasSize(2).contains(writers.needed);
    }

    @Test
    void aProcessThatIsInterruptedWhileItDeletes_printsWhatItDeleted() throws Exception {
        int many = 20_000;
        for (int i = 0; i < many; i++) {
            Path leftover = writers.orphan.resolveSibling((1_000_000 + i) + "-1.seg");
            Files.createFile(leftover);
            TwoWriters.makeOld(leftover);
        }
        Path output = directory.resolve("output.json");
        Process tool =
                new ProcessBuilder(
                                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                                "-cp",
                                System.getProperty(
                                        "surefire.test.class.path",
                                        System.getProperty("java.class.path")),
                                Dstl.class.getName(),
                                "orphans",
                                basePath().toString(),
                                "--checkpoints",
                                checkpoints().toString(),
                                "--delete",
                                "--json")
                        .redirectOutput(output.toFile())
                        .redirectError(ProcessBuilder.Redirect.DISCARD)
                        .start();
        Path first = writers.orphan.resolveSibling("1000000-1.seg");
        while (Files.exists(first) && tool.isAlive()) {
            Thread.sleep(1);
        }
        tool.destroy();
        assertThat(tool.waitFor(60, TimeUnit.SECONDS)).isTrue();

        ToolRun run = new ToolRun(0, Files.readString(output), "");
        assertThat(run.json().get("deletedSegments").asInt())
                .isEqualTo(many + 2 - segments().size());
        assertThat(run.json().get("orphans")).hasSize(many + 1);
    }

    @Test
    void anOrphanThatCannotBeDeleted_isNamed_andTheOthersGo() throws Exception {
        Path stubborn = writers.orphan.resolveSibling("0000000001-2.seg");
        Files.writeString(stubborn, "half a segm");
        TwoWriters.makeOld(stubborn);
        GuardedFileSystem.refuse(
                GuardedFileSystem.Call.DELETE,
                path -> path.getName().equals(stubborn.getFileName().toString()));

        ToolRun run =
                dstl(
                        "orphans",
                        GuardedFileSystem.uri(basePath()),
                        "--checkpoints",
                        checkpoints(),
                        "--delete");

        run.fails(1, "1 of 2 orphans could not be deleted", stubborn.toString(), "Access denied");
        assertThat(segments()).containsExactlyInAnyOrder(writers.needed, stubborn);
    }

    /** As of a file system plugin without one of its jars. */
    @Test
    void anErrorOfTheFileSystem_endsTheDeletion_andTheReportSaysWhatIsDeleted() throws Exception {
        for (String name : List.of("98-1.seg", "99-1.seg")) {
            Path leftover = writers.orphan.resolveSibling(name);
            Files.writeString(leftover, "half a segm");
            TwoWriters.makeOld(leftover);
        }
        AtomicInteger deletions = new AtomicInteger();
        GuardedFileSystem.guard(
                (call, path) -> {
                    if (call == GuardedFileSystem.Call.DELETE && deletions.incrementAndGet() == 2) {
                        throw new NoClassDefFoundError("org/example/Retry");
                    }
                });

        ToolRun run =
                dstl(
                        "orphans",
                        GuardedFileSystem.uri(basePath()),
                        "--checkpoints",
                        checkpoints(),
                        "--delete");

        run.fails(
                1,
                "2 of 3 orphans could not be deleted",
                "NoClassDefFoundError: org/example/Retry");
        assertThat(run.out()).contains("orphans: 3", "deleted      1 (");
        assertThat(deletions).hasValue(2);
        assertThat(segments()).hasSize(3).contains(writers.needed);
    }
}
