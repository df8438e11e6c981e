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

import java.time.Duration;

/**
 * The first part of an input evenly over a given time, the rest as fast as the job takes it: the
 * first shows the job under a load that does not depend on how fast it is, the second how fast it
 * is. Immutable.
 */
public final class SteadyThenSprint implements Pace {

    private static final long serialVersionUID = 1L;

    private final long steadyNanos;
    private final double sprintFrom;

    /**
     * Creates a pace.
     *
     * @param steady how long the part [0, sprintFrom) of the input takes
     * @param sprintFrom in (0, 1]
     */
    public SteadyThenSprint(Duration steady, double sprintFrom) {
        if (!(sprintFrom > 0 && sprintFrom <= 1)) {
            throw new IllegalArgumentException("sprintFrom must be in (0, 1]: " + sprintFrom);
        }
        this.steadyNanos = steady.toNanos();
        this.sprintFrom = sprintFrom;
    }

    @Override
    public long waitNanos(double startFraction, long elapsedNanos, double fraction) {
        if (sprintsAt(fraction)) {
            return 0;
        }
        return (long) (steadyNanos * (fraction - startFraction) / sprintFrom) - elapsedNanos;
    }

    @Override
    public boolean sprintsAt(double fraction) {
        return fraction >= sprintFrom;
    }
}
