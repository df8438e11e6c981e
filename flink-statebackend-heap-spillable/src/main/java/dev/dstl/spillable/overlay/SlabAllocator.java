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

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import org.apache.flink.core.memory.MemorySegment;

/**
 * Blocks of powers of two out of slabs, by the buddy method: a free block joins its neighbour of
 * the same size if that is free too, so a slab of which nothing is used becomes one block and goes
 * back to the operating system. Used by any thread.
 *
 * <pre>
 *   slab   | 512 free | 512 used |        1024 used        |           2048 free ...
 *   state  |    2     |    -2    |           -3            |             4              order + 1
 * </pre>
 */
final class SlabAllocator {

    static final int UNIT_BYTES = 256;
    private static final int UNIT_SHIFT = 8;
    private static final int FIRST_LOOK = 1 << 16;

    private static final class Slab {
        final MemorySegment segment;

        /** Of the block that starts at a unit: order + 1, negative if in use; 0 if none does. */
        final byte[] states;

        Slab(MemorySegment segment, byte[] states) {
            this.segment = segment;
            this.states = states;
        }
    }

    /** Places of free blocks; some may have been taken or joined since, which states tell. */
    private static final class FreeList {
        private long[] places = new long[16];
        private int count;

        /** When to look for places that have gone: seldom if there are many that have not. */
        private int nextLook = FIRST_LOOK;

        void push(long place) {
            if (count == places.length) {
                places = Arrays.copyOf(places, count << 1);
            }
            places[count++] = place;
        }
    }

    private final OffHeapBudget budget;
    private final int slabBytes;
    private final int topOrder;
    private final List<Slab> slabs = new ArrayList<>();
    private final FreeList[] free;

    /** Free places in slabs that are to become empty. */
    private final FreeList[] setAside;

    /** Slabs from this number on are to become empty. */
    private volatile int filledFirst = Integer.MAX_VALUE;

    private int slabCount;

    /** Memory of the blocks in use that are larger than a slab. */
    private final Set<MemorySegment> large = Collections.newSetFromMap(new IdentityHashMap<>());

    private boolean closed;

    /**
     * @param budget counts the slabs
     * @param slabBytes a power of two
     */
    SlabAllocator(OffHeapBudget budget, int slabBytes) {
        this.budget = budget;
        this.slabBytes = slabBytes;
        this.topOrder = Integer.numberOfTrailingZeros(slabBytes >>> UNIT_SHIFT);
        this.free = new FreeList[topOrder + 1];
        this.setAside = new FreeList[topOrder + 1];
        for (int i = 0; i < free.length; i++) {
            free[i] = new FreeList();
            setAside[i] = new FreeList();
        }
    }

    /** Takes blocks from the slabs with numbers below {@code count} as long as they have room. */
    synchronized void fillFirst(int count) {
        fillAll();
        filledFirst = count;
    }

    /** Whether {@link #fillFirst} was called, and those slabs have had room since. */
    boolean fillsSomeFirst() {
        return filledFirst < Integer.MAX_VALUE;
    }

    private void fillAll() {
        filledFirst = Integer.MAX_VALUE;
        for (int order = 0; order <= topOrder; order++) {
            FreeList list = setAside[order];
            for (int i = 0; i < list.count; i++) {
                push(list.places[i], order);
            }
            setAside[order] = new FreeList();
        }
    }

    int slabBytes() {
        return slabBytes;
    }

    /** Length of the block that {@link #allocate} gives for so many bytes. */
    private int blockBytes(int bytes) {
        if (bytes > slabBytes) {
            return (int) Math.min(Integer.MAX_VALUE - 64, (bytes + 4095L) & -4096L);
        }
        return Math.max(UNIT_BYTES, Integer.highestOneBit(Math.max(1, bytes - 1)) << 1);
    }

    /** A block of {@link #blockBytes}. */
    synchronized MemoryBlock allocate(int bytes) {
        int length = blockBytes(bytes);
        if (length > slabBytes) {
            MemoryBlock block = new MemoryBlock(budget.allocate(length), 0, length, -1);
            large.add(block.segment);
            return block;
        }
        int wanted = Integer.numberOfTrailingZeros(length >>> UNIT_SHIFT);
        long place = take(wanted);
        int number = (int) (place >>> 32);
        int unit = (int) place;
        Slab slab = slabs.get(number);
        slab.states[unit] = (byte) -(wanted + 1);
        return new MemoryBlock(slab.segment, unit << UNIT_SHIFT, length, number);
    }

    /** Takes a free block, splitting a larger one if need be. */
    private long take(int wanted) {
        long place = takeFree(wanted);
        if (place < 0 && fillsSomeFirst() && !lacksOneFilledFirst()) {
            fillAll();
            place = takeFree(wanted);
        }
        if (place < 0) {
            place = (long) addSlab() << 32;
            split(place, topOrder, wanted);
        }
        return place;
    }

    private boolean lacksOneFilledFirst() {
        int number = slabs.indexOf(null);
        return number >= 0 && number < filledFirst;
    }

    private long takeFree(int wanted) {
        for (int order = wanted; order <= topOrder; order++) {
            FreeList list = free[order];
            while (list.count > 0) {
                long place = list.places[--list.count];
                if (isFree(place, order)) {
                    if (place >>> 32 < filledFirst) {
                        split(place, order, wanted);
                        return place;
                    }
                    setAside[order].push(place);
                }
            }
        }
        return -1;
    }

    private boolean isFree(long place, int order) {
        Slab slab = slabs.get((int) (place >>> 32));
        return slab != null && slab.states[(int) place] == order + 1;
    }

    private void split(long place, int order, int wanted) {
        Slab slab = slabs.get((int) (place >>> 32));
        for (int i = order - 1; i >= wanted; i--) {
            long upper = place + (1L << i);
            slab.states[(int) upper] = (byte) (i + 1);
            free[i].push(upper);
        }
    }

    private int addSlab() {
        // What may fail comes first: nobody would free the memory.
        byte[] states = new byte[slabBytes >>> UNIT_SHIFT];
        int number = slabs.indexOf(null);
        if (number < 0) {
            number = slabs.size();
            slabs.add(null);
        }
        slabs.set(number, new Slab(budget.allocate(slabBytes), states));
        slabCount++;
        return number;
    }

    synchronized void free(MemoryBlock block) {
        if (closed) {
            return;
        }
        if (block.slab < 0) {
            large.remove(block.segment);
            budget.free(block.segment);
            return;
        }
        Slab slab = slabs.get(block.slab);
        int unit = block.offset >>> UNIT_SHIFT;
        int order = -slab.states[unit] - 1;
        while (order < topOrder && slab.states[unit ^ (1 << order)] == order + 1) {
            slab.states[unit] = 0;
            slab.states[unit ^ (1 << order)] = 0;
            unit &= ~(1 << order);
            order++;
        }
        slab.states[unit] = (byte) (order + 1);
        if (order == topOrder && slabCount > 1) {
            drop(block.slab, slab);
            return;
        }
        push(((long) block.slab << 32) | unit, order);
    }

    private void push(long place, int order) {
        FreeList list = free[order];
        if (list.count > list.nextLook) {
            int kept = 0;
            long[] places = Arrays.stream(list.places, 0, list.count).distinct().toArray();
            for (long one : places) {
                if (one != place && isFree(one, order)) {
                    list.places[kept++] = one;
                }
            }
            list.count = kept;
            list.nextLook = Math.max(FIRST_LOOK, 2 * kept);
        }
        list.push(place);
    }

    private void drop(int number, Slab slab) {
        slabs.set(number, null);
        slabCount--;
        budget.free(slab.segment);
    }

    /** Gives back all memory, that of blocks in use too: what fails may have left some. */
    synchronized void close() {
        closed = true;
        for (int i = 0; i < slabs.size(); i++) {
            Slab slab = slabs.get(i);
            if (slab != null) {
                drop(i, slab);
            }
        }
        large.forEach(budget::free);
        large.clear();
    }
}
