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

import static dev.dstl.changelog.config.ChangelogBackendOptions.MATERIALIZE_LOG_TO_BASE_RATIO;
import static dev.dstl.changelog.config.ChangelogBackendOptions.MATERIALIZE_MAX_RUNS;
import static dev.dstl.changelog.config.ChangelogBackendOptions.MATERIALIZE_MAX_TIME_FRACTION;
import static dev.dstl.changelog.config.ChangelogBackendOptions.MATERIALIZE_MIN_LOG_SIZE;
import static dev.dstl.changelog.config.ChangelogBackendOptions.MATERIALIZE_REPLAY_TIME;

import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ReadableConfig;

/** How long a log may get before it is materialized out of turn. Immutable. */
public final class LogLimits {

    private final double ratioToBase;
    private final long minBytes;
    private final double replaySeconds;
    private final int maxParts;
    private final double maxShare;

    private LogLimits(
            double ratioToBase,
            long minBytes,
            double replaySeconds,
            int maxParts,
            double maxShare) {
        this.ratioToBase = ratioToBase;
        this.minBytes = minBytes;
        this.replaySeconds = replaySeconds;
        this.maxParts = maxParts;
        this.maxShare = maxShare;
    }

    /**
     * Reads the limits.
     *
     * @param job what the job set; wins
     * @param cluster the configuration of the TaskManager
     * @throws MisconfigurationException if a value makes no sense
     */
    public static LogLimits of(ReadableConfig job, ReadableConfig cluster) {
        double share = read(MATERIALIZE_MAX_TIME_FRACTION, job, cluster);
        if (!(share > 0 && share <= 1)) {
            throw new MisconfigurationException(
                    String.format(
                            "'%s: %s' is no share of the time; set it to more than 0 and at most 1.",
                            MATERIALIZE_MAX_TIME_FRACTION.key(), share));
        }
        return new LogLimits(
                read(MATERIALIZE_LOG_TO_BASE_RATIO, job, cluster),
                read(MATERIALIZE_MIN_LOG_SIZE, job, cluster).getBytes(),
                read(MATERIALIZE_REPLAY_TIME, job, cluster).toMillis() / 1000.0,
                read(MATERIALIZE_MAX_RUNS, job, cluster),
                share);
    }

    private static <T> T read(ConfigOption<T> option, ReadableConfig job, ReadableConfig cluster) {
        return job.getOptional(option).orElseGet(() -> cluster.get(option));
    }

    /**
     * Whether a log is too long.
     *
     * @param logBytes of the log
     * @param parts of the log that a checkpoint names one by one
     * @param baseBytes of the base below it
     * @param replayRate bytes of log that a restore replays in a second
     */
    public boolean exceeded(long logBytes, int parts, long baseBytes, long replayRate) {
        return (ratioToBase > 0 && logBytes >= minBytes && logBytes > ratioToBase * baseBytes)
                || (replaySeconds > 0 && logBytes > replaySeconds * replayRate)
                || (maxParts > 0 && parts > maxParts);
    }

    /** The share of the time that may be spent on materializations out of turn, in (0, 1]. */
    public double maxShare() {
        return maxShare;
    }
}
