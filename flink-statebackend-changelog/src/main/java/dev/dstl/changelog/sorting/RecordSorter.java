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
 * Sorts records by state, key group and record key, bytes compared as unsigned: the order in which
 * RocksDB keeps the entries of a state. Stable: equal records, with key prefixes of equal length,
 * keep their order.
 *
 * <p>Sorts {@code long}s of the next bytes to compare, their number, and the place of the record
 * among those that are equal so far. So most comparisons touch no record. Ties are sorted by the
 * following bytes. The common prefix is skipped first. Not thread-safe.
 *
 * <pre>
 *   0 | next bytes of the record key, as many as fit | how many there are, 3 bits | place
 * </pre>
 */
final class RecordSorter {

    /** Bits that tell how many bytes of the record key follow. */
    private static final int LENGTH_BITS = 3;

    private static final int MAX_BYTES_AT_ONCE = (1 << LENGTH_BITS) - 1;

    /** Fewer records are compared one by one. */
    private static final int FEW = 8;

    /** Marks of {@link #keys} after a sort: the record differs from the one before. */
    private static final long FIRST = 1L << 63;

    /** The record key ends within the bytes that were compared. */
    private static final long ENDED = 1L << 62;

    private final RecordBuffer records;

    /** The records' numbers, in the order reached so far. */
    private final int[] order;

    private final long[] keys;
    private final RadixSort radixSort = new RadixSort();

    private RecordSorter(RecordBuffer records) {
        this.records = records;
        this.order = new int[records.count()];
        this.keys = new long[records.count()];
    }

    /** Returns the numbers of all records in sorted order. */
    static int[] sort(RecordBuffer records) {
        RecordSorter sorter = new RecordSorter(records);
        sorter.sortByGroup();
        return sorter.order;
    }

    private void sortByGroup() {
        int count = keys.length;
        for (int i = 0; i < count; i++) {
            keys[i] = (long) records.group(i) << Integer.SIZE | i;
        }
        radixSort.sort(keys, 0, count, Integer.SIZE);
        takeOrder(0, count);
        for (int from = 0, to; from < count; from = to) {
            int group = records.group(order[from]);
            to = from + 1;
            while (to < count && records.group(order[to]) == group) {
                to++;
            }
            sortByKey(from, to, 0);
        }
    }

    /**
     * Sorts records with equal groups and record keys that are equal up to {@code depth}. Recursive
     * for all groups but the largest, so that the recursion depth is at most the logarithm of the
     * number of records.
     *
     * @param start inclusive
     * @param stop exclusive
     * @param depth bytes of the record keys
     */
    private void sortByKey(int start, int stop, int depth) {
        int from = start;
        int to = stop;
        int at = depth;
        while (to - from > 1) {
            if (to - from <= FEW) {
                insertionSort(from, to, at);
                return;
            }
            at += commonBytes(from, to, at);
            int bytes = sortByNextBytes(from, to, at);
            int largest = from;
            int largestEnd = from;
            for (int begin = from, end; begin < to; begin = end) {
                boolean ended = (keys[begin] & ENDED) != 0;
                end = begin + 1;
                while (end < to && keys[end] >= 0) {
                    end++;
                }
                if (ended) {
                    sortByPrefixLength(begin, end);
                } else if (end - begin > largestEnd - largest) {
                    sortByKey(largest, largestEnd, at + bytes);
                    largest = begin;
                    largestEnd = end;
                } else {
                    sortByKey(begin, end, at + bytes);
                }
            }
            at += bytes;
            from = largest;
            to = largestEnd;
        }
    }

    /**
     * Sorts records by as many bytes from {@code depth} on as fit, and marks the first of each
     * group of equal ones.
     *
     * @return number of these bytes
     */
    private int sortByNextBytes(int from, int to, int depth) {
        int placeBits = Integer.SIZE - Integer.numberOfLeadingZeros(to - from - 1);
        int bytes =
                Math.min(MAX_BYTES_AT_ONCE, (Long.SIZE - 1 - LENGTH_BITS - placeBits) / Byte.SIZE);
        for (int i = from; i < to; i++) {
            int number = order[i];
            byte[] page = records.page(number);
            int begin = records.keyStart(number) + depth;
            int left = Math.min(bytes, records.keyEnd(number) - begin);
            long part = 0;
            for (int j = 0; j < left; j++) {
                part = part << Byte.SIZE | (page[begin + j] & 0xFF);
            }
            part <<= Byte.SIZE * (bytes - left);
            keys[i] = (part << LENGTH_BITS | left) << placeBits | (i - from);
        }
        radixSort.sort(keys, from, to, placeBits);
        long placeMask = (1L << placeBits) - 1;
        for (int i = to - 1; i >= from; i--) {
            long key = keys[i];
            boolean first = i == from || key >>> placeBits != keys[i - 1] >>> placeBits;
            boolean ended = (key >>> placeBits & MAX_BYTES_AT_ONCE) < bytes;
            keys[i] =
                    (first ? FIRST : 0)
                            | (ended ? ENDED : 0)
                            | order[from + (int) (key & placeMask)];
        }
        takeOrder(from, to);
        return bytes;
    }

    /** Takes the records' numbers from the lower halves of their keys. */
    private void takeOrder(int from, int to) {
        for (int i = from; i < to; i++) {
            order[i] = (int) keys[i];
        }
    }

    /** Returns the number of bytes from {@code depth} on that all keys have in common. */
    private int commonBytes(int from, int to, int depth) {
        int first = order[from];
        byte[] page = records.page(first);
        int begin = records.keyStart(first) + depth;
        int common = records.keyEnd(first) - begin;
        for (int i = from + 1; i < to && common > 0; i++) {
            int number = order[i];
            int other = records.keyStart(number) + depth;
            int length = Math.min(common, records.keyEnd(number) - other);
            int mismatch =
                    Arrays.mismatch(
                            page,
                            begin,
                            begin + length,
                            records.page(number),
                            other,
                            other + length);
            common = mismatch < 0 ? length : mismatch;
        }
        return common;
    }

    private void insertionSort(int from, int to, int depth) {
        for (int i = from + 1; i < to; i++) {
            int moved = order[i];
            int place = i;
            while (place > from && isBefore(moved, order[place - 1], depth)) {
                order[place] = order[place - 1];
                place--;
            }
            order[place] = moved;
        }
    }

    private boolean isBefore(int number, int other, int depth) {
        int comparison =
                Arrays.compareUnsigned(
                        records.page(number),
                        records.keyStart(number) + depth,
                        records.keyEnd(number),
                        records.page(other),
                        records.keyStart(other) + depth,
                        records.keyEnd(other));
        return comparison < 0
                || (comparison == 0
                        && records.keyPrefixLength(number) < records.keyPrefixLength(other));
    }

    /** Sorts records with equal record keys. */
    private void sortByPrefixLength(int from, int to) {
        for (int i = from; i < to; i++) {
            keys[i] = (long) records.keyPrefixLength(order[i]) << Integer.SIZE | (i - from);
        }
        radixSort.sort(keys, from, to, Integer.SIZE);
        for (int i = to - 1; i >= from; i--) {
            keys[i] = order[from + (int) keys[i]];
        }
        takeOrder(from, to);
    }
}
