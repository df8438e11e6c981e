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
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.dstl.changelog.config.TaskConfiguration;
import dev.dstl.log.api.StoreException;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.core.testutils.ManuallyTriggeredScheduledExecutorService;
import org.apache.flink.runtime.checkpoint.CheckpointException;
import org.apache.flink.runtime.checkpoint.CheckpointFailureReason;
import org.junit.jupiter.api.Test;

class CheckpointDeadlineTest {

    private static final long NOW = 1_000_000;

    private final ManuallyTriggeredScheduledExecutorService clock =
            new ManuallyTriggeredScheduledExecutorService();
    private final Configuration cluster = new Configuration();
    private final CompletableFuture<String> checkpoint = new CompletableFuture<>();
    private Optional<String> storeProblem = Optional.of("No room on the disk.");

    @Test
    void checkpointThatWaitsForAnUnavailableStore_saysSoBeforeItExpires() {
        watch(NOW);
        assertThat(delaySeconds()).isEqualTo(90);
        clock.triggerScheduledTasks();
        assertThatThrownBy(checkpoint::join)
                .cause()
                .isInstanceOf(CheckpointException.class)
                .hasMessage("No room on the disk. Failure reason: Task local checkpoint failure.")
                .hasNoCause();
    }

    @Test
    void checkpointThatWaitsForAnAvailableStore_isLeftToFlink() {
        storeProblem = Optional.empty();
        watch(NOW);
        clock.triggerScheduledTasks();
        assertThat(checkpoint).isNotDone();
    }

    @Test
    void timeThatTheBarrierTook_counts() {
        watch(NOW - 30_000);
        assertThat(delaySeconds()).isEqualTo(60);
    }

    @Test
    void clockOfAnotherMachineThatIsBehind_doesNotDeclineEarly() {
        watch(NOW - 10_000_000);
        assertThat(delaySeconds()).isEqualTo(50);
    }

    @Test
    void clockOfAnotherMachineThatIsAhead_doesNotDelay() {
        watch(NOW + 10_000_000);
        assertThat(delaySeconds()).isEqualTo(90);
    }

    @Test
    void checkpointThatIsDone_leavesNoTimer() {
        watch(NOW);
        checkpoint.complete("done");
        assertThat(clock.getActiveScheduledTasks()).isEmpty();
    }

    @Test
    void clockWithoutAThread_failsNoCheckpoint() {
        ManuallyTriggeredScheduledExecutorService stopped =
                new ManuallyTriggeredScheduledExecutorService() {
                    @Override
                    public ScheduledFuture<?> schedule(
                            Runnable command, long delay, TimeUnit unit) {
                        throw new Error("unable to create native thread");
                    }
                };
        watch(stopped, NOW);
        assertThat(checkpoint).isNotDone();
    }

    @Test
    void whoeverSaysHowManyFailuresAreTolerated_hasTheseCounted() {
        Configuration job = new Configuration();
        assertThat(reasonWith(job)).isEqualTo(CheckpointFailureReason.TASK_CHECKPOINT_FAILURE);
        job.set(CheckpointingOptions.TOLERABLE_FAILURE_NUMBER, 3);
        assertThat(reasonWith(job)).isEqualTo(CheckpointFailureReason.CHECKPOINT_ASYNC_EXCEPTION);
    }

    /** Flink's JobManager does not know what the TaskManager is configured with. */
    @Test
    void failuresThatOnlyTheTaskManagerTolerates_areNotCounted() {
        cluster.set(CheckpointingOptions.TOLERABLE_FAILURE_NUMBER, 3);
        assertThat(reasonWith(new Configuration()))
                .isEqualTo(CheckpointFailureReason.TASK_CHECKPOINT_FAILURE);
    }

    @Test
    void timeoutThatOnlyTheTaskManagerHas_doesNotCount() {
        cluster.set(CheckpointingOptions.CHECKPOINTING_TIMEOUT, Duration.ofSeconds(1));
        deadline(new Configuration()).watch(checkpoint, System.currentTimeMillis());
        long timeoutSeconds = CheckpointingOptions.CHECKPOINTING_TIMEOUT.defaultValue().toSeconds();
        assertThat(delaySeconds()).isGreaterThan(timeoutSeconds / 2);
    }

    @Test
    void checkpointThatTheStoreFails_isDeclinedForTheSameReason_unlessFailuresAreCounted() {
        Configuration job = new Configuration();
        CheckpointException uncounted = declined(job);
        assertThat(uncounted.getCheckpointFailureReason())
                .isEqualTo(CheckpointFailureReason.TASK_CHECKPOINT_FAILURE);
        assertThat(uncounted).hasMessageStartingWith("Uploading failed 3 times");

        job.set(CheckpointingOptions.TOLERABLE_FAILURE_NUMBER, 0);
        assertThat(declined(job).getCheckpointFailureReason())
                .isEqualTo(CheckpointFailureReason.CHECKPOINT_ASYNC_EXCEPTION);
    }

    @Test
    void anyOtherFailure_isLeftToFlink() {
        CompletableFuture<String> persisted = new CompletableFuture<>();
        CompletableFuture<String> result =
                deadline(new Configuration()).declineIfTheStoreFails(persisted);
        IllegalStateException defect = new IllegalStateException("a defect");
        persisted.completeExceptionally(defect);
        assertThatThrownBy(result::join).hasCause(defect);
    }

    private CheckpointException declined(Configuration job) {
        CompletableFuture<String> result =
                deadline(job).declineIfTheStoreFails(checkpoint.thenApply(done -> done));
        checkpoint.completeExceptionally(
                StoreException.of("Uploading failed 3 times", new IOException("full")));
        return (CheckpointException) catchThrowable(result::join).getCause();
    }

    private CheckpointDeadline deadline(Configuration job) {
        return CheckpointDeadline.of(
                new TaskConfiguration(job, cluster), clock, () -> storeProblem);
    }

    private CheckpointFailureReason reasonWith(Configuration job) {
        job.set(CheckpointingOptions.CHECKPOINTING_TIMEOUT, Duration.ofSeconds(1));
        CompletableFuture<String> watched = new CompletableFuture<>();
        deadline(job).watch(watched, System.currentTimeMillis());
        clock.triggerScheduledTasks();
        try {
            watched.join();
            throw new AssertionError("not declined");
        } catch (CompletionException e) {
            return ((CheckpointException) e.getCause()).getCheckpointFailureReason();
        }
    }

    private long delaySeconds() {
        return clock.getActiveScheduledTasks().iterator().next().getDelay(TimeUnit.SECONDS);
    }

    private void watch(long triggeredAtMillis) {
        watch(clock, triggeredAtMillis);
    }

    private void watch(ScheduledExecutorService on, long triggeredAtMillis) {
        new CheckpointDeadline(
                        Duration.ofSeconds(100),
                        CheckpointFailureReason.TASK_CHECKPOINT_FAILURE,
                        on,
                        () -> NOW,
                        () -> storeProblem)
                .watch(checkpoint, triggeredAtMillis);
    }
}
