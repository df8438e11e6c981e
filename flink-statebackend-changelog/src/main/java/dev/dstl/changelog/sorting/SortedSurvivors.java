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

import dev.dstl.log.api.RecordKind;
import java.util.Arrays;
import java.util.BitSet;

/**
 * Drops obsolete records from sorted ones, by the rules of {@link RecordKind}, and orders the
 * survivors for sequential application: a removal by prefix comes before newer records with that
 * prefix. Not thread-safe.
 *
 * <pre>
 *   sorted, with numbers            left, in this order
 *   DELETE_PREFIX k        5        DELETE_PREFIX k  5
 *   PUT           k|a      2        -                        older than 5
 *   PUT           k|a      7        PUT  k|a         7
 *   PUT           k|b      8        -
 *   DELETE        k|b      9        DELETE  k|b      9
 * </pre>
 */
final class SortedSurvivors {

    private final RecordBuffer records;
    private final int[] sorted;
    private final int[] survivors;
    private int count;

    /**
     * Numbers of the records that delete a prefix of the current record key, the shortest prefix
     * first.
     */
    private int[] prefixDeletes = new int[4];

    private int depth;

    private SortedSurvivors(RecordBuffer records, int[] sorted) {
        this.records = records;
        this.sorted = sorted;
        this.survivors = new int[sorted.length];
    }

    /** Returns the numbers of the surviving records, ascending. */
    static int[] numbersIn(RecordBuffer records) {
        int[] numbers = of(records, RecordSorter.sort(records));
        BitSet survives = new BitSet(records.count());
        for (int number : numbers) {
            survives.set(number);
        }
        int next = survives.nextSetBit(0);
        for (int i = 0; i < numbers.length; i++) {
            numbers[i] = next;
            next = survives.nextSetBit(next + 1);
        }
        return numbers;
    }

    /** Returns the numbers of the surviving records, in order. */
    static int[] of(RecordBuffer records, int[] sorted) {
        SortedSurvivors all = new SortedSurvivors(records, sorted);
        for (int from = 0, to; from < sorted.length; from = to) {
            to = all.endOfGroup(from);
            all.visit(from, to);
        }
        return Arrays.copyOf(all.survivors, all.count);
    }

    private int endOfGroup(int from) {
        int to = from + 1;
        while (to < sorted.length && records.haveSameKey(sorted[from], sorted[to])) {
            to++;
        }
        return to;
    }

    private void visit(int from, int to) {
        int removed = -1;
        if (records.hasPrefixDeletes()) {
            int first = sorted[from];
            leavePrefixes(first);
            int prefixDelete = newest(from, to, true);
            if (prefixDelete >= 0) {
                survivors[count++] = prefixDelete;
                enterPrefix(prefixDelete);
            }
            removed = removedBefore(records.keyPrefixLength(first));
        }
        int last = newest(from, to, false);
        if (last > removed) {
            survivors[count++] = last;
        }
        for (int i = from; i < to; i++) {
            int number = sorted[i];
            if (number > last && number > removed && records.kind(number) == RecordKind.APPEND) {
                survivors[count++] = number;
            }
        }
    }

    /** Returns the newest put or delete, or the newest delete by prefix; -1 if there is none. */
    private int newest(int from, int to, boolean prefix) {
        for (int i = to - 1; i >= from; i--) {
            RecordKind kind = records.kind(sorted[i]);
            if (prefix
                    ? kind == RecordKind.DELETE_PREFIX
                    : kind == RecordKind.PUT || kind == RecordKind.DELETE) {
                return sorted[i];
            }
        }
        return -1;
    }

    private void leavePrefixes(int number) {
        while (depth > 0 && !beginsWith(number, prefixDeletes[depth - 1])) {
            depth--;
        }
    }

    private boolean beginsWith(int number, int prefixDelete) {
        int start = records.keyStart(number);
        int length = keyLength(prefixDelete);
        int prefixStart = records.keyStart(prefixDelete);
        return records.group(number) == records.group(prefixDelete)
                && length <= keyLength(number)
                && Arrays.equals(
                        records.page(number),
                        start,
                        start + length,
                        records.page(prefixDelete),
                        prefixStart,
                        prefixStart + length);
    }

    private int keyLength(int number) {
        return records.keyEnd(number) - records.keyStart(number);
    }

    private void enterPrefix(int prefixDelete) {
        if (depth == prefixDeletes.length) {
            prefixDeletes = Arrays.copyOf(prefixDeletes, 2 * depth);
        }
        prefixDeletes[depth++] = prefixDelete;
    }

    /** Returns the number before which all records were deleted by a prefix; -1 if none were. */
    private int removedBefore(int keyPrefixLength) {
        for (int i = depth - 1; i >= 0; i--) {
            if (keyLength(prefixDeletes[i]) == keyPrefixLength) {
                return prefixDeletes[i];
            }
        }
        return -1;
    }
}
