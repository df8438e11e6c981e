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

package dev.dstl.changelog.sorting;

import java.util.Arrays;

/**
 * Sorts {@code long}s by their upper bits. Stable. The JDK's sort is as fast once it is compiled;
 * in a restore, which runs in a new process, compiling it takes longer than the sorting. Not
 * thread-safe.
 */
final class RadixSort {

    private static final int DIGIT_BITS = 8;
    private static final int DIGITS = 1 << DIGIT_BITS;

    /** Fewer elements are sorted by insertion. */
    private static final int FEW = 48;

    private final int[] begins = new int[DIGITS];
    private long[] spare = new long[0];

    /**
     * Sorts a range.
     *
     * @param elements none is negative
     * @param from inclusive
     * @param to exclusive
     * @param ignoredBits lower bits that do not count; elements that differ only there keep their
     *     order
     */
    void sort(long[] elements, int from, int to, int ignoredBits) {
        if (to - from <= FEW) {
            insertionSort(elements, from, to, ignoredBits);
            return;
        }
        long differing = 0;
        for (int i = from + 1; i < to; i++) {
            differing |= elements[i] ^ elements[from];
        }
        for (int shift = ignoredBits; shift < Long.SIZE; shift += DIGIT_BITS) {
            if ((differing >>> shift & (DIGITS - 1)) != 0) {
                sortByDigit(elements, from, to, shift);
            }
        }
    }

    private void sortByDigit(long[] elements, int from, int to, int shift) {
        int count = to - from;
        if (spare.length < count) {
            spare = new long[count];
        }
        Arrays.fill(begins, 0);
        for (int i = from; i < to; i++) {
            begins[(int) (elements[i] >>> shift) & (DIGITS - 1)]++;
        }
        int begin = 0;
        for (int digit = 0; digit < DIGITS; digit++) {
            int occurrences = begins[digit];
            begins[digit] = begin;
            begin += occurrences;
        }
        long[] sorted = spare;
        for (int i = from; i < to; i++) {
            long element = elements[i];
            sorted[begins[(int) (element >>> shift) & (DIGITS - 1)]++] = element;
        }
        System.arraycopy(sorted, 0, elements, from, count);
    }

    private static void insertionSort(long[] elements, int from, int to, int ignoredBits) {
        for (int i = from + 1; i < to; i++) {
            long moved = elements[i];
            int place = i;
            while (place > from && elements[place - 1] >>> ignoredBits > moved >>> ignoredBits) {
                elements[place] = elements[place - 1];
                place--;
            }
            elements[place] = moved;
        }
    }
}
