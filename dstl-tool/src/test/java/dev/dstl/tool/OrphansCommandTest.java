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
import dev.dstl.tool.fixture.WrittenCheckpoint;
import dev.dstl.tool.fixture.WrittenLog;
import dev.dstl.tool.orphan.OrphanReport;
import dev.dstl.tool.orphan.OrphanSearch;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;
import org.apache.flink.runtime.state.filesystem.FileStateHandle;
import org.apache.flink.util.FileUtils;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * One writer whose segment a checkpoint refers to, and one that died before its first checkpoint.
 */
class OrphansCommandTest extends ToolTest {

    private static final Duration OLD = Duration.ofHours(2);

    private Path checkpoint;
    private Path needed;
    private Path orphan;

    @BeforeEach
    void writeTwoLogs() throws Exception {
        try (WrittenLog alive = new WrittenLog(basePath());
                WrittenLog dead = new WrittenLog(basePath())) {
            ChangelogStateHandleStreamImpl log = alive.writeSome();
            needed = fileOf(log);
            orphan = intoJobOf(needed, fileOf(dead.writeSome()));
            checkpoint = WrittenCheckpoint.of(checkpoints().resolve("job"), 7, log);
        }
        age(needed, OLD);
        age(orphan, OLD);
    }

    /** Moves the segment of another writer to the directory of a job. */
    private static Path intoJobOf(Path ofJob, Path segment) throws Exception {
        Path writer = segment.getParent();
        Path moved = ofJob.getParent().getParent().resolve(writer.getFileName());
        Files.move(writer, moved);
        return moved.resolve(segment.getFileName());
    }

    private static void age(Path file, Duration age) throws Exception {
        Files.setLastModifiedTime(file, FileTime.from(Instant.now().minus(age)));
    }

    @Test
    void aSegmentThatNoCheckpointRefersTo_isListedAndNotTouched() throws Exception {
        ToolRun run =
                dstl("orphans", basePath(), "--checkpoints", checkpoints(), "--json").isFine();

        assertThat(run.json().get("orphans").findValuesAsText("file"))
                .singleElement()
                .asString()
                .endsWith(orphan.toString());
        assertThat(run.json().get("orphanBytes").asLong()).isEqualTo(Files.size(orphan));
        assertThat(run.json().get("referencedSegments").asInt()).isEqualTo(1);
        assertThat(run.json().get("checkpoints").asInt()).isEqualTo(1);
        assertThat(segments()).containsExactlyInAnyOrder(needed, orphan);
        assertThat(dstl("orphans", basePath(), "--checkpoints", checkpoints()).isFine().out())
                .contains(orphan.toString())
                .doesNotContain(needed.toString())
                .contains("referred to: 1, of recent writers: 0, orphans: 1");
    }

    @Test
    void withDelete_theOrphanGoesAndTheCheckpointStaysWhole() throws Exception {
        ToolRun run =
                dstl("orphans", basePath(), "--checkpoints", checkpoints(), "--delete", "--json")
                        .isFine();

        assertThat(run.json().get("deletedSegments").asInt()).isEqualTo(1);
        assertThat(segments()).containsExactly(needed);
        dstl("verify", checkpoint).isFine();
        ToolRun again =
                dstl("orphans", basePath(), "--checkpoints", checkpoints(), "--delete").isFine();
        assertThat(again.out()).contains("orphans: 0", "deleted      0 ");
    }

    @Test
    void emptyDirectoryOfAnOldWriter_isListed_andGoesWithDelete() throws Exception {
        Path log = needed.getParent().getParent();
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
        assertThat(orphan.getParent()).doesNotExist();
        assertThat(young).exists();
        assertThat(foreign).exists();
        assertThat(needed).exists();
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

        assertThat(segments()).containsExactly(needed);
    }

    @Test
    void checkpointsInSeveralDirectories_allCount() throws Exception {
        Path other;
        try (WrittenLog another = new WrittenLog(basePath())) {
            ChangelogStateHandleStreamImpl log = another.writeSome();
            other = fileOf(log);
            WrittenCheckpoint.of(directory.resolve("savepoints"), 3, log);
        }
        age(other, OLD);

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
                                jobOf(needed) + "," + jobOf(other))
                        .isFine();

        assertThat(run.out()).contains("referred to: 2,");
        assertThat(segments()).containsExactlyInAnyOrder(needed, other);
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
            age(fileOf(written), OLD);

            ToolRun run =
                    dstl("orphans", basePath(), "--checkpoints", basePath(), "--json").isFine();

            assertThat(run.json().get("orphans").findValuesAsText("file"))
                    .hasSize(2)
                    .noneMatch(file -> file.endsWith(fileOf(written).toString()));
        }
    }

    @Test
    void youngSegments_areKept() throws Exception {
        age(orphan, Duration.ofMinutes(59));

        ToolRun run =
                dstl("orphans", basePath(), "--checkpoints", checkpoints(), "--delete").isFine();

        assertThat(run.out()).contains("of recent writers: 1, orphans: 0");
        assertThat(segments()).containsExactlyInAnyOrder(needed, orphan);
    }

    @Test
    void minAge_setsWhatYoungIs() throws Exception {
        age(orphan, Duration.ofMinutes(30));

        dstl(
                        "orphans",
                        basePath(),
                        "--checkpoints",
                        checkpoints(),
                        "--delete",
                        "--min-age",
                        "20min",
                        "--jobs-ended",
                        jobOf(needed))
                .isFine();

        assertThat(segments()).containsExactly(needed);
    }

    /** Old segments may be part of the next checkpoint if checkpoints have failed for long. */
    @Test
    void oldSegmentsOfAWriterThatIsAlive_areKept() throws Exception {
        Path next = orphan.resolveSibling("0000000099-1.seg");
        Files.copy(orphan, next);

        dstl("orphans", basePath(), "--checkpoints", checkpoints(), "--delete").isFine();

        assertThat(segments()).containsExactlyInAnyOrder(needed, orphan, next);
    }

    @Test
    void lostAttemptsAndProbesOfTheBasePath_areOrphansToo() throws Exception {
        Path attempt = orphan.resolveSibling("0000000001-2.seg");
        Path probe = orphan.resolveSibling("0000000000-1.seg");
        for (Path leftover : new Path[] {attempt, probe}) {
            Files.writeString(leftover, "half a segm");
            age(leftover, OLD);
        }

        dstl("orphans", basePath(), "--checkpoints", checkpoints(), "--delete").isFine();

        assertThat(segments()).containsExactly(needed);
    }

    @Test
    void filesWithOtherNames_areLeftAlone() throws Exception {
        Path[] others = {
            orphan.resolveSibling("0000000001-1.seg.copy"),
            orphan.resolveSibling("notes.txt"),
            basePath().resolve("0000000001-1.seg"),
            orphan.getParent().resolveSibling("0000000002-1.seg")
        };
        for (Path other : others) {
            Files.writeString(other, "somebody else's");
            age(other, OLD);
        }

        ToolRun run =
                dstl("orphans", basePath(), "--checkpoints", checkpoints(), "--delete", "--json")
                        .isFine();

        assertThat(others).allMatch(Files::exists);
        assertThat(run.json().get("otherFiles").asInt()).isEqualTo(others.length);
        assertThat(run.json().get("deletedSegments").asInt()).isEqualTo(1);
    }

    @Test
    void anUnreadableMetadata_deletesNothing() throws Exception {
        Path damaged = WrittenCheckpoint.withoutChangelog(checkpoints(), 8).resolve("_metadata");
        Files.write(damaged, new byte[] {1, 2, 3});

        dstl("orphans", basePath(), "--checkpoints", checkpoints(), "--delete")
                .fails(1, damaged.toString(), "cannot be read");

        assertThat(segments()).containsExactlyInAnyOrder(needed, orphan);
    }

    /** A later release may write segments under names that this one does not know. */
    @Test
    void aCheckpointThatNeedsFilesOfOtherNames_deletesNothing() throws Exception {
        ChangelogStateHandleStreamImpl merged =
                new ChangelogStateHandleStreamImpl(
                        List.of(
                                Tuple2.of(
                                        new FileStateHandle(
                                                new org.apache.flink.core.fs.Path(
                                                        "s3://bucket/merged.log"),
                                                1),
                                        12L)),
                        KeyGroupRange.of(0, 15),
                        1,
                        1,
                        "dstl");
        WrittenCheckpoint.of(checkpoints(), 8, merged);

        dstl("orphans", basePath(), "--checkpoints", checkpoints(), "--delete")
                .fails(1, "s3://bucket/merged.log", "not named like a segment");

        assertThat(segments()).containsExactlyInAnyOrder(needed, orphan);
    }

    @Test
    void aCheckpointOfFlinksChangelog_isNoReasonToRefuse() throws Exception {
        ChangelogStateHandleStreamImpl builtIn =
                new ChangelogStateHandleStreamImpl(
                        List.of(
                                Tuple2.of(
                                        new FileStateHandle(
                                                new org.apache.flink.core.fs.Path(
                                                        "s3://bucket/builtin"),
                                                1),
                                        0L)),
                        KeyGroupRange.of(0, 15),
                        1,
                        1,
                        "filesystem");
        WrittenCheckpoint.of(checkpoints(), 8, builtIn);
        WrittenCheckpoint.withoutChangelog(checkpoints(), 9);

        dstl("orphans", basePath(), "--checkpoints", checkpoints(), "--delete").isFine();

        assertThat(segments()).containsExactly(needed);
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

        assertThat(segments()).containsExactlyInAnyOrder(needed, orphan);
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

        assertThat(segments()).containsExactlyInAnyOrder(needed, orphan);
    }

    @Test
    void theBasePathMayFollowTheCheckpoints() {
        dstl("orphans", "--delete", "--checkpoints", checkpoints(), basePath()).isFine();

        assertThat(segments()).containsExactly(needed);
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

        assertThat(segments()).containsExactlyInAnyOrder(needed, orphan);
    }

    @Test
    void noCheckpointAtAll_ifThatIsSaid_isTaken() {
        ToolRun run = dstl("orphans", basePath(), "--without-checkpoints", "--delete").isFine();
        assertThat(run.out()).contains("orphans: 2");
        assertThat(segments()).as("the job may run").containsExactlyInAnyOrder(needed, orphan);

        dstl(
                        "orphans",
                        basePath(),
                        "--without-checkpoints",
                        "--delete",
                        "--jobs-ended",
                        jobOf(needed))
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

        assertThat(segments()).containsExactlyInAnyOrder(needed, orphan);
    }

    @Test
    void directoriesOfCheckpoints_mustBeNamed() {
        dstl("orphans", basePath(), "--delete").fails(2, "--checkpoints", "--without-checkpoints");

        assertThat(segments()).containsExactlyInAnyOrder(needed, orphan);
    }

    @Test
    void aMissingBasePath_isRefused() {
        dstl("orphans", directory.resolve("nowhere"), "--checkpoints", checkpoints())
                .fails(1, "There is no", "nowhere");
    }

    /** Checkpoint 8 with the orphan replaces checkpoint 7 while that is being read. */
    @Test
    void aCheckpointThatReplacesAnotherMeanwhile_isSeen() throws Exception {
        ChangelogStateHandleStreamImpl log;
        try (WrittenLog running = new WrittenLog(basePath())) {
            log = running.writeSome();
        }
        age(fileOf(log), OLD);
        AtomicBoolean replaced = new AtomicBoolean();
        GuardedFileSystem.guard(
                (call, path) -> {
                    if (path.getName().equals("_metadata") && !replaced.getAndSet(true)) {
                        FileUtils.deleteDirectory(checkpoint.toFile());
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
                        jobOf(needed) + "," + jobOf(fileOf(log)))
                .isFine();

        assertThat(replaced).isTrue();
        assertThat(segments()).containsExactly(fileOf(log));
    }

    @Test
    void anInterruptedDeletion_saysWhatIsDeletedAndWhatIsNot() throws Exception {
        Path second = orphan.resolveSibling("99-1.seg");
        Files.writeString(second, "half a segm");
        age(second, OLD);
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
        assertThat(segments()).hasSize(2).contains(needed);
    }

    @Test
    void aProcessThatIsInterruptedWhileItDeletes_printsWhatItDeleted() throws Exception {
        int many = 20_000;
        for (int i = 0; i < many; i++) {
            Path leftover = orphan.resolveSibling((1_000_000 + i) + "-1.seg");
            Files.createFile(leftover);
            age(leftover, OLD);
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
        Path first = orphan.resolveSibling("1000000-1.seg");
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
    void jobsWithOrphansAndNoCheckpoint_areNamed() throws Exception {
        String job = "00000000000000000000000000000def";
        Path writer =
                basePath().resolve(job).resolve("dstl").resolve(needed.getParent().getFileName());
        Path other = Files.createDirectories(writer).resolve("1-1.seg");
        Files.copy(needed, other);
        age(other, OLD);

        ToolRun run = dstl("orphans", basePath(), "--checkpoints", checkpoints()).isFine();
        ToolRun json =
                dstl("orphans", basePath(), "--checkpoints", checkpoints(), "--json").isFine();

        assertThat(run.out())
                .contains("job that may run", job, "none", "name its directory")
                .contains("orphans: 2");
        assertThat(json.json().get("jobsWithoutCheckpoint").findValuesAsText("job")).contains(job);
        String known = needed.getParent().getParent().getParent().getFileName().toString();
        assertThat(json.json().get("jobsWithoutCheckpoint").findValuesAsText("job"))
                .doesNotContain(known);
    }

    @Test
    void withDelete_segmentsOfAJobWithoutACheckpoint_areKeptUnlessTheJobHasEnded()
            throws Exception {
        Path other;
        try (WrittenLog elsewhere = new WrittenLog(basePath())) {
            other = fileOf(elsewhere.writeSome());
        }
        age(other, OLD);

        ToolRun run =
                dstl("orphans", basePath(), "--checkpoints", checkpoints(), "--delete").isFine();

        assertThat(run.out()).contains("maybe needed 1 (", "--jobs-ended", "deleted      1 (");
        assertThat(segments()).containsExactlyInAnyOrder(needed, other);
        deleteOfEnded(needed);
        assertThat(segments()).as("another job").containsExactlyInAnyOrder(needed, other);
        deleteOfEnded(other);
        assertThat(segments()).containsExactly(needed);
    }

    private void deleteOfEnded(Path segment) {
        dstl(
                        "orphans",
                        basePath(),
                        "--checkpoints",
                        checkpoints(),
                        "--delete",
                        "--jobs-ended",
                        jobOf(segment))
                .isFine();
    }

    @Test
    void jobsEnded_takesIdsOfJobs() {
        dstl("orphans", basePath(), "--without-checkpoints", "--delete", "--jobs-ended", "all")
                .fails(2, "--jobs-ended", "32 hexadecimal digits", "'all'");

        assertThat(segments()).containsExactlyInAnyOrder(needed, orphan);
    }

    /** A task without input has uploaded its last segment, and checkpoints have failed since. */
    @Test
    void withDelete_segmentsNewerThanTheNewestCheckpointOfTheirJob_areKept() throws Exception {
        age(checkpoint.resolve("_metadata"), Duration.ofMinutes(150));

        ToolRun run =
                dstl("orphans", basePath(), "--checkpoints", checkpoints(), "--delete", "--json")
                        .isFine();

        assertThat(segments()).containsExactlyInAnyOrder(needed, orphan);
        assertThat(run.json().get("orphans").get(0).get("jobMayRun").asBoolean()).isTrue();
        assertThat(run.json().get("orphans").get(0).get("deleted").asBoolean()).isFalse();
        assertThat(dstl("orphans", basePath(), "--checkpoints", checkpoints()).isFine().out())
                .containsPattern("job that may run +maybe needed +bytes +newest checkpoint")
                .containsPattern(jobOf(needed) + " +1 .*Z");
    }

    /** A task wrote it after its barrier: the next checkpoint contains it. */
    @Test
    void withDelete_segmentsWrittenWhileTheNewestCheckpointCompleted_areKeptWhateverTheMinAge()
            throws Exception {
        Duration completed = Duration.ofMinutes(90);
        age(checkpoint.resolve("_metadata"), completed);
        age(orphan, completed.plusSeconds(15));
        Path early = orphan.resolveSibling("99-1.seg");
        Files.writeString(early, "half a segm");
        age(early, completed.plusMinutes(61));

        ToolRun run =
                dstl(
                                "orphans",
                                basePath(),
                                "--checkpoints",
                                checkpoints(),
                                "--delete",
                                "--min-age",
                                "0s")
                        .isFine();

        assertThat(segments()).containsExactlyInAnyOrder(needed, orphan);
        assertThat(run.out()).contains("maybe needed 1 (", "deleted      1 (");
    }

    /** It was restored from a checkpoint of that job, which has taken none since. */
    @Test
    void aCheckpointOfAnotherJob_doesNotSayThatAJobNeedsNoNewerSegments() throws Exception {
        age(checkpoint.resolve("_metadata"), Duration.ofMinutes(150));
        Path ofRestored = checkpoints().resolve("00000000000000000000000000000def");
        Files.createDirectories(ofRestored);
        FileUtils.copy(
                new org.apache.flink.core.fs.Path(checkpoint.toUri()),
                new org.apache.flink.core.fs.Path(ofRestored.resolve("chk-9").toUri()),
                false);

        dstl("orphans", basePath(), "--checkpoints", checkpoints(), "--delete").isFine();

        assertThat(segments()).containsExactlyInAnyOrder(needed, orphan);
    }

    /** As in application mode, where the id of the job is that of the cluster. */
    @Test
    void aJobThatBeganAnewWithTheSameId_isAsOldAsItsNewestCheckpoint() throws Exception {
        age(checkpoint.resolve("_metadata"), Duration.ofMinutes(150));
        FileUtils.copy(
                new org.apache.flink.core.fs.Path(checkpoint.toUri()),
                new org.apache.flink.core.fs.Path(checkpoint.resolveSibling("chk-2").toUri()),
                false);

        dstl("orphans", basePath(), "--checkpoints", checkpoints(), "--delete").isFine();

        assertThat(segments()).containsExactly(needed);
    }

    /** An object store gives a copy the time at which it was made. */
    @Test
    void aCopyOfAnOldCheckpoint_doesNotSayThatAJobNeedsNoNewerSegments() throws Exception {
        age(checkpoint.resolve("_metadata"), Duration.ofMinutes(150));
        FileUtils.copy(
                new org.apache.flink.core.fs.Path(checkpoint.toUri()),
                new org.apache.flink.core.fs.Path(checkpoints().resolve("keep/chk-6").toUri()),
                false);

        dstl("orphans", basePath(), "--checkpoints", checkpoints(), "--delete").isFine();

        assertThat(segments()).containsExactlyInAnyOrder(needed, orphan);
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
        age(other, OLD);

        ToolRun run =
                dstl("orphans", basePath(), "--checkpoints", checkpoints(), "--delete").isFine();

        assertThat(run.out()).contains("checkpoints  2");
        assertThat(other).exists();
    }

    @Test
    void aBasePathNamedLikeAJob_isSearched() throws Exception {
        Path base = directory.resolve("fedcba9876543210fedcba9876543210");
        Path old;
        try (WrittenLog log = new WrittenLog(base)) {
            old = fileOf(log.writeSome());
        }
        age(old, OLD);

        assertThat(dstl("orphans", base, "--checkpoints", checkpoints()).isFine().out())
                .contains("orphans: 1");
    }

    @Test
    void anOrphanThatCannotBeDeleted_isNamed_andTheOthersGo() throws Exception {
        Path stubborn = orphan.resolveSibling("0000000001-2.seg");
        Files.writeString(stubborn, "half a segm");
        age(stubborn, OLD);
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
        assertThat(segments()).containsExactlyInAnyOrder(needed, stubborn);
    }

    /** As of a file system plugin without one of its jars. */
    @Test
    void anErrorOfTheFileSystem_endsTheDeletion_andTheReportSaysWhatIsDeleted() throws Exception {
        for (String name : List.of("98-1.seg", "99-1.seg")) {
            Path leftover = orphan.resolveSibling(name);
            Files.writeString(leftover, "half a segm");
            age(leftover, OLD);
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
        assertThat(segments()).hasSize(3).contains(needed);
    }
}
