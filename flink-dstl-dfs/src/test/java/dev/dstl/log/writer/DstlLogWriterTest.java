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

package dev.dstl.log.writer;

import static dev.dstl.log.testing.LogFixture.append;
import static dev.dstl.log.testing.LogFixture.filesOf;
import static dev.dstl.log.testing.LogFixture.handleOf;
import static dev.dstl.log.testing.LogFixture.persistAll;
import static dev.dstl.log.testing.LogFixture.texts;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.dstl.log.batch.PagePool;
import dev.dstl.log.config.DstlOptions;
import dev.dstl.log.memory.JobMemory;
import dev.dstl.log.memory.MemoryUse;
import dev.dstl.log.testing.LogFixture;
import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.Future;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.core.fs.Path;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;
import org.apache.flink.runtime.state.changelog.SequenceNumber;
import org.apache.flink.runtime.state.filesystem.FileStateHandle;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class DstlLogWriterTest {

    private static final int LARGE = 1 << 10;

    private final LogFixture log =
            LogFixture.onCallingThread(
                    new Configuration()
                            .set(DstlOptions.PREEMPTIVE_PERSIST_THRESHOLD, new MemorySize(LARGE))
                            .set(DstlOptions.MAX_AGE, Duration.ofSeconds(5)));
    private final DstlLogWriter writer = log.writer();

    @AfterEach
    void close() {
        writer.close();
        assertThat(log.budget().reservedBytes()).as("bytes in flight").isZero();
        log.close();
    }

    @Test
    void persist_givesEverythingSinceTheSequenceNumberInOrder() throws Exception {
        append(writer, "a");
        SequenceNumber afterA = writer.nextSequenceNumber();
        append(writer, "b");
        writer.nextSequenceNumber();
        append(writer, "c");
        assertThat(texts(persisted(afterA))).containsExactly("b", "c");
        assertThat(texts(persisted(writer.initialSequenceNumber()))).containsExactly("a", "b", "c");
    }

    @Test
    void batchThatCannotBeSealed_keepsItsRecords_andLeavesNoGap() throws Exception {
        try (LogFixture large =
                LogFixture.onCallingThread(
                        new Configuration()
                                .set(
                                        DstlOptions.PREEMPTIVE_PERSIST_THRESHOLD,
                                        MemorySize.ofMebiBytes(64)))) {
            DstlLogWriter failing = large.writer();
            append(failing, "a");
            failing.append(1, new byte[PagePool.PAGE_BYTES]);
            JobMemory memory = large.budget().memory();
            memory.release(MemoryUse.ACTIVE, PagePool.PAGE_BYTES);
            assertThatThrownBy(failing::nextSequenceNumber)
                    .hasMessageStartingWith("Cannot release");
            memory.reserve(MemoryUse.ACTIVE, PagePool.PAGE_BYTES);

            append(failing, "b");
            Future<SnapshotResult<ChangelogStateHandleStreamImpl>> persist = persistAll(failing);
            large.passLinger();

            assertThat(texts(handleOf(persist))).hasSize(3).startsWith("a").endsWith("b");
            failing.close();
        }
    }

    @Test
    void sequenceNumber_movesOnlyWithAppends() {
        assertThat(writer.nextSequenceNumber()).isEqualTo(writer.initialSequenceNumber());
        append(writer, "a");
        SequenceNumber afterA = writer.nextSequenceNumber();
        assertThat(afterA).isEqualTo(writer.initialSequenceNumber().next());
        assertThat(writer.nextSequenceNumber()).isEqualTo(afterA);
    }

    @Test
    void nothingToPersist_isAnEmptyResultWithoutAnyFile() throws Exception {
        append(writer, "a");
        SequenceNumber end = writer.nextSequenceNumber();
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> persist = writer.persist(end, 1);
        assertThat(persist).isDone();
        assertThat(persist.get()).isEqualTo(SnapshotResult.empty());
    }

    @Test
    void handle_namesAbsoluteFilesWithTheirLengthAndOurIdentifier() throws Exception {
        append(writer, "a");
        ChangelogStateHandleStreamImpl handle = persisted(writer.initialSequenceNumber());
        assertThat(handle.getStorageIdentifier()).isEqualTo("dstl");
        assertThat(handle.getKeyGroupRange()).isEqualTo(LogFixture.KEY_GROUPS);
        FileStateHandle segment = (FileStateHandle) handle.getHandlesAndOffsets().get(0).f0;
        Path file = segment.getFilePath();
        assertThat(log.store().segments()).containsExactly(file);
        assertThat(segment.getStateSize())
                .isEqualTo(file.getFileSystem().getFileStatus(file).getLen());
        assertThat(handle.getStateSize()).isPositive().isLessThan(segment.getStateSize());
    }

    @Test
    void overlappingPersists_uploadEachBatchOnce() throws Exception {
        append(writer, "a");
        ChangelogStateHandleStreamImpl first = persisted(writer.initialSequenceNumber());
        append(writer, "b");
        ChangelogStateHandleStreamImpl second = persisted(writer.initialSequenceNumber());
        ChangelogStateHandleStreamImpl third = persisted(writer.initialSequenceNumber());

        assertThat(log.store().segments()).hasSize(2);
        assertThat(filesOf(second)).startsWith(filesOf(first).get(0)).hasSize(2);
        assertThat(first.getCheckpointedSize()).isEqualTo(first.getStateSize());
        assertThat(second.getCheckpointedSize())
                .as("only what is new")
                .isEqualTo(second.getStateSize() - first.getStateSize());
        assertThat(third.getStateSize()).isEqualTo(second.getStateSize());
        assertThat(third.getCheckpointedSize()).isZero();
    }

    @Test
    void batchesThatCameTogether_lieBehindEachOtherInOneSegment() throws Exception {
        append(writer, "a");
        writer.nextSequenceNumber();
        append(writer, "b");
        ChangelogStateHandleStreamImpl handle = persisted(writer.initialSequenceNumber());
        assertThat(filesOf(handle)).hasSize(1);
        assertThat(handle.getHandlesAndOffsets()).hasSize(2);
        assertThat(handle.getHandlesAndOffsets().get(0).f1)
                .isLessThan(handle.getHandlesAndOffsets().get(1).f1);
        assertThat(texts(handle)).containsExactly("a", "b");
    }

    @Test
    void largeBatch_isUploadedWithoutACheckpoint() throws Exception {
        append(writer, "x".repeat(LARGE));
        log.passLinger();
        assertThat(log.store().segments()).hasSize(1);
        assertThat(texts(persisted(writer.initialSequenceNumber())))
                .containsExactly("x".repeat(LARGE));
        assertThat(log.store().segments()).hasSize(1);
    }

    @Test
    void oldBatch_isUploadedWithoutACheckpoint() {
        append(writer, "a");
        log.timers().advanceMillis(10_000);
        assertThat(log.store().segments()).as("the task did not append since").isEmpty();
        append(writer, "b");
        log.passLinger();
        assertThat(log.store().segments()).hasSize(1);
    }

    @Test
    void firstRecordAfterAPause_isNotOld() {
        log.timers().advanceMillis(60_000);
        append(writer, "a");
        log.passLinger();
        assertThat(log.store().segments()).isEmpty();
    }

    @Test
    void batchThatCheckpointsKeepYoung_isNotSealedForItsAge() throws Exception {
        for (int checkpoint = 0; checkpoint < 20; checkpoint++) {
            append(writer, "a");
            append(writer, "b");
            persisted(writer.initialSequenceNumber());
            log.timers().advanceMillis(1_000);
        }
        assertThat(log.store().segments()).hasSize(20);
    }

    @Test
    void appendAfterClose_isAnError() {
        writer.close();
        assertThatThrownBy(() -> append(writer, "a"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage(
                        "The changelog of this task is closed, nothing can be appended or"
                                + " persisted");
        assertThatThrownBy(() -> writer.appendMeta(new byte[1]))
                .isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> writer.persist(SequenceNumber.of(0), 1))
                .isInstanceOf(IllegalStateException.class);
    }

    @Test
    void truncateAfterClose_findsNothingToDo() {
        append(writer, "a");
        SequenceNumber end = writer.nextSequenceNumber();
        writer.close();
        writer.truncate(end);
        assertThat(writer.nextSequenceNumber()).isEqualTo(end);
    }

    @Test
    void persistUnderWayWhenTheWriterCloses_isCancelledInsteadOfHanging() {
        append(writer, "a");
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> persist =
                writer.persist(writer.initialSequenceNumber(), 1);
        assertThat(persist).isNotDone();
        writer.close();
        assertThatThrownBy(persist::get).isInstanceOf(CancellationException.class);
        log.passLinger();
        assertThat(log.store().files()).as("nobody needs the batch").isEmpty();
    }

    @Test
    void closingTwice_isFine() {
        writer.truncateAndClose(writer.initialSequenceNumber());
        writer.close();
    }

    @Test
    void closingThatFailsAtFirst_cancelsPersistsAndReleasesEverythingAllTheSame() {
        try (LogFixture failing = LogFixture.onCallingThread(new Configuration())) {
            DstlLogWriter closing = failing.writer();
            append(closing, "a");
            Future<SnapshotResult<ChangelogStateHandleStreamImpl>> persist =
                    closing.persist(closing.initialSequenceNumber(), 1);
            append(closing, "x".repeat(2 * PagePool.PAGE_BYTES));
            // From now on, discarding the active batch throws.
            JobMemory memory = failing.budget().memory();
            memory.release(MemoryUse.ACTIVE, memory.process().reservedBytes(MemoryUse.ACTIVE));

            assertThatThrownBy(closing::close).isInstanceOf(IllegalStateException.class);

            assertThat(persist).isCancelled();
            assertThat(failing.budget().reservedBytes()).isZero();
            failing.passLinger();
            assertThat(failing.store().files()).as("nobody needs the batch").isEmpty();
        }
    }

    @Test
    void truncatedChanges_cannotBePersisted() {
        append(writer, "a");
        SequenceNumber afterA = writer.nextSequenceNumber();
        append(writer, "b");
        writer.truncate(afterA);
        assertThatThrownBy(() -> writer.persist(writer.initialSequenceNumber(), 1))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("Cannot persist [0, 2): the changelog contains [1, 2)");
    }

    @Test
    void changesNotYetAppended_canNeitherBePersistedNorTruncated() {
        assertThatThrownBy(() -> writer.persist(SequenceNumber.of(1), 1))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("Cannot persist [1, 0): the changelog contains [0, 0)");
        assertThatThrownBy(() -> writer.truncate(SequenceNumber.of(1)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("Cannot truncate [0, 1): the changelog contains [0, 0)");
    }

    @Test
    void truncating_doesNotAffectAPersistUnderWay() throws Exception {
        append(writer, "a");
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> persist =
                writer.persist(writer.initialSequenceNumber(), 1);
        writer.truncate(writer.nextSequenceNumber());
        log.passLinger();
        assertThat(texts(handleOf(persist))).containsExactly("a");
        assertThat(log.store().segments()).as("the checkpoint's").hasSize(1);
    }

    @Test
    void truncating_keepsWhatACheckpointWasGiven_andDeletesTheRest() throws Exception {
        append(writer, "a");
        ChangelogStateHandleStreamImpl handle = persisted(writer.initialSequenceNumber());
        append(writer, "x".repeat(LARGE));
        log.passLinger();
        assertThat(log.store().segments()).hasSize(2);

        writer.truncate(writer.nextSequenceNumber());

        assertThat(log.store().segments()).hasSize(1);
        assertThat(texts(handle)).containsExactly("a");
    }

    @Test
    void closing_keepsWhatACheckpointWasGiven_andDeletesTheRest() throws Exception {
        append(writer, "a");
        ChangelogStateHandleStreamImpl handle = persisted(writer.initialSequenceNumber());
        append(writer, "x".repeat(LARGE));
        log.passLinger();

        writer.truncateAndClose(SequenceNumber.of(1));

        assertThat(log.store().segments()).hasSize(1);
        assertThat(texts(handle)).containsExactly("a");
    }

    @Test
    void handleThatIsNeverSent_leavesItsSegmentToTheLog_whichDeletesItOnClosing() throws Exception {
        append(writer, "a");
        ChangelogStateHandleStreamImpl dropped = persisted(writer.initialSequenceNumber());
        writer.dropped(dropped);
        assertThat(log.store().segments()).as("the next checkpoint needs it").hasSize(1);
        writer.close();
        assertThat(log.store().segments()).isEmpty();
    }

    @Test
    void handleThatIsDroppedAfterClosing_takesItsSegmentAlong() throws Exception {
        append(writer, "a");
        ChangelogStateHandleStreamImpl dropped = persisted(writer.initialSequenceNumber());
        writer.close();
        assertThat(log.store().segments()).hasSize(1);
        writer.dropped(dropped);
        writer.dropped(dropped);
        assertThat(log.store().segments()).isEmpty();
    }

    @Test
    void segmentInAnotherHandleThatMayHaveBeenSent_survivesTheDroppedOne() throws Exception {
        append(writer, "a");
        ChangelogStateHandleStreamImpl dropped = persisted(writer.initialSequenceNumber());
        ChangelogStateHandleStreamImpl sent = persisted(writer.initialSequenceNumber());
        writer.dropped(dropped);
        writer.close();
        assertThat(texts(sent)).containsExactly("a");
    }

    @Test
    void persistThatIsCancelledMeanwhile_leavesNothingBehind() throws Exception {
        append(writer, "a");
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> persist =
                writer.persist(writer.initialSequenceNumber(), 1);
        persist.cancel(false);
        log.passLinger();
        assertThat(log.store().segments()).hasSize(1);
        writer.close();
        assertThat(log.store().segments()).isEmpty();
    }

    @Test
    void confirmingAndResetting_changeNothing() throws Exception {
        append(writer, "a");
        SequenceNumber from = writer.initialSequenceNumber();
        persisted(from);
        SequenceNumber to = writer.nextSequenceNumber();
        writer.reset(from, to, 1);
        assertThat(texts(persisted(from))).containsExactly("a");
        writer.confirm(from, to, 2);
        assertThat(texts(persisted(from))).containsExactly("a");
        assertThat(log.store().segments()).hasSize(1);
        assertThatThrownBy(() -> writer.confirm(to, from, 3))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("Cannot confirm [1, 0): the changelog contains [0, 1)");
    }

    private ChangelogStateHandleStreamImpl persisted(SequenceNumber from) throws Exception {
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> persist = writer.persist(from, 1);
        log.passLinger();
        assertThat(persist).isDone();
        return handleOf(persist);
    }
}
