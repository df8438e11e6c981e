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

/** The checked values of {@link DstlOptions}. Names end with units. Immutable. */
public final class DstlSettings {

    /** More does not make restores faster: it holds the changelog of a gigabyte of state. */
    private static final long MAX_READ_AHEAD = 512L << 20;

    /**
     * Maximum inline state changes of all subtasks of an operator in the metadata of one
     * checkpoint. With 4,000 subtasks, the metadata stays below 16 MB, frames included.
     */
    private static final long MAX_INLINE_BYTES = 6L << 20;

    /** Number of runs of a changelog that compaction aims at where an operator has few subtasks. */
    public static final int MAX_RUN_LIMIT = 32;

    /**
     * Minimum run limit. With fewer runs, each state change would be rewritten again and again,
     * even if only two runs are compacted at a time.
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
     * Reads and checks all keys.
     *
     * @param configuration of the TaskManager
     * @throws IllegalConfigurationException if a required key is missing, a key is misspelt, a
     *     value cannot be parsed or is out of range, or two values contradict each other
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
                            "'%s' is %d bytes and '%s' is %d bytes: tasks would stop taking"
                                    + " input before a segment is rolled. Raise '%s' or lower"
                                    + " '%s'.",
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

    /** A short upload timeout makes an unset key ineffective, not wrong. */
    private static long minHedgeDelayMillis(CheckedConfiguration values, long timeoutMillis) {
        long delayMillis = values.millis(DstlOptions.HEDGE_MIN_DELAY, Duration.ZERO);
        if (values.isSet(DstlOptions.HEDGE_MIN_DELAY)
                && timeoutMillis > 0
                && delayMillis > timeoutMillis) {
            throw new IllegalConfigurationException(
                    String.format(
                            "'%s' is %d ms and '%s' is %d ms: an attempt would time out before"
                                    + " it may be hedged. Lower '%s' or raise '%s'.",
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
     * Returns the memory for data that restoring tasks have fetched and not yet replayed, in bytes;
     * 0 disables read-ahead. Restore needs no other key of DSTL.
     *
     * @throws IllegalConfigurationException if the value cannot be parsed or is out of range
     */
    public static long readAheadBytes(Configuration configuration) {
        return readAheadBytes(new CheckedConfiguration(configuration));
    }

    /**
     * Returns up to how many bytes may be used instead of {@link #readAheadBytes} while the heap
     * has room: a quarter of the heap where nothing is configured.
     */
    public static long readAheadWithRoomBytes(Configuration configuration) {
        CheckedConfiguration values = new CheckedConfiguration(configuration);
        long bytes = readAheadBytes(values);
        return values.isSet(DstlOptions.RESTORE_READ_AHEAD)
                ? bytes
                : Math.max(bytes, Math.min(MAX_READ_AHEAD, Runtime.getRuntime().maxMemory() / 4));
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
     * Returns how many bytes of state changes of a subtask may travel inline in a checkpoint
     * handle. Lower than configured where the handles of all subtasks together would burden the
     * JobManager.
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

    /** Returns the absolute directory that contains all segments. It may not be reachable. */
    public Path basePath() {
        return basePath;
    }

    /** Returns whether segments are compressed. */
    public boolean compressionEnabled() {
        return compressionEnabled;
    }

    /** Returns the size in bytes at which a writer's active batch is sealed, at least 1. */
    public long sealThresholdBytes() {
        return sealThresholdBytes;
    }

    /**
     * Returns how long a sealed batch waits for others, in milliseconds; 0 rolls a segment at once.
     */
    public long lingerMillis() {
        return lingerMillis;
    }

    /**
     * Returns the total size in bytes of sealed batches that ends the wait; at most {@link
     * #maxInFlightBytes()}.
     */
    public long rollThresholdBytes() {
        return rollThresholdBytes;
    }

    /** Returns the maximum size in bytes of the buffer between a segment and its stream. */
    public int uploadBufferBytes() {
        return uploadBufferBytes;
    }

    /** Returns the number of concurrent upload attempts, without slow ones. */
    public int uploadThreads() {
        return uploadThreads;
    }

    /** Returns the number of threads that delete segments. */
    public int discardThreads() {
        return discardThreads;
    }

    /** Returns the size in bytes of changelog memory at which tasks stop reading input. */
    public long maxInFlightBytes() {
        return maxInFlightBytes;
    }

    /** Returns what happens after a failed attempt. */
    public RetryMode retryMode() {
        return retryMode;
    }

    /** Returns the age in milliseconds at which an attempt times out; 0 for never. */
    public long attemptTimeoutMillis() {
        return attemptTimeoutMillis;
    }

    /**
     * Returns the number of failed attempts after which a checkpoint is declined; used with {@link
     * RetryMode#FIXED} only.
     */
    public int maxFailedAttempts() {
        return maxFailedAttempts;
    }

    /** Returns the delay in milliseconds after the first failed attempt. */
    public long retryDelayMillis() {
        return retryDelayMillis;
    }

    /**
     * Returns the maximum of the growing delay in milliseconds; at least {@link
     * #retryDelayMillis()}.
     */
    public long maxRetryDelayMillis() {
        return maxRetryDelayMillis;
    }

    /** Returns the number of slow attempts that may run in addition to {@link #uploadThreads()}. */
    public int maxSlowAttempts() {
        return maxSlowAttempts;
    }

    /**
     * Returns the age in milliseconds at which a batch is sealed without a checkpoint; 0 for never.
     */
    public long maxAgeMillis() {
        return maxAgeMillis;
    }

    /**
     * Returns the configured size in bytes of state changes that may travel inline in a handle; at
     * most 1 MiB, 0 for none.
     */
    public long inlineThresholdBytes() {
        return inlineThresholdBytes;
    }

    /** Returns the number of runs that are compacted into one, 2 to 64; 0 disables compaction. */
    public int compactionMinRuns() {
        return compactionMinRuns;
    }

    /**
     * Returns the maximum total size in bytes of the frames that are compacted into one; at most
     * 128 MiB.
     */
    public long compactionMaxBytes() {
        return compactionMaxBytes;
    }

    /**
     * Returns the number of runs of a changelog that compaction aims at, where it has time. Lower
     * than usual where the runs of all subtasks together would burden the JobManager.
     *
     * @param parallelism of the operator, at least 1
     * @return in {@code [MIN_RUN_LIMIT, MAX_RUN_LIMIT]}
     */
    public int runLimit(int parallelism) {
        return Math.max(MIN_RUN_LIMIT, Math.min(MAX_RUN_LIMIT, maxRunsPerOperator / parallelism));
    }

    /** Returns the number of hedged attempts per upload, in {@code [0, 1]}; 0 disables hedging. */
    public double hedgeBudget() {
        return hedgeBudget;
    }

    /**
     * Returns the quantile of upload durations above which an attempt is hedged, in {@code [0.5,
     * 0.999]}.
     */
    public double hedgeQuantile() {
        return hedgeQuantile;
    }

    /** Returns the age in milliseconds below which an attempt is never hedged. */
    public long minHedgeDelayMillis() {
        return minHedgeDelayMillis;
    }
}
