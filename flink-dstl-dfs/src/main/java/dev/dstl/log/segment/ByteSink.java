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

package dev.dstl.log.segment;

import dev.dstl.log.api.RecordFormat;
import java.util.Arrays;

/** Buffer for the bytes of a header or an index. Reused; not thread-safe. */
final class ByteSink {

    private static final int MAX_BYTES_KEPT = 1 << 18;

    private byte[] bytes = new byte[256];
    private int length;

    byte[] bytes() {
        return bytes;
    }

    int length() {
        return length;
    }

    void clear() {
        length = 0;
    }

    int capacity() {
        return bytes.length;
    }

    /** Forgets the bytes and frees memory that exceptionally many bytes needed. */
    void trim() {
        length = 0;
        if (bytes.length > MAX_BYTES_KEPT) {
            bytes = new byte[256];
        }
    }

    void putByte(byte value) {
        reserve(Byte.BYTES);
        bytes[length++] = value;
    }

    void putInt(int value) {
        reserve(Integer.BYTES);
        for (int shift = 24; shift >= 0; shift -= 8) {
            bytes[length++] = (byte) (value >>> shift);
        }
    }

    void putLong(long value) {
        putInt((int) (value >>> 32));
        putInt((int) value);
    }

    void putVarint(int value) {
        reserve(5);
        length = RecordFormat.writeVarint(bytes, length, value);
    }

    void putVarlong(long value) {
        reserve(10);
        long rest = value;
        while ((rest & ~0x7FL) != 0) {
            bytes[length++] = (byte) (rest | 0x80);
            rest >>>= 7;
        }
        bytes[length++] = (byte) rest;
    }

    void put(ByteSink other) {
        reserve(other.length);
        System.arraycopy(other.bytes, 0, bytes, length, other.length);
        length += other.length;
    }

    private void reserve(int count) {
        if (bytes.length - length < count) {
            bytes = Arrays.copyOf(bytes, Math.max(2 * bytes.length, length + count));
        }
    }
}
