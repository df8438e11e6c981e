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

package dev.dstl.spillable.partition;

/** Sizes that cells of a hash table can have: none of them lies in two cache lines needlessly. */
public final class CellSizes {

    static final int LARGEST = 128;
    private static final int[] SIZES = {16, 32, 64, LARGEST};

    /** What it costs to look outside of the cell, in bytes that may be wasted instead. */
    private static final int OUTSIDE_COST = 32;

    private static final int FEW_INSIDE = 4;

    private CellSizes() {}

    /**
     * As {@link #best(int[], int)}, or {@code empty} if few entries lie in cells of that size.
     *
     * @param empty size of cells that only say where entries are
     */
    public static int bestOr(int empty, int[] lengths, int count) {
        int best = best(lengths, count);
        int inside = 0;
        for (int i = 0; i < count; i++) {
            inside += lengths[i] <= best ? 1 : 0;
        }
        return inside * FEW_INSIDE < count ? empty : best;
    }

    /**
     * The size that suits entries best: large enough that few lie outside, no larger.
     *
     * @param lengths bytes of a cell that an entry needs, in {@code [0, count)}
     */
    public static int best(int[] lengths, int count) {
        int best = 0;
        long bestCost = Long.MAX_VALUE;
        for (int size : SIZES) {
            long cost = 0;
            for (int i = 0; i < count; i++) {
                cost += size + (lengths[i] <= size ? 0 : (long) lengths[i] + OUTSIDE_COST);
            }
            if (cost < bestCost) {
                best = size;
                bestCost = cost;
            }
        }
        return best;
    }
}
