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
import dev.dstl.log.api.RecordFormat;
import dev.dstl.log.api.RecordKind;
import java.util.Arrays;

/**
 * Copies of records, numbered in their original order. Written by one thread; read by any number of
 * threads after it was handed over.
 *
 * <pre>
 *   number      0      1      2           3
 *   place       0|4|0  0|4|60 1|4|0       1|4|80       page | length of the header | offset
 *   pages       [record record ] [record      record ...  ]   of {@value #FIRST_PAGE} bytes, doubling to {@value #LARGEST_PAGE}
 * </pre>
 *
 * Records of a page lie one behind the other, so the length of each follows from the next one's
 * place. Comparing records does not decode their headers: many do so in a restore, when most code
 * is still interpreted.
 */
final class RecordBuffer {

    /** Larger state ids cannot be sorted. */
    static final int MAX_STATE_ID = Short.MAX_VALUE;

    private static final int FIRST_PAGE = 4 << 10;
    private static final int LARGEST_PAGE = 256 << 10;
    private static final int FIRST_RECORDS = 64;

    /** Memory per record: place and group; sort key, number and survivor for sorting. */
    private static final int BYTES_PER_RECORD = Long.BYTES + 4 + Long.BYTES + 4 + 4;

    private static final int HEADER_BITS = 5;
    private static final int HEADER_SHIFT = Integer.SIZE;
    private static final int PAGE_SHIFT = HEADER_SHIFT + HEADER_BITS;
    private static final int HEADER_MASK = (1 << HEADER_BITS) - 1;

    private byte[][] pages = new byte[8][];
    private int[] pageEnds = new int[8];
    private int pageCount;
    private long pageBytes;
    private long[] places = new long[0];

    /** State id and key group. */
    private int[] groups = new int[0];

    private int count;
    private boolean prefixDeletes;

    /** Adds a copy of a record. */
    void add(LogRecord record) {
        int length = record.length();
        if (pageCount == 0 || length > pages[pageCount - 1].length - pageEnds[pageCount - 1]) {
            addPage(length);
        }
        if (count == places.length) {
            int capacity = Math.max(FIRST_RECORDS, count + (count >> 1));
            places = Arrays.copyOf(places, capacity);
            groups = Arrays.copyOf(groups, capacity);
        }
        int page = pageCount - 1;
        int end = pageEnds[page];
        System.arraycopy(record.buffer(), record.offset(), pages[page], end, length);
        places[count] = place(page, record.keyOffset() - record.offset(), end);
        groups[count] = record.stateId() << Short.SIZE | (record.keyGroup() & 0xFFFF);
        pageEnds[page] = end + length;
        count++;
        prefixDeletes |= record.kind() == RecordKind.DELETE_PREFIX;
    }

    private void addPage(int atLeast) {
        if (pageCount == pages.length) {
            pages = Arrays.copyOf(pages, 2 * pageCount);
            pageEnds = Arrays.copyOf(pageEnds, 2 * pageCount);
        }
        int size = pageCount < 6 ? FIRST_PAGE << pageCount : LARGEST_PAGE;
        pages[pageCount] = new byte[Math.max(size, atLeast)];
        pageEnds[pageCount] = 0;
        pageBytes += pages[pageCount].length;
        pageCount++;
    }

    private static long place(int page, int headerLength, int offset) {
        return (long) page << PAGE_SHIFT | (long) headerLength << HEADER_SHIFT | offset;
    }

    private static int pageOf(long place) {
        return (int) (place >>> PAGE_SHIFT);
    }

    private static int headerLength(long place) {
        return (int) (place >>> HEADER_SHIFT) & HEADER_MASK;
    }

    private static int offset(long place) {
        return (int) place;
    }

    private int end(int number) {
        int page = pageOf(places[number]);
        boolean isLast = number + 1 == count || pageOf(places[number + 1]) != page;
        return isLast ? pageEnds[page] : offset(places[number + 1]);
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
        int[] ends = new int[pageEnds.length];
        for (int i = 0; i < numbers.length; i++) {
            int number = numbers[i];
            long place = places[number];
            int length = end(number) - offset(place);
            // Never passes the record's present place, as no record before it grows.
            while (length > pages[page].length - end) {
                page++;
                end = 0;
            }
            System.arraycopy(pages[pageOf(place)], offset(place), pages[page], end, length);
            places[i] = place(page, headerLength(place), end);
            groups[i] = groups[number];
            end += length;
            ends[page] = end;
        }
        while (pageCount > page + 1) {
            pageCount--;
            pageBytes -= pages[pageCount].length;
            pages[pageCount] = null;
        }
        pageEnds = ends;
        count = numbers.length;
    }

    int count() {
        return count;
    }

    /** Returns whether there are records that delete a key prefix. */
    boolean hasPrefixDeletes() {
        return prefixDeletes;
    }

    /**
     * Returns state id and key group in one number, in the order of both. Not negative if the
     * record has a key group.
     */
    int group(int number) {
        return groups[number];
    }

    /** Points {@code record} at the record of a number. */
    void read(int number, LogRecord record) {
        long place = places[number];
        int offset = offset(place);
        record.wrap((short) groups[number], pages[pageOf(place)], offset, end(number) - offset);
    }

    RecordKind kind(int number) {
        long place = places[number];
        return RecordKind.of(pages[pageOf(place)][offset(place)]);
    }

    /** Returns the array that has the record key. */
    byte[] page(int number) {
        return pages[pageOf(places[number])];
    }

    /** Returns where the record key begins in its {@link #page}. */
    int keyStart(int number) {
        long place = places[number];
        return offset(place) + headerLength(place);
    }

    /** Returns where the record key ends in its {@link #page}, exclusive. */
    int keyEnd(int number) {
        int start = keyStart(number);
        return start + RecordFormat.lengthBefore(page(number), start);
    }

    int keyPrefixLength(int number) {
        int start = keyStart(number);
        byte[] page = page(number);
        int keyLength = RecordFormat.lengthBefore(page, start);
        return RecordFormat.lengthBefore(page, start - RecordFormat.varintLength(keyLength));
    }

    /** Returns whether two records have the same state, key group, record key and key prefix. */
    boolean haveSameKey(int first, int second) {
        // Headers with equal bytes behind the kind have equal ids and lengths.
        int start = offset(places[first]) + 1;
        int other = offset(places[second]) + 1;
        return groups[first] == groups[second]
                && Arrays.equals(
                        page(first), start, keyEnd(first), page(second), other, keyEnd(second));
    }

    /** Returns the memory for the records and for sorting them, in bytes. */
    long memoryBytes() {
        return pageBytes + (long) places.length * BYTES_PER_RECORD;
    }
}
