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

import java.io.IOException;
import java.io.OutputStream;
import java.util.Arrays;

/** A growing sequence of bytes that are never moved. Not thread-safe while it grows. */
final class ByteChunks {

    private static final int SMALLEST_CHUNK_BYTES = 1 << 12;

    private byte[][] chunks = new byte[8][];

    /** Position of the first byte of each chunk. */
    private long[] starts = new long[8];

    private int count;

    /** Used bytes and length of the last chunk. */
    private int used;

    private int capacity;
    private long length;
    private long capacityBytes;

    long length() {
        return length;
    }

    /** Returns the total length of all chunks in bytes, used or not. */
    long capacityBytes() {
        return capacityBytes;
    }

    /** Appends a copy of bytes. */
    void append(byte[] source, int offset, int bytes) {
        int from = offset;
        int left = bytes;
        while (left > 0) {
            if (used == capacity) {
                add(new byte[Math.max(SMALLEST_CHUNK_BYTES, left)]);
            }
            int part = Math.min(left, capacity - used);
            System.arraycopy(source, from, chunks[count - 1], used, part);
            from += part;
            left -= part;
            used += part;
            length += part;
        }
    }

    /** Appends an array without copying it. The caller must not use it any more. */
    void adopt(byte[] chunk, int bytes) {
        add(chunk);
        used = bytes;
        capacity = bytes;
        length += bytes;
    }

    private void add(byte[] chunk) {
        if (count == chunks.length) {
            chunks = Arrays.copyOf(chunks, 2 * count);
            starts = Arrays.copyOf(starts, 2 * count);
        }
        chunks[count] = chunk;
        starts[count] = length;
        count++;
        used = 0;
        capacity = chunk.length;
        capacityBytes += chunk.length;
    }

    /** Writes {@code [from, to)}. */
    void writeTo(OutputStream out, long from, long to) throws IOException {
        int found = Arrays.binarySearch(starts, 0, count, from);
        int chunk = found >= 0 ? found : -found - 2;
        long at = from;
        while (at < to) {
            long end = Math.min(to, chunk + 1 < count ? starts[chunk + 1] : length);
            out.write(chunks[chunk], (int) (at - starts[chunk]), (int) (end - at));
            at = end;
            chunk++;
        }
    }

    /** Copies {@code [from, from + bytes)}. */
    void copyTo(long from, byte[] target, int offset, int bytes) {
        int found = Arrays.binarySearch(starts, 0, count, from);
        int chunk = found >= 0 ? found : -found - 2;
        int copied = 0;
        while (copied < bytes) {
            long at = from + copied;
            long end = chunk + 1 < count ? starts[chunk + 1] : length;
            int part = (int) Math.min(bytes - copied, end - at);
            System.arraycopy(
                    chunks[chunk], (int) (at - starts[chunk]), target, offset + copied, part);
            copied += part;
            chunk++;
        }
    }
}
