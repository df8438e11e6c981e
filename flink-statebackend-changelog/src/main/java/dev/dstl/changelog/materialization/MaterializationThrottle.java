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

package dev.dstl.changelog.materialization;

import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import javax.annotation.concurrent.GuardedBy;

/**
 * Limits early materializations of a subtask to a fraction of its time: the pause after one is
 * proportional to its duration. Thread-safe.
 */
public final class MaterializationThrottle {

    private static final long LONGEST_PAUSE_NANOS = TimeUnit.MINUTES.toNanos(30);

    private final double maxTimeFraction;
    private final LongSupplier nanoTime;

    @GuardedBy("this")
    private long pauseEndNanos;

    /**
     * Creates a throttle without a pause.
     *
     * @param maxTimeFraction maximum fraction of the time, in (0, 1]
     * @param nanoTime a monotonic clock
     */
    public MaterializationThrottle(double maxTimeFraction, LongSupplier nanoTime) {
        this.maxTimeFraction = maxTimeFraction;
        this.nanoTime = nanoTime;
        this.pauseEndNanos = nanoTime.getAsLong();
    }

    /**
     * Reports that a materialization has ended, successfully or not.
     *
     * @param nanos its duration, not negative
     */
    public synchronized void ended(long nanos) {
        double pause = nanos * (1 / maxTimeFraction - 1);
        pauseEndNanos = nanoTime.getAsLong() + Math.min((long) pause, LONGEST_PAUSE_NANOS);
    }

    /** Returns whether the last pause is over. */
    synchronized boolean hasTime() {
        return nanoTime.getAsLong() - pauseEndNanos >= 0;
    }
}
