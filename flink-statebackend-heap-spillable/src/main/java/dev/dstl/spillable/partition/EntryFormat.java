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

package dev.dstl.spillable.partition;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import org.apache.flink.core.memory.MemorySegment;

/**
 * Layout of an entry, in memory as in files.
 *
 * <pre>
 *   +---------------------------------+---------------------+-----------+-------------+
 *   | varint (keyLength &lt;&lt; 1 | P) + 4 | varint valueLength  | key bytes | value bytes |
 *   +---------------------------------+---------------------+-----------+-------------+
 *   P = 1: a part of another entry (bucket of a map, fragment of a list), not an entry of its own
 *   key bytes: namespace, then key, as Flink's heap format orders them (then a part's number)
 * </pre>
 *
 * The first byte is never 0 to 3, which mean something else where an entry could start.
 */
public final class EntryFormat {

    private static final int FIRST_KEY_WORD = 4;
    private static final int MOST_BYTES_IN_WORDS = 64;

    /** A partition of 2 GiB has checksums of 2 MiB beside its entries. */
    private static final int MOST_ENTRY_BYTES = Integer.MAX_VALUE - (4 << 20);

    private static final VarHandle LONGS =
            MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    private EntryFormat() {}

    /** What an entry starts with, as a number. */
    public static int keyWord(int keyLength, boolean part) {
        return ((keyLength << 1) | (part ? 1 : 0)) + FIRST_KEY_WORD;
    }

    /** Length of the key that a key word stands for. */
    public static int keyLength(int keyWord) {
        return (keyWord - FIRST_KEY_WORD) >>> 1;
    }

    /** Whether a key word stands for a part of another entry. */
    public static boolean isPart(int keyWord) {
        return (keyWord & 1) != 0;
    }

    /** Number of bytes of a varint. */
    public static int varintBytes(int value) {
        int bytes = 1;
        for (int rest = value >>> 7; rest != 0; rest >>>= 7) {
            bytes++;
        }
        return bytes;
    }

    private static int putVarint(MemorySegment segment, int offset, int value) {
        int position = offset;
        int rest = value;
        while ((rest & ~0x7F) != 0) {
            segment.put(position++, (byte) (rest | 0x80));
            rest >>>= 7;
        }
        segment.put(position++, (byte) rest);
        return position;
    }

    /** Reads a varint; {@link #varintBytes} of it tells where it ends. */
    public static int varintAt(MemorySegment segment, int offset) {
        int position = offset;
        int value = 0;
        int shift = 0;
        byte next;
        do {
            next = segment.get(position++);
            value |= (next & 0x7F) << shift;
            shift += 7;
        } while (next < 0 && shift < 35);
        return value;
    }

    /**
     * Length of an entry.
     *
     * @throws IllegalStateException if there are no entries of that length
     */
    public static int entryBytes(int keyLength, int valueLength) {
        long bytes =
                (long) varintBytes(keyWord(keyLength, false))
                        + varintBytes(valueLength)
                        + keyLength
                        + valueLength;
        if (bytes > MOST_ENTRY_BYTES) {
            throw new IllegalStateException(
                    String.format(
                            "A state entry serializes to %d bytes, an entry can have at most %d."
                                    + " Split it, for example over the keys of a map state.",
                            bytes, MOST_ENTRY_BYTES));
        }
        return (int) bytes;
    }

    /** Length of the entry that starts at {@code offset}. */
    public static int entryBytesAt(MemorySegment segment, int offset) {
        int word = varintAt(segment, offset);
        int wordBytes = varintBytes(word);
        int valueLength = varintAt(segment, offset + wordBytes);
        return wordBytes + varintBytes(valueLength) + keyLength(word) + valueLength;
    }

    /** Length of the key of the entry that starts at {@code offset}. */
    public static int keyLengthAt(MemorySegment segment, int offset) {
        return keyLength(varintAt(segment, offset));
    }

    /** Copies the key of an entry into {@code buffer}, or into a larger one if need be. */
    public static byte[] copyKey(MemorySegment segment, int offset, byte[] buffer) {
        int word = varintAt(segment, offset);
        int position = offset + varintBytes(word);
        while (segment.get(position++) < 0) {
            // The length of the value does not matter.
        }
        int length = keyLength(word);
        byte[] key = buffer.length < length ? new byte[Math.max(length, 64)] : buffer;
        copyOut(segment, position, key, length);
        return key;
    }

    /** Writes an entry and returns the offset behind it. */
    public static int put(
            MemorySegment segment,
            int offset,
            byte[] key,
            int keyLength,
            boolean part,
            byte[] value,
            int valueLength) {
        int position = putVarint(segment, offset, keyWord(keyLength, part));
        position = putVarint(segment, position, valueLength);
        copyIn(key, segment, position, keyLength);
        copyIn(value, segment, position + keyLength, valueLength);
        return position + keyLength + valueLength;
    }

    /**
     * Gives an entry another length of its value, a varint of as many bytes as the old one.
     *
     * @param keyOffset where the key starts
     */
    public static void putValueLength(MemorySegment segment, int keyOffset, int valueLength) {
        putVarint(segment, keyOffset - varintBytes(valueLength), valueLength);
    }

    /** Whether the entry at {@code offset} has this key. */
    public static boolean hasKey(
            MemorySegment segment, int offset, int keyWord, byte[] key, int keyLength) {
        int position = offset;
        int first = segment.get(position++);
        if (first >= 0) {
            if (first != keyWord) {
                return false;
            }
        } else {
            if (varintAt(segment, offset) != keyWord) {
                return false;
            }
            position = offset + varintBytes(keyWord);
        }
        while (segment.get(position++) < 0) {
            // The length of the value does not matter.
        }
        int i = 0;
        for (; i + Long.BYTES <= keyLength; i += Long.BYTES) {
            if (segment.getLongLittleEndian(position + i) != longAt(key, i)) {
                return false;
            }
        }
        for (; i < keyLength; i++) {
            if (segment.get(position + i) != key[i]) {
                return false;
            }
        }
        return true;
    }

    /** Eight bytes of an array. */
    public static long longAt(byte[] bytes, int offset) {
        return (long) LONGS.get(bytes, offset);
    }

    /**
     * Copies bytes of an entry into an array. Short ones go word by word: the vector stores of a
     * bulk copy cannot be read back before they reach the cache, and whoever copies a value reads
     * it at once.
     */
    public static void copyOut(MemorySegment from, int offset, byte[] to, int length) {
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
    public static void copyIn(byte[] from, MemorySegment to, int offset, int length) {
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
}
