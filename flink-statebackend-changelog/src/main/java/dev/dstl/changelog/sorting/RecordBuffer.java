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
import dev.dstl.log.api.RecordKind;
import java.util.Arrays;

/**
 * Copies of records, numbered in their original order. Written by one thread; read by any number of
 * threads after it was handed over.
 *
 * <pre>
 *   number      0      1      2           3
 *   position    0|0    0|60   1|0         1|80         page | offset
 *   pages       [record record ] [record      record ...  ]   of {@value #FIRST_PAGE} bytes, doubling to {@value #LARGEST_PAGE}
 * </pre>
 */
final class RecordBuffer {

    private static final int FIRST_PAGE = 4 << 10;
    private static final int LARGEST_PAGE = 256 << 10;
    private static final int FIRST_RECORDS = 64;

    /** Memory per record: position, length, key group, and a sort key and number for sorting. */
    private static final int BYTES_PER_RECORD = Long.BYTES + 2 * Integer.BYTES + Long.BYTES + 4;

    private byte[][] pages = new byte[8][];
    private int pageCount;
    private int pageEnd;
    private long pageBytes;
    private long[] positions = new long[0];
    private int[] lengths = new int[0];
    private int[] keyGroups = new int[0];
    private int count;
    private boolean prefixDeletes;

    /** Adds a copy of a record. */
    void add(LogRecord record) {
        int length = record.length();
        if (pageCount == 0 || length > pages[pageCount - 1].length - pageEnd) {
            addPage(length);
        }
        if (count == positions.length) {
            int capacity = Math.max(FIRST_RECORDS, count + (count >> 1));
            positions = Arrays.copyOf(positions, capacity);
            lengths = Arrays.copyOf(lengths, capacity);
            keyGroups = Arrays.copyOf(keyGroups, capacity);
        }
        System.arraycopy(record.buffer(), record.offset(), pages[pageCount - 1], pageEnd, length);
        positions[count] = position(pageCount - 1, pageEnd);
        lengths[count] = length;
        keyGroups[count] = record.keyGroup();
        pageEnd += length;
        count++;
        prefixDeletes |= record.kind() == RecordKind.DELETE_PREFIX;
    }

    private void addPage(int atLeast) {
        if (pageCount == pages.length) {
            pages = Arrays.copyOf(pages, 2 * pageCount);
        }
        int size = pageCount < 6 ? FIRST_PAGE << pageCount : LARGEST_PAGE;
        pages[pageCount] = new byte[Math.max(size, atLeast)];
        pageBytes += pages[pageCount].length;
        pageCount++;
        pageEnd = 0;
    }

    /**
     * Drops all records but some, and the pages that become empty. The rest keeps its order and is
     * numbered anew.
     *
     * @param numbers of the records that stay, ascending
     */
    void retain(int[] numbers) {
        int page = 0;
        int end = 0;
        for (int i = 0; i < numbers.length; i++) {
            int number = numbers[i];
            int length = lengths[number];
            // Never passes the record's present place, as no record before it grows.
            while (length > pages[page].length - end) {
                page++;
                end = 0;
            }
            byte[] source = pages[(int) (positions[number] >>> Integer.SIZE)];
            System.arraycopy(source, (int) positions[number], pages[page], end, length);
            positions[i] = position(page, end);
            lengths[i] = length;
            keyGroups[i] = keyGroups[number];
            end += length;
        }
        while (pageCount > page + 1) {
            pageCount--;
            pageBytes -= pages[pageCount].length;
            pages[pageCount] = null;
        }
        pageEnd = end;
        count = numbers.length;
    }

    private static long position(int page, int offset) {
        return (long) page << Integer.SIZE | offset;
    }

    int count() {
        return count;
    }

    /** Returns whether there are records that delete a key prefix. */
    boolean hasPrefixDeletes() {
        return prefixDeletes;
    }

    int keyGroup(int number) {
        return keyGroups[number];
    }

    /** Points {@code record} at the record of a number. */
    void read(int number, LogRecord record) {
        long position = positions[number];
        record.wrap(
                keyGroups[number],
                pages[(int) (position >>> Integer.SIZE)],
                (int) position,
                lengths[number]);
    }

    /** Returns the memory for the records and for sorting them, in bytes. */
    long memoryBytes() {
        return pageBytes + (long) positions.length * BYTES_PER_RECORD;
    }
}
