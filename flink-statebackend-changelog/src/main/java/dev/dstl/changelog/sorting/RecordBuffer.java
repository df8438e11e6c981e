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
 *   place       state id | key group | page    | length of the header | offset
 *               15 bits    16 bits     10 bits   5 bits                 18 bits
 *   number      0      1      2           3
 *   pages       [record record ] [record      record ...  ]   of {@value #FIRST_PAGE} bytes, doubling to {@value #LARGEST_PAGE}
 * </pre>
 *
 * Records of a page lie one behind the other, so the length of each follows from the next one's
 * place. A record that is larger than a page has one of its own. Comparing records does not decode
 * their headers: many do so in a restore, when most code is still interpreted.
 */
final class RecordBuffer {

    /** Larger state ids cannot be sorted. */
    static final int MAX_STATE_ID = Short.MAX_VALUE;

    private static final int FIRST_PAGE = 4 << 10;
    private static final int LARGEST_PAGE = 256 << 10;

    private static final int OFFSET_BITS = 18;
    private static final int HEADER_BITS = 5;
    private static final int PAGE_BITS = 10;
    private static final int PAGE_SHIFT = OFFSET_BITS + HEADER_BITS;
    private static final int GROUP_SHIFT = PAGE_SHIFT + PAGE_BITS;
    private static final int MAX_PAGES = 1 << PAGE_BITS;
    private static final int MAX_OFFSET = (1 << OFFSET_BITS) - 1;

    private static final int PLACES_SHIFT = 10;

    /** Places are in arrays of this length, so that few are allocated in vain. */
    private static final int PLACES = 1 << PLACES_SHIFT;

    private final int sortingBytesPerRecord;
    private byte[][] pages = new byte[8][];
    private int[] pageEnds = new int[8];
    private int pageCount;
    private long pageBytes;
    private long[][] places = new long[8][];
    private int placeArrays;
    private int count;
    private boolean prefixDeletes;

    /**
     * Creates an empty buffer.
     *
     * @param sortingBytesPerRecord memory that sorting takes, counted in {@link #memoryBytes}
     */
    RecordBuffer(int sortingBytesPerRecord) {
        this.sortingBytesPerRecord = sortingBytesPerRecord;
    }

    /** Adds a copy of a record. Not if the buffer is {@linkplain #isFull full}. */
    void add(LogRecord record) {
        int length = record.length();
        if (pageCount == 0 || !fits(length, pageCount - 1, pageEnds[pageCount - 1])) {
            addPage(length);
        }
        if (count == placeArrays * PLACES) {
            addPlaces();
        }
        int page = pageCount - 1;
        int end = pageEnds[page];
        System.arraycopy(record.buffer(), record.offset(), pages[page], end, length);
        int group = record.stateId() << Short.SIZE | (record.keyGroup() & 0xFFFF);
        int headerLength = record.keyOffset() - record.offset();
        setPlace(count, (long) group << GROUP_SHIFT | place(page, headerLength, end));
        pageEnds[page] = end + length;
        count++;
        prefixDeletes |= record.kind() == RecordKind.DELETE_PREFIX;
    }

    /** Returns whether a record fits into a page, and a place can name its offset there. */
    private boolean fits(int length, int page, int offset) {
        return offset <= MAX_OFFSET && length <= pages[page].length - offset;
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

    private void addPlaces() {
        if (placeArrays == places.length) {
            places = Arrays.copyOf(places, 2 * placeArrays);
        }
        places[placeArrays++] = new long[PLACES];
    }

    /** Returns whether another record may be too many. */
    boolean isFull() {
        return pageCount == MAX_PAGES;
    }

    private static long place(int page, int headerLength, int offset) {
        return (long) page << PAGE_SHIFT | (long) headerLength << OFFSET_BITS | offset;
    }

    private void setPlace(int number, long place) {
        places[number >>> PLACES_SHIFT][number & PLACES - 1] = place;
    }

    private long place(int number) {
        return places[number >>> PLACES_SHIFT][number & PLACES - 1];
    }

    private static int groupOf(long place) {
        return (int) (place >>> GROUP_SHIFT);
    }

    private static int pageOf(long place) {
        return (int) (place >>> PAGE_SHIFT) & MAX_PAGES - 1;
    }

    private static int headerLength(long place) {
        return (int) (place >>> OFFSET_BITS) & (1 << HEADER_BITS) - 1;
    }

    private static int offset(long place) {
        return (int) place & MAX_OFFSET;
    }

    private int end(int number) {
        int page = pageOf(place(number));
        boolean isLast = number + 1 == count || pageOf(place(number + 1)) != page;
        return isLast ? pageEnds[page] : offset(place(number + 1));
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
            long place = place(number);
            int length = end(number) - offset(place);
            // Never passes the record's present place, as no record before it grows.
            while (!fits(length, page, end)) {
                page++;
                end = 0;
            }
            System.arraycopy(pages[pageOf(place)], offset(place), pages[page], end, length);
            long group = (long) groupOf(place) << GROUP_SHIFT;
            setPlace(i, group | place(page, headerLength(place), end));
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
        while ((placeArrays - 1) * PLACES >= count && placeArrays > 0) {
            places[--placeArrays] = null;
        }
    }

    int count() {
        return count;
    }

    /** Returns whether there are records that delete a key prefix. */
    boolean hasPrefixDeletes() {
        return prefixDeletes;
    }

    /**
     * Returns state id and key group in one number, in the order of both, of a record that has
     * them.
     */
    int group(int number) {
        return groupOf(place(number));
    }

    /** Points {@code record} at the record of a number. */
    void read(int number, LogRecord record) {
        long place = place(number);
        int offset = offset(place);
        record.wrap((short) groupOf(place), pages[pageOf(place)], offset, end(number) - offset);
    }

    RecordKind kind(int number) {
        long place = place(number);
        return RecordKind.of(pages[pageOf(place)][offset(place)]);
    }

    /** Returns the array that has the record key. */
    byte[] page(int number) {
        return pages[pageOf(place(number))];
    }

    /** Returns where the record key begins in its {@link #page}. */
    int keyStart(int number) {
        long place = place(number);
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
        int start = offset(place(first)) + 1;
        int other = offset(place(second)) + 1;
        return group(first) == group(second)
                && Arrays.equals(
                        page(first), start, keyEnd(first), page(second), other, keyEnd(second));
    }

    /** Returns the memory for the records and for sorting them, in bytes. */
    long memoryBytes() {
        return pageBytes + (long) placeArrays * PLACES * (Long.BYTES + sortingBytesPerRecord);
    }
}
