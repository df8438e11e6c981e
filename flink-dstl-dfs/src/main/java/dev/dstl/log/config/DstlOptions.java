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
 * The keys of the log. They belong into the configuration of the TaskManagers; Flink does not hand
 * the configuration of a job to the storage.
 *
 * <p>Keys under {@code state.changelog.dstl.dfs} are Flink's own and mean the same here; where a
 * default differs, its description says so.
 */
public final class DstlOptions {

    private static final String FLINK = "state.changelog.dstl.dfs.";
    private static final String FLINK_DEPRECATED = "dstl.dfs.";
    private static final String OURS = "state.changelog.dstl.";

    /** Where segments go. */
    public static final ConfigOption<String> BASE_PATH =
            flink("base-path")
                    .stringType()
                    .noDefaultValue()
                    .withDeprecatedKeys(FLINK_DEPRECATED + "base-path")
                    .withDescription(
                            "Directory on a distributed file system that takes the segments of the"
                                    + " log, for example s3://bucket/changelog. JobManager and"
                                    + " TaskManagers must reach it under the same URI. Required as"
                                    + " soon as a job switches the changelog on; jobs without it do"
                                    + " not need the key.");

    /** Whether segments are compressed. */
    public static final ConfigOption<Boolean> COMPRESSION_ENABLED =
            flink("compression.enabled")
                    .booleanType()
                    .defaultValue(true)
                    .withDeprecatedKeys(FLINK_DEPRECATED + "compression.enabled")
                    .withDescription(
                            "Whether segments are compressed. Differs from Flink, where the default"
                                    + " is false: fewer bytes shorten checkpoints, and compression"
                                    + " does not run on the task's thread.");

    /** Bytes of one writer that are sealed without waiting for a checkpoint. */
    public static final ConfigOption<MemorySize> PREEMPTIVE_PERSIST_THRESHOLD =
            flink("preemptive-persist-threshold")
                    .memoryType()
                    .defaultValue(MemorySize.ofMebiBytes(5))
                    .withDeprecatedKeys(FLINK_DEPRECATED + "preemptive-persist-threshold")
                    .withDescription(
                            "Changes of one operator's subtask that are uploaded without waiting"
                                    + " for a checkpoint once they reach this size, so that little"
                                    + " is left to upload at the checkpoint.");

    /** How long a persist waits for those of other tasks. */
    public static final ConfigOption<Duration> PERSIST_DELAY =
            flink("batch.persist-delay")
                    .durationType()
                    .defaultValue(Duration.ofMillis(10))
                    .withDeprecatedKeys(FLINK_DEPRECATED + "batch.persist-delay")
                    .withDescription(
                            "How long changes wait for those of the job's other tasks on the same"
                                    + " TaskManager before both go into one segment. Longer means"
                                    + " fewer files and requests, and adds to the duration of every"
                                    + " checkpoint that uploads something. Tasks that persist within"
                                    + " the delay share one PUT: checkpoints every second cost 2.6"
                                    + " million PUTs a month and TaskManager (13 USD at 5 USD per"
                                    + " million) if they do, and that much per task if they do"
                                    + " not.");

    /** Bytes that cut a segment before the delay is over. */
    public static final ConfigOption<MemorySize> PERSIST_SIZE_THRESHOLD =
            flink("batch.persist-size-threshold")
                    .memoryType()
                    .defaultValue(MemorySize.ofMebiBytes(10))
                    .withDeprecatedKeys(FLINK_DEPRECATED + "batch.persist-size-threshold")
                    .withDescription(
                            "Changes of all tasks that end the wait of batch.persist-delay at once."
                                    + " At most upload.max-in-flight.");

    /** Size of the buffer between a segment and its stream. */
    public static final ConfigOption<MemorySize> UPLOAD_BUFFER_SIZE =
            flink("upload.buffer-size")
                    .memoryType()
                    .defaultValue(MemorySize.ofMebiBytes(1))
                    .withDeprecatedKeys(FLINK_DEPRECATED + "upload.buffer-size")
                    .withDescription(
                            "Buffer between a segment and the stream of the file system. A segment"
                                    + " that is smaller takes only what it needs.");

    /** Attempts that run at a time. */
    public static final ConfigOption<Integer> UPLOAD_THREADS =
            flink("upload.num-threads")
                    .intType()
                    .defaultValue(10)
                    .withDeprecatedKeys(FLINK_DEPRECATED + "upload.num-threads")
                    .withDescription(
                            "Upload attempts of one job on one TaskManager that run at a time."
                                    + " Each writes at the speed of one stream to the store, so"
                                    + " this bounds the throughput; the default is as many as"
                                    + " upload.max-in-flight holds segments of full size (Flink: 5)."
                                    + " Attempts older than upload.timeout are not counted, see"
                                    + " state.changelog.dstl.upload.max-slow-attempts.");

    /** Threads that delete segments. */
    public static final ConfigOption<Integer> DISCARD_THREADS =
            flink("discard.num-threads")
                    .intType()
                    .defaultValue(1)
                    .withDeprecatedKeys(FLINK_DEPRECATED + "discard.num-threads")
                    .withDescription(
                            "Threads that delete segments which no checkpoint ever contained.");

    /** Bytes that are sealed but not yet durable. */
    public static final ConfigOption<MemorySize> MAX_IN_FLIGHT =
            flink("upload.max-in-flight")
                    .memoryType()
                    .defaultValue(MemorySize.ofMebiBytes(100))
                    .withDeprecatedKeys(FLINK_DEPRECATED + "upload.max-in-flight")
                    .withDescription(
                            "Memory that the logs of all jobs of a TaskManager may take, above all"
                                    + " for changes that wait for their upload, but also for what"
                                    + " tasks are still appending to, for encoding, for merges, for"
                                    + " copies to the local disk, for read-ahead and for memory kept"
                                    + " for later. When it is used up, the tasks stop taking input"
                                    + " until uploads catch up (changelogBusyTimeMsPerSecond shows"
                                    + " it). A job that takes less than its part of a quarter of it"
                                    + " is never stopped. If jobs set different values, the largest"
                                    + " holds for all. Differs from Flink, where it only counts"
                                    + " uploads and holds for each job, in that it never blocks"
                                    + " inside a checkpoint. At least batch.persist-size-threshold.");

    /** What happens after an attempt returned a failure. */
    public static final ConfigOption<String> RETRY_POLICY =
            flink("upload.retry-policy")
                    .stringType()
                    .defaultValue("until-success")
                    .withDeprecatedKeys(FLINK_DEPRECATED + "upload.retry-policy")
                    .withDescription(
                            "What follows failed upload attempts. 'until-success' tries again"
                                    + " with growing delays; the checkpoint waits, and Flink's checkpoint"
                                    + " timeout decides how long. 'fixed' declines the checkpoint after"
                                    + " upload.max-attempts failures. 'none' declines it after the first"
                                    + " failure and never starts a second attempt; one that has no answer"
                                    + " for a minute counts as failed. Declined or not, the changes are"
                                    + " kept and uploaded later. Differs from Flink, where the default is"
                                    + " 'fixed' and a failure also fails the task at its next checkpoint;"
                                    + " setting upload.max-attempts without this key means 'fixed'.");

    /** Age at which an attempt counts as timed out. */
    public static final ConfigOption<Duration> UPLOAD_TIMEOUT =
            flink("upload.timeout")
                    .durationType()
                    .defaultValue(Duration.ofSeconds(1))
                    .withDeprecatedKeys(FLINK_DEPRECATED + "upload.timeout")
                    .withDescription(
                            "Age at which an upload attempt that is still running counts as"
                                    + " timed out, unless the latest uploads of its size show that the"
                                    + " store needs longer: then it is three times the slowest of these."
                                    + " A timed-out attempt is replaced when attempts that began after it"
                                    + " overtake it. If none did, a single one at a time is probed with a"
                                    + " second attempt beside it; the first to succeed wins, the other is"
                                    + " cancelled. 0 starts no second attempt. Has no effect with"
                                    + " upload.retry-policy: none. Segments of 16 mb and more have longer"
                                    + " in proportion; with defaults only merges write such.");

    /** Failed attempts before a checkpoint is declined. */
    public static final ConfigOption<Integer> MAX_ATTEMPTS =
            flink("upload.max-attempts")
                    .intType()
                    .defaultValue(3)
                    .withDeprecatedKeys(FLINK_DEPRECATED + "upload.max-attempts")
                    .withDescription(
                            "Attempts that must have returned a failure before the waiting"
                                    + " checkpoint is declined. Only with upload.retry-policy: fixed,"
                                    + " which setting this key implies. Differs from Flink in that an"
                                    + " attempt that is merely slow is not counted.");

    /** Delay after a failed attempt. */
    public static final ConfigOption<Duration> NEXT_ATTEMPT_DELAY =
            flink("upload.next-attempt-delay")
                    .durationType()
                    .defaultValue(Duration.ofMillis(500))
                    .withDeprecatedKeys(FLINK_DEPRECATED + "upload.next-attempt-delay")
                    .withDescription(
                            "Delay between a failed attempt and the next one. With"
                                    + " upload.retry-policy: until-success the delay of the first"
                                    + " failure, which then doubles. Four times as long if the store"
                                    + " asked for fewer requests (503, SlowDown), whatever the"
                                    + " policy, up to upload.max-retry-delay.");

    /** Of a cache that Flink needs. */
    public static final ConfigOption<Duration> DOWNLOAD_CACHE_IDLE_TIMEOUT =
            flink("download.local-cache.idle-timeout-ms")
                    .durationType()
                    .defaultValue(Duration.ofMinutes(10))
                    .withDeprecatedKeys(FLINK_DEPRECATED + "download.local-cache.idle-timeout-ms")
                    .withDescription(
                            "Without effect. Accepted so that a configuration made for Flink keeps"
                                    + " working: Flink copies whole segments to the local disk when"
                                    + " it restores, here a task reads the parts it needs from the"
                                    + " store.");

    /** Bytes fetched before they are read. */
    public static final ConfigOption<MemorySize> RESTORE_READ_AHEAD =
            ours("restore.read-ahead")
                    .memoryType()
                    .defaultValue(MemorySize.ofMebiBytes(32))
                    .withDescription(
                            "How much of their logs the restoring tasks of a job on a TaskManager"
                                    + " may hold in memory, fetched and not yet replayed, together."
                                    + " Each fetches from up to 8 segments at a time, so that a"
                                    + " restore does not wait for the store once per segment. 0"
                                    + " reads one segment after the other.");

    /** Bytes that travel in the handle. */
    public static final ConfigOption<MemorySize> INLINE_THRESHOLD =
            ours("inline-threshold")
                    .memoryType()
                    .defaultValue(MemorySize.parse("20 kb"))
                    .withDescription(
                            "Changes of one operator's subtask that are not uploaded yet and"
                                    + " together at most this large travel inside the checkpoint"
                                    + " metadata: the checkpoint waits for no request to the store,"
                                    + " nor for one under way. They go into a segment later, with"
                                    + " others or when upload.max-age is over, so a checkpoint"
                                    + " interval shorter than that costs fewer requests as well."
                                    + " The JobManager holds up to this much per operator and"
                                    + " subtask. Without this key,"
                                    + " execution.checkpointing.data-inline-threshold of the"
                                    + " TaskManagers applies, whose default is the same. At most 1"
                                    + " mb; 0 uploads everything.");

    /** Parts of a log that become one. */
    public static final ConfigOption<Integer> MERGE_PARTS =
            ours("merge.parts")
                    .intType()
                    .defaultValue(16)
                    .withDescription(
                            "A checkpoint names one part of the log for every checkpoint since the"
                                    + " last materialization. When there are this many parts of a"
                                    + " kind, they are read back in the background, from the local"
                                    + " disk if local recovery is on, and written as one, without"
                                    + " what newer changes have superseded; later, as many of"
                                    + " those become one again. So 6,000 checkpoints leave less"
                                    + " than 64 parts, and a restore reads less. Per keyed subtask"
                                    + " this costs one PUT for so many checkpoints, and as many"
                                    + " GETs as these have segments. Less keeps fewer parts and"
                                    + " writes each change more often. 2 to 64; 0 switches it off.");

    /** Bound of one merge. */
    public static final ConfigOption<MemorySize> MERGE_MAX_SIZE =
            ours("merge.max-size")
                    .memoryType()
                    .defaultValue(MemorySize.ofMebiBytes(32))
                    .withDescription(
                            "Parts of the log that together are larger than this are not merged."
                                    + " It is 1/32 of that while newer changes supersede few older"
                                    + " ones, or while merging takes more than 3 % of the time, since"
                                    + " copying costs bandwidth; but all of it as soon as a log has"
                                    + " more than 32 parts. A job on a TaskManager"
                                    + " merges one run at a time, with up to four times this in memory,"
                                    + " but no more than an eighth of the heap and half of"
                                    + " upload.max-in-flight, of which it is a part, and only when"
                                    + " there is room for it. At most 128 mb.");

    /** Age at which changes are sealed without waiting for a checkpoint. */
    public static final ConfigOption<Duration> MAX_AGE =
            ours("upload.max-age")
                    .durationType()
                    .defaultValue(Duration.ofSeconds(5))
                    .withDescription(
                            "Changes older than this are uploaded without waiting for a checkpoint,"
                                    + " at the latest when they are twice as old, so that little is"
                                    + " left to upload at the checkpoint. 0 switches it off. This is"
                                    + " the knob between delay and cost of requests: a TaskManager"
                                    + " whose tasks never rest makes one PUT per job and max-age,"
                                    + " that is 518,400 a month at 5 s (2.60 USD at 5 USD per"
                                    + " million PUTs), 2.6 million at 1 s (13 USD), 26 million at"
                                    + " 100 ms (130 USD). Checkpoints add one each if they are"
                                    + " larger than inline-threshold.");

    /** Extra requests per needed one. */
    public static final ConfigOption<Double> HEDGE_MAX_EXTRA_REQUESTS =
            ours("upload.hedge.max-extra-requests")
                    .doubleType()
                    .defaultValue(0.05)
                    .withDescription(
                            "Upload attempts that are slower than most get a second one beside"
                                    + " them before they time out, a hedged attempt; the first to succeed"
                                    + " wins, the other is cancelled. This is how many such extra"
                                    + " requests there may be per upload, and extra bytes per byte: 0.05"
                                    + " adds at most 5 % to the PUTs. At most ten are saved up, and there"
                                    + " are none while the store throttles or most other attempts are"
                                    + " slow as well, so a store that becomes slow as a whole is not"
                                    + " asked twice for everything. 0 to 1; 0 switches it off, and leaves"
                                    + " what upload.timeout says.");

    /** Which attempts are slower than most. */
    public static final ConfigOption<Double> HEDGE_QUANTILE =
            ours("upload.hedge.quantile")
                    .doubleType()
                    .defaultValue(0.98)
                    .withDescription(
                            "An upload attempt gets a second one beside it when it takes longer than"
                                    + " this share of the latest 256 uploads of similar size."
                                    + " Smaller cuts more of the tail and needs more extra requests:"
                                    + " about 1 minus this value, and never more than"
                                    + " upload.hedge.max-extra-requests. 0.5 to 0.999.");

    /** Age at which the second attempt may start. */
    public static final ConfigOption<Duration> HEDGE_MIN_DELAY =
            ours("upload.hedge.min-delay")
                    .durationType()
                    .defaultValue(Duration.ofMillis(50))
                    .withDescription(
                            "An upload attempt younger than this never gets a second one beside"
                                    + " it, however fast the others were. At most upload.timeout.");

    /** Slow attempts beside the counted ones. */
    public static final ConfigOption<Integer> MAX_SLOW_ATTEMPTS =
            ours("upload.max-slow-attempts")
                    .intType()
                    .defaultValue(20)
                    .withDescription(
                            "Upload attempts which are timed out, or have a second one beside"
                                    + " them, that may run in addition to upload.num-threads, each on its"
                                    + " own thread, so that attempts which hang do not keep other"
                                    + " segments from being uploaded. Attempts that were cancelled are"
                                    + " not counted.");

    /** Bound of the growing delay. */
    public static final ConfigOption<Duration> MAX_RETRY_DELAY =
            ours("upload.max-retry-delay")
                    .durationType()
                    .defaultValue(Duration.ofSeconds(10))
                    .withDescription(
                            "The longest delay between attempts with upload.retry-policy:"
                                    + " until-success. A longer upload.next-attempt-delay raises"
                                    + " it.");

    private DstlOptions() {}

    private static ConfigOptions.OptionBuilder flink(String name) {
        return ConfigOptions.key(FLINK + name);
    }

    private static ConfigOptions.OptionBuilder ours(String name) {
        return ConfigOptions.key(OURS + name);
    }
}
