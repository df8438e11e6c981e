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

package dev.dstl.log.api;

/**
 * A view of one record in a buffer. Reused for every record, so that reading allocates nothing; a
 * caller that retains bytes must copy them.
 *
 * <p>Not thread-safe. The buffer belongs to the caller of {@link #wrap} and is valid until the next
 * record.
 */
public final class LogRecord {

    private RecordKind kind = RecordKind.OPAQUE;
    private int keyGroup;
    private int stateId;
    private byte[] buffer = new byte[0];
    private int start;
    private int keyOffset;
    private int keyPrefixLength;
    private int keyLength;
    private int end;

    /**
     * Points this view at an encoded record, see {@link RecordFormat}.
     *
     * @param keyGroup the record's key group, negative for records without a key group
     * @param source array that contains the record; not copied
     * @param offset index of the first byte of the record
     * @param length length of the record in bytes
     * @throws IllegalArgumentException if the bytes are not a record
     */
    public void wrap(int keyGroup, byte[] source, int offset, int length) {
        this.keyGroup = keyGroup;
        this.buffer = source;
        this.start = offset;
        this.end = offset + length;
        if (length < 1) {
            throw new IllegalArgumentException("A record has at least one byte, found " + length);
        }
        this.kind = RecordKind.of(source[offset]);
        this.keyOffset = offset + 1;
        this.stateId = nextVarint();
        this.keyPrefixLength = nextVarint();
        this.keyLength = nextVarint();
        if (keyPrefixLength < 0 || keyLength < keyPrefixLength || keyLength > end - keyOffset) {
            throw new IllegalArgumentException(
                    String.format(
                            "Record lengths do not fit: key prefix %d, record key %d,"
                                    + " %d bytes left",
                            keyPrefixLength, keyLength, end - keyOffset));
        }
    }

    private int nextVarint() {
        int value = 0;
        for (int shift = 0; shift < 35; shift += 7) {
            if (keyOffset >= end) {
                throw new IllegalArgumentException("Record ends inside its header");
            }
            byte next = buffer[keyOffset++];
            value |= (next & 0x7F) << shift;
            if (next >= 0) {
                return value;
            }
        }
        throw new IllegalArgumentException("Varint of more than five bytes in a record header");
    }

    /** Returns the effect of the record on its state. */
    public RecordKind kind() {
        return kind;
    }

    /** Returns the key group, negative for records without a key group. */
    public int keyGroup() {
        return keyGroup;
    }

    /** Returns the id of the state, as numbered by the writer. */
    public int stateId() {
        return stateId;
    }

    /** Returns the array that contains the record; not a copy. */
    public byte[] buffer() {
        return buffer;
    }

    /**
     * Returns the index of the first byte of the record in {@link #buffer()}, see {@link
     * RecordFormat}.
     */
    public int offset() {
        return start;
    }

    /** Returns the length of the record in bytes. */
    public int length() {
        return end - start;
    }

    /** Returns the index of the first byte of the record key in {@link #buffer()}. */
    public int keyOffset() {
        return keyOffset;
    }

    /** Returns the length of key and namespace in bytes. */
    public int keyPrefixLength() {
        return keyPrefixLength;
    }

    /** Returns the length of the record key in bytes. */
    public int keyLength() {
        return keyLength;
    }

    /** Returns the index of the first byte of the payload in {@link #buffer()}. */
    public int payloadOffset() {
        return keyOffset + keyLength;
    }

    /** Returns the length of the payload in bytes. */
    public int payloadLength() {
        return end - payloadOffset();
    }
}
