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

import dev.dstl.changelog.config.MaterializationSettings;
import dev.dstl.changelog.fixture.Delegate;
import dev.dstl.changelog.fixture.InMemoryChangelogWriter;
import dev.dstl.changelog.fixture.InMemoryLog;
import dev.dstl.changelog.fixture.LoggedJob;
import dev.dstl.changelog.fixture.ManualMailbox;
import dev.dstl.changelog.fixture.RecordedMetrics;
import dev.dstl.changelog.metrics.MaterializationMetrics;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.apache.flink.api.common.state.CheckpointListener;
import org.apache.flink.core.testutils.ManuallyTriggeredScheduledExecutorService;
import org.apache.flink.runtime.state.LocalRecoveryConfig;
import org.apache.flink.runtime.state.changelog.SequenceNumber;

/** A task whose state is materialized; its mails, uploads and timers run when the test says so. */
final class MaterializedTask implements AutoCloseable {

    final ManualMailbox mailbox = new ManualMailbox();
    final FaultyClock clock = new FaultyClock();
    final ManuallyTriggeredScheduledExecutorService uploads =
            new ManuallyTriggeredScheduledExecutorService();
    final FaultyStreams streams = new FaultyStreams();
    final List<Throwable> failures = new ArrayList<>();
    final MaterializationThrottle throttle = new MaterializationThrottle(1e-9, System::nanoTime);
    final LoggedJob job;
    final LogTruncation truncation;
    final BaseLedger bases;

    /** Runs interrupts of uploads. */
    Executor interrupts = Runnable::run;

    Runnable whenASnapshotStarts = () -> {};

    /** Whether the materializer is for a task whose state another thread changes. */
    boolean onlyWithCheckpoints;

    private final RecordedMetrics metrics = new RecordedMetrics();

    private MaterializedTask(Delegate.Kind delegate) throws Exception {
        InMemoryChangelogWriter writer =
                new InMemoryChangelogWriter() {
                    @Override
                    public void addCompactionBoundary() {
                        super.addCompactionBoundary();
                        whenASnapshotStarts.run();
                    }
                };
        job = LoggedJob.start(delegate, InMemoryLog.withRecordKeys(writer));
        truncation = new LogTruncation(writer);
        SequenceNumber begin = writer.initialSequenceNumber();
        bases =
                new BaseLedger(
                        new MaterializedBase(
                                0, 0, begin, begin, StateParts.EMPTY, StateParts.EMPTY),
                        false);
    }

    static MaterializedTask over(Delegate.Kind delegate) throws Exception {
        return new MaterializedTask(delegate);
    }

    /** Changes the state of a key. */
    void update() throws Exception {
        update(1);
    }

    void update(int key) throws Exception {
        job.at(key, "a");
        job.value.update("v");
    }

    /** Changes the state and begins its materialization, whose upload then waits to be run. */
    void begin(Materializer materializer) throws Exception {
        update();
        materializer.trigger();
        mailbox.runNext();
    }

    /** Runs the upload that waits on a thread of its own, which hangs when this returns. */
    Thread uploadUntilItHangs() throws Exception {
        Thread upload = new Thread(uploads::triggerAll);
        upload.start();
        streams.awaitHanging();
        return upload;
    }

    InMemoryChangelogWriter changelog() {
        return (InMemoryChangelogWriter) job.log.writer();
    }

    long started() {
        return metrics.count(MaterializationMetrics.STARTED_MATERIALIZATION);
    }

    long completed() {
        return metrics.count(MaterializationMetrics.COMPLETED_MATERIALIZATION);
    }

    long failed() {
        return metrics.count(MaterializationMetrics.FAILED_MATERIALIZATION);
    }

    /** Delay of the only timer. */
    long delayMillis() {
        assertThat(clock.getActiveScheduledTasks()).hasSize(1);
        ScheduledFuture<?> timer = clock.getActiveScheduledTasks().iterator().next();
        return timer.getDelay(TimeUnit.MILLISECONDS);
    }

    Materializer materializer(MaterializationSettings settings) {
        return materializer(settings, uploads);
    }

    Materializer materializer(MaterializationSettings settings, Executor uploads) {
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
                                streams,
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

    @Override
    public void close() throws IOException {
        job.close();
    }
}
