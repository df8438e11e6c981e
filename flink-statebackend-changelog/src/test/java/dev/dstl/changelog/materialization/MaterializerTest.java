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

package dev.dstl.changelog.materialization;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.dstl.changelog.config.MaterializationSettings;
import dev.dstl.changelog.delegate.CompactionBackOff;
import dev.dstl.changelog.delegate.DelegateFlush;
import dev.dstl.changelog.fixture.InMemoryChangelogWriter;
import dev.dstl.changelog.fixture.InMemoryLog;
import dev.dstl.changelog.fixture.LoggedJob;
import dev.dstl.changelog.fixture.ManualMailbox;
import dev.dstl.changelog.fixture.RecordedMetrics;
import dev.dstl.changelog.metrics.MaterializationMetrics;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import javax.annotation.Nullable;
import org.apache.flink.api.common.state.CheckpointListener;
import org.apache.flink.core.testutils.ManuallyTriggeredScheduledExecutorService;
import org.apache.flink.runtime.state.CheckpointStateOutputStream;
import org.apache.flink.runtime.state.CheckpointedStateScope;
import org.apache.flink.runtime.state.LocalRecoveryConfig;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.runtime.state.changelog.SequenceNumber;
import org.apache.flink.runtime.state.memory.MemCheckpointStreamFactory;
import org.apache.flink.util.IOUtils;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** When a materializer acts, on which thread, and which files it leaves behind. */
class MaterializerTest {

    private final ManualMailbox mailbox = new ManualMailbox();
    private final ManuallyTriggeredScheduledExecutorService clock =
            new ManuallyTriggeredScheduledExecutorService() {
                @Override
                public ScheduledFuture<?> schedule(Runnable command, long delay, TimeUnit unit) {
                    if (fatalToWatch && unit == TimeUnit.MINUTES) {
                        throw new ThreadDeath();
                    }
                    if (refusedTimers > 0 && unit == TimeUnit.MILLISECONDS) {
                        refusedTimers--;
                        throw new OutOfMemoryError("unable to create native thread");
                    }
                    return super.schedule(command, delay, unit);
                }
            };
    private final ManuallyTriggeredScheduledExecutorService uploads =
            new ManuallyTriggeredScheduledExecutorService();
    private final RecordedMetrics metrics = new RecordedMetrics();
    private final List<Throwable> failures = new ArrayList<>();
    private final MaterializationThrottle throttle =
            new MaterializationThrottle(1e-9, System::nanoTime);
    private Executor interrupts = Runnable::run;
    private boolean fatal;
    private boolean onlyWithCheckpoints;

    /** Number of timers of materializations that cannot be scheduled. */
    private int refusedTimers;

    /** Whether a fatal error ends the thread of an upload outside of the snapshot. */
    private boolean fatalToWatch;

    /** Counted down by the next file, whose creation then hangs until {@link #answer}. */
    @Nullable private CountDownLatch hanging;

    /** Whether the file hangs when it is closed, and not when it is created. */
    private boolean progressFirst;

    /** Whether the file hangs between two calls to the store, and then when it is closed. */
    private boolean closedBetweenCalls;

    /** Whether a hanging call to the store ends when its thread is interrupted. */
    private boolean endsWhenInterrupted;

    private final CountDownLatch closing = new CountDownLatch(1);
    private final CountDownLatch answer = new CountDownLatch(1);

    private Runnable whenASnapshotStarts = () -> {};
    private LogTruncation truncation;
    private LoggedJob job;
    private BaseLedger bases;

    @BeforeEach
    void startJob() throws Exception {
        startJob(dev.dstl.changelog.fixture.Delegate.Kind.HASH_MAP);
    }

    private void startJob(dev.dstl.changelog.fixture.Delegate.Kind delegate) throws Exception {
        InMemoryChangelogWriter writer =
                new InMemoryChangelogWriter() {
                    @Override
                    public void addCompactionBoundary() {
                        super.addCompactionBoundary();
                        whenASnapshotStarts.run();
                    }
                };
        job = LoggedJob.start(delegate, InMemoryLog.withRecordKeys(writer));
        truncation = new LogTruncation(job.log.writer());
        SequenceNumber begin = job.log.writer().initialSequenceNumber();
        bases =
                new BaseLedger(
                        new MaterializedBase(
                                0, 0, begin, begin, StateParts.EMPTY, StateParts.EMPTY),
                        false);
    }

    @AfterEach
    void closeJob() throws Exception {
        job.close();
    }

    @Test
    void firstMaterialization_isStaggered_andTheNextOnesFollowTheInterval() throws Exception {
        MaterializationSettings settings = new MaterializationSettings(true, 10_000, 3);
        Materializer materializer = materializer(settings);
        materializer.start();
        assertThat(delayMillis())
                .isBetween(
                        settings.initialDelayMillis("subtask") - 1_000,
                        settings.initialDelayMillis("subtask"));

        clock.triggerScheduledTasks();
        mailbox.runNext();

        assertThat(metrics.count(MaterializationMetrics.COMPLETED_MATERIALIZATION))
                .as("nothing to do is done as well")
                .isEqualTo(1);
        assertThat(delayMillis()).isBetween(9_000L, 10_000L);
    }

    @Test
    void timerThatCannotBeScheduledAtTheStart_failsNoRestore_andFollowsWithACheckpoint()
            throws Exception {
        MaterializationSettings settings = new MaterializationSettings(true, 10_000, 3);
        Materializer materializer = materializer(settings);
        refusedTimers = 2;
        materializer.start();
        materializer.checkpointBegun();
        assertThat(clock.getActiveScheduledTasks()).isEmpty();

        materializer.checkpointBegun();
        materializer.checkpointBegun();

        assertThat(delayMillis())
                .as("when it would have been")
                .isBetween(
                        settings.initialDelayMillis("subtask") - 2_000,
                        settings.initialDelayMillis("subtask"));
        update();
        clock.triggerScheduledTasks();
        mailbox.runNext();
        uploads.triggerAll();
        mailbox.runNext();
        assertThat(bases.current().id()).isEqualTo(1);
    }

    @Test
    void timerThatCannotBeScheduledAfterAFailedUpload_failsNoTask_andFollowsWithACheckpoint()
            throws Exception {
        Materializer materializer = materializer(new MaterializationSettings(true, 10_000, 3));
        fatal = true;
        update();
        materializer.trigger();
        mailbox.runNext();
        uploads.triggerAll();
        refusedTimers = 1;
        mailbox.runNext();
        fatal = false;
        assertThat(metrics.count(MaterializationMetrics.FAILED_MATERIALIZATION)).isEqualTo(1);
        assertThat(clock.getActiveScheduledTasks()).isEmpty();

        materializer.checkpointBegun();

        assertThat(delayMillis()).isBetween(8_000L, 10_000L);
        clock.triggerScheduledTasks();
        mailbox.runNext();
        uploads.triggerAll();
        mailbox.runNext();
        assertThat(bases.current().id()).isEqualTo(2);
        assertThat(failures).isEmpty();
    }

    @Test
    void timerThatCannotBeScheduled_followsWithTheNextTrigger() throws Exception {
        Materializer materializer = materializer(new MaterializationSettings(true, 10_000, 3));
        refusedTimers = 1;
        materializer.start();
        update();

        materializer.trigger();
        mailbox.runNext();
        materializer.checkpointBegun();
        assertThat(clock.getActiveScheduledTasks()).as("it runs").isEmpty();
        uploads.triggerAll();
        mailbox.runNext();

        assertThat(bases.current().id()).isEqualTo(1);
        assertThat(delayMillis()).isBetween(8_000L, 10_000L);
    }

    @Test
    void timerThatCannotBeScheduled_doesNotFollowOnceTheTaskHasEnded() throws Exception {
        Materializer materializer = materializer(new MaterializationSettings(true, 10_000, 3));
        refusedTimers = 1;
        materializer.start();
        materializer.close();

        materializer.checkpointBegun();

        assertThat(clock.getActiveScheduledTasks()).isEmpty();
    }

    @Test
    void withoutAPeriod_nothingIsScheduled_butATriggerWorks() throws Exception {
        Materializer materializer = materializer(new MaterializationSettings(true, 0, 3));
        materializer.start();
        assertThat(clock.getActiveScheduledTasks()).isEmpty();
        update();

        materializer.trigger();
        mailbox.runNext();
        uploads.triggerAll();
        mailbox.runNext();

        assertThat(bases.current().id()).isEqualTo(1);
        assertThat(clock.getActiveScheduledTasks()).isEmpty();
    }

    @Test
    void uploads_runOnTheirOwnThreads_andOneAtATime() throws Exception {
        Materializer materializer = materializer(new MaterializationSettings(false, 0, 3));
        update();
        materializer.trigger();
        materializer.trigger();
        mailbox.runAll();

        assertThat(uploads.numQueuedRunnables()).isEqualTo(1);
        assertThat(metrics.count(MaterializationMetrics.STARTED_MATERIALIZATION)).isEqualTo(1);
    }

    @Test
    void materialization_beginsOnlyWithACheckpoint_ifAnotherThreadUsesTheState() throws Exception {
        onlyWithCheckpoints = true;
        Materializer materializer = materializer(new MaterializationSettings(true, 10_000, 3));
        materializer.start();
        update();
        materializer.checkpointBegun();
        assertThat(uploads.numQueuedRunnables()).as("not yet due").isZero();

        clock.triggerScheduledTasks();
        materializer.trigger();
        assertThat(mailbox.size()).isZero();
        assertThat(uploads.numQueuedRunnables()).isZero();

        materializer.checkpointBegun();
        materializer.checkpointBegun();
        assertThat(uploads.numQueuedRunnables()).isEqualTo(1);
        uploads.triggerAll();
        mailbox.runNext();
        assertThat(bases.current().id()).isEqualTo(1);
        assertThat(delayMillis()).isBetween(9_000L, 10_000L);
    }

    @Test
    void materialization_thatIsTriggeredAsOneBegins_doesNotDisturbIt() throws Exception {
        onlyWithCheckpoints = true;
        Materializer materializer = materializer(new MaterializationSettings(false, 0, 3));
        update();
        materializer.trigger();
        whenASnapshotStarts = materializer::trigger;

        materializer.checkpointBegun();

        assertThat(uploads.numQueuedRunnables()).isEqualTo(1);
        uploads.triggerAll();
        mailbox.runNext();
        assertThat(bases.current().id()).isEqualTo(1);
    }

    @Test
    void materialization_thatMustWaitForAConfirmation_beginsWithTheCheckpointAfterIt()
            throws Exception {
        onlyWithCheckpoints = true;
        Materializer materializer = materializer(new MaterializationSettings(false, 0, 3));
        truncation.checkpointBegun();
        for (int base = 1; base <= 2; base++) {
            update();
            materializer.trigger();
            materializer.checkpointBegun();
            uploads.triggerAll();
            mailbox.runNext();
        }
        bases.confirm(1);
        update();
        materializer.trigger();
        materializer.checkpointBegun();
        assertThat(metrics.count(MaterializationMetrics.STARTED_MATERIALIZATION)).isEqualTo(2);

        bases.confirm(2);
        materializer.checkpointBegun();

        assertThat(metrics.count(MaterializationMetrics.STARTED_MATERIALIZATION)).isEqualTo(3);
    }

    @Test
    void materialization_thatWaitsForACheckpoint_endsWithTheTask() throws Exception {
        onlyWithCheckpoints = true;
        Materializer materializer = materializer(new MaterializationSettings(false, 0, 3));
        update();
        materializer.trigger();
        materializer.close();

        materializer.checkpointBegun();

        assertThat(uploads.numQueuedRunnables()).isZero();
    }

    @Test
    void early_materializationsPause_onlyAfterOneThatHasEnded() throws Exception {
        Materializer materializer = materializer(new MaterializationSettings(false, 0, 3));
        update();
        materializer.trigger();
        mailbox.runAll();
        assertThat(throttle.hasTime()).as("it runs").isTrue();

        uploads.triggerAll();
        mailbox.runAll();

        assertThat(throttle.hasTime()).isFalse();
    }

    @Test
    void failedMaterialization_takesTimeAsWell() throws Exception {
        Materializer materializer = materializer(new MaterializationSettings(false, 0, 3));
        fatal = true;
        update();
        materializer.trigger();
        mailbox.runAll();
        try {
            uploads.triggerAll();
        } catch (ThreadDeath expected) {
            // Fatal errors are passed on to the thread.
        }
        mailbox.runAll();

        assertThat(metrics.count(MaterializationMetrics.FAILED_MATERIALIZATION)).isEqualTo(1);
        assertThat(throttle.hasTime()).isFalse();
    }

    @Test
    void whatTheDelegateHoldsInMemory_isFlushedByAnotherThread_beforeTheSnapshot()
            throws Exception {
        startJobWithMemtables();
        Materializer materializer = materializer(new MaterializationSettings(false, 0, 3));
        materializer.trigger();
        materializer.trigger();
        mailbox.runAll();
        assertThat(metrics.count(MaterializationMetrics.STARTED_MATERIALIZATION)).isZero();
        assertThat(uploads.numQueuedRunnables()).isEqualTo(1);

        uploads.triggerAll();
        assertThat(DelegateFlush.of(job.backend(), new CompactionBackOff()))
                .as("nothing is left to flush")
                .isNull();
        mailbox.runAll();
        uploads.triggerAll();
        mailbox.runAll();

        assertThat(metrics.count(MaterializationMetrics.STARTED_MATERIALIZATION)).isEqualTo(1);
        assertThat(bases.current().id()).isEqualTo(1);
    }

    @Test
    void closedWhileFlushing_beginsNothing() throws Exception {
        startJobWithMemtables();
        Materializer materializer = materializer(new MaterializationSettings(true, 10, 3));
        materializer.trigger();
        mailbox.runNext();

        materializer.close();
        uploads.triggerAll();
        mailbox.runAll();

        assertThat(metrics.count(MaterializationMetrics.STARTED_MATERIALIZATION)).isZero();
        assertThat(uploads.numQueuedRunnables()).isZero();
        assertThat(failures).isEmpty();
    }

    @Test
    void taskThatEndsAsAMaterializationBegins_isNoFailure() throws Exception {
        Materializer materializer = materializer(new MaterializationSettings(true, 10, 0));
        update();
        whenASnapshotStarts =
                () -> {
                    materializer.close();
                    IOUtils.closeQuietly(job.backend());
                };
        materializer.trigger();
        mailbox.runAll();

        assertThat(metrics.count(MaterializationMetrics.FAILED_MATERIALIZATION)).isZero();
        assertThat(uploads.numQueuedRunnables()).isZero();
        assertThat(failures).isEmpty();
    }

    @Test
    void delegateThatIsGoneWhenItIsToBeFlushed_isLeftAlone() throws Exception {
        startJobWithMemtables();
        DelegateFlush flush = DelegateFlush.of(job.backend(), new CompactionBackOff());
        job.close();

        assertThatThrownBy(flush::run).isInstanceOf(IOException.class);
        startJob();
    }

    @Test
    void flushWithoutAThread_isLeftToTheSnapshot() throws Exception {
        startJobWithMemtables();
        AtomicInteger calls = new AtomicInteger();
        Materializer materializer =
                materializer(
                        new MaterializationSettings(false, 0, 3),
                        task -> {
                            if (calls.incrementAndGet() == 1) {
                                throw new OutOfMemoryError("unable to create native thread");
                            }
                            uploads.execute(task);
                        });
        materializer.trigger();
        mailbox.runAll();
        uploads.triggerAll();
        mailbox.runAll();

        assertThat(bases.current().id()).isEqualTo(1);
    }

    private void startJobWithMemtables() throws Exception {
        job.close();
        startJob(dev.dstl.changelog.fixture.Delegate.Kind.ROCKS_DB);
        for (int key = 0; key < 100_000; key++) {
            job.at(key, "a");
            job.value.update("v");
        }
    }

    @Test
    void changelog_isToldTheSizeOfEachNewBase() throws Exception {
        Materializer materializer = materializer(new MaterializationSettings(false, 0, 3));
        assertThat(((InMemoryChangelogWriter) job.log.writer()).baseBytes()).isZero();
        update();
        materializer.trigger();
        mailbox.runNext();
        uploads.triggerAll();
        mailbox.runNext();

        assertThat(((InMemoryChangelogWriter) job.log.writer()).baseBytes())
                .isEqualTo(bases.current().snapshotBytes())
                .isPositive();
    }

    @Test
    void closed_neitherStartsNorAppliesAnything() throws Exception {
        Materializer materializer = materializer(new MaterializationSettings(true, 10, 3));
        update();
        materializer.trigger();
        mailbox.runNext();

        materializer.close();
        materializer.close();
        uploads.triggerAll();
        mailbox.runAll();
        materializer.trigger();
        mailbox.runAll();

        assertThat(bases.current().id()).isZero();
        assertThat(clock.getActiveScheduledTasks()).isEmpty();
        assertThat(failures).isEmpty();
    }

    @Test
    void endedTask_isNotDisturbedByAnUploadThatEndsLater() throws Exception {
        Materializer materializer = materializer(new MaterializationSettings(true, 10, 0));
        update();
        materializer.trigger();
        mailbox.runNext();
        mailbox.close();

        uploads.triggerAll();
        materializer.trigger();

        assertThat(failures).isEmpty();
        assertThat(mailbox.size()).isZero();
    }

    @Test
    void interruptedMaterialization_isNoFailure_andTheNextOneFollows() throws Exception {
        Materializer materializer = materializer(new MaterializationSettings(true, 10_000, 0));
        update();
        materializer.trigger();
        mailbox.runNext();

        materializer.cancelRunning();
        uploads.triggerAll();
        mailbox.runNext();

        assertThat(failures).isEmpty();
        assertThat(metrics.count(MaterializationMetrics.FAILED_MATERIALIZATION)).isZero();
        assertThat(clock.getActiveScheduledTasks()).hasSize(1);
    }

    @Test
    void uploadThatCannotStart_isAFailure_andTheNextOneFollows() throws Exception {
        Materializer materializer =
                materializer(
                        new MaterializationSettings(true, 10_000, 3),
                        upload -> {
                            throw new OutOfMemoryError("unable to create native thread");
                        });
        update();
        materializer.trigger();
        mailbox.runNext();

        assertThat(metrics.count(MaterializationMetrics.FAILED_MATERIALIZATION)).isEqualTo(1);
        assertThat(clock.getActiveScheduledTasks()).hasSize(1);
    }

    @Test
    void uploadThatDiesOfAFatalError_isAFailure_andTheNextOneFollows() throws Exception {
        Materializer materializer = materializer(new MaterializationSettings(true, 10_000, 3));
        fatal = true;
        update();
        materializer.trigger();
        mailbox.runNext();
        uploads.triggerAll();
        mailbox.runNext();
        assertThat(metrics.count(MaterializationMetrics.FAILED_MATERIALIZATION)).isEqualTo(1);

        fatal = false;
        clock.triggerScheduledTasks();
        mailbox.runNext();
        uploads.triggerAll();
        mailbox.runNext();

        assertThat(bases.current().id()).isEqualTo(2);
    }

    @Test
    void threadThatDiesOfAFatalError_isAFailure_andTheNextOneFollows() throws Exception {
        Materializer materializer = materializer(new MaterializationSettings(true, 10_000, 3));
        fatalToWatch = true;
        update();
        materializer.trigger();
        mailbox.runNext();
        try {
            uploads.triggerAll();
        } catch (ThreadDeath expected) {
            // Fatal errors are passed on to the thread.
        }
        mailbox.runAll();
        assertThat(metrics.count(MaterializationMetrics.FAILED_MATERIALIZATION)).isEqualTo(1);
        assertThat(clock.getActiveScheduledTasks()).as("the next materialization").hasSize(1);
    }

    @Test
    void uploadThatHangsForever_isAFailure_andTheNextOneFollows() throws Exception {
        Materializer materializer = materializer(new MaterializationSettings(true, 10_000, 3));
        hanging = new CountDownLatch(1);
        update();
        materializer.trigger();
        mailbox.runNext();
        Thread upload = new Thread(uploads::triggerAll);
        upload.start();
        hanging.await();
        clock.triggerScheduledTasks();
        mailbox.runNext();
        assertThat(metrics.count(MaterializationMetrics.FAILED_MATERIALIZATION)).isEqualTo(1);

        clock.triggerScheduledTasks();
        mailbox.runNext();
        uploads.triggerAll();
        mailbox.runNext();
        assertThat(bases.current().id()).isEqualTo(2);

        answer.countDown();
        upload.join();
        mailbox.runAll();
        assertThat(bases.current().id()).isEqualTo(2);
        assertThat(metrics.count(MaterializationMetrics.FAILED_MATERIALIZATION)).isEqualTo(1);
        assertThat(clock.getActiveScheduledTasks()).as("the next materialization").hasSize(1);
    }

    @Test
    void uploadThatMakesProgress_isNotGivenUp() throws Exception {
        Materializer materializer = materializer(new MaterializationSettings(false, 0, 3));
        hanging = new CountDownLatch(1);
        progressFirst = true;
        update();
        materializer.trigger();
        mailbox.runNext();
        Thread upload = new Thread(uploads::triggerAll);
        upload.start();
        hanging.await();
        clock.triggerScheduledTasks();
        assertThat(mailbox.size()).isZero();
        answer.countDown();
        upload.join();
        mailbox.runNext();

        assertThat(bases.current().id()).isEqualTo(1);
        assertThat(clock.getActiveScheduledTasks()).isEmpty();
    }

    /** Otherwise nothing would end it if it hangs from then on. */
    @Test
    void uploadThatCannotBeWatchedAnyLonger_isAFailure_andTheNextOneFollows() throws Exception {
        Materializer materializer = materializer(new MaterializationSettings(true, 10_000, 3));
        hanging = new CountDownLatch(1);
        progressFirst = true;
        update();
        materializer.trigger();
        mailbox.runNext();
        Thread upload = new Thread(uploads::triggerAll);
        upload.start();
        hanging.await();
        fatalToWatch = true;
        clock.triggerScheduledTasks();
        fatalToWatch = false;
        assertThat(mailbox.size()).isEqualTo(1);
        mailbox.runNext();
        answer.countDown();
        upload.join();

        assertThat(metrics.count(MaterializationMetrics.FAILED_MATERIALIZATION)).isEqualTo(1);
        assertThat(clock.getActiveScheduledTasks()).as("the next materialization").hasSize(1);
    }

    @Test
    void materializationThatFails_takesItsMarkInTheLogAlong_andOneThatSucceedsDoesNot()
            throws Exception {
        Materializer materializer = materializer(new MaterializationSettings(true, 10_000, 3));
        InMemoryChangelogWriter writer = (InMemoryChangelogWriter) job.log.writer();
        fatal = true;
        update();
        materializer.trigger();
        mailbox.runNext();
        SequenceNumber end = writer.nextSequenceNumber();
        assertThat(writer.marks()).containsExactly(writer.initialSequenceNumber(), end);
        uploads.triggerAll();
        mailbox.runNext();
        assertThat(metrics.count(MaterializationMetrics.FAILED_MATERIALIZATION)).isEqualTo(1);
        assertThat(writer.marks()).containsExactly(writer.initialSequenceNumber());

        fatal = false;
        clock.triggerScheduledTasks();
        mailbox.runNext();
        materializer.cancelRunning();
        uploads.triggerAll();
        mailbox.runNext();
        assertThat(writer.marks()).containsExactly(writer.initialSequenceNumber());

        clock.triggerScheduledTasks();
        mailbox.runNext();
        uploads.triggerAll();
        mailbox.runNext();
        assertThat(bases.current().to()).isEqualTo(end);
        assertThat(writer.marks()).containsExactly(writer.initialSequenceNumber(), end);
    }

    @Test
    void uploadThatHasEnded_isNotGivenUp_howeverLongTheTaskIsBusy() throws Exception {
        Materializer materializer = materializer(new MaterializationSettings(false, 0, 3));
        update();
        materializer.trigger();
        mailbox.runNext();
        uploads.triggerAll();

        clock.triggerScheduledTasks();
        clock.triggerScheduledTasks();
        mailbox.runAll();

        assertThat(bases.current().id()).isEqualTo(1);
        assertThat(uploads.numQueuedRunnables()).as("deletions").isZero();
        assertThat(clock.getActiveScheduledTasks()).isEmpty();
    }

    /** The thread that cancels a task closes its backend. */
    @Test
    void closedWhileASnapshotStarts_deletesIt() throws Exception {
        Materializer materializer = materializer(new MaterializationSettings(true, 10, 3));
        update();
        whenASnapshotStarts = materializer::close;
        materializer.trigger();
        mailbox.runAll();

        assertThat(uploads.numQueuedRunnables()).as("deletions").isEqualTo(1);
        assertThat(metrics.count(MaterializationMetrics.FAILED_MATERIALIZATION)).isZero();
        assertThat(failures).isEmpty();
        assertThat(clock.getActiveScheduledTasks()).isEmpty();
    }

    @Test
    void uploadWhoseCancellationHangs_holdsUpNeitherTheTaskNorTimers() throws Exception {
        Materializer materializer = materializer(new MaterializationSettings(true, 10_000, 3));
        hanging = new CountDownLatch(1);
        closedBetweenCalls = true;
        update();
        materializer.trigger();
        mailbox.runNext();
        Thread upload = new Thread(uploads::triggerAll);
        upload.start();
        hanging.await();
        CompletableFuture<Runnable> interrupting = new CompletableFuture<>();
        Thread interrupt = new Thread(() -> interrupting.join().run());
        interrupts = interrupting::complete;
        interrupt.start();
        materializer.cancelRunning();
        closing.await();

        Thread timers = new Thread(clock::triggerScheduledTasks);
        timers.start();
        timers.join(10_000);
        boolean timersGoOn = !timers.isAlive();
        answer.countDown();
        for (Thread thread : List.of(upload, interrupt, timers)) {
            thread.join();
        }
        assertThat(timersGoOn).isTrue();
    }

    /** With as many of them as there are threads, nothing would be uploaded any more. */
    @Test
    @Timeout(60)
    void uploadThatWasGivenUp_isInterrupted_soThatTheNextOneHasItsThread() throws Exception {
        ExecutorService oneThread = Executors.newSingleThreadExecutor();
        interrupts = interrupt -> new Thread(interrupt).start();
        endsWhenInterrupted = true;
        Materializer materializer =
                materializer(new MaterializationSettings(true, 10_000, 3), oneThread);
        hanging = new CountDownLatch(1);
        update();
        materializer.trigger();
        mailbox.runNext();
        hanging.await();

        clock.triggerScheduledTasks();
        mailbox.runNext();
        assertThat(metrics.count(MaterializationMetrics.FAILED_MATERIALIZATION)).isEqualTo(1);
        clock.triggerScheduledTasks();
        while (bases.current().id() != 2) {
            mailbox.runNext();
        }
        oneThread.shutdown();
    }

    @Test
    void closedAfterTheUpload_deletesIt_thoughTheTaskNeverHearsOfIt() throws Exception {
        Materializer materializer = materializer(new MaterializationSettings(true, 10, 3));
        update();
        materializer.trigger();
        mailbox.runNext();
        uploads.triggerAll();

        materializer.close();

        assertThat(uploads.numQueuedRunnables()).as("deletions").isEqualTo(1);
    }

    private void hangOnce() {
        if (hanging == null || hanging.getCount() == 0) {
            return;
        }
        hanging.countDown();
        awaitAnswer();
    }

    private void awaitAnswer() {
        while (true) {
            try {
                answer.await();
                return;
            } catch (InterruptedException interrupt) {
                if (endsWhenInterrupted) {
                    return;
                }
            }
        }
    }

    /** Pauses its writer between two calls, and hangs when it is closed without a result. */
    private final class PausedStream extends HangingStream {

        private PausedStream(CheckpointStateOutputStream out) {
            super(out);
        }

        @Override
        public long getPos() throws IOException {
            hangOnce();
            return super.getPos();
        }

        @Override
        public void close() throws IOException {
            closing.countDown();
            awaitAnswer();
            super.close();
        }
    }

    /** Hangs when it is closed. */
    private class HangingStream extends CheckpointStateOutputStream {

        private final CheckpointStateOutputStream out;

        private HangingStream(CheckpointStateOutputStream out) {
            this.out = out;
        }

        @Override
        public StreamStateHandle closeAndGetHandle() throws IOException {
            hangOnce();
            return out.closeAndGetHandle();
        }

        @Override
        public void write(int oneByte) throws IOException {
            out.write(oneByte);
        }

        @Override
        public long getPos() throws IOException {
            return out.getPos();
        }

        @Override
        public void flush() throws IOException {
            out.flush();
        }

        @Override
        public void sync() throws IOException {
            out.sync();
        }

        @Override
        public void close() throws IOException {
            out.close();
        }
    }

    private void update() throws Exception {
        job.at(1, "a");
        job.value.update("v");
    }

    private long delayMillis() {
        assertThat(clock.getActiveScheduledTasks()).hasSize(1);
        ScheduledFuture<?> timer = clock.getActiveScheduledTasks().iterator().next();
        return timer.getDelay(TimeUnit.MILLISECONDS);
    }

    private Materializer materializer(MaterializationSettings settings) {
        return materializer(settings, uploads);
    }

    private Materializer materializer(MaterializationSettings settings, Executor uploads) {
        SnapshotDeleter deleter =
                new SnapshotDeleter(
                        "subtask",
                        uploads,
                        interrupt -> interrupts.execute(interrupt),
                        new LocalDirectories(LocalRecoveryConfig.BACKUP_AND_RECOVERY_DISABLED));
        return new Materializer(
                "subtask",
                settings,
                new MaterializationLifecycle(
                        bases,
                        new DelegateSnapshots<>(
                                job.backend(),
                                job.log.writer(),
                                job.appender,
                                job.registry,
                                new MemCheckpointStreamFactory(1 << 20) {
                                    @Override
                                    public CheckpointStateOutputStream
                                            createCheckpointStateOutputStream(
                                                    CheckpointedStateScope scope)
                                                    throws IOException {
                                        if (fatal) {
                                            throw new ThreadDeath();
                                        }
                                        CheckpointStateOutputStream out =
                                                super.createCheckpointStateOutputStream(scope);
                                        if (closedBetweenCalls) {
                                            return new PausedStream(out);
                                        }
                                        if (progressFirst) {
                                            return new HangingStream(out);
                                        }
                                        hangOnce();
                                        return out;
                                    }
                                },
                                Runnable::run),
                        job.log.writer(),
                        truncation,
                        (CheckpointListener) job.backend(),
                        deleter),
                mailbox,
                uploads,
                clock,
                deleter,
                getClass().getClassLoader(),
                new MaterializationMetrics(metrics),
                throttle,
                onlyWithCheckpoints,
                failures::add);
    }
}
