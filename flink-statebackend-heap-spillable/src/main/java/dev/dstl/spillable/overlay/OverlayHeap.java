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

package dev.dstl.spillable.overlay;

import java.util.Arrays;
import org.apache.flink.core.memory.MemorySegment;

/**
 * The entries of an overlay that are longer than its cells, in blocks that are added one by one: no
 * entry moves because others come. Changed on the task thread only.
 *
 * <pre>
 *   place   31                 13 12                            0
 *           +--------------------+------------------------------+
 *           | number of the block| where in it, in eight bytes  |
 *           +--------------------+------------------------------+
 * </pre>
 */
final class OverlayHeap {

    private static final int POSITION_BITS = 13;
    private static final int POSITION_MASK = (1 << POSITION_BITS) - 1;
    static final int ALIGNMENT_SHIFT = 3;
    private static final int ALIGNMENT = 1 << ALIGNMENT_SHIFT;

    // Few lengths: blocks that overlays give back are what others need, and slabs stay whole.
    private static final int SMALLEST_BLOCK = 256;
    private static final int BLOCK_STEP = 4;
    private static final int LARGEST_BLOCK = 16 << 10;

    /** A new block is at most one in so many bytes of those that there are. */
    private static final int BLOCK_SHARE = 4;

    /** A longer entry has a block of its own. */
    private static final int LONGEST_SHARING = LARGEST_BLOCK / 4;

    /** Entries that grow get room for half as much again while they are short, later less. */
    private static final int SHORT_BYTES = 128;

    private static final int SHORT_GROWTH = 2;
    private static final int GROWTH = 4;
    private static final int LARGEST_GROWING = 1 << 29;

    private static final int MOST_BYTES = Integer.MAX_VALUE - (1 << 21);
    private static final int LIVE_PER_LEFT = 3;

    private final OverlayMemory memory;
    private MemoryBlock[] blocks = new MemoryBlock[0];
    private MemorySegment[] segments = new MemorySegment[0];
    private int[] offsets = new int[0];
    private int count;

    /** Number of the block that is being filled, if there is one, and how far it is. */
    private int current = -1;

    private int end;
    private int bytes;

    /** Bytes that entries have got so far, and that they have left again. */
    private int given;

    private int left;
    private int roomGiven;

    OverlayHeap(OverlayMemory memory) {
        this.memory = memory;
    }

    /** The same entries in the same places. */
    OverlayHeap copy() {
        OverlayHeap copy = new OverlayHeap(memory);
        for (int i = 0; i < count; i++) {
            MemoryBlock block = memory.allocate(blocks[i].bytes);
            copy.add(block);
            segments[i].copyTo(offsets[i], block.segment, block.offset, blocks[i].bytes);
        }
        copy.current = current;
        copy.end = end;
        copy.given = given;
        copy.left = left;
        return copy;
    }

    /** Room for an entry that has grown, and grows again: it does not move each time. */
    static int roomToGrow(int entryBytes) {
        if (entryBytes > LARGEST_GROWING) {
            return entryBytes;
        }
        return entryBytes + entryBytes / (entryBytes < SHORT_BYTES ? SHORT_GROWTH : GROWTH);
    }

    /** Where the entry at a place starts in {@link #segmentAt}. */
    int offsetAt(int place) {
        return offsets[place >>> POSITION_BITS] + ((place & POSITION_MASK) << ALIGNMENT_SHIFT);
    }

    MemorySegment segmentAt(int place) {
        return segments[place >>> POSITION_BITS];
    }

    /** Bytes of memory. */
    int bytes() {
        return bytes;
    }

    /** Whether an entry of that length needs another block. */
    boolean growsFor(int entryBytes) {
        return current < 0 || aligned(entryBytes) > blocks[current].bytes - end;
    }

    /** Whether much of the memory is what entries have left. */
    boolean isSparse() {
        return left > (given - left) / LIVE_PER_LEFT;
    }

    /**
     * Makes room for an entry.
     *
     * @return its place; {@link #roomGiven()} tells how long it may get there
     */
    int allocate(int wanted) {
        long room = aligned(wanted);
        if (room > LONGEST_SHARING) {
            addBlock(room);
            roomGiven = blocks[count - 1].bytes;
            given += roomGiven;
            return (count - 1) << POSITION_BITS;
        }
        if (growsFor(wanted)) {
            addBlock(blockBytes(room));
            current = count - 1;
            end = 0;
        }
        int place = (current << POSITION_BITS) | (end >>> ALIGNMENT_SHIFT);
        end += (int) room;
        roomGiven = (int) room;
        given += roomGiven;
        return place;
    }

    private int blockBytes(long room) {
        int length = SMALLEST_BLOCK;
        while (length < room
                || (length < LARGEST_BLOCK && length * BLOCK_STEP <= bytes / BLOCK_SHARE)) {
            length *= BLOCK_STEP;
        }
        return length;
    }

    private static long aligned(int length) {
        return (length + (ALIGNMENT - 1L)) & -ALIGNMENT;
    }

    /** The room behind the place allocated last. */
    int roomGiven() {
        return roomGiven;
    }

    /** An entry has left its place. */
    void leave(int room) {
        left += room;
    }

    private void addBlock(long wanted) {
        if (bytes + wanted > MOST_BYTES || count > Integer.MAX_VALUE >>> POSITION_BITS) {
            throw new IllegalStateException(
                    "Entries of one partition need more than 2 GiB; make state entries smaller,"
                            + " for example by the keys of a map state.");
        }
        add(memory.allocate((int) wanted));
    }

    private void add(MemoryBlock block) {
        if (count == blocks.length) {
            int length = Math.max(4, 2 * count);
            blocks = Arrays.copyOf(blocks, length);
            segments = Arrays.copyOf(segments, length);
            offsets = Arrays.copyOf(offsets, length);
        }
        blocks[count] = block;
        segments[count] = block.segment;
        offsets[count] = block.offset;
        count++;
        bytes += block.bytes;
    }

    void free() {
        for (int i = 0; i < count; i++) {
            memory.free(blocks[i]);
        }
    }
}
