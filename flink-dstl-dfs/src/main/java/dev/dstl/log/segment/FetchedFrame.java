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
import java.util.BitSet;
import java.util.function.LongPredicate;
import javax.annotation.Nullable;
import org.apache.flink.runtime.state.KeyGroupRange;

/**
 * A frame whose blocks of the requested key groups are in memory, verified and still compressed.
 * Created by one thread, read by another.
 */
public final class FetchedFrame implements BlockSource {

    private final SegmentReader segment;
    private final FrameHeader header;
    private final byte[][] blocks;
    private final long bytes;

    private FetchedFrame(SegmentReader segment, FrameHeader header, byte[][] blocks, long bytes) {
        this.segment = segment;
        this.header = header;
        this.blocks = blocks;
        this.bytes = bytes;
    }

    /**
     * Reads the header of a frame and, if there is room, the blocks of the requested key groups.
     *
     * @param segment may be closed as soon as this returns
     * @param room asked once for room for the given number of bytes
     * @return null if there is no room
     * @throws CorruptSegmentException if there is no frame at the offset, or the frame is damaged
     */
    @Nullable
    public static FetchedFrame fetch(
            SegmentReader segment, long offset, KeyGroupRange keyGroups, LongPredicate room)
            throws IOException {
        FrameHeader header = segment.frameAt(offset);
        BitSet wanted = header.blocksOf(keyGroups);
        long bytes = wanted.stream().mapToLong(header::blockLength).sum();
        if (!room.test(bytes)) {
            return null;
        }
        byte[][] blocks = new byte[header.blockCount()][];
        for (int i = wanted.nextSetBit(0); i >= 0; i = wanted.nextSetBit(i + 1)) {
            blocks[i] = new byte[header.blockLength(i)];
            segment.readBlock(header, i, blocks[i]);
        }
        return new FetchedFrame(segment, header, blocks, bytes);
    }

    FrameHeader header() {
        return header;
    }

    /** Returns the size of the blocks in memory, in bytes. */
    public long bytes() {
        return bytes;
    }

    @Override
    public void readBlock(FrameHeader frame, int block, byte[] target) {
        System.arraycopy(blocks[block], 0, target, 0, blocks[block].length);
    }

    @Override
    public CorruptSegmentException damaged(long offset, String expected, String found) {
        return segment.damaged(offset, expected, found);
    }

    @Override
    public CorruptSegmentException unknownCode(long offset, String expected, String found) {
        return segment.unknownCode(offset, expected, found);
    }
}
