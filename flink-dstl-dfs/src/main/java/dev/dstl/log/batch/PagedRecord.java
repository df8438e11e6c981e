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
 * nothing. Not thread-safe.
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

    /** A page, or a copy of bytes that span two pages. */
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

    /**
     * Points this view at the record whose preamble begins at {@code start}, and reads its header.
     */
    public void readAt(PagedBytes source, long start) {
        long begin = start - open(source, start);
        keyGroup = nextVarint() - 1;
        length = nextVarint();
        position = begin + at;
        readHeader(begin);
    }

    /**
     * Points this view at a record of known position, and reads its header.
     *
     * @param recordPosition a value of {@link #position()}
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

    /** Loads preamble and header into the window and returns their index in it. */
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

    /** Returns the key group, -1 for records without a key group. */
    public int keyGroup() {
        return keyGroup;
    }

    /** Returns the position of the record, after its preamble. */
    public long position() {
        return position;
    }

    /** Returns the length of the record in bytes, without its preamble. */
    public int length() {
        return length;
    }

    /** Returns the position of the first byte after the record. */
    public long end() {
        return position + length;
    }

    /** Returns the effect of the record on its state. */
    public RecordKind kind() {
        return kind;
    }

    /** Returns the id of the state, as numbered by the writer. */
    public int stateId() {
        return stateId;
    }

    /** Returns the length of key and namespace in bytes. */
    public int keyPrefixLength() {
        return keyPrefixLength;
    }

    /** Returns the length of the record key in bytes. */
    public int keyLength() {
        return keyLength;
    }

    /** Returns the position of the record key. */
    public long keyPosition() {
        return keyPosition;
    }
}
