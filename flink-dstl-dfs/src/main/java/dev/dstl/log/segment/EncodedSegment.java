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
 * The bytes of a segment. Immutable and independent of the batches it was made from, so that
 * several attempts may write it, even at the same time.
 */
public final class EncodedSegment {

    private final ByteChunks bytes;
    private final long[] runs;
    private final long[] frameOffsets;

    /**
     * @param runs pairs of positions in {@code bytes}, {@code [from, to)}, in the order of the file
     * @param frameOffsets one per frame, and the end of the last frame
     */
    EncodedSegment(ByteChunks bytes, long[] runs, long[] frameOffsets) {
        this.bytes = bytes;
        this.runs = runs;
        this.frameOffsets = frameOffsets;
    }

    /** Bytes of the whole segment. */
    public long length() {
        return bytes.length();
    }

    /** What it takes in memory, in bytes: the segment, and room in its last pieces. */
    public long heldBytes() {
        return bytes.capacityBytes();
    }

    /** How many frames there are: one per batch, in the order of the batches. */
    public int frameCount() {
        return frameOffsets.length - 1;
    }

    /** Where the frame of a batch begins, which is what a handle's offset says. */
    public long frameOffset(int batch) {
        return frameOffsets[batch];
    }

    /** Bytes of the frame of a batch. */
    public long frameLength(int batch) {
        return frameOffsets[batch + 1] - frameOffsets[batch];
    }

    /**
     * Writes everything and leaves the stream open.
     *
     * @throws IOException what the stream throws; nothing is known then about what arrived
     */
    public void writeTo(OutputStream out) throws IOException {
        for (int run = 0; run < runs.length; run += 2) {
            bytes.writeTo(out, runs[run], runs[run + 1]);
        }
    }

    /**
     * Copies a piece of what {@link #writeTo} writes.
     *
     * @param at position in it, below the length
     * @return how many bytes were copied to the beginning of the target, at least 1
     */
    public int read(long at, byte[] target) {
        return read(at, target, 0, target.length);
    }

    /** As {@link #read(long, byte[])}, to {@code [offset, offset + count)} of the target. */
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
