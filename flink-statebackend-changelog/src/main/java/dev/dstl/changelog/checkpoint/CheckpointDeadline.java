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

import dev.dstl.changelog.config.MisconfigurationException;
import dev.dstl.changelog.config.TaskConfiguration;
import dev.dstl.log.api.StoreException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.runtime.checkpoint.CheckpointException;
import org.apache.flink.runtime.checkpoint.CheckpointFailureReason;
import org.apache.flink.util.ExceptionUtils;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Declines a checkpoint that waits for an unavailable store, shortly before it expires: an expired
 * checkpoint gives the JobManager no reason, a declined one does. Declines a checkpoint for whose
 * changelog the store was tried in vain in the same way.
 *
 * <p>An expired or failed checkpoint also counts against the failures that Flink tolerates, by
 * default none: the job restarts until its restart strategy gives up and Flink deletes its
 * checkpoints. A restart does not repair the store. Therefore, unless the user configures the
 * number of tolerated failures, checkpoints are declined for a reason that Flink does not count,
 * and the job keeps running until the store is available again.
 */
public final class CheckpointDeadline {

    /** Fraction of the checkpoint timeout after which a checkpoint is declined. */
    private static final double SHARE = 0.9;

    private static final Logger LOG = LoggerFactory.getLogger(CheckpointDeadline.class);

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
     * Creates a deadline from Flink's keys.
     *
     * @param configuration of the task
     * @param clock fires the deadline; stays the caller's
     * @param storeProblem returns why the store accepts no writes, or empty if it does; called on
     *     the clock's thread
     * @throws MisconfigurationException if a value cannot be read
     */
    public static CheckpointDeadline of(
            TaskConfiguration configuration,
            ScheduledExecutorService clock,
            Supplier<Optional<String>> storeProblem) {
        return new CheckpointDeadline(
                configuration.getOfJob(CheckpointingOptions.CHECKPOINTING_TIMEOUT),
                configuration.isSetByJob(CheckpointingOptions.TOLERABLE_FAILURE_NUMBER)
                        ? CheckpointFailureReason.CHECKPOINT_ASYNC_EXCEPTION
                        : CheckpointFailureReason.TASK_CHECKPOINT_FAILURE,
                clock,
                System::currentTimeMillis,
                storeProblem);
    }

    /**
     * Returns a future with the result of {@code persisted}. If the store fails it, it fails with
     * an exception that declines the checkpoint; any other failure stays as it is.
     */
    <T> CompletableFuture<T> declineIfTheStoreFails(CompletableFuture<T> persisted) {
        return persisted.handle(
                (result, failure) -> {
                    if (failure == null) {
                        return result;
                    }
                    Throwable cause = ExceptionUtils.stripCompletionException(failure);
                    throw new CompletionException(
                            cause instanceof StoreException
                                    ? new CheckpointException(cause.getMessage(), reason)
                                    : cause);
                });
    }

    /**
     * Watches a checkpoint. At the deadline, {@code result} fails if it is not done and the store
     * is unavailable.
     *
     * @param result fails when it is time, if it is not done and the store unavailable
     * @param triggeredAtMillis trigger time by the JobManager's clock
     */
    void watch(CompletableFuture<?> result, long triggeredAtMillis) {
        if (result.isDone()) {
            return;
        }
        ScheduledFuture<?> timer;
        try {
            timer =
                    clock.schedule(
                            () -> expire(result),
                            delayMillis(triggeredAtMillis),
                            TimeUnit.MILLISECONDS);
        } catch (Throwable noThread) {
            // The checkpoint then expires without a reason, which is better than failing the task.
            LOG.debug("A checkpoint has no deadline", noThread);
            return;
        }
        CompletableFuture<?> unused =
                result.whenComplete((ignored, failure) -> timer.cancel(false));
    }

    /**
     * Returns the delay in milliseconds; at least half of the timeout, since the clocks of machines
     * differ.
     */
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
