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
import dev.dstl.tool.fixture.ToolRun;
import dev.dstl.tool.fixture.WrittenLog;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Which files of the base path are orphans. */
class OrphansCommandTest extends ToolTest {

    private TwoWriters writers;

    @BeforeEach
    void write() throws Exception {
        writers = TwoWriters.write(basePath(), checkpoints().resolve("job"));
    }

    @Test
    void aSegmentThatNoCheckpointRefersTo_isListedAndNotTouched() throws Exception {
        ToolRun run =
                dstl("orphans", basePath(), "--checkpoints", checkpoints(), "--json").isFine();

        assertThat(run.json().get("orphans").findValuesAsText("file"))
                .singleElement()
                .asString()
                .endsWith(writers.orphan.toString());
        assertThat(run.json().get("orphanBytes").asLong()).isEqualTo(Files.size(writers.orphan));
        assertThat(run.json().get("referencedSegments").asInt()).isEqualTo(1);
        assertThat(run.json().get("checkpoints").asInt()).isEqualTo(1);
        assertThat(segments()).containsExactlyInAnyOrder(writers.needed, writers.orphan);
        assertThat(dstl("orphans", basePath(), "--checkpoints", checkpoints()).isFine().out())
                .contains(writers.orphan.toString())
                .doesNotContain(writers.needed.toString())
                .contains("referred to: 1, of recent writers: 0, orphans: 1");
    }

    @Test
    void withDelete_theOrphanGoesAndTheCheckpointStaysWhole() throws Exception {
        ToolRun run =
                dstl("orphans", basePath(), "--checkpoints", checkpoints(), "--delete", "--json")
                        .isFine();

        assertThat(run.json().get("deletedSegments").asInt()).isEqualTo(1);
        assertThat(segments()).containsExactly(writers.needed);
        dstl("verify", writers.checkpoint).isFine();
        ToolRun again =
                dstl("orphans", basePath(), "--checkpoints", checkpoints(), "--delete").isFine();
        assertThat(again.out()).contains("orphans: 0", "deleted      0 ");
    }

    @Test
    void emptyDirectoryOfAnOldWriter_isListed_andGoesWithDelete() throws Exception {
        Path log = writers.needed.getParent().getParent();
        Path old = Files.createDirectory(log.resolve("1700000000000-0000000000000001"));
        Path young =
                Files.createDirectory(
                        log.resolve(System.currentTimeMillis() + "-0000000000000002"));
        Path foreign = Files.createDirectory(log.resolve("something-else"));

        ToolRun listed = dstl("orphans", basePath(), "--checkpoints", checkpoints()).isFine();
        assertThat(listed.out())
                .contains("directories  empty: 1", old.toString())
                .doesNotContain(young.toString(), foreign.toString());
        assertThat(old).exists();

        ToolRun run =
                dstl("orphans", basePath(), "--checkpoints", checkpoints(), "--delete", "--json")
                        .isFine();
        assertThat(run.json().get("emptyDirectories")).hasSize(1);
        assertThat(run.json().get("deletedDirectories").asInt())
                .as("with the directory of the orphan")
                .isEqualTo(2);
        assertThat(old).doesNotExist();
        assertThat(writers.orphan.getParent()).doesNotExist();
        assertThat(young).exists();
        assertThat(foreign).exists();
        assertThat(writers.needed).exists();
    }

    @Test
    void aSegmentIsKnownByItsName_howeverThePathIsWritten() {
        dstl(
                        "orphans",
                        GuardedFileSystem.uri(basePath()),
                        "--checkpoints",
                        checkpoints(),
                        "--delete")
                .isFine();

        assertThat(segments()).containsExactly(writers.needed);
    }

    @Test
    void lostAttemptsAndProbesOfTheBasePath_areOrphansToo() throws Exception {
        Path attempt = writers.orphan.resolveSibling("0000000001-2.seg");
        Path probe = writers.orphan.resolveSibling("0000000000-1.seg");
        for (Path leftover : new Path[] {attempt, probe}) {
            Files.writeString(leftover, "half a segm");
            TwoWriters.makeOld(leftover);
        }

        dstl("orphans", basePath(), "--checkpoints", checkpoints(), "--delete").isFine();

        assertThat(segments()).containsExactly(writers.needed);
    }

    @Test
    void filesWithOtherNames_areLeftAlone() throws Exception {
        Path[] others = {
            writers.orphan.resolveSibling("0000000001-1.seg.copy"),
            writers.orphan.resolveSibling("notes.txt"),
            basePath().resolve("0000000001-1.seg"),
            writers.orphan.getParent().resolveSibling("0000000002-1.seg")
        };
        for (Path other : others) {
            Files.writeString(other, "somebody else's");
            TwoWriters.makeOld(other);
        }

        ToolRun run =
                dstl("orphans", basePath(), "--checkpoints", checkpoints(), "--delete", "--json")
                        .isFine();

        assertThat(others).allMatch(Files::exists);
        assertThat(run.json().get("otherFiles").asInt()).isEqualTo(others.length);
        assertThat(run.json().get("deletedSegments").asInt()).isEqualTo(1);
    }

    @Test
    void theBasePathMayFollowTheCheckpoints() {
        dstl("orphans", "--delete", "--checkpoints", checkpoints(), basePath()).isFine();

        assertThat(segments()).containsExactly(writers.needed);
    }

    @Test
    void aMissingBasePath_isRefused() {
        dstl("orphans", directory.resolve("nowhere"), "--checkpoints", checkpoints())
                .fails(1, "There is no", "nowhere");
    }

    @Test
    void aBasePathNamedLikeAJob_isSearched() throws Exception {
        Path base = directory.resolve("fedcba9876543210fedcba9876543210");
        Path old;
        try (WrittenLog log = new WrittenLog(base)) {
            old = fileOf(log.writeSome());
        }
        TwoWriters.makeOld(old);

        assertThat(dstl("orphans", base, "--checkpoints", checkpoints()).isFine().out())
                .contains("orphans: 1");
    }
}
