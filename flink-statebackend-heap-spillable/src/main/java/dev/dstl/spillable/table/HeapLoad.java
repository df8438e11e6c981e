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

package dev.dstl.spillable.table;

import dev.dstl.spillable.layout.SpilledLayout;
import dev.dstl.spillable.overlay.Addresses;
import dev.dstl.spillable.overlay.EntryReader;
import dev.dstl.spillable.overlay.PartitionedMap;
import dev.dstl.spillable.size.EntrySizes;
import java.io.IOException;
import java.util.List;

/** Brings the entries of a key group back to the heap, some at a time. Task thread only. */
final class HeapLoad<K, N, S> {

    /** Entries that take less are loaded even if there is no room for them. */
    private static final double SMALL_ENTRY_BYTES = 64 << 10;

    private final HeapMap<K, N, S> heap;
    private final ElementCount heapElements;
    private final LargeEntryMove<K, N, S> large;
    private final EntrySizes sizes;
    private int cursor;
    private int from;

    /** Entries in a row for which there was no room, and what the smallest of them takes. */
    private int tooLarge;

    private double smallestTooLarge;

    private double movedBytes;

    HeapLoad(
            HeapMap<K, N, S> heap,
            ElementCount heapElements,
            LargeEntryMove<K, N, S> large,
            EntrySizes sizes) {
        this.heap = heap;
        this.heapElements = heapElements;
        this.large = large;
        this.sizes = sizes;
    }

    /**
     * Loads about {@code steps} entries, or as many slices of large ones; returns how many entries
     * it loaded. Leaves those that need more than {@code room} bytes where they are.
     */
    int load(int steps, double room, PartitionedMap spilled, SpilledLayout<K, N, S> layout)
            throws IOException {
        movedBytes = 0;
        if (smallestTooLarge <= room) {
            tooLarge = 0;
        }
        int before = spilled.size();
        boolean failed = true;
        try {
            loadSteps(steps, room, spilled, layout);
            failed = false;
        } finally {
            if (failed) {
                // What was looked at is looked at again.
                tooLarge = 0;
            }
        }
        return before - spilled.size();
    }

    private void loadSteps(
            int steps, double room, PartitionedMap spilled, SpilledLayout<K, N, S> layout)
            throws IOException {
        for (int left = steps; left > 0 && !nothingFits(spilled, room - movedBytes); ) {
            if (large.isReading()) {
                S state = large.readSlice(heap, spilled, layout);
                if (state != null) {
                    came(state);
                }
                left--;
            } else if (large.hasLeftovers()) {
                large.removeLeftovers(spilled, layout);
                left--;
            } else if (spilled.size() > 0) {
                left -= Math.max(1, loadSome(left, room, spilled, layout));
            } else {
                break;
            }
        }
    }

    /** Looks at about {@code most} entries; returns at how many. */
    private int loadSome(
            int most, double room, PartitionedMap spilled, SpilledLayout<K, N, S> layout)
            throws IOException {
        EntryReader entries = spilled.entries();
        if (cursor >= entries.cursorEnd()) {
            cursor = 0;
            from = 0;
        }
        Addresses addresses = new Addresses();
        int next = entries.addressesAt(cursor, from, most, addresses);
        List<byte[]> keys = addresses.copyKeys(entries);
        for (byte[] key : keys) {
            layout.selectBytes(key);
            double bytes = bytesOnHeap(entries, layout);
            if (bytes > SMALL_ENTRY_BYTES && movedBytes + bytes > room) {
                smallestTooLarge = tooLarge == 0 ? bytes : Math.min(smallestTooLarge, bytes);
                tooLarge++;
            } else if (large.startRead(key, spilled, layout)) {
                // What else is at this place is looked at again afterwards.
                return keys.size();
            } else {
                loadOne(spilled, layout);
            }
        }
        from = Math.max(0, next);
        if (next < 0) {
            cursor++;
        }
        return keys.size();
    }

    private void loadOne(PartitionedMap spilled, SpilledLayout<K, N, S> layout) throws IOException {
        long bytesBefore = spilled.liveBytes();
        S state = layout.read(spilled.entries());
        layout.readKey((key, namespace) -> heap.put(key, namespace, state));
        layout.delete(spilled);
        sizes.moved(
                sizes.heapBytes(1, EntrySizes.elementsOf(state)),
                bytesBefore - spilled.liveBytes());
        came(state);
    }

    /**
     * Puts a new state of the entry that the layout has selected onto the heap, and then removes
     * what is spilled: a query, which looks at the heap first, finds the entry all the time.
     */
    void put(K key, N namespace, S state, PartitionedMap spilled, SpilledLayout<K, N, S> layout) {
        // The entry is not on its way meanwhile, even if memory is used up.
        spilled.begin();
        boolean moved = false;
        try {
            heap.put(key, namespace, state);
            layout.delete(spilled);
            moved = true;
        } finally {
            if (!moved) {
                heap.discard(key, namespace);
            }
            spilled.end();
        }
    }

    private void came(S state) {
        int elements = EntrySizes.elementsOf(state);
        heapElements.add(elements);
        movedBytes += sizes.heapBytes(1, elements);
        tooLarge = 0;
    }

    /** What the selected entry would take on the heap. */
    private double bytesOnHeap(EntryReader entries, SpilledLayout<K, N, S> layout) {
        int elements = layout.elements(entries);
        if (elements > 0) {
            return sizes.heapBytes(1, elements);
        }
        return layout.exists(entries)
                ? sizes.loadedBytes((long) entries.keyLength() + entries.valueLength())
                : 0;
    }

    /** Whether entries are left, none of them on its way, that all need more than {@code room}. */
    boolean nothingFits(PartitionedMap spilled, double room) {
        int left = spilled.size();
        return left > 0 && tooLarge >= left && smallestTooLarge > room && !large.isReading();
    }

    /** Bytes of heap that the last step has taken. */
    double movedBytes() {
        return movedBytes;
    }
}
