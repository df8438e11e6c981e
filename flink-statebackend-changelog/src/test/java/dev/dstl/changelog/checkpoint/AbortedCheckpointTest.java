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

package dev.dstl.changelog.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.dstl.changelog.config.MaterializationSettings;
import dev.dstl.changelog.fixture.Delegate;
import dev.dstl.changelog.fixture.InMemoryChangelogWriter;
import dev.dstl.changelog.fixture.InMemoryLog;
import dev.dstl.changelog.fixture.LoggedJob;
import dev.dstl.changelog.fixture.ManualMailbox;
import dev.dstl.changelog.fixture.RecordedMetrics;
import dev.dstl.changelog.materialization.BaseLedger;
import dev.dstl.changelog.materialization.DelegateSnapshots;
import dev.dstl.changelog.materialization.LocalDirectories;
import dev.dstl.changelog.materialization.LogTruncation;
import dev.dstl.changelog.materialization.MaterializationLifecycle;
import dev.dstl.changelog.materialization.MaterializationThrottle;
import dev.dstl.changelog.materialization.MaterializedBase;
import dev.dstl.changelog.materialization.Materializer;
import dev.dstl.changelog.materialization.SnapshotDeleter;
import dev.dstl.changelog.materialization.StateParts;
import dev.dstl.changelog.metrics.CheckpointMetrics;
import dev.dstl.changelog.metrics.MaterializationMetrics;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.RunnableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.flink.api.common.state.CheckpointListener;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.core.testutils.ManuallyTriggeredScheduledExecutorService;
import org.apache.flink.runtime.checkpoint.CheckpointFailureReason;
import org.apache.flink.runtime.checkpoint.CheckpointOptions;
import org.apache.flink.runtime.checkpoint.CheckpointType;
import org.apache.flink.runtime.checkpoint.SnapshotType;
import org.apache.flink.runtime.state.CheckpointStateOutputStream;
import org.apache.flink.runtime.state.CheckpointStorageLocationReference;
import org.apache.flink.runtime.state.CheckpointedStateScope;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.LocalRecoveryConfig;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.changelog.ChangelogStateBackendHandle;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;
import org.apache.flink.runtime.state.changelog.SequenceNumber;
import org.apache.flink.runtime.state.memory.MemCheckpointStreamFactory;
import org.apache.flink.util.concurrent.FutureUtils;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Flink waits for the checkpoints of a task on a single thread, and cancels an aborted one on the
 * same thread, when it is free.
 */
@Timeout(60)
class AbortedCheckpointTest {

    private final ExecutorService threadOfFlink = Executors.newSingleThreadExecutor();
    private final ManuallyTriggeredScheduledExecutorService clock =
            new ManuallyTriggeredScheduledExecutorService();
    private final Queue<CompletableFuture<SnapshotResult<ChangelogStateHandleStreamImpl>>>
            persists = new ArrayDeque<>();

    /** Whether files are not created before the {@link #answer} or an interrupt. */
    private volatile boolean blocking;

    private final CountDownLatch blocked = new CountDownLatch(1);
    private final CountDownLatch answer = new CountDownLatch(1);
    private LoggedJob job;
    private Checkpointer<Integer> checkpointer;

    @BeforeEach
    void start() throws Exception {
        job =
                LoggedJob.start(
                        Delegate.Kind.HASH_MAP,
                        InMemoryLog.withRecordKeys(
                                new InMemoryChangelogWriter() {
                                    @Override
                                    public CompletableFuture<
                                                    SnapshotResult<ChangelogStateHandleStreamImpl>>
                                            persist(SequenceNumber from, long checkpointId) {
                                        return persists.isEmpty()
                                                ? CompletableFuture.completedFuture(
                                                        SnapshotResult.empty())
                                                : persists.remove();
                                    }
                                }));
        checkpointer = checkpointer();
    }

    @AfterEach
    void close() throws Exception {
        answer.countDown();
        threadOfFlink.shutdownNow();
        assertThat(threadOfFlink.awaitTermination(30, TimeUnit.SECONDS)).isTrue();
        job.close();
    }

    @Test
    void abortedCheckpoint_thatWaitsForItsChangelog_letsTheNextOneComplete() throws Exception {
        CompletableFuture<SnapshotResult<ChangelogStateHandleStreamImpl>> unanswered =
                new CompletableFuture<>();
        persists.add(unanswered);
        update("one");
        RunnableFuture<SnapshotResult<KeyedStateHandle>> first = trigger(1, false);
        Future<?> reported = finish(first);
        abort(1, first);

        get(finish(trigger(2, false)));

        assertThatThrownBy(reported::get).hasCauseInstanceOf(CancellationException.class);
        assertThat(unanswered).as("holds no memory").isCancelled();
    }

    @Test
    void abort_afterTheResult_changesNothing() throws Exception {
        CompletableFuture<SnapshotResult<ChangelogStateHandleStreamImpl>> answered =
                CompletableFuture.completedFuture(SnapshotResult.empty());
        persists.add(answered);
        update("one");
        RunnableFuture<SnapshotResult<KeyedStateHandle>> first = trigger(1, true);
        SnapshotResult<KeyedStateHandle> reported = get(finish(first));

        checkpointer.abort(1);
        checkpointer.abort(1);

        assertThat(first.isCancelled()).isFalse();
        assertThat(first.get()).isSameAs(reported);
        assertThat(base(get(finish(trigger(2, false)))))
                .as("the base of the checkpoint")
                .isEqualTo(base(reported));
    }

    @Test
    void fullSnapshot_thatTakesLongerThanItsCheckpointMay_isTheBaseOfTheNextOne() throws Exception {
        blocking = true;
        update("one");
        RunnableFuture<SnapshotResult<KeyedStateHandle>> first = trigger(1, true);
        Future<?> reported = finish(first);
        blocked.await();
        abort(1, first);
        Future<SnapshotResult<KeyedStateHandle>> second = finish(trigger(2, true));

        answer.countDown();

        reported.get();
        assertThat(base(get(second))).isEqualTo(1);
        assertThat(base(get(finish(trigger(3, false))))).isEqualTo(1);
    }

    @Test
    void fullCheckpoint_thatWaitsForItsChangelogOnly_endsWhenItIsAborted() throws Exception {
        persists.add(new CompletableFuture<>());
        blocking = true;
        update("one");
        RunnableFuture<SnapshotResult<KeyedStateHandle>> first = trigger(1, true);
        Future<?> reported = finish(first);
        blocked.await();
        abort(1, first);
        Future<SnapshotResult<KeyedStateHandle>> second = finish(trigger(2, true));

        answer.countDown();

        assertThat(base(get(second))).isEqualTo(1);
        assertThatThrownBy(reported::get).hasCauseInstanceOf(CancellationException.class);
    }

    @Test
    void fullSnapshot_thatTheStoreDoesNotAnswer_isGivenUp_andTheNextCheckpointCompletes()
            throws Exception {
        blocking = true;
        update("one");
        RunnableFuture<SnapshotResult<KeyedStateHandle>> first = trigger(1, true);
        Future<?> failed = finish(first);
        blocked.await();
        abort(1, first);
        Future<?> joined = finish(trigger(2, true));
        blocking = false;
        clock.triggerScheduledTasks();

        assertThat(base(get(finish(trigger(3, true))))).isEqualTo(2);

        for (Future<?> checkpoint : List.of(failed, joined)) {
            assertThatThrownBy(checkpoint::get)
                    .hasRootCauseMessage("The checkpoint storage has not answered for 30 minutes");
        }
        assertThat(clock.getActiveScheduledTasks()).as("watches").isEmpty();
    }

    private void update(String value) throws Exception {
        job.at(1, "a");
        job.value.update(value);
    }

    private RunnableFuture<SnapshotResult<KeyedStateHandle>> trigger(
            long checkpointId, boolean full) {
        SnapshotType type = full ? CheckpointType.FULL_CHECKPOINT : CheckpointType.CHECKPOINT;
        return checkpointer.take(
                checkpointId,
                0,
                new MemCheckpointStreamFactory(1 << 20),
                new CheckpointOptions(type, CheckpointStorageLocationReference.getDefault()));
    }

    private Future<SnapshotResult<KeyedStateHandle>> finish(
            RunnableFuture<SnapshotResult<KeyedStateHandle>> checkpoint) {
        return threadOfFlink.submit(() -> FutureUtils.runIfNotDoneAndGet(checkpoint));
    }

    /** As {@code SubtaskCheckpointCoordinatorImpl} does when it is notified. */
    private void abort(long checkpointId, Future<?> checkpoint) throws Exception {
        threadOfFlink.execute(() -> checkpoint.cancel(true));
        checkpointer.abort(checkpointId);
    }

    private static SnapshotResult<KeyedStateHandle> get(
            Future<SnapshotResult<KeyedStateHandle>> checkpoint) throws Exception {
        try {
            return checkpoint.get(20, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            throw new AssertionError("The checkpoint failed", e);
        }
    }

    private static long base(SnapshotResult<KeyedStateHandle> checkpoint) {
        return ((ChangelogStateBackendHandle) checkpoint.getJobManagerOwnedSnapshot())
                .getMaterializationID();
    }

    private Checkpointer<Integer> checkpointer() {
        SequenceNumber begin = job.log.writer().initialSequenceNumber();
        BaseLedger bases =
                new BaseLedger(
                        new MaterializedBase(
                                0, 0, begin, begin, StateParts.EMPTY, StateParts.EMPTY),
                        false);
        SnapshotDeleter deleter =
                new SnapshotDeleter(
                        "subtask",
                        Runnable::run,
                        interrupt -> new Thread(interrupt).start(),
                        new LocalDirectories(LocalRecoveryConfig.BACKUP_AND_RECOVERY_DISABLED));
        DelegateSnapshots<Integer> snapshots =
                new DelegateSnapshots<>(
                        job.backend(),
                        job.log.writer(),
                        job.appender,
                        job.registry,
                        new BlockedStreams(),
                        Runnable::run);
        LogTruncation truncation = new LogTruncation(job.log.writer());
        MaterializationLifecycle lifecycle =
                new MaterializationLifecycle(
                        bases,
                        snapshots,
                        job.log.writer(),
                        truncation,
                        (CheckpointListener) job.backend(),
                        deleter);
        return new Checkpointer<>(
                job.backend(),
                job.log.writer(),
                bases,
                snapshots,
                lifecycle,
                new Materializer(
                        "subtask",
                        new MaterializationSettings(false, 0, 3),
                        lifecycle,
                        new ManualMailbox(),
                        Runnable::run,
                        clock,
                        deleter,
                        getClass().getClassLoader(),
                        new MaterializationMetrics(new RecordedMetrics()),
                        new MaterializationThrottle(1, System::nanoTime),
                        false,
                        failure -> {}),
                truncation,
                new CheckpointAssembler(
                        job.backend().getKeyGroupRange(),
                        new CheckpointMetrics(new RecordedMetrics()),
                        handle -> {}),
                deleter,
                new CheckpointDeadline(
                        Duration.ofMinutes(10),
                        CheckpointFailureReason.TASK_CHECKPOINT_FAILURE,
                        new ManuallyTriggeredScheduledExecutorService(),
                        System::currentTimeMillis,
                        Optional::empty),
                clock,
                new CloseableRegistry());
    }

    private final class BlockedStreams extends MemCheckpointStreamFactory {

        private BlockedStreams() {
            super(1 << 20);
        }

        @Override
        public CheckpointStateOutputStream createCheckpointStateOutputStream(
                CheckpointedStateScope scope) throws IOException {
            if (blocking) {
                blocked.countDown();
                try {
                    answer.await();
                } catch (InterruptedException e) {
                    throw new InterruptedIOException("interrupted while hanging");
                }
            }
            return super.createCheckpointStateOutputStream(scope);
        }
    }
}
