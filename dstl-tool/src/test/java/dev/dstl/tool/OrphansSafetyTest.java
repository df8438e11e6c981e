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
import dev.dstl.changelog.fixture.GuardedFileSystem.Call;
import dev.dstl.tool.fixture.ToolRun;
import dev.dstl.tool.fixture.WrittenCheckpoint;
import dev.dstl.tool.fixture.WrittenLog;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;
import org.apache.flink.util.FileUtils;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A segment that is needed although its writer ended long ago, as of a restored job, while
 * checkpoints change; and directory trees with links.
 */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class OrphansSafetyTest extends ToolTest {

    private ChangelogStateHandleStreamImpl log;
    private Path needed;
    private Path neededByOther;
    private Path job;

    /** Segments whose jobs the operator says have ended, so that only checkpoints keep them. */
    private final List<Path> ofEndedJobs = new ArrayList<>();

    @BeforeEach
    void writeALog() throws Exception {
        try (WrittenLog ended = new WrittenLog(basePath());
                WrittenLog other = new WrittenLog(basePath())) {
            log = ended.writeSome();
            needed = age(fileOf(log));
            job = checkpoints().resolve("job");
            ChangelogStateHandleStreamImpl others = other.writeSome();
            neededByOther = age(fileOf(others));
            WrittenCheckpoint.of(checkpoints().resolve("other"), 1, others);
        }
        ofEndedJobs.add(needed);
        ofEndedJobs.add(neededByOther);
    }

    private static Path age(Path file) throws IOException {
        return Files.setLastModifiedTime(
                file, FileTime.from(Instant.now().minus(Duration.ofHours(2))));
    }

    private ToolRun delete(Object... checkpoints) {
        List<Object> arguments = new ArrayList<>(List.of("orphans", basePath(), "--delete"));
        for (Object directory : checkpoints) {
            arguments.add("--checkpoints");
            arguments.add(directory);
        }
        for (Path segment : ofEndedJobs) {
            arguments.add("--jobs-ended");
            arguments.add(jobOf(segment));
        }
        return dstl(arguments.toArray());
    }

    private ToolRun deletesNothingNeeded(Object... checkpoints) {
        ToolRun run = delete(checkpoints).isFine();
        assertThat(run.out()).contains("referred to: 2,");
        assertThat(List.of(needed, neededByOther)).allMatch(Files::exists);
        return run;
    }

    private void failsAndDeletesNothing(String... parts) {
        delete(checkpoints()).fails(1, parts);
        assertThat(List.of(needed, neededByOther)).allMatch(Files::exists);
    }

    /** Does something before the first call of a kind on a file or directory. */
    private static AtomicBoolean before(Call kind, Path file, Change change) {
        AtomicBoolean done = new AtomicBoolean();
        GuardedFileSystem.guard(
                (call, path) -> {
                    if (call == kind
                            && path.getPath().equals(file.toString())
                            && !done.getAndSet(true)) {
                        change.make();
                    }
                });
        return done;
    }

    private interface Change {
        void make() throws IOException;
    }

    @Test
    void aCheckpointThatIsGoneWhenItsDirectoryIsListed_hasASuccessorThatIsRead() throws Exception {
        replaceBefore(Call.LIST, "", () -> {});
    }

    /** As with flink-s3-fs-presto, which has an exception of its own for it. */
    @Test
    void aCheckpointThatIsGoneWhenItIsRead_hasASuccessor_whateverTheStoreSays() throws Exception {
        replaceBefore(
                Call.OPEN,
                "_metadata",
                () -> {
                    throw new IOException("The specified key does not exist.");
                });
    }

    /** Checkpoint 8 replaces 7 just before a call on the directory of 7 or a file in it. */
    private void replaceBefore(Call call, String file, Change answer) throws Exception {
        Path checkpoint = WrittenCheckpoint.of(job, 7, log);
        AtomicBoolean replaced =
                before(
                        call,
                        checkpoint.resolve(file),
                        () -> {
                            WrittenCheckpoint.of(job, 8, log);
                            FileUtils.deleteDirectory(checkpoint.toFile());
                            answer.make();
                        });

        deletesNothingNeeded(GuardedFileSystem.uri(checkpoints()));

        assertThat(replaced).isTrue();
    }

    /** Flink deletes the metadata of a checkpoint first and its directory last. */
    @Test
    void aCheckpointThatIsBeingDeleted_hasASuccessorThatIsRead() throws Exception {
        Path checkpoint = WrittenCheckpoint.of(job, 7, log);
        AtomicBoolean replaced =
                before(
                        Call.LIST,
                        checkpoint,
                        () -> {
                            WrittenCheckpoint.of(job, 8, log);
                            Files.delete(checkpoint.resolve("_metadata"));
                        });

        deletesNothingNeeded(GuardedFileSystem.uri(checkpoints()));

        assertThat(replaced).isTrue();
    }

    /** A job that claimed a savepoint deletes it after its own first checkpoint. */
    @Test
    void aSavepointThatIsClaimed_isFoundAsTheCheckpointOfItsNewJob() throws Exception {
        Path savepoints = directory.resolve("savepoints");
        WrittenCheckpoint.withoutChangelog(savepoints.resolve("kept"), 1);
        Path claimed = WrittenCheckpoint.of(savepoints.resolve("taken"), 7, log);
        AtomicBoolean replaced =
                before(
                        Call.LIST,
                        savepoints,
                        () -> {
                            WrittenCheckpoint.of(job, 8, log);
                            FileUtils.deleteDirectory(claimed.toFile());
                        });

        deletesNothingNeeded(checkpoints(), GuardedFileSystem.uri(savepoints));

        assertThat(replaced).isTrue();
    }

    @Test
    void checkpointsThatComeAndGoAllTheTime_doNotPreventTheSearch() throws Exception {
        AtomicLong newest = new AtomicLong(7);
        WrittenCheckpoint.of(job, newest.get(), log);
        GuardedFileSystem.guard(
                (call, path) -> {
                    if (call == Call.LIST && path.getPath().equals(job.toString())) {
                        long id = newest.incrementAndGet();
                        WrittenCheckpoint.of(job, id, log);
                        FileUtils.deleteDirectory(job.resolve("chk-" + (id - 1)).toFile());
                        Files.createDirectories(job.resolve("chk-" + (id + 1)));
                    }
                });

        deletesNothingNeeded(GuardedFileSystem.uri(checkpoints()));

        assertThat(newest.get()).isLessThan(20);
    }

    @Test
    void aLinkOutOfTheBasePath_isNotFollowed() throws Exception {
        WrittenCheckpoint.of(job, 7, log);
        Path elsewhere = directory.resolve("elsewhere");
        Path foreign;
        try (WrittenLog another = new WrittenLog(elsewhere)) {
            foreign = age(fileOf(another.writeSome()));
        }
        ofEndedJobs.add(foreign);
        Files.createSymbolicLink(basePath().resolve("linked"), elsewhere);
        Files.createSymbolicLink(basePath().resolve("itself"), basePath());
        Files.createSymbolicLink(basePath().resolve("itself-again"), basePath());

        deletesNothingNeeded(checkpoints());

        assertThat(foreign).exists();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "dstl", "dstl/writer", "dstl/writer/"})
    void theBasePathAndWhatIsAboveIt_stay_wherePathsOfAJobAreNamed(String below) throws Exception {
        WrittenCheckpoint.of(job, 7, log);
        Path elsewhere = directory.resolve("elsewhere");
        Path orphan;
        try (WrittenLog another = new WrittenLog(elsewhere)) {
            orphan = age(fileOf(another.writeSome()));
        }
        Path writer = orphan.getParent();
        String named =
                elsewhere.resolve(jobOf(orphan))
                        + "/"
                        + below.replace("writer", writer.getFileName().toString());

        ToolRun run =
                dstl(
                                "orphans",
                                named,
                                "--checkpoints",
                                checkpoints(),
                                "--delete",
                                "--jobs-ended",
                                jobOf(orphan))
                        .isFine();

        assertThat(run.out()).contains("deleted      1 ");
        assertThat(orphan).doesNotExist();
        assertThat(Path.of(named)).isEmptyDirectory();
    }

    @Test
    void aLinkToNothingBelowTheBasePath_doesNotPreventTheSearch() throws Exception {
        WrittenCheckpoint.of(job, 7, log);
        Files.createSymbolicLink(
                basePath().resolve("dangling"), directory.resolve("nothing-is-here"));

        deletesNothingNeeded(checkpoints());
    }

    @Test
    void linksToCheckpoints_areFollowedOnce() throws Exception {
        Path elsewhere = directory.resolve("elsewhere");
        WrittenCheckpoint.of(elsewhere, 7, log);
        Files.createSymbolicLink(checkpoints().resolve("linked"), elsewhere);
        Files.createSymbolicLink(checkpoints().resolve("itself"), checkpoints());
        Files.createSymbolicLink(elsewhere.resolve("back"), checkpoints());

        assertThat(deletesNothingNeeded(checkpoints()).out()).contains("checkpoints  2\n");
    }

    /** Of a disk that is not mounted, or with a name that the locale cannot express. */
    @Test
    void whatIsListedBesideCheckpointsButCannotBeFound_deletesNothing() throws Exception {
        Files.createSymbolicLink(
                checkpoints().resolve("unmounted"), directory.resolve("nothing-is-here"));

        failsAndDeletesNothing("unmounted", "is listed, but cannot be found");
    }

    @Test
    void namesThatLookLikeUris_areNamesOfFiles() throws Exception {
        WrittenCheckpoint.of(checkpoints().resolve("2026-11-20T17:12 ä%20"), 7, log);
        Files.writeString(basePath().resolve("s3:notes"), "somebody else's");

        deletesNothingNeeded(checkpoints());
    }

    @Test
    void anAttemptWithNumberZero_isNoSegment() throws Exception {
        WrittenCheckpoint.of(job, 7, log);
        Path odd = needed.resolveSibling("1-0.seg");
        Files.writeString(odd, "somebody else's");

        assertThat(deletesNothingNeeded(checkpoints()).out()).contains("other files  1");

        assertThat(odd).exists();
    }

    @Test
    void aTruncatedMetadata_isReportedAsSuch() throws Exception {
        Path metadata = WrittenCheckpoint.of(job, 7, log).resolve("_metadata");
        byte[] bytes = Files.readAllBytes(metadata);
        Files.write(metadata, java.util.Arrays.copyOf(bytes, bytes.length / 2));

        failsAndDeletesNothing("chk-7/_metadata", "truncated");
    }

    @Test
    void aMetadataOfALaterVersion_asksForTheFlinkThatWroteIt() throws Exception {
        Path metadata = WrittenCheckpoint.of(job, 7, log).resolve("_metadata");
        byte[] bytes = Files.readAllBytes(metadata);
        bytes[7] = 99;
        Files.write(metadata, bytes);

        failsAndDeletesNothing("chk-7/_metadata", "version", "FLINK_HOME");
    }
}
