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

import dev.dstl.log.api.LogRecord;
import java.util.Arrays;

/**
 * Sorts records by state, key group and record key, bytes compared as unsigned: the order in which
 * RocksDB keeps the entries of a state. Stable: equal records, with key prefixes of equal length,
 * keep their order.
 *
 * <p>Sorts {@code long}s whose upper half holds the next bytes to compare and whose lower half
 * holds the number of the record, so that most comparisons touch no record; ties are sorted by the
 * following bytes. The common prefix is skipped first. Not thread-safe.
 */
final class RecordSorter {

    private static final int BY_STATE = -2;
    private static final int BY_KEY_GROUP = -1;

    /** Depth after the last byte of the record key. */
    private static final int BY_PREFIX_LENGTH = Integer.MAX_VALUE;

    private static final int BYTES_AT_ONCE = 3;

    /** Fewer records are compared one by one. */
    private static final int FEW = 12;

    private final RecordBuffer records;
    private final LogRecord first = new LogRecord();
    private final LogRecord second = new LogRecord();
    private final long[] keys;

    private RecordSorter(RecordBuffer records) {
        this.records = records;
        this.keys = new long[records.count()];
        for (int i = 0; i < keys.length; i++) {
            keys[i] = i;
        }
    }

    /** Returns the numbers of all records in sorted order, in the lower half of each element. */
    static long[] sort(RecordBuffer records) {
        RecordSorter sorter = new RecordSorter(records);
        sorter.sort(0, sorter.keys.length, BY_STATE);
        return sorter.keys;
    }

    /**
     * Sorts records that are equal up to {@code depth}. Recursive for all groups but the largest,
     * so that the recursion depth is at most the logarithm of the number of records.
     *
     * @param start inclusive
     * @param stop exclusive
     * @param depth what to compare next: state, key group, or a byte of the record key
     */
    private void sort(int start, int stop, int depth) {
        int from = start;
        int to = stop;
        int at = depth;
        while (to - from > 1) {
            if (at >= 0 && at != BY_PREFIX_LENGTH) {
                if (to - from <= FEW) {
                    insertionSort(from, to);
                    return;
                }
                at += commonBytes(from, to, at);
            }
            for (int i = from; i < to; i++) {
                int number = (int) keys[i];
                keys[i] = (long) part(number, at) << Integer.SIZE | number;
            }
            Arrays.sort(keys, from, to);
            if (at == BY_PREFIX_LENGTH) {
                return;
            }
            int largest = from;
            int largestEnd = from;
            for (int begin = from, end; begin < to; begin = end) {
                end = endOfGroup(begin, to);
                if (end - begin > largestEnd - largest) {
                    sort(largest, largestEnd, next(largest, at));
                    largest = begin;
                    largestEnd = end;
                } else {
                    sort(begin, end, next(begin, at));
                }
            }
            at = next(largest, at);
            from = largest;
            to = largestEnd;
        }
    }

    private int endOfGroup(int begin, int to) {
        int end = begin + 1;
        while (end < to && keys[end] >>> Integer.SIZE == keys[begin] >>> Integer.SIZE) {
            end++;
        }
        return end;
    }

    /** Returns the next depth to compare. */
    private int next(int group, int depth) {
        switch (depth) {
            case BY_STATE:
                return BY_KEY_GROUP;
            case BY_KEY_GROUP:
                return 0;
            default:
                return isEnd(keys[group]) ? BY_PREFIX_LENGTH : depth + BYTES_AT_ONCE;
        }
    }

    /** Returns the value to compare at a depth, never negative. */
    private int part(int number, int depth) {
        records.read(number, first);
        switch (depth) {
            case BY_STATE:
                return first.stateId();
            case BY_KEY_GROUP:
                return first.keyGroup();
            case BY_PREFIX_LENGTH:
                return first.keyPrefixLength();
            default:
                return bytesAt(depth);
        }
    }

    /** Returns three bytes and their number, so that a key sorts before its extensions. */
    private int bytesAt(int depth) {
        int left = Math.min(BYTES_AT_ONCE, first.keyLength() - depth);
        int part = 0;
        for (int i = 0; i < BYTES_AT_ONCE; i++) {
            part <<= Byte.SIZE;
            if (i < left) {
                part |= first.buffer()[first.keyOffset() + depth + i] & 0xFF;
            }
        }
        return part << 2 | left;
    }

    private static boolean isEnd(long key) {
        return (key >>> Integer.SIZE & BYTES_AT_ONCE) < BYTES_AT_ONCE;
    }

    /** Returns the number of bytes from {@code depth} on that all keys have in common. */
    private int commonBytes(int from, int to, int depth) {
        records.read((int) keys[from], first);
        int begin = first.keyOffset() + depth;
        int common = first.keyLength() - depth;
        for (int i = from + 1; i < to && common > 0; i++) {
            records.read((int) keys[i], second);
            int other = second.keyOffset() + depth;
            int length = Math.min(common, second.keyLength() - depth);
            int mismatch =
                    Arrays.mismatch(
                            first.buffer(),
                            begin,
                            begin + length,
                            second.buffer(),
                            other,
                            other + length);
            common = mismatch < 0 ? length : mismatch;
        }
        return common;
    }

    private void insertionSort(int from, int to) {
        // By number first, since equal records keep their order.
        for (int i = from; i < to; i++) {
            keys[i] &= 0xFFFF_FFFFL;
        }
        Arrays.sort(keys, from, to);
        for (int i = from + 1; i < to; i++) {
            long moved = keys[i];
            records.read((int) moved, first);
            int place = i;
            while (place > from && isBefore((int) keys[place - 1])) {
                keys[place] = keys[place - 1];
                place--;
            }
            keys[place] = moved;
        }
    }

    /**
     * Returns whether the record that {@code first} shows comes before another record of its state.
     */
    private boolean isBefore(int number) {
        records.read(number, second);
        int order =
                Arrays.compareUnsigned(
                        first.buffer(),
                        first.keyOffset(),
                        first.payloadOffset(),
                        second.buffer(),
                        second.keyOffset(),
                        second.payloadOffset());
        return order < 0 || (order == 0 && first.keyPrefixLength() < second.keyPrefixLength());
    }
}
