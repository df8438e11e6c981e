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
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;
import org.apache.flink.configuration.MemorySize;

/**
 * Options of the changelog storage. They are read from the configuration of the TaskManagers, since
 * Flink does not pass the configuration of a job to the storage.
 *
 * <p>Keys under {@code state.changelog.dstl.dfs} are Flink's own and keep their meaning. Where a
 * default differs, the description says so.
 */
public final class DstlOptions {

    private static final String FLINK = "state.changelog.dstl.dfs.";
    private static final String FLINK_DEPRECATED = "dstl.dfs.";
    private static final String PREFIX = "state.changelog.dstl.";

    /** Directory on a distributed file system that holds the changelog segments. */
    public static final ConfigOption<String> BASE_PATH =
            flink("base-path")
                    .stringType()
                    .noDefaultValue()
                    .withDeprecatedKeys(FLINK_DEPRECATED + "base-path")
                    .withDescription(
                            "Directory on a distributed file system for changelog segments,"
                                    + " for example s3://bucket/changelog. JobManager and TaskManagers"
                                    + " must reach it under the same URI. Required as soon as a job"
                                    + " enables the changelog.");

    /** Whether segments are compressed. */
    public static final ConfigOption<Boolean> COMPRESSION_ENABLED =
            flink("compression.enabled")
                    .booleanType()
                    .defaultValue(true)
                    .withDeprecatedKeys(FLINK_DEPRECATED + "compression.enabled")
                    .withDescription(
                            "Whether segments are compressed. Flink's default is false; here"
                                    + " it is true because smaller segments shorten checkpoints."
                                    + " Compression takes CPU time on the upload threads, not on the"
                                    + " task thread.");

    /**
     * Size of an unsealed batch at which a subtask's state changes are uploaded without waiting for
     * a checkpoint.
     */
    public static final ConfigOption<MemorySize> PREEMPTIVE_PERSIST_THRESHOLD =
            flink("preemptive-persist-threshold")
                    .memoryType()
                    .defaultValue(MemorySize.ofMebiBytes(5))
                    .withDeprecatedKeys(FLINK_DEPRECATED + "preemptive-persist-threshold")
                    .withDescription(
                            "Uploads the state changes of an operator's subtask as soon as"
                                    + " they reach this size, without waiting for a checkpoint. A"
                                    + " smaller value leaves less to upload at the checkpoint but"
                                    + " writes more segments.");

    /** How long sealed state changes wait for those of other tasks, to be uploaded with them. */
    public static final ConfigOption<Duration> PERSIST_DELAY =
            flink("batch.persist-delay")
                    .durationType()
                    .defaultValue(Duration.ofMillis(10))
                    .withDeprecatedKeys(FLINK_DEPRECATED + "batch.persist-delay")
                    .withDescription(
                            "How long state changes wait for those of the job's other tasks"
                                    + " on the same TaskManager, to share one segment and one PUT. A"
                                    + " longer delay saves requests and adds to the duration of every"
                                    + " checkpoint that uploads something.");

    /** Total size at which sealed state changes no longer wait for those of other tasks. */
    public static final ConfigOption<MemorySize> PERSIST_SIZE_THRESHOLD =
            flink("batch.persist-size-threshold")
                    .memoryType()
                    .defaultValue(MemorySize.ofMebiBytes(10))
                    .withDeprecatedKeys(FLINK_DEPRECATED + "batch.persist-size-threshold")
                    .withDescription(
                            "Size at which the state changes of a job on a TaskManager"
                                    + " are uploaded at once, without waiting for"
                                    + " batch.persist-delay. At most upload.max-in-flight.");

    /** Maximum size of the buffer between a segment and the output stream of the file system. */
    public static final ConfigOption<MemorySize> UPLOAD_BUFFER_SIZE =
            flink("upload.buffer-size")
                    .memoryType()
                    .defaultValue(MemorySize.ofMebiBytes(1))
                    .withDeprecatedKeys(FLINK_DEPRECATED + "upload.buffer-size")
                    .withDescription(
                            "Buffer between a segment and the stream of the file system. A"
                                    + " smaller segment takes only what it needs.");

    /** Number of concurrent upload attempts of one job on one TaskManager. */
    public static final ConfigOption<Integer> UPLOAD_THREADS =
            flink("upload.num-threads")
                    .intType()
                    .defaultValue(10)
                    .withDeprecatedKeys(FLINK_DEPRECATED + "upload.num-threads")
                    .withDescription(
                            "Upload attempts of a job on a TaskManager that run at a time."
                                    + " Each writes at the speed of one stream, so this limits the"
                                    + " throughput. Flink's default is 5; 10 full segments fill"
                                    + " upload.max-in-flight. Slow attempts do not count, see"
                                    + " upload.max-slow-attempts.");

    /** Number of threads that delete segments that no checkpoint ever contained. */
    public static final ConfigOption<Integer> DISCARD_THREADS =
            flink("discard.num-threads")
                    .intType()
                    .defaultValue(1)
                    .withDeprecatedKeys(FLINK_DEPRECATED + "discard.num-threads")
                    .withDescription("Threads that delete segments no checkpoint ever contained.");

    /**
     * Memory for the changelogs of all jobs of a TaskManager, at which tasks stop reading input.
     */
    public static final ConfigOption<MemorySize> MAX_IN_FLIGHT =
            flink("upload.max-in-flight")
                    .memoryType()
                    .defaultValue(MemorySize.ofMebiBytes(100))
                    .withDeprecatedKeys(FLINK_DEPRECATED + "upload.max-in-flight")
                    .withDescription(
                            "Memory for the changelogs of all jobs of a TaskManager:"
                                    + " buffers, uploads, compaction. When it is used up,"
                                    + " tasks stop taking input until uploads catch up. Flink counts"
                                    + " uploads only, per job. At least"
                                    + " batch.persist-size-threshold.");

    /** What happens after a failed upload attempt: none, fixed or until-success. */
    public static final ConfigOption<String> RETRY_POLICY =
            flink("upload.retry-policy")
                    .stringType()
                    .defaultValue("until-success")
                    .withDeprecatedKeys(FLINK_DEPRECATED + "upload.retry-policy")
                    .withDescription(
                            "What follows a failed upload attempt: 'until-success' retries"
                                    + " with growing delays while the checkpoint waits, 'fixed'"
                                    + " declines the checkpoint after upload.max-attempts, 'none' after"
                                    + " the first failure. Flink's default is 'fixed'. In all cases the"
                                    + " state changes are kept and uploaded later.");

    /** Age at which an upload attempt counts as timed out. */
    public static final ConfigOption<Duration> UPLOAD_TIMEOUT =
            flink("upload.timeout")
                    .durationType()
                    .defaultValue(Duration.ofSeconds(1))
                    .withDeprecatedKeys(FLINK_DEPRECATED + "upload.timeout")
                    .withDescription(
                            "Age at which an upload attempt counts as timed out and may be"
                                    + " replaced, or three times the slowest recent upload of its size,"
                                    + " if longer. A smaller value reacts sooner to requests that hang"
                                    + " and costs more. With 0, or upload.retry-policy: none, an"
                                    + " attempt fails after a minute or more without progress.");

    /** Number of failed attempts after which waiting checkpoints are declined. */
    public static final ConfigOption<Integer> MAX_ATTEMPTS =
            flink("upload.max-attempts")
                    .intType()
                    .defaultValue(3)
                    .withDeprecatedKeys(FLINK_DEPRECATED + "upload.max-attempts")
                    .withDescription(
                            "Failed attempts after which the waiting checkpoint is declined."
                                    + " Applies to upload.retry-policy: fixed, which setting this key"
                                    + " implies. Unlike in Flink, an attempt that is merely slow does"
                                    + " not count.");

    /** Delay before an upload is retried after its first failed attempt. */
    public static final ConfigOption<Duration> NEXT_ATTEMPT_DELAY =
            flink("upload.next-attempt-delay")
                    .durationType()
                    .defaultValue(Duration.ofMillis(500))
                    .withDeprecatedKeys(FLINK_DEPRECATED + "upload.next-attempt-delay")
                    .withDescription(
                            "Delay between a failed attempt and the next one. With"
                                    + " upload.retry-policy: until-success it doubles after each"
                                    + " failure, up to upload.max-retry-delay. Four times as long if"
                                    + " the store asked for fewer requests (503, SlowDown).");

    /** Accepted for compatibility with Flink's configuration; has no effect. */
    public static final ConfigOption<Duration> DOWNLOAD_CACHE_IDLE_TIMEOUT =
            flink("download.local-cache.idle-timeout-ms")
                    .durationType()
                    .defaultValue(Duration.ofMinutes(10))
                    .withDeprecatedKeys(FLINK_DEPRECATED + "download.local-cache.idle-timeout-ms")
                    .withDescription(
                            "No effect; accepted so that a configuration for Flink's"
                                    + " changelog keeps working. Flink copies whole segments to the"
                                    + " local disk during a restore; DSTL reads the runs it needs from"
                                    + " the store.");

    /** Memory for data that restoring tasks have fetched and not yet replayed. */
    public static final ConfigOption<MemorySize> RESTORE_READ_AHEAD =
            dstl("restore.read-ahead")
                    .memoryType()
                    .defaultValue(MemorySize.ofMebiBytes(64))
                    .withDescription(
                            "Memory that restoring tasks of a TaskManager share for state"
                                    + " changes that are read and sorted, but not yet replayed. Not"
                                    + " set, it grows to a quarter of the heap (at most 512 mb) while"
                                    + " the heap is less than half full; set, it is fixed. 0 reads one"
                                    + " segment after the other and sorts 1 MiB at a time.");

    /**
     * Size up to which a subtask's state changes travel inline in checkpoint metadata instead of in
     * a segment.
     */
    public static final ConfigOption<MemorySize> INLINE_THRESHOLD =
            dstl("inline-threshold")
                    .memoryType()
                    .defaultValue(MemorySize.parse("20 kb"))
                    .withDescription(
                            "State changes of a subtask up to this size before"
                                    + " compression, at most 6 MiB divided by the operator's"
                                    + " parallelism, travel in the checkpoint metadata: the"
                                    + " checkpoint waits for no request, the JobManager holds them."
                                    + " Default: execution.checkpointing.data-inline-threshold. At"
                                    + " most 1 mb; 0 uploads all.");

    /** Number of runs of similar size that are compacted into one. */
    public static final ConfigOption<Integer> COMPACTION_MIN_RUNS =
            dstl("compaction.min-runs")
                    .intType()
                    .defaultValue(16)
                    .withDescription(
                            "Number of runs of similar size that are compacted into one in"
                                    + " the background. A checkpoint names one run per checkpoint since"
                                    + " the last materialization; fewer, longer runs shorten restores."
                                    + " A smaller value keeps fewer runs and writes each state change"
                                    + " more often. 2 to 64; 0 disables compaction.");

    /** Maximum total size of runs that are compacted into one. */
    public static final ConfigOption<MemorySize> COMPACTION_MAX_SIZE =
            dstl("compaction.max-size")
                    .memoryType()
                    .defaultValue(MemorySize.ofMebiBytes(32))
                    .withDescription(
                            "Runs that together are larger than this are not compacted. A"
                                    + " larger value keeps fewer runs, and takes up to four times its"
                                    + " size in memory, at most an eighth of the heap and half of"
                                    + " upload.max-in-flight. At most 128 mb.");

    /**
     * Total number of runs of the changelogs of all subtasks of an operator that compaction aims
     * at.
     */
    public static final ConfigOption<Integer> COMPACTION_MAX_RUNS_PER_OPERATOR =
            dstl("compaction.max-runs-per-operator")
                    .intType()
                    .defaultValue(131_072)
                    .withDescription(
                            "Maximum number of runs of all subtasks of an operator"
                                    + " together. Each changelog gets an equal share, 4 to 32, and"
                                    + " compaction.min-runs is reduced in proportion, so that"
                                    + " checkpoints of thousands of subtasks stay small. A smaller"
                                    + " value writes each state change more often. At least 1.");

    /** Age at which state changes are uploaded without waiting for a checkpoint. */
    public static final ConfigOption<Duration> MAX_AGE =
            dstl("upload.max-age")
                    .durationType()
                    .defaultValue(Duration.ofSeconds(5))
                    .withDescription(
                            "Uploads state changes older than this without waiting for a"
                                    + " checkpoint, at the latest when they are twice as old. A smaller"
                                    + " value leaves less to upload at the checkpoint and costs one PUT"
                                    + " per job, TaskManager and interval. 0 waits for checkpoints.");

    /** Number of hedged requests per upload, and of hedged bytes per uploaded byte. */
    public static final ConfigOption<Double> HEDGE_BUDGET =
            dstl("upload.hedge.budget")
                    .doubleType()
                    .defaultValue(0.05)
                    .withDescription(
                            "Hedged attempts allowed per upload, in requests and in"
                                    + " bytes. A hedged attempt joins one that is unusually slow;"
                                    + " the first to succeed wins. 0.05 adds at most 5 % to the"
                                    + " PUTs. A larger budget shortens the tail of checkpoint"
                                    + " durations. 0 to 1; 0 disables hedging.");

    /** Quantile of upload durations above which an attempt is hedged. */
    public static final ConfigOption<Double> HEDGE_QUANTILE =
            dstl("upload.hedge.quantile")
                    .doubleType()
                    .defaultValue(0.98)
                    .withDescription(
                            "An upload attempt is hedged when it takes longer than this"
                                    + " quantile of the latest 256 uploads of similar size. A smaller"
                                    + " value shortens the tail and hedges more attempts, within"
                                    + " upload.hedge.budget. 0.5 to 0.999.");

    /** Age below which upload attempts are never hedged. */
    public static final ConfigOption<Duration> HEDGE_MIN_DELAY =
            dstl("upload.hedge.min-delay")
                    .durationType()
                    .defaultValue(Duration.ofMillis(50))
                    .withDescription(
                            "An upload attempt younger than this is never hedged, however"
                                    + " fast others were. At most upload.timeout.");

    /**
     * Number of timed-out or hedged attempts that may run in addition to {@link #UPLOAD_THREADS}.
     */
    public static final ConfigOption<Integer> MAX_SLOW_ATTEMPTS =
            dstl("upload.max-slow-attempts")
                    .intType()
                    .defaultValue(20)
                    .withDescription(
                            "Timed-out or hedged upload attempts that may run in addition to"
                                    + " upload.num-threads, each on its own thread, so that attempts"
                                    + " that hang do not block other segments. Cancelled attempts do"
                                    + " not count.");

    /** Maximum delay between attempts with the retry policy until-success. */
    public static final ConfigOption<Duration> MAX_RETRY_DELAY =
            dstl("upload.max-retry-delay")
                    .durationType()
                    .defaultValue(Duration.ofSeconds(10))
                    .withDescription(
                            "Longest delay between attempts with upload.retry-policy:"
                                    + " until-success. A longer upload.next-attempt-delay raises it.");

    private DstlOptions() {}

    private static ConfigOptions.OptionBuilder flink(String name) {
        return ConfigOptions.key(FLINK + name);
    }

    private static ConfigOptions.OptionBuilder dstl(String name) {
        return ConfigOptions.key(PREFIX + name);
    }
}
