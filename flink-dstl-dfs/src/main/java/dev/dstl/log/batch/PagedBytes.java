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

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * Bytes stored in pages of equal size and read by position. Immutable and thread-safe as long as
 * the owner retains the pages.
 */
public final class PagedBytes {

    static final int PAGE_BITS = 16;
    private static final int OFFSET_MASK = (1 << PAGE_BITS) - 1;

    private static final VarHandle LONGS =
            MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    private static final long HASH_FACTOR = 0x9E37_79B9_7F4A_7C15L;
    private static final long FIRST_MIX_FACTOR = 0xFF51_AFD7_ED55_8CCDL;
    private static final long SECOND_MIX_FACTOR = 0xC4CE_B9FE_1A85_EC53L;

    private final byte[][] pages;
    private final long length;

    PagedBytes(byte[][] pages, long length) {
        this.pages = pages;
        this.length = length;
    }

    /** Returns the number of bytes. */
    public long length() {
        return length;
    }

    /**
     * Returns the page that contains a position below {@link #length()}. A single page may be
     * shorter than {@link PagePool#PAGE_BYTES}.
     */
    byte[] page(long position) {
        return pages[(int) (position >>> PAGE_BITS)];
    }

    /** Returns the index of a position within its page. */
    static int offset(long position) {
        return (int) position & OFFSET_MASK;
    }

    /** Returns the byte at a position below {@link #length()}. */
    public byte byteAt(long position) {
        return page(position)[offset(position)];
    }

    /** Copies {@code [position, position + count)} to {@code target[targetOffset]}. */
    public void copyTo(long position, byte[] target, int targetOffset, int count) {
        long from = position;
        int to = targetOffset;
        int left = count;
        while (left > 0) {
            int offset = (int) from & OFFSET_MASK;
            int chunk = Math.min(left, OFFSET_MASK + 1 - offset);
            System.arraycopy(pages[(int) (from >>> PAGE_BITS)], offset, target, to, chunk);
            from += chunk;
            to += chunk;
            left -= chunk;
        }
    }

    /** Returns whether {@code count} bytes at one position equal those at another. */
    public boolean equal(long left, long right, int count) {
        long at = left;
        long other = right;
        int rest = count;
        while (rest > 0) {
            int offset = (int) at & OFFSET_MASK;
            int otherOffset = (int) other & OFFSET_MASK;
            int chunk = Math.min(rest, OFFSET_MASK + 1 - Math.max(offset, otherOffset));
            if (!Arrays.equals(
                    pages[(int) (at >>> PAGE_BITS)],
                    offset,
                    offset + chunk,
                    pages[(int) (other >>> PAGE_BITS)],
                    otherOffset,
                    otherOffset + chunk)) {
                return false;
            }
            at += chunk;
            other += chunk;
            rest -= chunk;
        }
        return true;
    }

    /** Returns a hash of {@code count} bytes, which does not depend on page boundaries. */
    public int hash(long position, int count, int seed) {
        long hash = seed * HASH_FACTOR + count;
        long at = position;
        long end = position + count;
        for (; at + Long.BYTES <= end; at += Long.BYTES) {
            int offset = (int) at & OFFSET_MASK;
            long word =
                    offset <= OFFSET_MASK + 1 - Long.BYTES
                            ? (long) LONGS.get(pages[(int) (at >>> PAGE_BITS)], offset)
                            : straddlingWord(at, Long.BYTES);
            hash = (hash ^ word) * HASH_FACTOR;
            hash ^= hash >>> 32;
        }
        long tail = at < end ? word(at, (int) (end - at)) : 0;
        // A factor carries differences upwards only; shifts between factors bring them down again.
        hash = (hash ^ tail) * HASH_FACTOR;
        hash = (hash ^ (hash >>> 32)) * FIRST_MIX_FACTOR;
        hash = (hash ^ (hash >>> 29)) * SECOND_MIX_FACTOR;
        return (int) (hash >>> 32);
    }

    /** Returns fewer than eight bytes, the upper bytes of the word being 0. */
    private long word(long position, int count) {
        byte[] page = page(position);
        int offset = offset(position);
        if (offset <= page.length - Long.BYTES) {
            return (long) LONGS.get(page, offset) & ((1L << (Byte.SIZE * count)) - 1);
        }
        return straddlingWord(position, count);
    }

    private long straddlingWord(long position, int count) {
        long word = 0;
        for (int i = 0; i < count; i++) {
            word |= (byteAt(position + i) & 0xFFL) << (Byte.SIZE * i);
        }
        return word;
    }
}
