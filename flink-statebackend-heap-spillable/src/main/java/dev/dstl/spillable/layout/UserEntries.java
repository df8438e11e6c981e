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

package dev.dstl.spillable.layout;

import static dev.dstl.spillable.layout.SpilledLayout.LARGEST_KEPT_BYTES;

import dev.dstl.spillable.overlay.EntryReader;
import dev.dstl.spillable.overlay.PartitionedMap;
import dev.dstl.spillable.partition.EntryFormat;
import dev.dstl.spillable.partition.KeyHash;
import java.util.Arrays;
import org.apache.flink.core.memory.DataOutputSerializer;

/** The user entries of one bucket of a map, as bytes on the heap, see {@link MapLayout}. */
final class UserEntries {

    private static final int LARGE_BYTES = 512;
    private static final int INITIAL_BYTES = 256;

    private byte[] bytes = new byte[INITIAL_BYTES];
    private int length;

    /** Where the bytes come from, 0 if they are new, and where in the value there. */
    private long address;

    private int origin;

    private int start;
    private int keyOffset;
    private int keyLength;
    private int valueLength;

    void clear() {
        shrinkTo(0);
        length = 0;
        address = 0;
        rewind();
    }

    /** Gives an array back that would take heap for ever, unless that much room is needed again. */
    private void shrinkTo(int needed) {
        if (bytes.length > LARGEST_KEPT_BYTES && needed <= LARGEST_KEPT_BYTES) {
            bytes = new byte[INITIAL_BYTES];
        }
    }

    /**
     * Takes over the value read last, from {@code from} on.
     *
     * @param itsAddress of the entry
     */
    void set(EntryReader entries, long itsAddress, int from) {
        length = 0;
        address = itsAddress;
        origin = from;
        int newLength = entries.valueLength() - from;
        shrinkTo(newLength);
        ensureRoom(newLength);
        entries.segment().get(entries.valueOffset() + from, bytes, 0, newLength);
        length = newLength;
        rewind();
    }

    byte[] bytes() {
        return bytes;
    }

    int length() {
        return length;
    }

    boolean isTooLarge() {
        return length > LARGE_BYTES;
    }

    void rewind() {
        start = 0;
        keyOffset = 0;
        keyLength = 0;
        valueLength = 0;
    }

    /** Goes to the next user entry; false at the end. */
    boolean next() {
        start = keyOffset + keyLength + valueLength;
        if (start >= length) {
            return false;
        }
        keyOffset = start;
        keyLength = readVarint();
        valueLength = readVarint();
        return true;
    }

    private int readVarint() {
        int value = 0;
        int shift = 0;
        byte next;
        do {
            next = bytes[keyOffset++];
            value |= (next & 0x7F) << shift;
            shift += 7;
        } while (next < 0);
        return value;
    }

    /** Goes to the user entry with the key; false if there is none. */
    boolean seek(DataOutputSerializer key) {
        rewind();
        byte[] wanted = key.getSharedBuffer();
        while (next()) {
            if (keyLength == key.length() && hasKey(wanted)) {
                return true;
            }
        }
        return false;
    }

    private boolean hasKey(byte[] wanted) {
        int i = 0;
        for (; i + Long.BYTES <= keyLength; i += Long.BYTES) {
            if (EntryFormat.longAt(bytes, keyOffset + i) != EntryFormat.longAt(wanted, i)) {
                return false;
            }
        }
        for (; i < keyLength; i++) {
            if (bytes[keyOffset + i] != wanted[i]) {
                return false;
            }
        }
        return true;
    }

    int keyOffset() {
        return keyOffset;
    }

    int keyLength() {
        return keyLength;
    }

    int valueOffset() {
        return keyOffset + keyLength;
    }

    int valueLength() {
        return valueLength;
    }

    int keyHash(KeyHash hash) {
        return hash.of(bytes, keyOffset, keyLength);
    }

    void append(DataOutputSerializer key, DataOutputSerializer value) {
        append(key.getSharedBuffer(), 0, key.length(), value.getSharedBuffer(), 0, value.length());
    }

    void appendCurrentOf(UserEntries other) {
        append(
                other.bytes,
                other.keyOffset,
                other.keyLength,
                other.bytes,
                other.valueOffset(),
                other.valueLength);
    }

    private void append(
            byte[] key, int keyFrom, int keyBytes, byte[] value, int valueFrom, int valueBytes) {
        ensureRoom((long) length + 10 + keyBytes + valueBytes);
        writeVarint(keyBytes);
        writeVarint(valueBytes);
        System.arraycopy(key, keyFrom, bytes, length, keyBytes);
        length += keyBytes;
        System.arraycopy(value, valueFrom, bytes, length, valueBytes);
        length += valueBytes;
    }

    private void writeVarint(int value) {
        int rest = value;
        while ((rest & ~0x7F) != 0) {
            bytes[length++] = (byte) (rest | 0x80);
            rest >>>= 7;
        }
        bytes[length++] = (byte) rest;
    }

    /**
     * Gives the current user entry another value where it lies.
     *
     * @param map where the bytes come from, with no change since
     * @return false if the bytes have to be put
     */
    boolean overwriteValue(PartitionedMap map, DataOutputSerializer value) {
        return address != 0
                && value.length() == valueLength
                && map.overwrite(
                        address, origin + valueOffset(), value.getSharedBuffer(), valueLength);
    }

    /** Gives the current user entry another value. */
    void replaceValue(DataOutputSerializer value) {
        if (value.length() == valueLength) {
            System.arraycopy(value.getSharedBuffer(), 0, bytes, valueOffset(), valueLength);
            return;
        }
        byte[] key = Arrays.copyOfRange(bytes, keyOffset, valueOffset());
        removeCurrent();
        append(key, 0, key.length, value.getSharedBuffer(), 0, value.length());
    }

    void removeCurrent() {
        int end = valueOffset() + valueLength;
        System.arraycopy(bytes, end, bytes, start, length - end);
        length -= end - start;
        rewind();
    }

    private void ensureRoom(long needed) {
        if (needed > bytes.length) {
            if (needed > Integer.MAX_VALUE - 64) {
                throw new IllegalStateException(
                        "A user entry of a map state serializes to over "
                                + (Integer.MAX_VALUE - 64)
                                + " bytes; entries it in smaller pieces.");
            }
            // Not over what is kept if that is enough, or each use would make a new array.
            int most = needed > LARGEST_KEPT_BYTES ? Integer.MAX_VALUE - 64 : LARGEST_KEPT_BYTES;
            bytes = Arrays.copyOf(bytes, (int) Math.min(most, needed * 2));
        }
    }
}
