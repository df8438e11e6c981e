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

package dev.dstl.log.local;

import static dev.dstl.log.testing.LogFixture.append;
import static dev.dstl.log.testing.LogFixture.filesOf;
import static dev.dstl.log.testing.LogFixture.texts;
import static org.assertj.core.api.Assertions.assertThat;

import dev.dstl.log.config.DstlOptions;
import dev.dstl.log.testing.LogFixture;
import dev.dstl.log.testing.LogLines;
import dev.dstl.log.testing.ManualExecutor;
import dev.dstl.log.testing.WriteFault;
import dev.dstl.log.writer.DstlLogWriter;
import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.runtime.jobgraph.JobVertexID;
import org.apache.flink.runtime.state.LocalRecoveryConfig;
import org.apache.flink.runtime.state.LocalSnapshotDirectoryProviderImpl;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;
import org.apache.flink.runtime.state.changelog.SequenceNumber;
import org.apache.flink.util.FileUtils;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Lifetime of the copies of segments on the local disk. */
class LocalRecoveryTest {

    private static final String OPERATOR = "operator";
    private static final int LARGE = 1 << 10;

    @TempDir Path disks;

    private final ManualExecutor disk = new ManualExecutor();
    private LogFixture log;
    private DstlLogWriter writer;
    private long checkpoint;

    @BeforeEach
    void open() {
        open(new Configuration(), "disk");
    }

    private void open(Configuration configuration, String... roots) {
        File[] slots = new File[roots.length];
        for (int i = 0; i < roots.length; i++) {
            slots[i] = disks.resolve(roots[i]).resolve("aid_0123").toFile();
        }
        open(
                configuration.set(
                        DstlOptions.PREEMPTIVE_PERSIST_THRESHOLD, new MemorySize(2 * LARGE)),
                LocalRecoveryConfig.backupAndRecoveryEnabled(
                        new LocalSnapshotDirectoryProviderImpl(
                                slots, LogFixture.JOB_ID, new JobVertexID(), 0)));
    }

    private void open(Configuration configuration, LocalRecoveryConfig recovery) {
        if (log != null) {
            close();
        }
        log = LogFixture.withLocalCopies(configuration, recovery, disk);
        writer = log.writerOf(OPERATOR);
        disk.runAll();
    }

    @AfterEach
    void close() {
        writer.close();
        log.close();
        disk.runAll();
    }

    @Test
    void checkpoint_hasALocalPart_thatNeedsNothingOfTheStore() throws Exception {
        append(writer, "a");
        writer.nextSequenceNumber();
        append(writer, "b");
        SnapshotResult<ChangelogStateHandleStreamImpl> result = persist();
        assertThat(filesOf(remote(result))).allMatch(file -> file.startsWith("faulty:"));
        assertThat(filesOf(local(result))).hasSize(1).allMatch(file -> file.startsWith("file:"));
        assertThat(local(result).getKeyGroupRange()).isEqualTo(LogFixture.KEY_GROUPS);
        assertThat(local(result).getStateSize()).isEqualTo(remote(result).getStateSize());
        log.store().close();
        assertThat(texts(local(result))).containsExactly("a", "b");
        assertThat(log.metrics().count("numberOfLocalCopies")).isEqualTo(1);
    }

    @Test
    void switchedOff_thereIsNoLocalPart() throws Exception {
        open(new Configuration(), LocalRecoveryConfig.BACKUP_AND_RECOVERY_DISABLED);
        append(writer, "a");
        assertThat(persist().getTaskLocalSnapshot()).isNull();
    }

    @Test
    void slotOfTheFirstTask_takesNoCopiesWithIt() throws Exception {
        append(writer, "a");
        SnapshotResult<ChangelogStateHandleStreamImpl> result = persist();
        File slot = disks.resolve("disk").resolve("aid_0123").toFile();
        assertThat(slot).isDirectory();
        FileUtils.deleteDirectory(slot);
        assertThat(texts(local(result))).containsExactly("a");
    }

    @Test
    void severalDisks_takeTurns() throws Exception {
        open(new Configuration(), "one", "other");
        for (int i = 0; i < 4; i++) {
            append(writer, "a");
            persist();
        }
        assertThat(copiesBelow("one")).hasSize(2);
        assertThat(copiesBelow("other")).hasSize(2);
    }

    @Test
    void fullDisk_costsTheCopy_andNothingElse_untilItWorksAgain() throws Exception {
        append(writer, "before");
        persist();
        File job = disks.resolve("disk").resolve("dstl_jid_" + LogFixture.JOB_ID).toFile();
        File away = disks.resolve("away").toFile();
        assertThat(job.renameTo(away)).isTrue();
        assertThat(job.createNewFile()).as("no directory can be made there").isTrue();
        try (LogLines lines = new LogLines()) {
            SnapshotResult<ChangelogStateHandleStreamImpl> result = null;
            for (int i = 0; i < 3; i++) {
                append(writer, "during");
                result = persist();
            }
            assertThat(texts(remote(result)))
                    .containsExactly("before", "during", "during", "during");
            assertThat(filesOf(local(result)))
                    .as("copies as far as there are any")
                    .hasSize(4)
                    .filteredOn(file -> file.startsWith("file:"))
                    .hasSize(1);
            assertThat(log.metrics().count("numberOfLocalCopyFailures")).isEqualTo(3);
            assertThat(log.metrics().count("numberOfUploadFailures")).isZero();
            assertThat(lines.containing("local disk")).hasSize(1);

            assertThat(job.delete()).isTrue();
            assertThat(away.renameTo(job)).isTrue();
            append(writer, "after");
            result = persist();
            assertThat(texts(local(result))).isEqualTo(texts(remote(result)));
            assertThat(lines.containing("local disk"))
                    .hasSize(2)
                    .last()
                    .asString()
                    .startsWith("INFO State changes are copied to the local disk again");
        }
    }

    @Test
    void slowDisk_delaysNoCheckpoint() throws Exception {
        append(writer, "a");
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> persist = startPersist();
        assertThat(persist).isDone();
        assertThat(filesOf(local(persist.get()))).isEqualTo(filesOf(remote(persist.get())));
        disk.runAll();
        append(writer, "b");
        SnapshotResult<ChangelogStateHandleStreamImpl> later = persist();
        assertThat(filesOf(local(later)).get(0)).startsWith("file:");
        assertThat(texts(local(later))).containsExactly("a", "b");
    }

    @Test
    void diskThatHangs_doesNotFillTheMemory() throws Exception {
        open(
                new Configuration()
                        .set(DstlOptions.COMPRESSION_ENABLED, false)
                        .set(DstlOptions.MAX_AGE, java.time.Duration.ZERO),
                "disk");
        byte[] bytes = new byte[8 << 20];
        new Random(1).nextBytes(bytes);
        for (int i = 0; i < 10; i++) {
            SequenceNumber from = writer.nextSequenceNumber();
            writer.append(1, bytes);
            Future<SnapshotResult<ChangelogStateHandleStreamImpl>> persist =
                    writer.persist(from, ++checkpoint);
            log.passLinger();
            assertThat(persist).isDone();
        }
        assertThat(disk.size()).as("copies that wait").isEqualTo(7);
        assertThat(log.metrics().count("numberOfLocalCopyFailures")).isEqualTo(3);
    }

    @Test
    void whatTravelsInTheHandle_isInTheLocalPartToo() throws Exception {
        open(new Configuration().set(DstlOptions.INLINE_THRESHOLD, new MemorySize(LARGE)), "disk");
        append(writer, "x".repeat(LARGE));
        persist();
        append(writer, "a");
        SnapshotResult<ChangelogStateHandleStreamImpl> result = persist();
        assertThat(local(result).getHandlesAndOffsets()).hasSize(2);
        assertThat(filesOf(local(result))).hasSize(1);
        assertThat(texts(local(result))).isEqualTo(texts(remote(result))).hasSize(2);
    }

    @Test
    void failingUpload_leavesTheCopyForTheUploadThatSucceeds() throws Exception {
        log.store().failNext(WriteFault.FAIL_ON_CLOSE);
        append(writer, "a");
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> persist = startPersist();
        disk.runAll();
        log.timers().advanceMillis(1_000);
        assertThat(texts(local(persist.get()))).containsExactly("a");
        assertThat(copies()).hasSize(1);
    }

    @Test
    void abortedCheckpoint_keepsTheCopies() throws Exception {
        append(writer, "a");
        persist();
        confirm();
        append(writer, "b");
        SequenceNumber to = writer.nextSequenceNumber();
        persist();
        writer.reset(writer.initialSequenceNumber(), to, checkpoint);
        disk.runAll();
        assertThat(copies()).hasSize(2);
    }

    @Test
    void truncatedSegment_keepsItsCopy_untilACheckpointWithoutItCompletes() throws Exception {
        append(writer, "a");
        SnapshotResult<ChangelogStateHandleStreamImpl> first = persist();
        SequenceNumber afterA = writer.nextSequenceNumber();
        confirm();
        writer.truncate(afterA);
        disk.runAll();
        assertCopied(first, "a");

        append(writer, "b");
        persistFrom(afterA);
        disk.runAll();
        assertThat(copies()).hasSize(2);
        confirm();
        disk.runAll();
        assertThat(copies()).hasSize(1);
    }

    @Test
    void copyOfASegmentThatNoCheckpointContains_goesWithIt() {
        append(writer, "x".repeat(2 * LARGE));
        log.passLinger();
        disk.runAll();
        assertThat(copies()).hasSize(1);
        writer.truncate(writer.nextSequenceNumber());
        disk.runAll();
        assertThat(copies()).isEmpty();
    }

    @Test
    void copyThatIsCompleteWhenNobodyNeedsItAnyMore_isDeleted() {
        append(writer, "x".repeat(2 * LARGE));
        log.passLinger();
        writer.close();
        disk.runAll();
        assertThat(copies()).isEmpty();
    }

    @Test
    void restartedTask_recoversFromTheCopies_untilItHasABaseOfItsOwn() throws Exception {
        append(writer, "a");
        SnapshotResult<ChangelogStateHandleStreamImpl> restored = persist();
        confirm();
        writer.close();
        disk.runAll();
        assertCopied(restored, "a");

        writer = log.writerOf(OPERATOR);
        append(writer, "b");
        persist();
        confirm();
        append(writer, "c");
        persist();
        confirm();
        disk.runAll();
        assertCopied(restored, "a");

        SequenceNumber base = writer.nextSequenceNumber();
        writer.truncate(base);
        disk.runAll();
        assertCopied(restored, "a");
        append(writer, "d");
        persistFrom(base);
        confirm();
        disk.runAll();
        assertThat(copies()).hasSize(1);
    }

    @Test
    void taskThatFailsAgainAndAgain_leavesNoCopiesOfCheckpointsThatNeverComplete()
            throws Exception {
        append(writer, "a");
        SnapshotResult<ChangelogStateHandleStreamImpl> restored = persist();
        confirm();
        long restoredId = checkpoint;
        for (int i = 0; i < 100; i++) {
            restart();
            writer.restoredFrom(restoredId);
            append(writer, "b");
            persist();
            if (i % 2 == 0) {
                writer.truncate(writer.nextSequenceNumber());
            }
        }
        disk.runAll();
        assertThat(copies()).as("of the restored checkpoint, and of the last attempt").hasSize(2);
        assertCopied(restored, "a");

        SnapshotResult<ChangelogStateHandleStreamImpl> later = persist();
        confirm();
        restart();
        writer.restoredFrom(checkpoint);
        disk.runAll();
        assertCopied(later, "b");
    }

    @Test
    void taskRestoredFromACheckpointOfWhichItWasNotTold_stillRecoversFromItsCopies()
            throws Exception {
        append(writer, "a");
        SnapshotResult<ChangelogStateHandleStreamImpl> restored = persist();
        long restoredId = checkpoint;
        for (int i = 0; i < 3; i++) {
            restart();
            writer.restoredFrom(restoredId);
            disk.runAll();
            assertCopied(restored, "a");
            append(writer, "b");
            persist();
        }
    }

    @Test
    void taskThatDoesNotKnowWhatItWasRestoredFrom_keepsTheCopiesOfTheLatestCheckpoint()
            throws Exception {
        append(writer, "a");
        SnapshotResult<ChangelogStateHandleStreamImpl> restored = persist();
        confirm();
        for (int i = 0; i < 10; i++) {
            restart();
            writer.restoredFromLatest();
            append(writer, "b");
            persist();
        }
        disk.runAll();
        assertThat(copies()).hasSize(2);
        assertCopied(restored, "a");
    }

    private void restart() {
        writer.close();
        writer = log.writerOf(OPERATOR);
    }

    @Test
    void taskRestartedTwice_stillRecoversFromTheFirstCopies() throws Exception {
        append(writer, "a");
        SnapshotResult<ChangelogStateHandleStreamImpl> first = persist();
        confirm();
        writer.close();
        writer = log.writerOf(OPERATOR);
        append(writer, "b");
        SnapshotResult<ChangelogStateHandleStreamImpl> second = persist();
        confirm();
        writer.close();
        writer = log.writerOf(OPERATOR);
        append(writer, "c");
        persist();
        confirm();
        disk.runAll();
        assertCopied(first, "a");
        assertCopied(second, "b");
    }

    @Test
    void taskRestartedAfterATruncation_stillRecoversFromWhatTheLatestCheckpointContains()
            throws Exception {
        append(writer, "a");
        SnapshotResult<ChangelogStateHandleStreamImpl> latest = persist();
        confirm();
        writer.truncate(writer.nextSequenceNumber());
        writer.close();

        writer = log.writerOf(OPERATOR);
        append(writer, "b");
        SnapshotResult<ChangelogStateHandleStreamImpl> next = persist();
        confirm();
        disk.runAll();
        assertCopied(latest, "a");

        writer.truncate(writer.nextSequenceNumber());
        writer.close();
        writer = log.writerOf(OPERATOR);
        append(writer, "c");
        persist();
        confirm();
        disk.runAll();
        assertCopied(latest, "a");
        assertCopied(next, "b");

        SequenceNumber base = writer.nextSequenceNumber();
        writer.truncate(base);
        append(writer, "d");
        persistFrom(base);
        confirm();
        disk.runAll();
        assertThat(copies()).hasSize(1);
    }

    @Test
    void taskRestartedAfterATruncation_stillRecoversFromCopiesOfAnEarlierProcess()
            throws Exception {
        Path died = copyOfAnEarlierProcess();
        append(writer, "a");
        persist();
        confirm();
        writer.truncate(writer.nextSequenceNumber());
        writer.close();

        writer = log.writerOf(OPERATOR);
        append(writer, "b");
        persist();
        confirm();
        disk.runAll();
        assertThat(died).as("restored from the checkpoint before the truncation").exists();

        SequenceNumber base = writer.nextSequenceNumber();
        writer.truncate(base);
        append(writer, "c");
        persistFrom(base);
        confirm();
        disk.runAll();
        assertThat(died).doesNotExist();
    }

    @Test
    void
            taskThatTruncatesBeforeItsFirstCheckpointAndFails_stillRecoversFromCopiesOfAnEarlierProcess()
                    throws Exception {
        Path died = copyOfAnEarlierProcess();
        append(writer, "a");
        persist();
        confirm();
        writer.close();

        writer = log.writerOf(OPERATOR);
        append(writer, "b");
        writer.truncate(writer.nextSequenceNumber());
        writer.close();

        writer = log.writerOf(OPERATOR);
        append(writer, "c");
        persist();
        confirm();
        disk.runAll();
        assertThat(died).as("restored from the checkpoint before the truncation").exists();

        SequenceNumber base = writer.nextSequenceNumber();
        writer.truncate(base);
        append(writer, "d");
        persistFrom(base);
        confirm();
        disk.runAll();
        assertThat(died).doesNotExist();
    }

    @Test
    void copiesOfAnotherJob_areLeft_whileFlinkHasLocalStateOfTheJobOnAnyDisk() throws Exception {
        String job = "00000000000000000000000000000007";
        Path died =
                Files.createDirectories(
                        disks.resolve("other")
                                .resolve("dstl_jid_" + job)
                                .resolve("0000000000000-0000000000000001"));
        Path ofFlink =
                Files.createDirectories(
                        disks.resolve("one").resolve("aid_4567").resolve("jid_" + job));

        open(new Configuration(), "one", "other");
        assertThat(died).as("the local state may refer to copies on every disk").exists();

        Files.delete(ofFlink);
        open(new Configuration(), "one", "other");
        assertThat(died).doesNotExist();
    }

    @Test
    void taskThatMovedToAnotherTaskManager_leavesNoCopiesForEver() throws Exception {
        DstlLogWriter other = log.writerOf("other");
        append(writer, "a");
        persist();
        confirm();
        writer.close();
        disk.runAll();
        assertThat(copies()).hasSize(1);
        append(other, "b");
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> persist =
                other.persist(other.initialSequenceNumber(), ++checkpoint);
        log.passLinger();
        assertThat(persist).isDone();
        other.confirm(other.initialSequenceNumber(), other.nextSequenceNumber(), checkpoint);
        disk.runAll();
        assertThat(copies()).hasSize(1);
        other.close();
    }

    @Test
    void endOfTheJob_leavesNothing_notEvenOfAProcessThatDied() throws Exception {
        Path job = disks.resolve("disk").resolve("dstl_jid_" + LogFixture.JOB_ID);
        Path died = Files.createDirectories(job.resolve("0000000000000-0000000000000001"));
        Files.createFile(died.resolve("1.seg"));
        Path otherJob = Files.createDirectories(disks.resolve("disk").resolve("dstl_jid_other"));
        open(new Configuration(), "disk");
        append(writer, "a");
        persist();
        log.close();
        disk.runAll();
        assertThat(job).doesNotExist();
        assertThat(otherJob).exists();
    }

    @Test
    void copiesThatVanish_cost_neitherCompactions_norRestores() throws Exception {
        writer.addCompactionBoundary();
        List<String> expected = new ArrayList<>();
        for (int i = 1; i <= 600; i++) {
            append(writer, "change " + i);
            expected.add("change " + i);
            SnapshotResult<ChangelogStateHandleStreamImpl> result = persist();
            assertThat(remote(result).getHandlesAndOffsets()).hasSizeLessThan(64);
            log.timers().advanceMillis(100);
            if (i % 7 == 0) {
                for (Path copy : copies()) {
                    Files.delete(copy);
                }
                assertThat(texts(local(result))).isEqualTo(expected);
            }
        }
        assertThat(log.metrics().count("numberOfCompactions")).isGreaterThan(30);
        assertThat(log.metrics().count("numberOfCompactionFailures")).isZero();
        assertThat(log.metrics().count("numberOfLocalCopyFailures")).isPositive();
    }

    @Test
    void compactionThatCannotReadTheStore_leavesCopiesThatAreCompleteMeanwhile() throws Exception {
        open(new Configuration().set(DstlOptions.COMPACTION_MIN_RUNS, 2), "disk");
        writer.addCompactionBoundary();
        log.store()
                .beforeReads(
                        file -> {
                            disk.runAll();
                            throw new IOException("Reading is not possible");
                        });
        for (int i = 0; i < 4; i++) {
            append(writer, "a");
            startPersist().get();
        }
        disk.runAll();
        assertThat(log.metrics().count("numberOfCompactionFailures")).isPositive();
        assertThat(copies()).hasSize(4);
    }

    @Test
    void copiesThatAreDamaged_cost_neitherCompactions_norRestores() throws Exception {
        writer.addCompactionBoundary();
        List<String> expected = new ArrayList<>();
        Set<Path> damaged = new HashSet<>();
        for (int i = 1; i <= 300; i++) {
            append(writer, "change " + i);
            expected.add("change " + i);
            SnapshotResult<ChangelogStateHandleStreamImpl> result = persist();
            assertThat(remote(result).getHandlesAndOffsets()).hasSizeLessThan(64);
            assertThat(copies()).isNotEmpty();
            for (Path copy : copies()) {
                if (damaged.add(copy)) {
                    byte[] bytes = Files.readAllBytes(copy);
                    bytes[bytes.length / 3] ^= 1;
                    Files.write(copy, bytes);
                }
            }
            assertThat(texts(local(result))).isEqualTo(expected);
        }
        assertThat(log.metrics().count("numberOfCompactions")).isPositive();
        assertThat(log.metrics().count("numberOfCompactionFailures")).isZero();
        assertThat(log.metrics().count("numberOfLocalCopyFailures")).isPositive();
    }

    private Path copyOfAnEarlierProcess() throws IOException {
        Path died =
                Files.createDirectories(
                        disks.resolve("disk")
                                .resolve("dstl_jid_" + LogFixture.JOB_ID)
                                .resolve("0000000000000-0000000000000001"));
        Files.createFile(died.resolve("1.seg"));
        return died;
    }

    private SnapshotResult<ChangelogStateHandleStreamImpl> persist() throws Exception {
        return persistFrom(SequenceNumber.of(0));
    }

    /** Copies are complete before the segment is uploaded. */
    private SnapshotResult<ChangelogStateHandleStreamImpl> persistFrom(SequenceNumber from)
            throws Exception {
        log.store()
                .failBy(
                        path -> {
                            disk.runAll();
                            return WriteFault.NONE;
                        });
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> persist =
                writer.persist(from, ++checkpoint);
        log.passLinger();
        assertThat(persist).isDone();
        return persist.get();
    }

    private Future<SnapshotResult<ChangelogStateHandleStreamImpl>> startPersist() {
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> persist =
                writer.persist(writer.initialSequenceNumber(), ++checkpoint);
        log.passLinger();
        return persist;
    }

    private void confirm() {
        SequenceNumber to = writer.nextSequenceNumber();
        writer.confirm(to, to, checkpoint);
    }

    /** Asserts that the copies of a checkpoint are there: without them, originals are read. */
    private static void assertCopied(
            SnapshotResult<ChangelogStateHandleStreamImpl> checkpoint, String text)
            throws Exception {
        assertThat(filesOf(local(checkpoint)))
                .hasSize(1)
                .allSatisfy(file -> assertThat(Path.of(URI.create(file))).exists());
        assertThat(texts(local(checkpoint))).containsExactly(text);
    }

    private static ChangelogStateHandleStreamImpl remote(
            SnapshotResult<ChangelogStateHandleStreamImpl> result) {
        return result.getJobManagerOwnedSnapshot();
    }

    private static ChangelogStateHandleStreamImpl local(
            SnapshotResult<ChangelogStateHandleStreamImpl> result) {
        return result.getTaskLocalSnapshot();
    }

    private List<Path> copies() {
        return copiesBelow("disk");
    }

    private List<Path> copiesBelow(String root) {
        try (Stream<Path> files = Files.walk(disks.resolve(root))) {
            return files.filter(file -> file.toString().endsWith(".seg"))
                    .collect(Collectors.toList());
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }
}
