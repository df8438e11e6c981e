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
import dev.dstl.tool.fixture.WrittenCheckpoint;
import dev.dstl.tool.fixture.WrittenLog;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;
import org.apache.flink.runtime.state.filesystem.FileStateHandle;
import org.apache.flink.util.FileUtils;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Which checkpoints keep segments, and that none is deleted where one cannot be read. */
class OrphansCheckpointsTest extends ToolTest {

    private TwoWriters writers;

    @BeforeEach
    void write() throws Exception {
        writers = TwoWriters.write(basePath(), checkpoints().resolve("job"));
    }

    @Test
    void checkpointsInSeveralDirectories_allCount() throws Exception {
        Path other;
        try (WrittenLog another = new WrittenLog(basePath())) {
            ChangelogStateHandleStreamImpl log = another.writeSome();
            other = fileOf(log);
            WrittenCheckpoint.of(directory.resolve("savepoints"), 3, log);
        }
        TwoWriters.makeOld(other);

        ToolRun run =
                dstl(
                                "orphans",
                                basePath(),
                                "--delete",
                                "--checkpoints",
                                checkpoints(),
                                "--checkpoints",
                                directory.resolve("savepoints"),
                                "--jobs-ended",
                                jobOf(writers.needed) + "," + jobOf(other))
                        .isFine();

        assertThat(run.out()).contains("referred to: 2,");
        assertThat(segments()).containsExactlyInAnyOrder(writers.needed, other);
    }

    @Test
    void checkpointsBesideTheLog_areFound() throws Exception {
        String job = "00000000000000000000000000000abc";
        Path shared = Files.createDirectories(basePath().resolve(job).resolve("shared"));
        Files.writeString(shared.resolve("_metadata"), "a state file that happens to be so called");
        FileUtils.deleteDirectory(checkpoints().toFile());
        try (WrittenLog log = new WrittenLog(basePath())) {
            ChangelogStateHandleStreamImpl written = log.writeSome();
            WrittenCheckpoint.of(basePath().resolve(job), 7, written);
            TwoWriters.makeOld(fileOf(written));

            ToolRun run =
                    dstl("orphans", basePath(), "--checkpoints", basePath(), "--json").isFine();

            assertThat(run.json().get("orphans").findValuesAsText("file"))
                    .hasSize(2)
                    .noneMatch(file -> file.endsWith(fileOf(written).toString()));
        }
    }

    @Test
    void anUnreadableMetadata_deletesNothing() throws Exception {
        Path damaged = WrittenCheckpoint.withoutChangelog(checkpoints(), 8).resolve("_metadata");
        Files.write(damaged, new byte[] {1, 2, 3});

        dstl("orphans", basePath(), "--checkpoints", checkpoints(), "--delete")
                .fails(1, damaged.toString(), "cannot be read");

        assertThat(segments()).containsExactlyInAnyOrder(writers.needed, writers.orphan);
    }

    /** A later release may write segments under names that this one does not know. */
    @Test
    void aCheckpointThatNeedsFilesOfOtherNames_deletesNothing() throws Exception {
        ChangelogStateHandleStreamImpl merged = handle("s3://bucket/merged.log", 12, "dstl");
        WrittenCheckpoint.of(checkpoints(), 8, merged);

        dstl("orphans", basePath(), "--checkpoints", checkpoints(), "--delete")
                .fails(1, "s3://bucket/merged.log", "not named like a segment");

        assertThat(segments()).containsExactlyInAnyOrder(writers.needed, writers.orphan);
    }

    @Test
    void aCheckpointOfFlinksChangelog_isNoReasonToRefuse() throws Exception {
        ChangelogStateHandleStreamImpl builtIn = handle("s3://bucket/builtin", 0, "filesystem");
        WrittenCheckpoint.of(checkpoints(), 8, builtIn);
        WrittenCheckpoint.withoutChangelog(checkpoints(), 9);

        dstl("orphans", basePath(), "--checkpoints", checkpoints(), "--delete").isFine();

        assertThat(segments()).containsExactly(writers.needed);
    }

    @Test
    void aMetadataWithoutPermission_deletesNothing() {
        GuardedFileSystem.refuse(
                GuardedFileSystem.Call.OPEN, path -> path.getName().equals("_metadata"));

        dstl(
                        "orphans",
                        basePath(),
                        "--checkpoints",
                        GuardedFileSystem.uri(checkpoints()),
                        "--delete")
                .fails(1, "chk-7/_metadata cannot be read: Access denied");

        assertThat(segments()).containsExactlyInAnyOrder(writers.needed, writers.orphan);
    }

    @Test
    void aDirectoryOfCheckpointsThatCannotBeListed_deletesNothing() {
        GuardedFileSystem.refuse(GuardedFileSystem.Call.LIST, path -> path.getName().equals("job"));

        dstl(
                        "orphans",
                        basePath(),
                        "--checkpoints",
                        GuardedFileSystem.uri(checkpoints()),
                        "--delete")
                .fails(1, "job cannot be read: Access denied");

        assertThat(segments()).containsExactlyInAnyOrder(writers.needed, writers.orphan);
    }

    @Test
    void noCheckpointAtAll_deletesNothing() throws Exception {
        Path empty = Files.createDirectory(directory.resolve("empty"));

        dstl(
                        "orphans",
                        basePath(),
                        "--checkpoints",
                        checkpoints(),
                        "--checkpoints",
                        empty,
                        "--delete")
                .fails(1, "No checkpoint is below", empty.toString(), "--without-checkpoints");

        assertThat(segments()).containsExactlyInAnyOrder(writers.needed, writers.orphan);
    }

    @Test
    void noCheckpointAtAll_ifThatIsSaid_isTaken() {
        ToolRun run = dstl("orphans", basePath(), "--without-checkpoints", "--delete").isFine();
        assertThat(run.out()).contains("orphans: 2");
        assertThat(segments())
                .as("the job may run")
                .containsExactlyInAnyOrder(writers.needed, writers.orphan);

        dstl(
                        "orphans",
                        basePath(),
                        "--without-checkpoints",
                        "--delete",
                        "--jobs-ended",
                        jobOf(writers.needed))
                .isFine();
        assertThat(segments()).isEmpty();
    }

    @Test
    void aMissingDirectoryOfCheckpoints_deletesNothingWhateverIsSaid() {
        dstl(
                        "orphans",
                        basePath(),
                        "--checkpoints",
                        directory.resolve("mistyped"),
                        "--without-checkpoints",
                        "--delete")
                .fails(1, "There is no", "mistyped");

        assertThat(segments()).containsExactlyInAnyOrder(writers.needed, writers.orphan);
    }

    @Test
    void directoriesOfCheckpoints_mustBeNamed() {
        dstl("orphans", basePath(), "--delete").fails(2, "--checkpoints", "--without-checkpoints");

        assertThat(segments()).containsExactlyInAnyOrder(writers.needed, writers.orphan);
    }

    /** Checkpoint 8 with the orphan replaces checkpoint 7 while that is being read. */
    @Test
    void aCheckpointThatReplacesAnotherMeanwhile_isSeen() throws Exception {
        ChangelogStateHandleStreamImpl log;
        try (WrittenLog running = new WrittenLog(basePath())) {
            log = running.writeSome();
        }
        TwoWriters.makeOld(fileOf(log));
        AtomicBoolean replaced = new AtomicBoolean();
        GuardedFileSystem.guard(
                (call, path) -> {
                    if (path.getName().equals("_metadata") && !replaced.getAndSet(true)) {
                        FileUtils.deleteDirectory(writers.checkpoint.toFile());
                        WrittenCheckpoint.of(checkpoints().resolve("job"), 8, log);
                    }
                });

        dstl(
                        "orphans",
                        basePath(),
                        "--checkpoints",
                        GuardedFileSystem.uri(checkpoints()),
                        "--delete",
                        "--jobs-ended",
                        jobOf(writers.needed) + "," + jobOf(fileOf(log)))
                .isFine();

        assertThat(replaced).isTrue();
        assertThat(segments()).containsExactly(fileOf(log));
    }

    @Test
    void savepointsBelowADirectoryNamedLikeFlinksOwn_areRead() throws Exception {
        Path tenant = checkpoints().resolve("0123456789abcdef0123456789abcdef");
        Path other;
        try (WrittenLog another = new WrittenLog(basePath())) {
            ChangelogStateHandleStreamImpl log = another.writeSome();
            other = fileOf(log);
            WrittenCheckpoint.of(tenant.resolve("shared").resolve("savepoints"), 3, log);
        }
        TwoWriters.makeOld(other);

        ToolRun run =
                dstl("orphans", basePath(), "--checkpoints", checkpoints(), "--delete").isFine();

        assertThat(run.out()).contains("checkpoints  2");
        assertThat(other).exists();
    }

    /** Returns a changelog of one frame. */
    private static ChangelogStateHandleStreamImpl handle(
            String file, long frameOffset, String storageId) {
        return new ChangelogStateHandleStreamImpl(
                List.of(
                        Tuple2.of(
                                new FileStateHandle(new org.apache.flink.core.fs.Path(file), 1),
                                frameOffset)),
                KeyGroupRange.of(0, 15),
                1,
                1,
                storageId);
    }
}
