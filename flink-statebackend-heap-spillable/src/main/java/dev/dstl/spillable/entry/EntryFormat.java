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

package dev.dstl.spillable.entry;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import org.apache.flink.core.memory.MemorySegment;

/**
 * Layout of an entry in a block, and of an index slot.
 *
 * <pre>
 *  entry, aligned to 8 bytes
 *   +--------+---------------------------+--------------+-----------+-------------+---------+
 *   | hash 4 | varint keyLength &lt;&lt; 1 | P | varint value | key bytes | value bytes | padding |
 *   |        |                           |    length    |           |             |  to 8   |
 *   +--------+---------------------------+--------------+-----------+-------------+---------+
 *   P = 1: a part of another entry (bucket of a map, fragment of a list), not an entry of its own
 *   key bytes: namespace, then key, as Flink's heap format orders them (then a part's number)
 *
 *  slot, 8 bytes, 0 = empty
 *   63           40 39                                    0
 *   +--------------+---------------------------------------+
 *   | top 24 bits  | address: block number &lt;&lt; 15          |
 *   | of the hash  |          | offset in block / 8         |
 *   +--------------+---------------------------------------+
 * </pre>
 *
 * Block numbers start at 1, so no address is 0. Integers are in the machine's own byte order:
 * blocks never leave the machine.
 */
final class EntryFormat {

    /** Most bytes of a block that holds more than one entry. */
    static final int BLOCK_BYTES = 256 * 1024;

    static final int ALIGNMENT = 8;
    static final int HASH_BYTES = 4;

    private static final int OFFSET_BITS = 15;
    private static final long OFFSET_MASK = (1L << OFFSET_BITS) - 1;
    private static final int ADDRESS_BITS = 40;
    private static final long ADDRESS_MASK = (1L << ADDRESS_BITS) - 1;

    /** Most blocks of one state in one key group; 8 TiB of them. */
    static final int MAX_BLOCK_NUMBER = (1 << (ADDRESS_BITS - OFFSET_BITS)) - 1;

    private static final int MOST_BYTES_IN_WORDS = 64;

    private static final VarHandle LONGS =
            MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    private EntryFormat() {}

    static long address(int blockNumber, int offset) {
        return ((long) blockNumber << OFFSET_BITS) | (offset >>> 3);
    }

    static int blockNumber(long address) {
        return (int) (address >>> OFFSET_BITS);
    }

    static int offset(long address) {
        return (int) (address & OFFSET_MASK) << 3;
    }

    static long slot(int hash, long address) {
        return ((long) (hash >>> 8) << ADDRESS_BITS) | address;
    }

    static int slotHash(long slot) {
        return (int) (slot >>> ADDRESS_BITS);
    }

    static long slotAddress(long slot) {
        return slot & ADDRESS_MASK;
    }

    static int varintBytes(int value) {
        int bytes = 1;
        for (int rest = value >>> 7; rest != 0; rest >>>= 7) {
            bytes++;
        }
        return bytes;
    }

    /** Writes a varint and returns the offset behind it. */
    static int putVarint(MemorySegment segment, int offset, int value) {
        int position = offset;
        int rest = value;
        while ((rest & ~0x7F) != 0) {
            segment.put(position++, (byte) (rest | 0x80));
            rest >>>= 7;
        }
        segment.put(position++, (byte) rest);
        return position;
    }

    /** Length of an entry with its padding; may exceed an int. */
    static long entryBytes(int keyLength, int valueLength) {
        long bytes =
                (long) HASH_BYTES
                        + varintBytes(keyLength << 1)
                        + varintBytes(valueLength)
                        + keyLength
                        + valueLength;
        return (bytes + ALIGNMENT - 1) & -ALIGNMENT;
    }

    static long longAt(byte[] bytes, int offset) {
        return (long) LONGS.get(bytes, offset);
    }

    /**
     * Copies bytes of an entry into an array. Short ones go word by word: the vector stores of a
     * bulk copy cannot be read back before they reach the cache, and whoever copies a value reads
     * it at once.
     */
    static void copyOut(MemorySegment from, int offset, byte[] to, int length) {
        if (length > MOST_BYTES_IN_WORDS) {
            from.get(offset, to, 0, length);
            return;
        }
        int i = 0;
        for (; i + Long.BYTES <= length; i += Long.BYTES) {
            LONGS.set(to, i, from.getLongLittleEndian(offset + i));
        }
        for (; i < length; i++) {
            to[i] = from.get(offset + i);
        }
    }

    /** Copies the start of an array into an entry, as {@link #copyOut} does the other way. */
    static void copyIn(byte[] from, MemorySegment to, int offset, int length) {
        if (length > MOST_BYTES_IN_WORDS) {
            to.put(offset, from, 0, length);
            return;
        }
        int i = 0;
        for (; i + Long.BYTES <= length; i += Long.BYTES) {
            to.putLongLittleEndian(offset + i, longAt(from, i));
        }
        for (; i < length; i++) {
            to.put(offset + i, from[i]);
        }
    }

    /** Hash of {@code [0, length)}: the same for equal bytes, well spread in all 32 bits. */
    static int hash(byte[] bytes, int length) {
        long hash = length * 0x9E3779B97F4A7C15L;
        int i = 0;
        for (; i + Long.BYTES <= length; i += Long.BYTES) {
            hash = (hash ^ longAt(bytes, i)) * 0xBF58476D1CE4E5B9L;
            hash ^= hash >>> 32;
        }
        long rest = 0;
        for (; i < length; i++) {
            rest = (rest << 8) | (bytes[i] & 0xFF);
        }
        hash = (hash ^ rest) * 0x94D049BB133111EBL;
        return (int) (hash ^ (hash >>> 29) ^ (hash >>> 43));
    }
}
