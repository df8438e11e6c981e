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

/** The same number of records in every second, or as many as the job takes. */
public final class ConstantRate implements Pace {

    private static final long serialVersionUID = 1L;
    private static final double NANOS_PER_SECOND = 1e9;

    private final double nanosOfWholeInput;

    private ConstantRate(double nanosOfWholeInput) {
        this.nanosOfWholeInput = nanosOfWholeInput;
    }

    /**
     * Creates a fixed rate.
     *
     * @param records number of records of the whole input
     * @param recordsPerSecond total rate of all readers
     */
    public static ConstantRate of(long records, double recordsPerSecond) {
        if (!(recordsPerSecond > 0)) {
            throw new IllegalArgumentException("The rate must be above 0: " + recordsPerSecond);
        }
        return new ConstantRate(records / recordsPerSecond * NANOS_PER_SECOND);
    }

    /** Returns a pace without a rate limit. */
    public static ConstantRate unlimited() {
        return new ConstantRate(0);
    }

    @Override
    public long waitNanos(double startFraction, long elapsedNanos, double fraction) {
        return (long) ((fraction - startFraction) * nanosOfWholeInput) - elapsedNanos;
    }

    @Override
    public boolean sprintsAt(double fraction) {
        return false;
    }
}
