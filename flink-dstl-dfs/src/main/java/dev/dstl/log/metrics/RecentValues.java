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

package dev.dstl.log.metrics;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.apache.flink.metrics.Histogram;
import org.apache.flink.metrics.HistogramStatistics;
import org.apache.flink.runtime.metrics.DescriptiveStatisticsHistogramStatistics;

/**
 * A histogram of the latest values that are not too old. A job with few uploads would otherwise
 * report an outage for as long as it takes to replace all values, which may be hours. Thread-safe.
 */
final class RecentValues implements Histogram {

    /** Maximum number of values. */
    static final int SIZE = 1000;

    /** Age from which a value no longer counts. */
    static final long MAX_AGE_NANOS = TimeUnit.MINUTES.toNanos(10);

    private final LongSupplier clock;

    @GuardedBy("this")
    private final long[] values = new long[SIZE];

    @GuardedBy("this")
    private final long[] atNanos = new long[SIZE];

    /** Number of all values so far; value {@code n} is at {@code n % SIZE}. */
    @GuardedBy("this")
    private long count;

    /**
     * Creates an empty histogram.
     *
     * @param clock current time in nanoseconds, as {@link System#nanoTime}
     */
    RecentValues(LongSupplier clock) {
        this.clock = clock;
    }

    @Override
    public synchronized void update(long value) {
        int index = (int) (count % SIZE);
        values[index] = value;
        atNanos[index] = clock.getAsLong();
        count++;
    }

    /** Returns the number of all values so far, also of those that are too old. */
    @Override
    public synchronized long getCount() {
        return count;
    }

    @Override
    public HistogramStatistics getStatistics() {
        return new DescriptiveStatisticsHistogramStatistics(recent());
    }

    private synchronized double[] recent() {
        long now = clock.getAsLong();
        int recent = 0;
        while (recent < Math.min(count, SIZE)
                && now - atNanos[(int) ((count - 1 - recent) % SIZE)] < MAX_AGE_NANOS) {
            recent++;
        }
        double[] copy = new double[recent];
        for (int i = 0; i < recent; i++) {
            copy[i] = values[(int) ((count - recent + i) % SIZE)];
        }
        return copy;
    }
}
