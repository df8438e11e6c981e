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

import dev.dstl.log.config.DstlOptions;
import dev.dstl.log.testing.LogFixture;
import dev.dstl.log.testing.ManualExecutor;
import dev.dstl.log.testing.WriteFault;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;
import org.apache.flink.runtime.state.changelog.SequenceNumber;
import org.apache.flink.runtime.state.memory.ByteStreamStateHandle;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Small batches that are not durable travel inline in the handle. */
class InlineTailTest {

    private static final int THRESHOLD = 4 << 10;
    private static final long MAX_AGE_MILLIS = 5_000;

    private final ManualExecutor executor = new ManualExecutor();
    private final LogFixture log =
            LogFixture.on(
                    executor,
                    new Configuration()
                            .set(DstlOptions.INLINE_THRESHOLD, new MemorySize(THRESHOLD))
                            .set(DstlOptions.MAX_AGE, Duration.ofMillis(MAX_AGE_MILLIS)));
    private final DstlLogWriter writer = log.writer();

    @AfterEach
    void close() {
        writer.close();
        executor.runAll();
        assertThat(log.budget().reservedBytes()).as("bytes in flight").isZero();
        log.close();
    }

    @Test
    void smallTail_isInTheHandle_andNoRequestIsMade() throws Exception {
        append(writer, "a");
        append(writer, "b");
        ChangelogStateHandleStreamImpl handle = persisted();
        assertThat(texts(handle)).containsExactly("a", "b");
        assertThat(inlineParts(handle)).hasSize(1);
        assertThat(log.store().requests("create")).isZero();
        assertThat(handle.getStateSize()).isPositive();
        assertThat(handle.getCheckpointedSize()).isEqualTo(handle.getStateSize());
    }

    @Test
    void encoding_isNotTheTasksWork() {
        append(writer, "a");
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> persist = persistAll(writer);
        assertThat(persist).isNotDone();
        assertThat(executor.size()).isEqualTo(1);
        executor.runAll();
        assertThat(persist).isDone();
    }

    @Test
    void severalBatches_travelInASegmentEach_soThatNoneIsWrittenTwice() throws Exception {
        append(writer, "a");
        writer.nextSequenceNumber();
        append(writer, "b");
        writer.nextSequenceNumber();
        append(writer, "c");
        ChangelogStateHandleStreamImpl handle = persisted();
        assertThat(handle.getHandlesAndOffsets()).hasSize(3);
        assertThat(inlineParts(handle)).hasSize(3);
        assertThat(texts(handle)).containsExactly("a", "b", "c");
    }

    @Test
    void batchInSeveralCheckpoints_isTheSameSegmentInEach() throws Exception {
        append(writer, "a");
        ChangelogStateHandleStreamImpl first = persisted();
        append(writer, "b");
        ChangelogStateHandleStreamImpl second = persisted();
        assertThat(texts(second)).containsExactly("a", "b");
        assertThat(inlineParts(second)).hasSize(2).contains(inlineParts(first).get(0));
        assertThat(inlineParts(second).get(0).getData())
                .isSameAs(inlineParts(first).get(0).getData());
    }

    @Test
    void names_areUniqueForEver() throws Exception {
        DstlLogWriter other = log.writer();
        append(writer, "a");
        append(other, "a");
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> persist = persistAll(other);
        ByteStreamStateHandle mine = inlineParts(persisted()).get(0);
        ByteStreamStateHandle others = inlineParts(handleOf(persist)).get(0);
        assertThat(mine).isNotEqualTo(others);
        assertThat(mine.getHandleName()).matches("dstl-inline/[0-9a-f-]{36}/0-0");
        other.close();
    }

    @Test
    void smallTail_waitsBehindAPersistThatWaits_soThatNoCheckpointLacksASegmentInBetween()
            throws Exception {
        append(writer, "small");
        writer.nextSequenceNumber();
        log.store().failNext(WriteFault.FAIL_ON_CLOSE);
        passTime(MAX_AGE_MILLIS + 100);
        append(writer, "x".repeat(THRESHOLD));
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> first = persistAll(writer);
        log.passLinger();
        executor.runAll();
        assertThat(log.store().segments()).as("the large batch is durable").hasSize(1);
        assertThat(first).as("the small batch is not").isNotDone();

        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> second =
                writer.persist(writer.initialSequenceNumber(), 2);
        executor.runAll();
        passTime(MAX_AGE_MILLIS);

        assertThat(filesOf(handleOf(first))).hasSize(2);
        assertThat(filesOf(handleOf(second))).isEqualTo(filesOf(handleOf(first)));
        assertThat(inlineParts(handleOf(second))).isEmpty();
    }

    @Test
    void smallTail_doesNotWaitBehindACheckpointThatWasAborted() throws Exception {
        append(writer, "small");
        writer.nextSequenceNumber();
        log.store().failNext(WriteFault.FAIL_ON_CLOSE);
        passTime(MAX_AGE_MILLIS + 100);
        append(writer, "x".repeat(THRESHOLD));
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> aborted = persistAll(writer);
        log.passLinger();
        executor.runAll();
        assertThat(log.store().segments()).as("the large batch is durable").hasSize(1);
        aborted.cancel(false);

        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> next =
                writer.persist(writer.initialSequenceNumber(), 2);
        executor.runAll();

        assertThat(next).isDone();
        assertThat(inlineParts(handleOf(next))).hasSize(1);
        assertThat(filesOf(handleOf(next))).hasSize(1);
    }

    @Test
    void checkpointAfterAnAbortedOne_countsWhatTheAbortedOneDidNotDeliver() throws Exception {
        append(writer, "x".repeat(THRESHOLD));
        persistAll(writer).cancel(false);
        log.passLinger();
        executor.runAll();
        assertThat(log.store().segments()).hasSize(1);

        ChangelogStateHandleStreamImpl next = persisted();

        assertThat(next.getStateSize()).isPositive();
        assertThat(next.getCheckpointedSize()).isEqualTo(next.getStateSize());
    }

    @Test
    void abortedCheckpoint_holdsNoMemory_onceItsBatchesAreTruncated() {
        append(writer, "x".repeat(THRESHOLD));
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> aborted = persistAll(writer);
        SequenceNumber end = writer.nextSequenceNumber();
        aborted.cancel(false);

        writer.truncate(end);
        executor.runAll();

        assertThat(log.budget().reservedBytes()).isZero();
        assertThat(log.store().segments()).isEmpty();
    }

    @Test
    void smallTail_waitsBehindAnotherLogsEarlierCheckpoint_whichMayBeForTheSameSegment()
            throws Exception {
        DstlLogWriter other = log.writer();
        append(writer, "small");
        writer.nextSequenceNumber();
        append(other, "x".repeat(THRESHOLD));
        log.store().failNext(WriteFault.FAIL_ON_CLOSE);
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> first = persistAll(other);
        log.passLinger();
        executor.runAll();
        assertThat(first).as("a segment with batches of both changelogs").isNotDone();

        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> sameCheckpoint = persistAll(writer);
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> nextCheckpoint =
                writer.persist(writer.initialSequenceNumber(), 2);
        executor.runAll();
        assertThat(inlineParts(handleOf(sameCheckpoint))).hasSize(1);
        assertThat(nextCheckpoint).isNotDone();
        passTime(MAX_AGE_MILLIS);

        assertThat(filesOf(handleOf(nextCheckpoint))).isEqualTo(filesOf(handleOf(first)));
        other.close();
    }

    @Test
    void oldTail_goesIntoASegment_andLaterCheckpointsNameThat() throws Exception {
        append(writer, "a");
        ChangelogStateHandleStreamImpl before = persisted();
        assertThat(filesOf(before)).isEmpty();
        passTime(MAX_AGE_MILLIS + 100);
        assertThat(log.store().segments()).hasSize(1);

        ChangelogStateHandleStreamImpl after = persisted();

        assertThat(inlineParts(after)).isEmpty();
        assertThat(filesOf(after)).hasSize(1);
        assertThat(texts(after)).isEqualTo(texts(before)).containsExactly("a");
        assertThat(log.store().segments()).hasSize(1);
    }

    @Test
    void tailThatIsTooLarge_isUploadedAsAWhole_andWaitedFor() throws Exception {
        append(writer, "a");
        assertThat(filesOf(persisted())).isEmpty();
        append(writer, "x".repeat(THRESHOLD));
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> persist = persistAll(writer);
        executor.runAll();
        assertThat(persist).isNotDone();
        log.passLinger();
        executor.runAll();

        assertThat(filesOf(handleOf(persist))).hasSize(1);
        assertThat(inlineParts(handleOf(persist))).isEmpty();
        assertThat(texts(handleOf(persist))).containsExactly("a", "x".repeat(THRESHOLD));
    }

    @Test
    void manySmallCheckpoints_goIntoOneSegment_asSoonAsTheyAreTooMuch() throws Exception {
        String text = "x".repeat(100);
        int checkpoints = 0;
        while (log.store().segments().isEmpty()) {
            append(writer, text);
            Future<SnapshotResult<ChangelogStateHandleStreamImpl>> persist = persistAll(writer);
            checkpoints++;
            log.passLinger();
            executor.runAll();
            assertThat(texts(handleOf(persist))).hasSize(checkpoints);
        }
        assertThat(checkpoints).isBetween(7, THRESHOLD / text.length() + 1);
        assertThat(inlineParts(persisted())).isEmpty();
        assertThat(texts(persisted())).hasSize(checkpoints);
        assertThat(log.store().segments()).hasSize(1);
    }

    @Test
    void inlinePart_staysBounded_howeverManyCheckpointsThereAre() throws Exception {
        for (int checkpoint = 1; checkpoint <= 300; checkpoint++) {
            append(writer, "x".repeat(checkpoint % 90));
            Future<SnapshotResult<ChangelogStateHandleStreamImpl>> persist = persistAll(writer);
            passTime(250);
            long inlineBytes = 0;
            for (ByteStreamStateHandle part : inlineParts(handleOf(persist))) {
                inlineBytes += part.getStateSize();
            }
            assertThat(inlineBytes).isLessThanOrEqualTo(THRESHOLD + 300);
            assertThat(texts(handleOf(persist))).hasSize(checkpoint);
        }
    }

    @Test
    void inlinePart_isNoLargerThanTheThresholdAndOneFrame_howeverSmallTheBatchesAre()
            throws Exception {
        log.store().failAlways(WriteFault.FAIL_ON_CREATE);
        int checkpoints = 0;
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> persist;
        do {
            append(writer, "a");
            persist = persistAll(writer);
            passTime(250);
            checkpoints++;
            if (persist.isDone()) {
                long inlineBytes = 0;
                for (ByteStreamStateHandle part : inlineParts(handleOf(persist))) {
                    inlineBytes += part.getStateSize() + part.getHandleName().length();
                }
                assertThat(inlineBytes)
                        .as("checkpoint %s", checkpoints)
                        .isLessThanOrEqualTo(THRESHOLD + 300);
            }
        } while (persist.isDone());
        assertThat(checkpoints).isGreaterThan(THRESHOLD / 300);

        log.store().failAlways(WriteFault.NONE);
        passTime(60_000);
        assertThat(texts(handleOf(persist))).hasSize(checkpoints);
        assertThat(inlineParts(handleOf(persist))).isEmpty();
    }

    @Test
    void uploadUnderWay_isNotWaitedFor_ifWhatItHasIsSmall() throws Exception {
        append(writer, "a");
        writer.nextSequenceNumber();
        log.timers().advanceMillis(MAX_AGE_MILLIS + 100);
        assertThat(executor.size()).as("the upload, which does not begin").isEqualTo(1);
        List<Runnable> upload = executor.takeAll();
        append(writer, "b");

        ChangelogStateHandleStreamImpl during = persisted();

        assertThat(texts(during)).containsExactly("a", "b");
        assertThat(filesOf(during)).isEmpty();
        upload.forEach(Runnable::run);
        assertThat(filesOf(persisted())).hasSize(1);
        assertThat(texts(persisted())).containsExactly("a", "b");
    }

    @Test
    void batchThatIsEncodedForItsUpload_canStillTravelInTheHandle() throws Exception {
        log.store().failAlways(WriteFault.FAIL_ON_WRITE);
        append(writer, "a");
        writer.nextSequenceNumber();
        passTime(MAX_AGE_MILLIS + 100);
        assertThat(log.store().requests("create")).isPositive();
        assertThat(texts(persisted())).containsExactly("a");
    }

    @Test
    void outageOfTheStore_doesNotDelayCheckpointsWithASmallTail() throws Exception {
        log.store().failAlways(WriteFault.FAIL_ON_CREATE);
        for (int checkpoint = 1; checkpoint <= 10; checkpoint++) {
            append(writer, "a");
            assertThat(texts(persisted())).hasSize(checkpoint);
            passTime(MAX_AGE_MILLIS);
        }
    }

    /** Other changelogs may rely on this checkpoint not naming the segment. */
    @Test
    void batchThatBecomesDurableWhileItIsEncoded_stillTravelsInTheHandle() throws Exception {
        append(writer, "a");
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> persist = persistAll(writer);
        List<Runnable> encoding = executor.takeAll();
        passTime(MAX_AGE_MILLIS + 100);
        assertThat(log.store().segments()).hasSize(1);
        assertThat(persist).isNotDone();
        encoding.forEach(Runnable::run);
        assertThat(filesOf(handleOf(persist))).isEmpty();
        assertThat(texts(handleOf(persist))).containsExactly("a");
        assertThat(inlineParts(persisted())).isEmpty();
    }

    @Test
    void persistThatFailsAsItCompletes_leavesNoOtherHanging() throws Exception {
        append(writer, "a");
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> first =
                writer.persist(writer.initialSequenceNumber(), 1);
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> second =
                writer.persist(writer.initialSequenceNumber(), 2);
        log.metrics().failNext("numberOfInlinePersists");
        executor.runAll();
        assertThat(first).isDone();
        assertThatThrownBy(first::get).hasMessageContaining("fails once");
        assertThat(texts(handleOf(second))).containsExactly("a");
        assertThat(texts(persisted())).containsExactly("a");
    }

    @Test
    void inlinePart_handsNoSegmentOut() throws Exception {
        append(writer, "a");
        ChangelogStateHandleStreamImpl handle = persisted();
        passTime(MAX_AGE_MILLIS + 100);
        assertThat(log.store().segments()).hasSize(1);
        writer.close();
        executor.runAll();
        assertThat(log.store().segments()).as("no handle names it").isEmpty();
        assertThat(texts(handle)).containsExactly("a");
    }

    @Test
    void tailThatIsTruncated_isNeverUploaded() throws Exception {
        append(writer, "a");
        persisted();
        writer.truncate(writer.nextSequenceNumber());
        passTime(3 * MAX_AGE_MILLIS);
        assertThat(log.store().requests("create")).isZero();
        assertThat(log.budget().reservedBytes()).isZero();
    }

    @Test
    void truncating_doesNotAffectAPersistThatIsBeingEncoded() throws Exception {
        append(writer, "a");
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> persist = persistAll(writer);
        writer.truncate(writer.nextSequenceNumber());
        executor.runAll();
        assertThat(texts(handleOf(persist))).containsExactly("a");
    }

    @Test
    void closing_cancelsAPersistThatIsBeingEncoded() {
        append(writer, "a");
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> persist = persistAll(writer);
        writer.close();
        assertThatThrownBy(persist::get).isInstanceOf(CancellationException.class);
    }

    @Test
    void concurrentCheckpoints_shareTheEncoding() throws Exception {
        append(writer, "a");
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> first = persistAll(writer);
        append(writer, "b");
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> second = persistAll(writer);
        executor.runAll();
        assertThat(texts(handleOf(first))).containsExactly("a");
        assertThat(texts(handleOf(second))).containsExactly("a", "b");
        assertThat(inlineParts(handleOf(second))).contains(inlineParts(handleOf(first)).get(0));
    }

    @Test
    void smallTail_goesAlongWithTheSegmentOfAnotherTask() throws Exception {
        DstlLogWriter large = log.writer();
        append(writer, "a");
        assertThat(persistAll(large)).isDone();
        persisted();
        append(large, "x".repeat(THRESHOLD));
        large.nextSequenceNumber();
        log.passLinger();
        executor.runAll();
        assertThat(log.store().segments()).hasSize(1);
        assertThat(filesOf(persisted())).hasSize(1);
        large.close();
    }

    @Test
    void oldActiveBatch_isUploadedEvenIfItIsSmall() {
        append(writer, "a");
        passTime(2 * MAX_AGE_MILLIS);
        append(writer, "b");
        log.passLinger();
        executor.runAll();
        assertThat(log.store().segments()).hasSize(1);
    }

    @Test
    void rangeThatBeginsBehindALargeBatch_isSmall() throws Exception {
        log.store().failAlways(WriteFault.FAIL_ON_CREATE);
        append(writer, "x".repeat(THRESHOLD));
        SequenceNumber behind = writer.nextSequenceNumber();
        writer.truncate(behind);
        append(writer, "a");
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> persist = writer.persist(behind, 1);
        executor.runAll();
        assertThat(texts(handleOf(persist))).containsExactly("a");
    }

    private ChangelogStateHandleStreamImpl persisted() throws Exception {
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> persist = persistAll(writer);
        executor.runAll();
        assertThat(persist).isDone();
        return handleOf(persist);
    }

    private void passTime(long millis) {
        for (long passed = 0; passed < millis; passed += 50) {
            log.timers().advanceMillis(50);
            executor.runAll();
        }
    }

    private static List<ByteStreamStateHandle> inlineParts(ChangelogStateHandleStreamImpl handle) {
        List<ByteStreamStateHandle> parts = new ArrayList<>();
        handle.getHandlesAndOffsets()
                .forEach(
                        position -> {
                            if (position.f0 instanceof ByteStreamStateHandle) {
                                parts.add((ByteStreamStateHandle) position.f0);
                            }
                        });
        return parts.stream().distinct().collect(Collectors.toList());
    }
}
