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

/** Options of the changelog state backend, in addition to Flink's own {@code state.changelog.*}. */
public final class ChangelogBackendOptions {

    /**
     * Delegate of the changelog state backend, if {@code state.backend.type} names DSTL's factory.
     */
    public static final ConfigOption<String> DELEGATE =
            ConfigOptions.key("state.changelog.dstl.delegate")
                    .stringType()
                    .defaultValue("rocksdb")
                    .withDescription(
                            "State backend behind the changelog if 'state.backend.type'"
                                    + " names DSTL's factory: 'rocksdb', 'hashmap' or the class name"
                                    + " of a state backend factory. A job that sets both may differ."
                                    + " Not used with 'state.changelog.enabled', which wraps the"
                                    + " backend in 'state.backend.type'.");

    /** Number of threads of a TaskManager that upload materializations. */
    public static final ConfigOption<Integer> MATERIALIZE_THREADS =
            ConfigOptions.key("state.changelog.dstl.materialize.num-threads")
                    .intType()
                    .defaultValue(4)
                    .withDescription(
                            "Materializations that a TaskManager uploads at the same time,"
                                    + " 1 to 1000. They have threads of their own, so that a long"
                                    + " upload never delays a checkpoint. Read from the configuration"
                                    + " of the TaskManager only.");

    /** Ratio of changelog size to base size above which a subtask materializes early. */
    public static final ConfigOption<Double> MATERIALIZE_LOG_TO_BASE_RATIO =
            ConfigOptions.key("state.changelog.dstl.materialize.log-to-base-ratio")
                    .doubleType()
                    .defaultValue(0.5)
                    .withDescription(
                            "A subtask materializes early, before its changelog exceeds"
                                    + " its base times this ratio, or what 4 checkpoints write if"
                                    + " that is more. A smaller value shortens recovery and uploads"
                                    + " more. 0 or less disables it. Needs"
                                    + " 'state.changelog.periodic-materialize.enabled'. A job may"
                                    + " override the cluster.");

    /** Changelog size up to which the ratio to the base does not trigger a materialization. */
    public static final ConfigOption<MemorySize> MATERIALIZE_MIN_LOG_SIZE =
            ConfigOptions.key("state.changelog.dstl.materialize.min-log-size")
                    .memoryType()
                    .defaultValue(MemorySize.ofMebiBytes(8))
                    .withDescription(
                            "Changelog size up to which materialize.log-to-base-ratio does"
                                    + " not apply, since it is soon replayed. A smaller value"
                                    + " uploads small bases more often. A job may override the"
                                    + " cluster.");

    /** Estimated replay time above which a subtask materializes early. */
    public static final ConfigOption<Duration> MATERIALIZE_REPLAY_TIME =
            ConfigOptions.key("state.changelog.dstl.materialize.replay-time")
                    .durationType()
                    .defaultValue(Duration.ofMillis(500))
                    .withDescription(
                            "A subtask materializes early when recovery would replay its"
                                    + " changelog of at least 4 MiB for longer than this and than a"
                                    + " quarter of the time to load its base, at the rates of the"
                                    + " last restores on its TaskManager (at first 16 and 64"
                                    + " MiB/s). 0 disables it. A job may override the cluster.");

    /** Number of runs above which a subtask materializes early. */
    public static final ConfigOption<Integer> MATERIALIZE_MAX_RUNS =
            ConfigOptions.key("state.changelog.dstl.materialize.max-runs")
                    .intType()
                    .defaultValue(48)
                    .withDescription(
                            "A subtask materializes early when its changelog has more"
                                    + " runs than this, since every checkpoint lists them in its"
                                    + " metadata. Compaction keeps most changelogs below it. 0 or"
                                    + " less disables it. A job may override the cluster.");

    /** Maximum fraction of its time that a subtask may spend on early materializations. */
    public static final ConfigOption<Double> MATERIALIZE_MAX_TIME_FRACTION =
            ConfigOptions.key("state.changelog.dstl.materialize.max-time-fraction")
                    .doubleType()
                    .defaultValue(0.2)
                    .withDescription(
                            "Fraction of its time that a subtask may spend on early"
                                    + " materializations: with 0.2, none begins for four seconds after"
                                    + " a materialization that took one. More than 0, at most 1. A job"
                                    + " may override the cluster.");

    private ChangelogBackendOptions() {}
}
