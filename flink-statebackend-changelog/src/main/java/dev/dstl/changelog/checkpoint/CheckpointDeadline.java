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

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.runtime.checkpoint.CheckpointException;
import org.apache.flink.runtime.checkpoint.CheckpointFailureReason;

/**
 * Declines a checkpoint that waits for an unavailable store, shortly before it expires: an expired
 * checkpoint gives the JobManager no reason, a declined one does.
 *
 * <p>A checkpoint that expires also counts against the failures that Flink tolerates, which by
 * default are none: the job is restarted until its restart strategy gives up and Flink deletes its
 * checkpoints. A restart does not repair the store, and the changes stay in memory anyway. So
 * unless the user configures the number of tolerated failures, the decline reason is one that Flink
 * does not count, and the job runs until the store is back.
 */
public final class CheckpointDeadline {

    /** The share of the timeout after which a checkpoint is declined. */
    private static final double SHARE = 0.9;

    private final long timeoutMillis;
    private final CheckpointFailureReason reason;
    private final ScheduledExecutorService clock;
    private final LongSupplier wallClockMillis;
    private final Supplier<Optional<String>> storeProblem;

    CheckpointDeadline(
            Duration timeout,
            CheckpointFailureReason reason,
            ScheduledExecutorService clock,
            LongSupplier wallClockMillis,
            Supplier<Optional<String>> storeProblem) {
        this.timeoutMillis = timeout.toMillis();
        this.reason = reason;
        this.clock = clock;
        this.wallClockMillis = wallClockMillis;
        this.storeProblem = storeProblem;
    }

    /**
     * The deadline that follows from Flink's keys.
     *
     * @param job what the job set; wins
     * @param cluster the configuration of the TaskManager
     * @param clock fires; stays the caller's
     * @param storeProblem why the store takes nothing at present, if it does not; asked by the
     *     clock
     */
    public static CheckpointDeadline of(
            ReadableConfig job,
            ReadableConfig cluster,
            ScheduledExecutorService clock,
            Supplier<Optional<String>> storeProblem) {
        boolean limited =
                job.getOptional(CheckpointingOptions.TOLERABLE_FAILURE_NUMBER).isPresent()
                        || cluster.getOptional(CheckpointingOptions.TOLERABLE_FAILURE_NUMBER)
                                .isPresent();
        return new CheckpointDeadline(
                job.getOptional(CheckpointingOptions.CHECKPOINTING_TIMEOUT)
                        .orElseGet(() -> cluster.get(CheckpointingOptions.CHECKPOINTING_TIMEOUT)),
                limited
                        ? CheckpointFailureReason.CHECKPOINT_ASYNC_EXCEPTION
                        : CheckpointFailureReason.TASK_CHECKPOINT_FAILURE,
                clock,
                System::currentTimeMillis,
                storeProblem);
    }

    /**
     * Watches a checkpoint.
     *
     * @param result fails when it is time, if it is not done and the store unavailable
     * @param triggeredAtMillis by the clock of the JobManager
     */
    void watch(CompletableFuture<?> result, long triggeredAtMillis) {
        if (result.isDone()) {
            return;
        }
        ScheduledFuture<?> timer =
                clock.schedule(
                        () -> expire(result),
                        delayMillis(triggeredAtMillis),
                        TimeUnit.MILLISECONDS);
        CompletableFuture<?> unused =
                result.whenComplete((ignored, failure) -> timer.cancel(false));
    }

    /** Clocks differ between machines: at least half of the timeout is waited in any case. */
    private long delayMillis(long triggeredAtMillis) {
        long passed = Math.max(0, wallClockMillis.getAsLong() - triggeredAtMillis);
        return Math.max(timeoutMillis / 2, (long) (timeoutMillis * SHARE) - passed);
    }

    private void expire(CompletableFuture<?> result) {
        storeProblem
                .get()
                .ifPresent(
                        said ->
                                result.completeExceptionally(
                                        new CheckpointException(said, reason)));
    }
}
