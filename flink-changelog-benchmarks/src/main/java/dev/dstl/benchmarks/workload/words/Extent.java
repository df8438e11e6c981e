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

package dev.dstl.benchmarks.workload.words;

import org.apache.flink.api.common.functions.AggregateFunction;

/** First and last occurrence of a word. A Flink POJO. */
public final class Extent {

    /** Smallest offset seen. */
    public long first = Long.MAX_VALUE;

    /** Largest offset seen. */
    public long last = Long.MIN_VALUE;

    /** For Flink. */
    public Extent() {}

    /** Extends an extent by offsets. */
    static final class Widening implements AggregateFunction<Long, Extent, Extent> {

        private static final long serialVersionUID = 1L;

        @Override
        public Extent createAccumulator() {
            return new Extent();
        }

        @Override
        public Extent add(Long offset, Extent extent) {
            extent.first = Math.min(extent.first, offset);
            extent.last = Math.max(extent.last, offset);
            return extent;
        }

        @Override
        public Extent getResult(Extent extent) {
            return extent;
        }

        @Override
        public Extent merge(Extent a, Extent b) {
            a.first = Math.min(a.first, b.first);
            a.last = Math.max(a.last, b.last);
            return a;
        }
    }
}
