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
 * The bytes of one record. Its key group and its total length are stored outside of it.
 *
 * <pre>
 *   +--------+----------+-------------------+------------+------------+-------------+
 *   | kind   | state id | key prefix length | key length | record key | payload     |
 *   | 1 byte | varint   | varint            | varint     | key length | to the end  |
 *   +--------+----------+-------------------+------------+------------+-------------+
 *                           the first "key prefix length" bytes of the record key
 *                           are key and namespace
 * </pre>
 *
 * <p>Varints are unsigned, seven bits per byte, least significant first, at most five bytes.
 * Stateless and thread-safe.
 */
public final class RecordFormat {

    /** Length of the longest header: the kind and three varints of five bytes. */
    public static final int MAX_HEADER_LENGTH = 1 + 3 * 5;

    private RecordFormat() {}

    /** Returns the length of a header in bytes, without record key and payload. */
    public static int headerLength(int stateId, int keyPrefixLength, int keyLength) {
        // Nearly all records; saves three divisions.
        if ((stateId | keyPrefixLength | keyLength) >>> 7 == 0) {
            return 4;
        }
        return 1 + varintLength(stateId) + varintLength(keyPrefixLength) + varintLength(keyLength);
    }

    /**
     * Writes a header, beginning at {@code target[offset]}.
     *
     * @return offset of the first byte after the header
     */
    public static int writeHeader(
            byte[] target,
            int offset,
            RecordKind kind,
            int stateId,
            int keyPrefixLength,
            int keyLength) {
        target[offset] = kind.code();
        int at = writeVarint(target, offset + 1, stateId);
        at = writeVarint(target, at, keyPrefixLength);
        return writeVarint(target, at, keyLength);
    }

    /** Returns the length of {@code value}, as an unsigned varint, in bytes: 1 to 5. */
    public static int varintLength(int value) {
        return (38 - Integer.numberOfLeadingZeros(value | 1)) / 7;
    }

    /**
     * Writes {@code value} as an unsigned varint, beginning at {@code target[offset]}.
     *
     * @return offset of the first byte after the varint
     */
    public static int writeVarint(byte[] target, int offset, int value) {
        int at = offset;
        int rest = value;
        while ((rest & ~0x7F) != 0) {
            target[at++] = (byte) (rest | 0x80);
            rest >>>= 7;
        }
        target[at++] = (byte) rest;
        return at;
    }

    /**
     * Returns the varint that ends before {@code source[end]}, with another varint before it: the
     * length of the record key or of its prefix.
     */
    public static int lengthBefore(byte[] source, int end) {
        int at = end - 1;
        int value = source[at];
        while (source[at - 1] < 0) {
            at--;
            value = value << 7 | (source[at] & 0x7F);
        }
        return value;
    }
}
