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
import java.util.ArrayList;
import java.util.List;

/** Bytes that grow at the end without ever being moved. Not thread safe while they grow. */
final class ByteChunks {

    private static final int CHUNK_BYTES = 1 << 16;

    private final List<byte[]> chunks = new ArrayList<>();
    private long length;

    long length() {
        return length;
    }

    void append(byte[] source, int offset, int count) {
        int from = offset;
        int left = count;
        while (left > 0) {
            int used = (int) (length % CHUNK_BYTES);
            if (used == 0) {
                chunks.add(new byte[CHUNK_BYTES]);
            }
            int part = Math.min(left, CHUNK_BYTES - used);
            System.arraycopy(source, from, chunks.get(chunks.size() - 1), used, part);
            from += part;
            left -= part;
            length += part;
        }
    }

    /** Writes {@code [from, to)}. */
    void writeTo(OutputStream out, long from, long to) throws IOException {
        long at = from;
        while (at < to) {
            int offset = (int) (at % CHUNK_BYTES);
            int part = (int) Math.min(to - at, CHUNK_BYTES - offset);
            out.write(chunks.get((int) (at / CHUNK_BYTES)), offset, part);
            at += part;
        }
    }
}
