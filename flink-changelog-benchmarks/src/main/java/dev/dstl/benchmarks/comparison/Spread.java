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

package dev.dstl.benchmarks.comparison;

import java.util.Arrays;

/** The values of a measure in all rounds, at least one. Immutable. */
public final class Spread {

    private final double[] sorted;

    private Spread(double[] sorted) {
        this.sorted = sorted;
    }

    /** Creates a spread of at least one value. */
    public static Spread of(double... values) {
        if (values.length == 0) {
            throw new IllegalArgumentException("no value");
        }
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        return new Spread(sorted);
    }

    /** Returns the number of values. */
    public int count() {
        return sorted.length;
    }

    /** Returns the smallest value. */
    public double min() {
        return sorted[0];
    }

    /** Returns the largest value. */
    public double max() {
        return sorted[sorted.length - 1];
    }

    /** Returns the median; the mean of the middle two if their number is even. */
    public double median() {
        int middle = sorted.length / 2;
        return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    }
}
