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

/**
 * What precedes a record in a batch, see {@link PagedRecord}, as one number, so that a caller can
 * step over records without writing to memory.
 *
 * <pre>
 *   63    53 52             22 21              19 18                16 15            0
 *   +-------+-----------------+------------------+--------------------+---------------+
 *   |   0   | length of the   | bytes of the     | bytes of the key   | key group + 1 |
 *   |       | record          | length's varint  | group's varint     |               |
 *   +-------+-----------------+------------------+--------------------+---------------+
 * </pre>
 */
public final class RecordPreamble {

    private static final int MOST_BYTES = 10;
    private static final int KEY_GROUP_BYTES_SHIFT = 16;
    private static final int LENGTH_BYTES_SHIFT = 19;
    private static final int LENGTH_SHIFT = 22;
    private static final int KEY_GROUP_MASK = (1 << KEY_GROUP_BYTES_SHIFT) - 1;
    private static final int BYTES_MASK = 7;

    private RecordPreamble() {}

    /** Reads the preamble that begins at a position. */
    public static long at(PagedBytes source, long position) {
        byte[] page = source.page(position);
        int offset = PagedBytes.offset(position);
        if (offset > page.length - MOST_BYTES) {
            byte[] copy = new byte[MOST_BYTES];
            int there = (int) Math.min(MOST_BYTES, source.length() - position);
            source.copyTo(position, copy, 0, there);
            return read(copy, 0);
        }
        return read(page, offset);
    }

    /**
     * Counts bytes instead of computing them from the numbers: the processor predicts the branches
     * and reads ahead, but would wait for a computation.
     */
    private static long read(byte[] bytes, int offset) {
        int at = offset;
        int keyGroup = bytes[at++];
        if (keyGroup < 0) {
            keyGroup &= 0x7F;
            byte next;
            int shift = 7;
            do {
                next = bytes[at++];
                keyGroup |= (next & 0x7F) << shift;
                shift += 7;
            } while (next < 0);
        }
        int lengthAt = at;
        int length = bytes[at++];
        if (length < 0) {
            length &= 0x7F;
            byte next;
            int shift = 7;
            do {
                next = bytes[at++];
                length |= (next & 0x7F) << shift;
                shift += 7;
            } while (next < 0);
        }
        return ((long) length << LENGTH_SHIFT)
                | ((at - lengthAt) << LENGTH_BYTES_SHIFT)
                | ((lengthAt - offset) << KEY_GROUP_BYTES_SHIFT)
                | keyGroup;
    }

    /** Returns the key group, -1 for a record without a key group. */
    public static int keyGroup(long preamble) {
        return ((int) preamble & KEY_GROUP_MASK) - 1;
    }

    /** Returns the length of the record in bytes, without its preamble. */
    public static int length(long preamble) {
        return (int) (preamble >>> LENGTH_SHIFT);
    }

    /** Returns the number of bytes from the start of the preamble to the length of the record. */
    public static int keyGroupBytes(long preamble) {
        return (int) preamble >>> KEY_GROUP_BYTES_SHIFT & BYTES_MASK;
    }

    /** Returns the length of the record's length and of the record together, in bytes. */
    public static int plainBytes(long preamble) {
        return ((int) preamble >>> LENGTH_BYTES_SHIFT & BYTES_MASK) + length(preamble);
    }
}
