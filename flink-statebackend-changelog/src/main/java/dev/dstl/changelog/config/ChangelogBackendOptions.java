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

package dev.dstl.changelog.config;

import java.time.Duration;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;
import org.apache.flink.configuration.MemorySize;

/**
 * The keys of this backend that Flink does not have. Flink's {@code state.changelog.*} all work.
 */
public final class ChangelogBackendOptions {

    /** The backend that holds the state when our factory is named in {@code state.backend.type}. */
    public static final ConfigOption<String> DELEGATE =
            ConfigOptions.key("state.changelog.dstl.delegate")
                    .stringType()
                    .defaultValue("rocksdb")
                    .withDescription(
                            "The state backend that holds the state behind the log if"
                                    + " 'state.backend.type' names the factory of this changelog"
                                    + " backend: 'rocksdb', 'hashmap' or the class name of a state"
                                    + " backend factory. Not used with 'state.changelog.enabled',"
                                    + " which wraps whatever 'state.backend.type' says.");

    /** Threads of a TaskManager that upload materializations. */
    public static final ConfigOption<Integer> MATERIALIZATION_THREADS =
            ConfigOptions.key("state.changelog.dstl.materialization-threads")
                    .intType()
                    .defaultValue(4)
                    .withDescription(
                            "How many materializations a TaskManager uploads at the same time, at"
                                    + " least 1. They have threads of their own, so that a long"
                                    + " upload never delays a checkpoint. Read from the"
                                    + " configuration of the TaskManager only; the first keyed task"
                                    + " decides.");

    /** Log against base. */
    public static final ConfigOption<Double> MATERIALIZE_LOG_TO_BASE_RATIO =
            ConfigOptions.key("state.changelog.dstl.materialize.log-to-base-ratio")
                    .doubleType()
                    .defaultValue(1.0)
                    .withDescription(
                            "A subtask materializes before its time when its log is larger than its"
                                    + " base, times this. 0 or less switches it off. Needs"
                                    + " 'state.changelog.periodic-materialize.enabled', as the keys"
                                    + " beside do. A job may set it, and wins over the cluster.");

    /** Logs that are too small to bother. */
    public static final ConfigOption<MemorySize> MATERIALIZE_MIN_LOG_SIZE =
            ConfigOptions.key("state.changelog.dstl.materialize.min-log-size")
                    .memoryType()
                    .defaultValue(MemorySize.ofMebiBytes(64))
                    .withDescription(
                            "Up to this size, a log may be larger than its base. A job may set it,"
                                    + " and wins over the cluster.");

    /** Log against time. */
    public static final ConfigOption<Duration> MATERIALIZE_REPLAY_TIME =
            ConfigOptions.key("state.changelog.dstl.materialize.replay-time")
                    .durationType()
                    .defaultValue(Duration.ofSeconds(30))
                    .withDescription(
                            "A subtask materializes before its time when a recovery would replay"
                                    + " its log for longer than this, at 16 MiB of log a second. 0"
                                    + " switches it off. A job may set it, and wins over the"
                                    + " cluster.");

    /** Log against what checkpoints name. */
    public static final ConfigOption<Integer> MATERIALIZE_MAX_LOG_PARTS =
            ConfigOptions.key("state.changelog.dstl.materialize.max-log-parts")
                    .intType()
                    .defaultValue(48)
                    .withDescription(
                            "A subtask materializes before its time when its log consists of more"
                                    + " parts than this, since each checkpoint names them all to"
                                    + " the JobManager. A checkpoint adds at least one part, and"
                                    + " state.changelog.dstl.merge.parts of them become one. 0 or"
                                    + " less switches it off. A job may set it, and wins over the"
                                    + " cluster.");

    /** Time against all of this. */
    public static final ConfigOption<Double> MATERIALIZE_MAX_SHARE =
            ConfigOptions.key("state.changelog.dstl.materialize.max-share")
                    .doubleType()
                    .defaultValue(0.1)
                    .withDescription(
                            "The share of its time that a subtask may spend on materializing before"
                                    + " its time: after one that took a second comes none for nine"
                                    + " seconds with 0.1. More than 0, at most 1. A job may set it,"
                                    + " and wins over the cluster.");

    private ChangelogBackendOptions() {}
}
