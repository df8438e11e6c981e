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

/**
 * The bytes of a segment. Immutable and independent of the batches from which it was encoded, so
 * that several attempts may write it concurrently.
 */
public final class EncodedSegment {

    private final ByteChunks bytes;
    private final long[] runs;
    private final long[] frameOffsets;

    /**
     * Creates a segment.
     *
     * @param runs pairs of positions in {@code bytes}, {@code [from, to)}, in file order
     * @param frameOffsets offset of each frame, and the end of the last frame
     */
    EncodedSegment(ByteChunks bytes, long[] runs, long[] frameOffsets) {
        this.bytes = bytes;
        this.runs = runs;
        this.frameOffsets = frameOffsets;
    }

    /** Returns the length of the segment in bytes. */
    public long length() {
        return bytes.length();
    }

    /** Returns the memory that the segment takes, in bytes, unused space included. */
    public long heldBytes() {
        return bytes.capacityBytes();
    }

    /** Returns the number of frames: one per batch, in the order of the batches. */
    public int frameCount() {
        return frameOffsets.length - 1;
    }

    /** Returns the offset of the frame of a batch. */
    public long frameOffset(int batch) {
        return frameOffsets[batch];
    }

    /** Returns the length of the frame of a batch in bytes. */
    public long frameLength(int batch) {
        return frameOffsets[batch + 1] - frameOffsets[batch];
    }

    /**
     * Writes the segment and leaves the stream open.
     *
     * @throws IOException if the stream throws it; an unknown part of the segment is written then
     */
    public void writeTo(OutputStream out) throws IOException {
        for (int run = 0; run < runs.length; run += 2) {
            bytes.writeTo(out, runs[run], runs[run + 1]);
        }
    }

    /**
     * Copies bytes of the segment to the start of {@code target}.
     *
     * @param at position in the segment, less than its length
     * @return number of bytes copied, at least 1
     */
    public int read(long at, byte[] target) {
        return read(at, target, 0, target.length);
    }

    /**
     * Copies bytes as {@link #read(long, byte[])} does, to {@code [offset, offset + count)} of the
     * target.
     */
    int read(long at, byte[] target, int offset, int count) {
        long runStart = 0;
        int copied = 0;
        for (int run = 0; run < runs.length && copied < count; run += 2) {
            long runEnd = runStart + runs[run + 1] - runs[run];
            long from = at + copied;
            if (from < runEnd) {
                int part = (int) Math.min(count - copied, runEnd - from);
                bytes.copyTo(runs[run] + from - runStart, target, offset + copied, part);
                copied += part;
            }
            runStart = runEnd;
        }
        return copied;
    }
}
