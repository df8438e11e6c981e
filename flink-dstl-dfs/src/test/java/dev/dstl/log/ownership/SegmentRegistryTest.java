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

package dev.dstl.log.ownership;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.dstl.log.metrics.DstlMetrics;
import dev.dstl.log.store.SegmentContent;
import dev.dstl.log.store.SegmentName;
import dev.dstl.log.store.SegmentStore;
import dev.dstl.log.testing.LogLines;
import dev.dstl.log.testing.ManualTimers;
import dev.dstl.log.testing.RecordedMetrics;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import javax.annotation.Nullable;
import org.apache.flink.core.fs.Path;
import org.junit.jupiter.api.Test;

class SegmentRegistryTest {

    private static final Path FILE = new Path("s3://bucket/1.seg");

    private final ManualTimers timers = new ManualTimers();
    private final List<Path> deleted = new ArrayList<>();
    private final RecordedMetrics recorded = new RecordedMetrics();
    private int failingDeletes;

    /** Counted down by the next deletion, which then hangs until it is interrupted. */
    @Nullable private CountDownLatch hangingDelete;

    /** If set, that deletion ignores interrupts until this is counted down. */
    @Nullable private CountDownLatch store;

    @Nullable private Error failure;
    private final SegmentRegistry registry = registry(Runnable::run);

    @Test
    void segmentNeverHandedOver_isDeletedWithItsLastReference() {
        OwnedSegment segment = registry.open(2);
        registry.durable(segment, FILE);
        assertThat(registry.release(segment)).isFalse();
        assertThat(deleted).isEmpty();
        assertThat(registry.release(segment)).isTrue();
        assertThat(deleted).containsExactly(FILE);
        assertThat(segment.ownership()).isEqualTo(SegmentOwnership.NOBODY);
    }

    @Test
    void segmentHandedOver_isNeverDeletedHere() {
        OwnedSegment segment = registry.open(2);
        registry.durable(segment, FILE);
        registry.handOver(segment);
        registry.handOver(segment);
        registry.release(segment);
        registry.release(segment);
        assertThat(deleted).isEmpty();
        assertThat(segment.ownership()).isEqualTo(SegmentOwnership.JOB_MANAGER);
    }

    @Test
    void segmentWhoseOnlyHandleWasDropped_isDeletedWithItsLastReference() {
        OwnedSegment segment = registry.open(1);
        registry.durable(segment, FILE);
        registry.handOver(segment);
        registry.reclaim(segment);
        assertThat(segment.ownership()).isEqualTo(SegmentOwnership.TASK_MANAGER);
        assertThat(deleted).isEmpty();
        registry.release(segment);
        assertThat(deleted).containsExactly(FILE);
    }

    @Test
    void segmentWhoseOnlyHandleIsDroppedAfterItsLastReference_isDeletedThen() {
        OwnedSegment segment = registry.open(1);
        registry.durable(segment, FILE);
        registry.handOver(segment);
        registry.release(segment);
        assertThat(deleted).isEmpty();
        registry.reclaim(segment);
        assertThat(deleted).containsExactly(FILE);
    }

    @Test
    void segmentWithAnotherHandleThatMayHaveBeenSent_isNeverDeletedHere() {
        OwnedSegment segment = registry.open(1);
        registry.durable(segment, FILE);
        registry.handOver(segment);
        registry.handOver(segment);
        registry.reclaim(segment);
        registry.release(segment);
        assertThat(deleted).isEmpty();
        assertThat(segment.ownership()).isEqualTo(SegmentOwnership.JOB_MANAGER);
    }

    @Test
    void segmentReleasedBeforeItIsDurable_isDeletedWhenItIs() {
        OwnedSegment segment = registry.open(1);
        assertThat(registry.release(segment)).isTrue();
        assertThat(deleted).isEmpty();
        registry.durable(segment, FILE);
        assertThat(deleted).containsExactly(FILE);
    }

    @Test
    void segmentThatIsNotDurable_cannotBeHandedOver() {
        OwnedSegment segment = registry.open(1);
        assertThatThrownBy(() -> registry.handOver(segment))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("A segment cannot go from UPLOADING to JOB_MANAGER");
    }

    @Test
    void segmentWithoutReferences_cannotBeHandedOverNorReleased() {
        OwnedSegment segment = registry.open(1);
        registry.durable(segment, FILE);
        registry.release(segment);
        assertThatThrownBy(() -> registry.handOver(segment))
                .isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> registry.release(segment))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("A segment was released too often: s3://bucket/1.seg");
    }

    @Test
    void deleteThatFails_isTriedAgainLater() {
        failingDeletes = 2;
        registry.discardAttempt(FILE);
        assertThat(deleted).isEmpty();
        timers.advanceMillis(60_000);
        assertThat(deleted).containsExactly(FILE);
        assertThat(timers.pendingCount()).isZero();
    }

    @Test
    void deleteThatKeepsFailing_isGivenUp() {
        failingDeletes = Integer.MAX_VALUE;
        registry.discardAttempt(FILE);
        timers.advanceMillis(60_000);
        assertThat(timers.pendingCount()).isZero();
        assertThat(deleted).isEmpty();
    }

    @Test
    void fileThatIsDeletedTwice_countsOnce() {
        registry.discardAttemptTwice(FILE);
        timers.advanceMillis(60_000);
        assertThat(deleted).containsExactly(FILE, FILE);
        assertThat(recorded.count("numberOfDiscardedFiles")).isEqualTo(1);
        assertThat(recorded.count("numberOfDiscardFailures")).isZero();
    }

    @Test
    void fileThatCanNeverBeDeleted_countsAsOneFailure() {
        failingDeletes = Integer.MAX_VALUE;
        registry.discardAttemptTwice(FILE);
        timers.advanceMillis(120_000);
        assertThat(timers.pendingCount()).isZero();
        assertThat(recorded.count("numberOfDiscardFailures")).isEqualTo(1);
        assertThat(recorded.count("numberOfDiscardedFiles")).isZero();
    }

    @Test
    void fileThatIsDeletedAfterAnOutage_isNoFailure_andNobodyIsAskedToDeleteIt() {
        failingDeletes = 4;
        try (LogLines lines = new LogLines()) {
            registry.discardAttemptTwice(FILE);
            timers.advanceMillis(120_000);
            assertThat(lines.containing("Could not delete")).isEmpty();
        }
        assertThat(deleted).containsExactly(FILE);
        assertThat(recorded.count("numberOfDiscardFailures")).isZero();
        assertThat(recorded.count("numberOfDiscardedFiles")).isEqualTo(1);
    }

    @Test
    void fileThatIsDeletedTwice_isPendingUntilTheSecondTime() {
        List<Integer> deletedWhenQuiet = new ArrayList<>();
        registry.discardAttemptTwice(FILE);
        registry.whenQuiet(() -> deletedWhenQuiet.add(deleted.size()));
        assertThat(deletedWhenQuiet).isEmpty();
        timers.advanceMillis(30_000);
        assertThat(deletedWhenQuiet).containsExactly(2);
    }

    @Test
    void fileThatIsDeletedTwice_isDeletedAgainAtOnce_ifTheProcessEnds() {
        registry.discardAttemptTwice(FILE);
        registry.hurry();
        assertThat(deleted).containsExactly(FILE, FILE);
        registry.discardAttemptTwice(FILE);
        assertThat(deleted).hasSize(4);
        timers.advanceMillis(60_000);
        assertThat(deleted).hasSize(4);
        assertThat(recorded.count("numberOfDiscardedFiles")).isEqualTo(2);
    }

    @Test
    void secondDeletionThatCannotBeScheduled_isNoLongerPending() {
        timers.beforeNext(
                30_000,
                () -> {
                    throw new OutOfMemoryError("Java heap space");
                });
        registry.discardAttemptTwice(FILE);
        List<Path> deletedWhenQuiet = new ArrayList<>();
        registry.whenQuiet(() -> deletedWhenQuiet.addAll(deleted));
        assertThat(deletedWhenQuiet).containsExactly(FILE);
        assertThat(recorded.count("numberOfDiscardFailures")).isEqualTo(1);
    }

    @Test
    void deletionThatFailsAfterTheEnd_isNotTriedAgain_andCounts() {
        failingDeletes = 1;
        registry.close();
        registry.discardAttemptTwice(FILE);
        assertThat(timers.pendingCount()).isZero();
        assertThat(recorded.count("numberOfDiscardFailures")).isEqualTo(1);
    }

    @Test
    void afterTheExecutorIsShutDown_noTimerDeletes_andTheFileIsLeftBehind() {
        boolean[] shutDown = {false};
        SegmentRegistry ending =
                registry(
                        task -> {
                            if (shutDown[0]) {
                                throw new RejectedExecutionException();
                            }
                            task.run();
                        });
        failingDeletes = 1;
        ending.discardAttempt(FILE);
        shutDown[0] = true;
        timers.advanceMillis(60_000);
        assertThat(deleted).isEmpty();
        assertThat(recorded.count("numberOfDiscardFailures")).isEqualTo(1);
    }

    @Test
    void deletionThatIgnoresTheInterrupt_isReportedOnce() throws Exception {
        hangingDelete = new CountDownLatch(1);
        store = new CountDownLatch(1);
        ExecutorService thread = Executors.newSingleThreadExecutor();
        try (LogLines lines = new LogLines()) {
            registry(thread).discardAttempt(FILE);
            hangingDelete.await();
            timers.advanceMillis(119_000);
            assertThat(lines.containing("ignores the interrupt")).isEmpty();
            timers.advanceMillis(1_000_000);
            assertThat(lines.containing("ignores the interrupt")).hasSize(1);
        } finally {
            store.countDown();
            thread.shutdown();
        }
    }

    @Test
    void afterTheExecutorIsShutDown_theCallerDeletes() {
        registry(
                        task -> {
                            throw new RejectedExecutionException();
                        })
                .discardAttempt(FILE);
        assertThat(deleted).containsExactly(FILE);
    }

    @Test
    void fileWhoseThreadDoesNotStart_isDeletedLater_howeverLongThatTakes() {
        int[] failures = {100};
        SegmentRegistry failing =
                registry(
                        task -> {
                            if (failures[0]-- > 0) {
                                throw new Error("unable to create native thread");
                            }
                            task.run();
                        });
        failingDeletes = 3;
        failing.discardAttempt(FILE);
        timers.advanceMillis(120_000);
        assertThat(deleted).containsExactly(FILE);
        assertThat(timers.pendingCount()).isZero();
    }

    @Test
    void deleteThatEndsWithAnError_isTriedAgainLater() {
        failingDeletes = 1;
        failure = new NoClassDefFoundError("of a plugin");
        registry(
                        task -> {
                            try {
                                task.run();
                            } catch (NoClassDefFoundError endsTheThread) {
                                // And nothing else.
                            }
                        })
                .discardAttempt(FILE);
        timers.advanceMillis(10_000);
        assertThat(deleted).containsExactly(FILE);
    }

    @Test
    void deleteThatHangs_isInterruptedAndTriedAgain_andOthersDoNotWaitForIt() throws Exception {
        Path other = new Path("s3://bucket/2.seg");
        hangingDelete = new CountDownLatch(1);
        ExecutorService thread = Executors.newSingleThreadExecutor();
        SegmentRegistry waiting = registry(thread);
        waiting.discardAttempt(FILE);
        waiting.discardAttempt(other);
        hangingDelete.await();

        timers.advanceMillis(60_000);
        thread.submit(() -> {}).get(10, TimeUnit.SECONDS);
        assertThat(deleted).containsExactly(other);
        timers.advanceMillis(10_000);
        thread.submit(() -> {}).get(10, TimeUnit.SECONDS);
        assertThat(deleted).containsExactly(other, FILE);
        thread.shutdown();
    }

    private SegmentRegistry registry(Executor discards) {
        return new SegmentRegistry(
                new RecordingStore(), discards, timers, new DstlMetrics(recorded));
    }

    private final class RecordingStore implements SegmentStore {

        @Override
        public Path locate(SegmentName name) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void write(Path file, SegmentContent content) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void ping() {
            throw new UnsupportedOperationException("Nobody needs an answer");
        }

        @Override
        public void delete(Path file) throws IOException {
            if (hangingDelete != null && hangingDelete.getCount() > 0) {
                hang();
            }
            if (failingDeletes-- > 0) {
                if (failure != null) {
                    throw failure;
                }
                throw new IOException("Not now");
            }
            deleted.add(file);
        }

        private void hang() throws IOException {
            hangingDelete.countDown();
            while (store != null && store.getCount() > 0) {
                Thread.onSpinWait();
            }
            try {
                if (store != null) {
                    return;
                }
                new CountDownLatch(1).await();
            } catch (InterruptedException e) {
                throw new InterruptedIOException("Interrupted while deleting");
            }
        }
    }
}
