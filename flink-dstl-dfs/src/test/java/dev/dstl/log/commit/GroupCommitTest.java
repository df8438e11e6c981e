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

package dev.dstl.log.commit;

import static dev.dstl.log.testing.LogFixture.append;
import static dev.dstl.log.testing.LogFixture.filesOf;
import static dev.dstl.log.testing.LogFixture.handleOf;
import static dev.dstl.log.testing.LogFixture.texts;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.dstl.log.api.RecordKind;
import dev.dstl.log.batch.ActiveBatch;
import dev.dstl.log.batch.LogBatch;
import dev.dstl.log.batch.PagePool;
import dev.dstl.log.config.DstlOptions;
import dev.dstl.log.memory.JobMemory;
import dev.dstl.log.memory.MemoryUse;
import dev.dstl.log.testing.FailingLog;
import dev.dstl.log.testing.LogFixture;
import dev.dstl.log.testing.WriteFault;
import dev.dstl.log.writer.DstlLogWriter;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class GroupCommitTest {

    private final LogFixture log =
            LogFixture.onCallingThread(
                    new Configuration()
                            .set(DstlOptions.PERSIST_SIZE_THRESHOLD, new MemorySize(1 << 10))
                            .set(DstlOptions.MAX_IN_FLIGHT, new MemorySize(1 << 11)));
    private final DstlLogWriter first = log.writer();
    private final DstlLogWriter second = log.writer();

    @AfterEach
    void close() {
        first.close();
        second.close();
        assertThat(log.budget().reservedBytes()).as("bytes in flight").isZero();
        log.close();
    }

    @Test
    void tasksThatPersistTogether_shareOneSegment() throws Exception {
        append(first, "a");
        append(second, "b");
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> persistA = persist(first);
        log.timers().advanceMillis(9);
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> persistB = persist(second);
        assertThat(log.store().segments()).as("still lingering").isEmpty();
        log.timers().advanceMillis(1);

        assertThat(log.store().segments()).hasSize(1);
        assertThat(filesOf(handleOf(persistA))).isEqualTo(filesOf(handleOf(persistB)));
        assertThat(texts(handleOf(persistA))).containsExactly("a");
        assertThat(texts(handleOf(persistB))).containsExactly("b");
    }

    @Test
    void fewRecords_countAsWhatTheirSegmentWillHold() {
        append(first, "a");
        append(second, "b");
        List<Future<?>> persists = List.of(persist(first), persist(second));
        long counted = log.budget().reservedBytes();
        log.passLinger();
        assertThat(persists).allMatch(Future::isDone);
        long length = log.store().storedBytes();
        assertThat(counted).isBetween(length - 50, length + 50);
    }

    @Test
    void enoughBytes_areNotKeptWaiting() throws Exception {
        append(first, "x".repeat(1 << 10));
        assertThat(texts(handleOf(persist(first)))).hasSize(1);
    }

    @Test
    void writerThatClosesWhileItsBatchIsQueued_doesNotDisturbTheOther() throws Exception {
        append(first, "a");
        append(second, "b");
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> persistA = persist(first);
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> persistB = persist(second);
        first.close();
        log.passLinger();
        assertThatThrownBy(persistA::get).isInstanceOf(CancellationException.class);
        assertThat(texts(handleOf(persistB))).containsExactly("b");
    }

    @Test
    void writerThatClosesAfterTheSegmentIsDurable_keepsTheSegmentOfTheOther() throws Exception {
        append(first, "a");
        append(second, "b");
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> persistA = persist(first);
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> persistB = persist(second);
        log.passLinger();
        assertThat(persistA).isDone();
        first.truncateAndClose(first.initialSequenceNumber());
        assertThat(texts(handleOf(persistB))).containsExactly("b");
    }

    @Test
    void segmentThatOnlyAnotherWriterStillNeeds_staysUntilThatOneLetsGo() {
        append(first, "a");
        append(second, "b");
        first.nextSequenceNumber();
        second.nextSequenceNumber();
        log.passLinger();
        assertThat(log.store().segments()).hasSize(1);
        first.close();
        assertThat(log.store().segments()).hasSize(1);
        second.truncate(second.nextSequenceNumber());
        assertThat(log.store().segments()).as("no checkpoint was given it").isEmpty();
    }

    @Test
    void listenerThatThrows_doesNotDisturbTheOthersInItsSegment() throws Exception {
        SealedBatch broken =
                new SealedBatch(
                        batch(),
                        new BatchListener() {
                            @Override
                            public void durable(BatchPosition position) {
                                throw new IllegalStateException("mailbox closed");
                            }

                            @Override
                            public void suspended(IOException cause) {
                                throw new IllegalStateException("mailbox closed");
                            }
                        },
                        0);
        log.commit().submit(broken);
        append(second, "b");
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> persist = persist(second);
        log.passLinger();
        assertThat(texts(handleOf(persist))).containsExactly("b");
        log.commit().release(broken);
    }

    @Test
    void listenerThatThrowsWhenItsBatchIsEncoded_doesNotDisturbTheOthersInItsSegment()
            throws Exception {
        SealedBatch broken =
                new SealedBatch(
                        batch(),
                        new BatchListener() {
                            @Override
                            public void encoded(long frameBytes) {
                                throw new Error("Java heap space");
                            }

                            @Override
                            public void durable(BatchPosition position) {}

                            @Override
                            public void suspended(IOException cause) {}
                        },
                        0);
        log.commit().submit(broken);
        append(second, "b");
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> persist = persist(second);
        log.passLinger();
        assertThat(persist).isDone();
        assertThat(texts(handleOf(persist))).containsExactly("b");
        log.commit().release(broken);
    }

    @Test
    void listenerWhoseErrorsCannotBeLogged_doesNotDisturbTheOthersInItsSegment() throws Exception {
        SealedBatch broken = new SealedBatch(batch(), new ListenerWithoutMemory(), 0);
        log.commit().submit(broken);
        append(second, "b");
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> persist = persist(second);
        try (FailingLog failing = new FailingLog()) {
            log.passLinger();
            assertThat(failing.refused()).as("errors that were not logged").isEqualTo(2);
        }
        assertThat(persist).isDone();
        assertThat(texts(handleOf(persist))).containsExactly("b");
        log.commit().release(broken);
    }

    @Test
    void listenerWhoseErrorsCannotBeLogged_keepsNoOtherFromFailingWithItsSegment() {
        Configuration giveUp = new Configuration().set(DstlOptions.RETRY_POLICY, "none");
        try (LogFixture impatient = LogFixture.onCallingThread(giveUp)) {
            SealedBatch broken = new SealedBatch(batch(), new ListenerWithoutMemory(), 0);
            impatient.commit().submit(broken);
            DstlLogWriter writer = impatient.writer();
            append(writer, "b");
            Future<SnapshotResult<ChangelogStateHandleStreamImpl>> persist = persist(writer);
            impatient.store().failNext(WriteFault.FAIL_ON_CLOSE);
            try (FailingLog failing = new FailingLog()) {
                impatient.passLinger();
                assertThat(failing.refused()).as("errors that were not logged").isEqualTo(2);
            }
            assertThat(persist).isDone();
            assertThatThrownBy(persist::get).hasMessageContaining("Uploading state changes failed");
            impatient.commit().release(broken);
            writer.close();
        }
    }

    /** A compacted run would keep all its inputs otherwise, and a segment the tasks that failed. */
    @Test
    void listenersOfBatchesThatAreDurableOrReleased_areNotKept() throws Exception {
        List<WeakReference<BatchListener>> listeners = new ArrayList<>();
        SealedBatch durable = submit(listeners);
        SealedBatch released = submit(listeners);
        log.commit().release(released);
        log.passLinger();
        assertThat(log.store().segments()).hasSize(1);

        for (WeakReference<BatchListener> listener : listeners) {
            for (int i = 0; i < 100 && listener.get() != null; i++) {
                System.gc();
                Thread.sleep(10);
            }
            assertThat(listener.get()).isNull();
        }
        assertThat(released).isNotNull();
        log.commit().release(durable);
    }

    private SealedBatch submit(List<WeakReference<BatchListener>> listeners) {
        BatchListener listener = new QuietListener();
        listeners.add(new WeakReference<>(listener));
        SealedBatch batch = new SealedBatch(batch(), listener, 0);
        log.commit().submit(batch);
        return batch;
    }

    private static final class ListenerWithoutMemory implements BatchListener {

        @Override
        public void encoded(long frameBytes) {
            throw new OutOfMemoryError("Java heap space");
        }

        @Override
        public void durable(BatchPosition position) {
            throw new OutOfMemoryError("Java heap space");
        }

        @Override
        public void suspended(IOException cause) {
            throw new OutOfMemoryError("Java heap space");
        }
    }

    private static final class QuietListener implements BatchListener {

        @Override
        public void durable(BatchPosition position) {}

        @Override
        public void suspended(IOException cause) {}
    }

    @Test
    void callbackOfACheckpointThatThrows_doesNotDisturbTheOthersInItsSegment() throws Exception {
        append(first, "a");
        append(second, "b");
        CompletableFuture<Void> broken =
                first.persist(first.initialSequenceNumber(), 1)
                        .thenAccept(
                                result -> {
                                    throw new IllegalStateException("task is gone");
                                });
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> persist = persist(second);
        log.passLinger();
        assertThat(broken).isCompletedExceptionally();
        assertThat(texts(handleOf(persist))).containsExactly("b");
    }

    @Test
    void cacheOfSegmentsThatFails_keepsNoCheckpointWaiting() throws Exception {
        try (LogFixture keeping =
                        LogFixture.keepingSegments(Runnable::run, new Configuration(), 1 << 20);
                DstlLogWriter writer = keeping.writer()) {
            JobMemory memory = keeping.budget().memory();
            append(writer, "a");
            Future<SnapshotResult<ChangelogStateHandleStreamImpl>> before = persist(writer);
            keeping.passLinger();
            assertThat(before).isDone();
            // From now on, dropping the segment throws.
            memory.process().take(keeping.recentSegments().keptBytes());
            memory.reserve(MemoryUse.IN_FLIGHT, memory.process().stopBytes());

            append(writer, "b");
            Future<SnapshotResult<ChangelogStateHandleStreamImpl>> persist = persist(writer);
            keeping.passLinger();

            memory.release(MemoryUse.IN_FLIGHT, memory.process().stopBytes());
            assertThat(texts(handleOf(persist))).containsExactly("a", "b");
        }
    }

    @Test
    void logThatCannotBeAged_doesNotKeepTheOthersFromAging() {
        AgedLog broken =
                new AgedLog() {
                    @Override
                    public void grownOlder() {
                        throw new Error("unable to create native thread");
                    }

                    @Override
                    public void memoryShort() {}

                    @Override
                    public void storageClosed() {}
                };
        log.commit().register(broken);
        for (int round = 1; round <= 3; round++) {
            SealedBatch held = new SealedBatch(batch(), new QuietListener(), 0);
            log.commit().hold(held);
            log.timers().advanceMillis(5_000 + 10);
            assertThat(log.store().segments()).as("grew old and was uploaded").hasSize(1);
            log.commit().release(held);
        }
        log.commit().unregister(broken);
    }

    @Test
    void tasksAreAskedToStop_whileTooMuchIsInFlight_andNeverBlocked() {
        append(first, "x".repeat(100));
        first.nextSequenceNumber();
        assertThat(log.budget().isAvailable()).isTrue();
        log.store().failAlways(WriteFault.FAIL_ON_CLOSE);
        append(first, "x".repeat(1 << 11));
        first.nextSequenceNumber();
        CompletableFuture<?> stopped = log.budget().getAvailableFuture();
        assertThat(stopped).isNotDone();
        append(first, "a task that goes on all the same loses nothing");
        first.nextSequenceNumber();

        log.store().failAlways(WriteFault.NONE);
        log.timers().advanceMillis(1_000);
        assertThat(stopped).isCompleted();
        assertThat(log.budget().reservedBytes()).isZero();
    }

    @Test
    void afterTheStorageClosed_persistsAreCancelledAndAppendsAreErrors() {
        append(first, "a");
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> persist = persist(first);
        log.commit().close();
        assertThatThrownBy(persist::get).isInstanceOf(CancellationException.class);
        append(first, "b");
        assertThatThrownBy(first::nextSequenceNumber)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("The changelog storage of this job is closed");
    }

    private static Future<SnapshotResult<ChangelogStateHandleStreamImpl>> persist(
            DstlLogWriter writer) {
        return writer.persist(writer.initialSequenceNumber(), 1);
    }

    private static LogBatch batch() {
        ActiveBatch active =
                new ActiveBatch(UUID.randomUUID(), LogFixture.KEY_GROUPS, new PagePool(0));
        active.append(RecordKind.OPAQUE, 1, 0, new byte[1], 0, 0, 1);
        return active.seal(0);
    }
}
