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

package dev.dstl.spillable.table;

import dev.dstl.spillable.size.EntrySizes;

/**
 * How many elements the lists and maps of a key group have on the heap: as they were last counted,
 * and what moved since. Jobs change lists and maps in place, so they are counted again and again, a
 * few at a time.
 */
final class ElementCount {

    private double elements;
    private boolean isKnown;
    private double counted;
    private long countedUpTo;

    /** Elements of that many entries; as many as those of other key groups have until counted. */
    double of(int entries, EntrySizes sizes) {
        return isKnown ? elements : entries * sizes.elementsPerEntry();
    }

    void add(int more) {
        elements += more;
        isKnown = true;
    }

    void left(Object state) {
        elements = Math.max(0, elements - EntrySizes.elementsOf(state));
    }

    void clear() {
        elements = 0;
        isKnown = false;
        counted = 0;
        countedUpTo = 0;
    }

    /**
     * Counts about {@code most} entries more, and measures the first of them.
     *
     * @return whether the count has reached the last entry
     */
    boolean count(HeapMap<?, ?, ?> heap, int most, EntrySizes sizes) {
        if (heap.size() == 0) {
            clear();
            return true;
        }
        boolean[] measured = new boolean[1];
        countedUpTo =
                heap.visitFrom(
                        countedUpTo,
                        most,
                        entry -> {
                            counted += EntrySizes.elementsOf(entry.state);
                            if (!measured[0]) {
                                measured[0] = true;
                                sizes.sample(entry.key, entry.namespace, entry.state);
                            }
                        });
        if (countedUpTo >= 0) {
            return false;
        }
        elements = counted;
        isKnown = true;
        counted = 0;
        countedUpTo = 0;
        return true;
    }
}
