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

package dev.dstl.log.batch;

import dev.dstl.log.api.RecordFormat;
import dev.dstl.log.api.RecordKind;

/**
 * A view of one record of a batch. Reused for every record, so that scanning a batch allocates
 * nothing. Not thread safe.
 *
 * <pre>
 *   +---------------+---------------+---------------------------------+
 *   | key group + 1 | record length | record, see {@link RecordFormat} |
 *   | varint        | varint        | record length                   |
 *   +---------------+---------------+---------------------------------+
 * </pre>
 */
public final class PagedRecord {

    static final int MAX_PREAMBLE_BYTES = 2 * 5 + RecordFormat.MAX_HEADER_LENGTH;

    private final byte[] straddling = new byte[MAX_PREAMBLE_BYTES];

    /** A page, or a copy of what straddles two. */
    private byte[] window;

    private int at;

    private int keyGroup;
    private long position;
    private int length;
    private RecordKind kind;
    private int stateId;
    private int keyPrefixLength;
    private int keyLength;
    private long keyPosition;

    /** Points this view at the record that begins at {@code start} and reads its header. */
    public void readAt(PagedBytes source, long start) {
        long begin = start - open(source, start);
        keyGroup = nextVarint() - 1;
        length = nextVarint();
        position = begin + at;
        readHeader(begin);
    }

    /**
     * Points this view at the record that is known to lie at a position.
     *
     * @param recordPosition as {@link #position()} says
     */
    public void readAt(
            PagedBytes source, long recordPosition, int recordLength, int recordKeyGroup) {
        long begin = recordPosition - open(source, recordPosition);
        keyGroup = recordKeyGroup;
        length = recordLength;
        position = recordPosition;
        readHeader(begin);
    }

    private void readHeader(long windowBegin) {
        kind = RecordKind.of(window[at++]);
        stateId = nextVarint();
        keyPrefixLength = nextVarint();
        keyLength = nextVarint();
        keyPosition = windowBegin + at;
    }

    /** Has preamble and header in the window; returns where in it they begin. */
    private int open(PagedBytes source, long start) {
        window = source.page(start);
        at = PagedBytes.offset(start);
        if (at > window.length - MAX_PREAMBLE_BYTES) {
            int there = (int) Math.min(MAX_PREAMBLE_BYTES, source.length() - start);
            source.copyTo(start, straddling, 0, there);
            window = straddling;
            at = 0;
        }
        return at;
    }

    private int nextVarint() {
        int first = window[at++];
        return first >= 0 ? first : restOfVarint(first & 0x7F);
    }

    private int restOfVarint(int lowest) {
        int value = lowest;
        for (int shift = 7; ; shift += 7) {
            byte next = window[at++];
            value |= (next & 0x7F) << shift;
            if (next >= 0) {
                return value;
            }
        }
    }

    /** The key group, -1 for records of no key group. */
    public int keyGroup() {
        return keyGroup;
    }

    /** Where the record proper begins. */
    public long position() {
        return position;
    }

    /** Bytes of the record proper. */
    public int length() {
        return length;
    }

    /** Where the next record begins, or the batch ends. */
    public long end() {
        return position + length;
    }

    /** What the record does. */
    public RecordKind kind() {
        return kind;
    }

    /** The state, numbered by the writer. */
    public int stateId() {
        return stateId;
    }

    /** How many bytes of the record key are key and namespace. */
    public int keyPrefixLength() {
        return keyPrefixLength;
    }

    /** Bytes of the record key. */
    public int keyLength() {
        return keyLength;
    }

    /** Where the record key begins. */
    public long keyPosition() {
        return keyPosition;
    }
}
