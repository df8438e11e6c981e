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

package dev.dstl.log.upload;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.Arrays;

/** A sliding window of request latencies and their quantiles. Thread-safe. */
final class LatencyWindow {

    /** Enough for five requests above the 98th percentile, few enough to forget a bad hour. */
    private static final int CAPACITY = 256;

    /** Fewer latencies do not show a tail. */
    private static final int MIN_COUNT = 30;

    static final long UNKNOWN = -1;

    @GuardedBy("this")
    private final long[] nanos = new long[CAPACITY];

    @GuardedBy("this")
    private int count;

    @GuardedBy("this")
    private int next;

    /** Adds a latency, which replaces the oldest if the window is full. */
    synchronized void add(long latencyNanos) {
        nanos[next] = latencyNanos;
        next = (next + 1) % CAPACITY;
        count = Math.min(count + 1, CAPACITY);
    }

    /**
     * Returns the smallest latency that at least the given share of latencies does not exceed, in
     * nanoseconds.
     *
     * @param share in {@code (0, 1]}
     * @return {@link #UNKNOWN} while there are too few latencies
     */
    long quantileNanos(double share) {
        long[] sorted;
        synchronized (this) {
            if (count < MIN_COUNT) {
                return UNKNOWN;
            }
            sorted = Arrays.copyOf(nanos, count);
        }
        Arrays.sort(sorted);
        int rank = (int) Math.ceil(share * sorted.length);
        return sorted[Math.max(rank, 1) - 1];
    }
}
