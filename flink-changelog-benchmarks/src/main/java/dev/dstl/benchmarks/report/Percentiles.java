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

package dev.dstl.benchmarks.report;

import java.util.Arrays;
import java.util.stream.LongStream;

/** A sorted sample. The percentile is the nearest rank: a value that was measured. Immutable. */
public final class Percentiles {

    private final long[] sorted;

    private Percentiles(long[] sorted) {
        this.sorted = sorted;
    }

    /** Creates percentiles of a sample. */
    public static Percentiles of(LongStream sample) {
        long[] sorted = sample.toArray();
        Arrays.sort(sorted);
        return new Percentiles(sorted);
    }

    /** Returns the size of the sample. */
    public int count() {
        return sorted.length;
    }

    /**
     * Returns the smallest value that at least the given share of the sample does not exceed.
     *
     * @param percent in (0, 100]
     * @throws IllegalStateException if the sample is empty
     */
    public long at(double percent) {
        if (!(percent > 0 && percent <= 100)) {
            throw new IllegalArgumentException("percent must be in (0, 100]: " + percent);
        }
        if (sorted.length == 0) {
            throw new IllegalStateException("no percentile of an empty sample");
        }
        int rank = (int) Math.ceil(percent / 100 * sorted.length);
        return sorted[Math.max(rank, 1) - 1];
    }
}
