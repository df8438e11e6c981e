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

package dev.dstl.log.config;

import java.time.Duration;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.IllegalConfigurationException;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.core.fs.Path;

/** The checked values of {@link DstlOptions}, with their units in their names. Immutable. */
public final class DstlSettings {

    /**
     * What all subtasks of an operator may have in the metadata of a checkpoint together. With
     * 4,000 of them, the frames around it included, that stays below 16 MB.
     */
    private static final long MAX_INLINE_BYTES = 6L << 20;

    /** Runs of a changelog that compaction leaves at most where subtasks are few. */
    public static final int MAX_RUN_LIMIT = 32;

    /**
     * Fewer runs would have each state change written again and again, with two runs to a
     * compaction already.
     */
    public static final int MIN_RUN_LIMIT = 4;

    private final Path basePath;
    private final boolean compressionEnabled;
    private final long sealThresholdBytes;
    private final long lingerMillis;
    private final long rollThresholdBytes;
    private final int uploadBufferBytes;
    private final int uploadThreads;
    private final int discardThreads;
    private final long maxInFlightBytes;
    private final RetryMode retryMode;
    private final long attemptTimeoutMillis;
    private final int maxFailedAttempts;
    private final long retryDelayMillis;
    private final long maxRetryDelayMillis;
    private final int maxSlowAttempts;
    private final long maxAgeMillis;
    private final long inlineThresholdBytes;
    private final int compactionMinRuns;
    private final long compactionMaxBytes;
    private final int maxRunsPerOperator;
    private final double hedgeBudget;
    private final double hedgeQuantile;
    private final long minHedgeDelayMillis;

    /**
     * Reads and checks every key.
     *
     * @param configuration that of the TaskManager
     * @throws IllegalConfigurationException if a required key is missing, a key is misspelt, a
     *     value cannot be read or is out of its range, or two values contradict each other
     */
    public static DstlSettings from(Configuration configuration) {
        KnownKeys.ofAllModules().check(configuration);
        return new DstlSettings(new CheckedConfiguration(configuration));
    }

    private DstlSettings(CheckedConfiguration values) {
        basePath = values.directory(DstlOptions.BASE_PATH, "s3://bucket/changelog");
        compressionEnabled = values.get(DstlOptions.COMPRESSION_ENABLED);
        sealThresholdBytes =
                values.bytes(DstlOptions.PREEMPTIVE_PERSIST_THRESHOLD, 1, Long.MAX_VALUE);
        lingerMillis = values.millis(DstlOptions.PERSIST_DELAY, Duration.ZERO);
        rollThresholdBytes = values.bytes(DstlOptions.PERSIST_SIZE_THRESHOLD, 1, Long.MAX_VALUE);
        uploadBufferBytes = (int) values.bytes(DstlOptions.UPLOAD_BUFFER_SIZE, 1, 1L << 30);
        uploadThreads = values.count(DstlOptions.UPLOAD_THREADS, 1, 1000);
        discardThreads = values.count(DstlOptions.DISCARD_THREADS, 1, 1000);
        maxInFlightBytes = values.bytes(DstlOptions.MAX_IN_FLIGHT, 1, Long.MAX_VALUE);
        attemptTimeoutMillis = values.millis(DstlOptions.UPLOAD_TIMEOUT, Duration.ZERO);
        maxFailedAttempts = values.count(DstlOptions.MAX_ATTEMPTS, 1, Integer.MAX_VALUE);
        retryDelayMillis = values.millis(DstlOptions.NEXT_ATTEMPT_DELAY, Duration.ZERO);
        maxRetryDelayMillis =
                Math.max(
                        retryDelayMillis,
                        values.millis(DstlOptions.MAX_RETRY_DELAY, Duration.ofMillis(1)));
        maxSlowAttempts = values.count(DstlOptions.MAX_SLOW_ATTEMPTS, 0, 1000);
        maxAgeMillis = values.millis(DstlOptions.MAX_AGE, Duration.ZERO);
        inlineThresholdBytes = inlineThresholdBytes(values);
        compactionMinRuns = compactionMinRuns(values);
        compactionMaxBytes = values.bytes(DstlOptions.COMPACTION_MAX_SIZE, 1, 128L << 20);
        maxRunsPerOperator =
                values.count(DstlOptions.COMPACTION_MAX_RUNS_PER_OPERATOR, 1, Integer.MAX_VALUE);
        readAheadBytes(values);
        hedgeBudget = values.fraction(DstlOptions.HEDGE_BUDGET, 0, 1);
        hedgeQuantile = values.fraction(DstlOptions.HEDGE_QUANTILE, 0.5, 0.999);
        minHedgeDelayMillis = minHedgeDelayMillis(values, attemptTimeoutMillis);
        retryMode = retryMode(values);
        if (rollThresholdBytes > maxInFlightBytes) {
            throw new IllegalConfigurationException(
                    String.format(
                            "'%s' is %d bytes and '%s' is %d bytes: segments would be rolled later"
                                    + " than the tasks are stopped. Raise '%s' or lower '%s'.",
                            DstlOptions.PERSIST_SIZE_THRESHOLD.key(),
                            rollThresholdBytes,
                            DstlOptions.MAX_IN_FLIGHT.key(),
                            maxInFlightBytes,
                            DstlOptions.MAX_IN_FLIGHT.key(),
                            DstlOptions.PERSIST_SIZE_THRESHOLD.key()));
        }
    }

    private static RetryMode retryMode(CheckedConfiguration values) {
        if (!values.isSet(DstlOptions.RETRY_POLICY) && values.isSet(DstlOptions.MAX_ATTEMPTS)) {
            return RetryMode.FIXED;
        }
        return values.oneOf(DstlOptions.RETRY_POLICY, RetryMode.values(), RetryMode::configValue);
    }

    /** A short timeout without this key makes the key meaningless, not wrong. */
    private static long minHedgeDelayMillis(CheckedConfiguration values, long timeoutMillis) {
        long delayMillis = values.millis(DstlOptions.HEDGE_MIN_DELAY, Duration.ZERO);
        if (values.isSet(DstlOptions.HEDGE_MIN_DELAY)
                && timeoutMillis > 0
                && delayMillis > timeoutMillis) {
            throw new IllegalConfigurationException(
                    String.format(
                            "'%s' is %d ms and '%s' is %d ms: there would already be a second"
                                    + " attempt. Lower '%s' or raise '%s'.",
                            DstlOptions.HEDGE_MIN_DELAY.key(),
                            delayMillis,
                            DstlOptions.UPLOAD_TIMEOUT.key(),
                            timeoutMillis,
                            DstlOptions.HEDGE_MIN_DELAY.key(),
                            DstlOptions.UPLOAD_TIMEOUT.key()));
        }
        return delayMillis;
    }

    /**
     * How much of their logs restoring tasks may hold fetched and not yet read; 0 to fetch nothing
     * ahead. Restoring needs no other key.
     */
    public static long readAheadBytes(Configuration configuration) {
        return readAheadBytes(new CheckedConfiguration(configuration));
    }

    private static long readAheadBytes(CheckedConfiguration values) {
        return values.bytes(DstlOptions.RESTORE_READ_AHEAD, 0, Long.MAX_VALUE);
    }

    private static int compactionMinRuns(CheckedConfiguration values) {
        int runs = values.count(DstlOptions.COMPACTION_MIN_RUNS, 0, 64);
        if (runs == 1) {
            throw new IllegalConfigurationException(
                    String.format(
                            "'%s' is 1, but a single run cannot be compacted. Set 2 to 64, or 0"
                                    + " to disable compaction.",
                            DstlOptions.COMPACTION_MIN_RUNS.key()));
        }
        return runs;
    }

    /**
     * Bytes of a subtask that may travel in a handle instead of being waited for: with so many that
     * all handles together would be a burden to the JobManager, fewer than configured.
     *
     * @param parallelism of the operator, at least 1
     */
    public long inlineThresholdBytes(int parallelism) {
        return Math.min(inlineThresholdBytes, MAX_INLINE_BYTES / parallelism);
    }

    private static long inlineThresholdBytes(CheckedConfiguration values) {
        ConfigOption<MemorySize> source =
                values.isSet(DstlOptions.INLINE_THRESHOLD)
                        ? DstlOptions.INLINE_THRESHOLD
                        : CheckpointingOptions.FS_SMALL_FILE_THRESHOLD;
        return values.bytes(source, 0, 1L << 20);
    }

    /** Directory below which every segment lies; not yet known to be reachable. */
    public Path basePath() {
        return basePath;
    }

    /** Whether segments are compressed. */
    public boolean compressionEnabled() {
        return compressionEnabled;
    }

    /** Bytes of one writer's active batch at which it is sealed; at least 1. */
    public long sealThresholdBytes() {
        return sealThresholdBytes;
    }

    /** How long a sealed batch waits for others; 0 rolls a segment at once. */
    public long lingerMillis() {
        return lingerMillis;
    }

    /** Sealed bytes of all writers that end the wait; at most {@link #maxInFlightBytes()}. */
    public long rollThresholdBytes() {
        return rollThresholdBytes;
    }

    /** The largest buffer between a segment and its stream. */
    public int uploadBufferBytes() {
        return uploadBufferBytes;
    }

    /** Upload attempts that run at a time, slow ones not counted. */
    public int uploadThreads() {
        return uploadThreads;
    }

    /** Threads that delete. */
    public int discardThreads() {
        return discardThreads;
    }

    /** Sealed but not yet durable bytes at which the tasks stop taking input. */
    public long maxInFlightBytes() {
        return maxInFlightBytes;
    }

    /** What follows a failed attempt. */
    public RetryMode retryMode() {
        return retryMode;
    }

    /** Age at which an attempt gets a second attempt; 0 for never. */
    public long attemptTimeoutMillis() {
        return attemptTimeoutMillis;
    }

    /** Failed attempts that decline a checkpoint; meaningful with {@link RetryMode#FIXED}. */
    public int maxFailedAttempts() {
        return maxFailedAttempts;
    }

    /** Delay after the first failed attempt. */
    public long retryDelayMillis() {
        return retryDelayMillis;
    }

    /** Bound of the growing delay; at least {@link #retryDelayMillis()}. */
    public long maxRetryDelayMillis() {
        return maxRetryDelayMillis;
    }

    /** Attempts past their timeout that may run beside {@link #uploadThreads()} others. */
    public int maxSlowAttempts() {
        return maxSlowAttempts;
    }

    /** Age at which a batch is sealed without a checkpoint; 0 for never. */
    public long maxAgeMillis() {
        return maxAgeMillis;
    }

    /** Bytes of one log, not yet durable, that travel in a handle; at most 1 MiB, 0 for none. */
    public long inlineThresholdBytes() {
        return inlineThresholdBytes;
    }

    /** Batches of a log that become one, 2 to 64; 0 for never. */
    public int compactionMinRuns() {
        return compactionMinRuns;
    }

    /** Bytes of frames that become one at most; at most 128 MiB. */
    public long compactionMaxBytes() {
        return compactionMaxBytes;
    }

    /**
     * Runs of a changelog that compaction leaves at most where it has time: with so many subtasks
     * that all their runs together would be a burden to the JobManager, fewer than usual.
     *
     * @param parallelism of the operator, at least 1
     * @return in {@code [MIN_RUN_LIMIT, MAX_RUN_LIMIT]}
     */
    public int runLimit(int parallelism) {
        return Math.max(MIN_RUN_LIMIT, Math.min(MAX_RUN_LIMIT, maxRunsPerOperator / parallelism));
    }

    /** Attempts made in addition per needed one, in {@code [0, 1]}; 0 for none. */
    public double hedgeBudget() {
        return hedgeBudget;
    }

    /** The share of attempts that are fast enough, in {@code [0.5, 0.999]}. */
    public double hedgeQuantile() {
        return hedgeQuantile;
    }

    /** Age below which an attempt is never hedged. */
    public long minHedgeDelayMillis() {
        return minHedgeDelayMillis;
    }
}
