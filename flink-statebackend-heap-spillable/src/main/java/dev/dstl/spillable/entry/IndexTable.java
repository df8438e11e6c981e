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

package dev.dstl.spillable.entry;

import java.util.concurrent.atomic.AtomicInteger;
import org.apache.flink.core.memory.MemorySegment;

/**
 * A hash table of slots with linear probing, at most {@value #MAX_SLOTS} of them, off-heap.
 *
 * <p>Held by the live map and by every view that was opened while it was current. While somebody
 * else holds it, the live map copies it before it changes a slot. The last holder frees the memory.
 */
final class IndexTable {

    static final int MIN_SLOTS = 64;
    static final int MAX_SLOTS = 8192;

    private final OffHeapMemory memory;
    private final MemorySegment slots;
    private final int mask;

    /** Number of top bits of the hash that all entries share. */
    final int depth;

    private final AtomicInteger holders = new AtomicInteger(1);
    private int entries;

    IndexTable(OffHeapMemory memory, int slotCount, int depth) {
        this.memory = memory;
        this.slots = memory.allocateIndex(slotCount * Long.BYTES);
        this.mask = slotCount - 1;
        this.depth = depth;
        for (int i = 0; i < slotCount; i++) {
            slots.putLong(i << 3, 0);
        }
    }

    private IndexTable(IndexTable original) {
        this.memory = original.memory;
        this.slots = memory.allocateIndex(original.slots.size());
        this.mask = original.mask;
        this.depth = original.depth;
        this.entries = original.entries;
        original.slots.copyTo(0, slots, 0, slots.size());
    }

    IndexTable copy() {
        return new IndexTable(this);
    }

    int slotCount() {
        return mask + 1;
    }

    int entries() {
        return entries;
    }

    boolean isFull() {
        return entries > slotCount() - (slotCount() >>> 2);
    }

    long get(int index) {
        return slots.getLong(index << 3);
    }

    void set(int index, long slot) {
        slots.putLong(index << 3, slot);
    }

    int home(int slotHash) {
        return slotHash & mask;
    }

    int next(int index) {
        return (index + 1) & mask;
    }

    void add(long slot) {
        int index = home(EntryFormat.slotHash(slot));
        while (get(index) != 0) {
            index = next(index);
        }
        set(index, slot);
        entries++;
    }

    /** Position of exactly this slot, or -1. */
    int indexOf(long slot) {
        int index = home(EntryFormat.slotHash(slot));
        while (true) {
            long found = get(index);
            if (found == slot) {
                return index;
            }
            if (found == 0) {
                return -1;
            }
            index = next(index);
        }
    }

    /** Empties a slot and moves those behind it back, so that no probe ends too early. */
    void remove(int removed) {
        int gap = removed;
        int index = removed;
        while (true) {
            index = next(index);
            long slot = get(index);
            if (slot == 0) {
                break;
            }
            int distanceFromHome = (index - home(EntryFormat.slotHash(slot))) & mask;
            int distanceFromGap = (index - gap) & mask;
            if (distanceFromHome >= distanceFromGap) {
                set(gap, slot);
                gap = index;
            }
        }
        set(gap, 0);
        entries--;
    }

    boolean isShared() {
        return holders.get() > 1;
    }

    void hold() {
        holders.incrementAndGet();
    }

    void release() {
        if (holders.decrementAndGet() == 0) {
            memory.freeIndex(slots);
        }
    }
}
