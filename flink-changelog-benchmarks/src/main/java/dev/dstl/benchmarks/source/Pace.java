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

package dev.dstl.benchmarks.source;

import java.io.Serializable;
import java.time.Duration;

/**
 * How fast an input comes: its first part evenly over a given time, the rest as fast as the job
 * takes it (the sprint, which shows what the job can do). Immutable.
 */
public final class Pace implements Serializable {

    private static final long serialVersionUID = 1L;

    private final long pacedNanos;
    private final double sprintFrom;

    private Pace(long pacedNanos, double sprintFrom) {
        this.pacedNanos = pacedNanos;
        this.sprintFrom = sprintFrom;
    }

    /** The fraction [0, sprintFrom) of the input in the given time, then the rest at once. */
    public static Pace thenSprint(Duration paced, double sprintFrom) {
        if (!(sprintFrom > 0 && sprintFrom <= 1)) {
            throw new IllegalArgumentException("sprintFrom must be in (0, 1]: " + sprintFrom);
        }
        return new Pace(paced.toNanos(), sprintFrom);
    }

    /** The whole input in the given time. */
    public static Pace even(Duration paced) {
        return thenSprint(paced, 1);
    }

    /** Where the rate limit ends, as a fraction of the input. */
    public double sprintFrom() {
        return sprintFrom;
    }

    /**
     * How long after a start at one fraction the input may be at another.
     *
     * @return nanoseconds; at the sprint's fraction and after it, the time of the sprint's start
     */
    long nanosBetween(double startFraction, double fraction) {
        double start = Math.min(startFraction, sprintFrom);
        double end = Math.min(fraction, sprintFrom);
        return (long) (pacedNanos * Math.max(0, end - start) / sprintFrom);
    }
}
