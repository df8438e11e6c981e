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

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.util.BitSet;
import java.util.UUID;
import org.apache.flink.runtime.state.KeyGroupRange;

/**
 * The header of a frame: the writer and sequence number of its batch, and the positions of its key
 * groups and blocks. Immutable; verified against its checksums before it exists.
 */
public final class FrameHeader {

    private final long offset;
    private final int length;
    private final FrameOrigin origin;
    private final int blockBytes;

    private final int[] keyGroups;
    private final int[] recordCounts;
    private final long[] plainStarts;

    private final byte[] blockCodecs;
    private final int[] blockChecksums;
    private final long[] blockOffsets;

    private FrameHeader(long offset, ByteBuffer header, ByteBuffer index) {
        this.offset = offset;
        this.length = SegmentFormat.FRAME_HEADER_BYTES + index.remaining();
        header.position(Integer.BYTES + Integer.BYTES);
        this.origin =
                new FrameOrigin(
                        new UUID(header.getLong(), header.getLong()),
                        header.getLong(),
                        header.getInt(),
                        header.getInt());
        long plainBytes = header.getLong();
        long storedBytes = header.getLong();
        this.blockBytes = header.getInt();
        int groups = header.getInt();
        check(blockBytes > 0 && blockBytes <= SegmentFormat.MAX_BLOCK_BYTES, "block bytes");
        check(groups > 0 && groups <= index.remaining(), "number of key groups");
        check(plainBytes >= 0, "plain bytes");

        this.keyGroups = new int[groups];
        this.recordCounts = new int[groups];
        this.plainStarts = new long[groups + 1];
        readKeyGroups(index);
        check(plainStarts[groups] == plainBytes, "plain bytes");

        long blocks = plainBytes / blockBytes + (plainBytes % blockBytes > 0 ? 1 : 0);
        check(blocks <= index.remaining(), "number of blocks");
        this.blockCodecs = new byte[(int) blocks];
        this.blockChecksums = new int[(int) blocks];
        this.blockOffsets = new long[(int) blocks + 1];
        readBlocks(index);
        check(blockOffsets[(int) blocks] == offset + length + storedBytes, "stored bytes");
        check(!index.hasRemaining(), "end");
    }

    /**
     * Parses a header.
     *
     * @param offset offset of the frame in its file
     * @param header {@link SegmentFormat#FRAME_HEADER_BYTES} bytes with verified checksum
     * @param index the bytes of the index with verified checksum
     * @throws IllegalArgumentException if values contradict each other
     */
    static FrameHeader parse(long offset, ByteBuffer header, ByteBuffer index) {
        try {
            return new FrameHeader(offset, header, index);
        } catch (BufferUnderflowException e) {
            throw new IllegalArgumentException("end", e);
        }
    }

    private void readKeyGroups(ByteBuffer index) {
        int previous = -2;
        for (int i = 0; i < keyGroups.length; i++) {
            keyGroups[i] = varint(index) - 1;
            recordCounts[i] = varint(index);
            long plain = varlong(index);
            plainStarts[i + 1] = plainStarts[i] + plain;
            check(keyGroups[i] > previous, "order of key groups");
            check(recordCounts[i] > 0 && plain >= recordCounts[i], "number of records");
            previous = keyGroups[i];
        }
    }

    private void readBlocks(ByteBuffer index) {
        blockOffsets[0] = offset + length;
        for (int i = 0; i < blockCodecs.length; i++) {
            blockCodecs[i] = index.get();
            int stored = varint(index);
            check(stored > 0 && stored <= blockPlainLength(i), "stored bytes of a block");
            blockOffsets[i + 1] = blockOffsets[i] + stored;
            blockChecksums[i] = index.getInt();
        }
    }

    private static int varint(ByteBuffer from) {
        long value = varlong(from);
        check(value >= 0 && value <= Integer.MAX_VALUE, "size of a number");
        return (int) value;
    }

    private static long varlong(ByteBuffer from) {
        long value = 0;
        for (int shift = 0; shift < Long.SIZE; shift += 7) {
            byte next = from.get();
            value |= (next & 0x7FL) << shift;
            if (next >= 0) {
                return value;
            }
        }
        throw new IllegalArgumentException("length of a number");
    }

    private static void check(boolean condition, String what) {
        if (!condition) {
            throw new IllegalArgumentException(what);
        }
    }

    /** Returns the changelog and the place in it. */
    public FrameOrigin origin() {
        return origin;
    }

    /** Returns the id of the writer incarnation. */
    public UUID logId() {
        return origin.logId();
    }

    /** Returns the sequence number of the batch. */
    public long sequence() {
        return origin.sequence();
    }

    /** Returns the first key group of the writer, inclusive. */
    public int fromKeyGroup() {
        return origin.fromKeyGroup();
    }

    /** Returns the last key group of the writer, exclusive. */
    public int toKeyGroup() {
        return origin.toKeyGroup();
    }

    /** Returns the offset of the frame in its file. */
    public long offset() {
        return offset;
    }

    /** Returns the length of the frame in bytes, blocks included. */
    public long length() {
        return blockOffsets[blockCodecs.length] - offset;
    }

    /** Returns the length of all records in bytes before compression. */
    public long plainLength() {
        return plainStarts[keyGroups.length];
    }

    /**
     * Returns the number of key groups with records; records without a key group count as one key
     * group.
     */
    public int keyGroupCount() {
        return keyGroups.length;
    }

    /**
     * Returns the key group at an index position, ascending; -1 for records without a key group.
     */
    public int keyGroup(int place) {
        return keyGroups[place];
    }

    /** Returns the number of records of the key group at an index position. */
    public int recordCount(int place) {
        return recordCounts[place];
    }

    /** Returns the plain position of the first record of the key group at an index position. */
    long plainStart(int place) {
        return plainStarts[place];
    }

    /** Returns the number of blocks. */
    public int blockCount() {
        return blockCodecs.length;
    }

    /** Returns the offset of a block in the file. */
    public long blockOffset(int block) {
        return blockOffsets[block];
    }

    /**
     * Returns the blocks that contain records of the wanted key groups or records without a key
     * group.
     */
    BitSet blocksOf(KeyGroupRange wanted) {
        BitSet blocks = new BitSet(blockCodecs.length);
        for (int place = 0; place < keyGroups.length; place++) {
            if (keyGroups[place] < 0 || wanted.contains(keyGroups[place])) {
                int first = (int) (plainStarts[place] / blockBytes);
                int last = (int) ((plainStarts[place + 1] - 1) / blockBytes);
                blocks.set(first, last + 1);
            }
        }
        return blocks;
    }

    /** Returns the length of a block in the file, in bytes. */
    public int blockLength(int block) {
        return (int) (blockOffsets[block + 1] - blockOffsets[block]);
    }

    /** Returns the length of a block before compression, in bytes. */
    public int blockPlainLength(int block) {
        return (int) Math.min(blockBytes, plainLength() - (long) block * blockBytes);
    }

    byte blockCodec(int block) {
        return blockCodecs[block];
    }

    int blockChecksum(int block) {
        return blockChecksums[block];
    }

    int blockBytes() {
        return blockBytes;
    }
}
