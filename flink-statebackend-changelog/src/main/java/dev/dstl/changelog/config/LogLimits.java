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

/** Limits of a changelog above which it is materialized early. Immutable. */
public final class LogLimits {

    /**
     * A changelog of fewer checkpoints than this is never too large. Otherwise, where a checkpoint
     * changes most of the state, a base would be uploaded again and again.
     */
    private static final int MIN_CHECKPOINTS = 4;

    /** Fraction of the time to load a base that a replay may take, however long that is. */
    private static final double REPLAY_TO_BASE_TIME = 0.25;

    private final double ratioToBase;
    private final long minBytes;
    private final double replaySeconds;
    private final int maxParts;
    private final double maxTimeFraction;

    private LogLimits(
            double ratioToBase,
            long minBytes,
            double replaySeconds,
            int maxParts,
            double maxTimeFraction) {
        this.ratioToBase = ratioToBase;
        this.minBytes = minBytes;
        this.replaySeconds = replaySeconds;
        this.maxParts = maxParts;
        this.maxTimeFraction = maxTimeFraction;
    }

    /**
     * Reads the limits.
     *
     * @param values configuration of the task
     * @throws MisconfigurationException if a value is invalid
     */
    public static LogLimits of(TaskConfiguration values) {
        double fraction = values.get(MATERIALIZE_MAX_TIME_FRACTION);
        if (!(fraction > 0 && fraction <= 1)) {
            throw new MisconfigurationException(
                    String.format(
                            "'%s: %s' is not a fraction; set it to more than 0 and at most 1.",
                            MATERIALIZE_MAX_TIME_FRACTION.key(), fraction));
        }
        return new LogLimits(
                values.get(MATERIALIZE_LOG_TO_BASE_RATIO),
                values.get(MATERIALIZE_MIN_LOG_SIZE).getBytes(),
                values.get(MATERIALIZE_REPLAY_TIME).toMillis() / 1000.0,
                values.get(MATERIALIZE_MAX_RUNS),
                fraction);
    }

    /**
     * Returns whether a changelog exceeds a limit, or will exceed the ratio to its base with the
     * next checkpoint.
     *
     * @param logBytes size of the changelog
     * @param parts number of runs that a checkpoint names
     * @param baseBytes size of the base
     * @param checkpointBytes size that a checkpoint adds to the changelog
     * @param replay seconds that a restore takes to replay the changelog; 0 if it is too small for
     *     an estimate
     * @param base seconds that a restore takes to load the base
     */
    public boolean exceeded(
            long logBytes,
            int parts,
            long baseBytes,
            long checkpointBytes,
            double replay,
            double base) {
        return (ratioToBase > 0
                        && logBytes + checkpointBytes > maxBytes(baseBytes, checkpointBytes))
                || (replaySeconds > 0
                        && replay > Math.max(replaySeconds, REPLAY_TO_BASE_TIME * base))
                || (maxParts > 0 && parts > maxParts);
    }

    /**
     * Returns the maximum size of the changelog in bytes: its ratio to the base, or the size of
     * some checkpoints if that is larger.
     */
    private double maxBytes(long baseBytes, long checkpointBytes) {
        double share =
                Math.max(ratioToBase * baseBytes, (double) MIN_CHECKPOINTS * checkpointBytes);
        return Math.max((double) minBytes, share);
    }

    /** Returns the maximum fraction of the time for early materializations, in (0, 1]. */
    public double maxTimeFraction() {
        return maxTimeFraction;
    }
}
