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

import dev.dstl.log.batch.LogBatch;
import dev.dstl.log.batch.PagedBytes;
import dev.dstl.log.batch.RecordPreamble;

/**
 * Copies the records of a batch into blocks by key group, in write order within each key group. As
 * the sizes of the key groups are known, it reads the batch from start to end and appends to each
 * key group's part of the blocks; reading the records in the order of the key groups would cost a
 * cache miss each. Not thread-safe; reuses its memory for every batch.
 */
final class CountingSort {

    /**
     * A batch of the default {@code preemptive-persist-threshold}, 5 MiB, so that such batches
     * allocate no blocks but those that stay in segments.
     */
    static final int MAX_SPARE_BLOCKS = 20;

    private final int blockBytes;
    private final byte[][] spare = new byte[MAX_SPARE_BLOCKS][];
    private int spareCount;

    /** Block that the next record of a key group goes to, and where in it. */
    private int[] nextBlock = new int[0];

    private int[] nextOffset = new int[0];

    private long sortedBytes;

    CountingSort(int blockBytes) {
        this.blockBytes = blockBytes;
    }

    /**
     * Sorts a batch.
     *
     * @param sizes of its key groups
     * @return plain blocks, all full but the last; owned by the caller, which may {@link #reuse}
     *     them
     */
    byte[][] sort(LogBatch batch, KeyGroupSizes sizes) {
        sortedBytes = place(sizes);
        byte[][] blocks = allocate(sortedBytes);
        PagedBytes source = batch.records();
        long at = 0;
        for (int i = 0; i < batch.recordCount(); i++) {
            long preamble = RecordPreamble.at(source, at);
            int bytes = RecordPreamble.plainBytes(preamble);
            at += RecordPreamble.keyGroupBytes(preamble);
            int slot = RecordPreamble.keyGroup(preamble) + 1;
            int offset = nextOffset[slot];
            if (bytes < blockBytes - offset) {
                source.copyTo(at, blocks[nextBlock[slot]], offset, bytes);
                nextOffset[slot] = offset + bytes;
            } else {
                copyAcross(source, at, bytes, blocks, slot);
            }
            at += bytes;
        }
        return blocks;
    }

    /** Returns the total of the plain bytes in the blocks of the batch sorted last. */
    long sortedBytes() {
        return sortedBytes;
    }

    /** Returns the end of the last key group. */
    private long place(KeyGroupSizes sizes) {
        int slots = sizes.highestKeyGroup() + 2;
        if (nextBlock.length < slots) {
            nextBlock = new int[slots];
            nextOffset = new int[slots];
        }
        long position = 0;
        for (int slot = 0; slot < slots; slot++) {
            nextBlock[slot] = Math.toIntExact(position / blockBytes);
            nextOffset[slot] = (int) (position % blockBytes);
            position += sizes.plainBytes(slot - 1);
        }
        return position;
    }

    private byte[][] allocate(long bytes) {
        byte[][] blocks = new byte[Math.toIntExact((bytes + blockBytes - 1) / blockBytes)][];
        for (int i = 0; i < blocks.length; i++) {
            blocks[i] = spareCount > 0 ? takeSpare() : new byte[blockBytes];
        }
        return blocks;
    }

    private byte[] takeSpare() {
        byte[] block = spare[--spareCount];
        spare[spareCount] = null;
        return block;
    }

    /** Takes back a block that nothing else refers to, for the next batches. */
    void reuse(byte[] block) {
        if (spareCount < MAX_SPARE_BLOCKS) {
            spare[spareCount++] = block;
        }
    }

    /** Copies a record that fills a block. */
    private void copyAcross(
            PagedBytes source, long position, int length, byte[][] blocks, int slot) {
        int block = nextBlock[slot];
        int offset = nextOffset[slot];
        long from = position;
        int left = length;
        while (left > 0) {
            int part = Math.min(left, blockBytes - offset);
            source.copyTo(from, blocks[block], offset, part);
            from += part;
            left -= part;
            offset += part;
            if (offset == blockBytes) {
                block++;
                offset = 0;
            }
        }
        nextBlock[slot] = block;
        nextOffset[slot] = offset;
    }

    long keptBytes() {
        return (long) nextBlock.length * 2 * Integer.BYTES + (long) spareCount * blockBytes;
    }
}
