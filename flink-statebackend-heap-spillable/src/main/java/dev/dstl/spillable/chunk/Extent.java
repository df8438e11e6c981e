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

package dev.dstl.spillable.chunk;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import org.apache.flink.core.memory.MemorySegment;

/** A run of bytes in a chunk file, written once. Its owner gives it back exactly once. */
public final class Extent {

    final ChunkFile chunk;
    final int offset;
    final int length;

    Extent(ChunkFile chunk, int offset, int length) {
        this.chunk = chunk;
        this.offset = offset;
        this.length = length;
    }

    /** Memory in which the extent starts at {@link #offset()}. Read-only. */
    public MemorySegment segment() {
        return chunk.segment();
    }

    /**
     * Reads {@code target.remaining()} bytes from {@code from} on with a call, past the mapping.
     *
     * @throws IOException also if the file has become shorter
     */
    public void read(ByteBuffer target, int from) throws IOException {
        chunk.read(target, offset + from);
    }

    /** The file, for messages. */
    public Path file() {
        return chunk.path();
    }

    /** What share of the written part of the extent's file is still occupied, over 0. */
    public double occupiedShare() {
        return (double) chunk.occupied / Math.max(1, chunk.freshOffset);
    }

    /** Whether the extent's file takes no more extents. */
    public boolean isFileComplete() {
        return !chunk.isWritable || chunk.freshOffset > chunk.length / 16 * 15;
    }

    /** Where the extent starts in its file and in {@link #segment()}, in bytes. */
    public int offset() {
        return offset;
    }

    /** Bytes occupied; at least as many as were written. */
    public int length() {
        return length;
    }
}
