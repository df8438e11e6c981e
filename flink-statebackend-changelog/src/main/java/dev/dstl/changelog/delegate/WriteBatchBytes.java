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

package dev.dstl.changelog.delegate;

import dev.dstl.log.api.LogRecord;
import java.util.Arrays;

/**
 * Changes of a RocksDB database in the bytes of its write batches. The format is RocksDB's
 * (db/write_batch.cc, db/dbformat.h), the same in all versions that Flink has used; the keys are
 * those of Flink's RocksDB backend.
 *
 * <pre>
 *   0                8       12
 *   +----------------+-------+--------+--------+-----
 *   | sequence: zero | count | change | change | ...     both little-endian
 *   +----------------+-------+--------+--------+-----
 *
 *   change:  type (1) | column family | key length | key | value length | value
 *            4 delete   varint          varint             not if deleted
 *            5 put
 *            6 merge
 *   key:     key group, big-endian (1 or 2) | record key
 * </pre>
 *
 * Not thread-safe.
 */
final class WriteBatchBytes {

    private static final byte DELETE = 4;
    private static final byte PUT = 5;
    private static final byte MERGE = 6;

    private static final int COUNT_OFFSET = 8;
    private static final int HEADER_LENGTH = 12;
    private static final int LONGEST_VARINT = 5;
    private static final int LARGEST_ARRAY = Integer.MAX_VALUE - 8;

    private final int keyGroupBytes;
    private final int capacity;
    private byte[] bytes;
    private int length = HEADER_LENGTH;
    private int count;

    /**
     * Creates an empty batch.
     *
     * @param keyGroupBytes number of bytes of the key group in each key
     * @param capacity initial size of the buffer in bytes
     */
    WriteBatchBytes(int keyGroupBytes, int capacity) {
        this.keyGroupBytes = keyGroupBytes;
        this.capacity = capacity;
        this.bytes = new byte[capacity];
    }

    /** Adds a change that sets a value. */
    void put(int columnFamily, LogRecord record, byte[] value, int offset, int valueLength) {
        add(PUT, columnFamily, record, valueLength);
        addBytes(value, offset, valueLength);
    }

    /** Adds a change that appends to a value. */
    void merge(int columnFamily, LogRecord record, byte[] value, int offset, int valueLength) {
        add(MERGE, columnFamily, record, valueLength);
        addBytes(value, offset, valueLength);
    }

    /** Adds a change that removes a value. */
    void delete(int columnFamily, LogRecord record) {
        add(DELETE, columnFamily, record, 0);
    }

    /** Returns the size of the batch in bytes. */
    int length() {
        return length;
    }

    boolean isEmpty() {
        return count == 0;
    }

    /** Returns the batch and starts an empty one. */
    byte[] take() {
        for (int i = 0; i < Integer.BYTES; i++) {
            bytes[COUNT_OFFSET + i] = (byte) (count >>> (i * Byte.SIZE));
        }
        byte[] taken = Arrays.copyOf(bytes, length);
        if (bytes.length > 2 * capacity) {
            bytes = new byte[capacity];
        }
        length = HEADER_LENGTH;
        count = 0;
        return taken;
    }

    private void add(byte type, int columnFamily, LogRecord record, int valueLength) {
        int keyLength = keyGroupBytes + record.keyLength();
        ensureRoom(1L + 3 * LONGEST_VARINT + keyLength + valueLength);
        bytes[length++] = type;
        addVarint(columnFamily);
        addVarint(keyLength);
        for (int i = keyGroupBytes - 1; i >= 0; i--) {
            bytes[length++] = (byte) (record.keyGroup() >>> (i * Byte.SIZE));
        }
        addBytes(record.buffer(), record.keyOffset(), record.keyLength());
        if (type != DELETE) {
            addVarint(valueLength);
        }
        count++;
    }

    private void addVarint(int value) {
        int left = value;
        while ((left & ~0x7F) != 0) {
            bytes[length++] = (byte) (left | 0x80);
            left >>>= 7;
        }
        bytes[length++] = (byte) left;
    }

    private void addBytes(byte[] source, int offset, int sourceLength) {
        System.arraycopy(source, offset, bytes, length, sourceLength);
        length += sourceLength;
    }

    private void ensureRoom(long more) {
        long needed = length + more;
        if (needed > bytes.length) {
            long spare = Math.min(needed / 2, LARGEST_ARRAY - needed);
            bytes = Arrays.copyOf(bytes, Math.toIntExact(needed + Math.max(0, spare)));
        }
    }
}
