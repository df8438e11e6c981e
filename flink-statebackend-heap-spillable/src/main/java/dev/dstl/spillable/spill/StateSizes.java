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

package dev.dstl.spillable.spill;

import dev.dstl.spillable.table.Residency;
import dev.dstl.spillable.table.StateTable;
import dev.dstl.spillable.table.TablePlacement;
import java.util.Collection;

/**
 * How many bytes of heap the entries of all states of one backend take or would take, as each state
 * estimates it. Counted on the task thread, read by any thread.
 */
final class StateSizes {

    private final SpillCounters counters;
    private volatile long heapBytes;
    private volatile long spilledBytes;
    private volatile double heatPerByte;

    StateSizes(SpillCounters counters) {
        this.counters = counters;
    }

    /**
     * Counts what is where.
     *
     * @param coolDown whether past accesses count half afterwards
     */
    void count(Collection<? extends StateTable<?, ?, ?>> tables, boolean coolDown) {
        long onHeap = 0;
        long spilled = 0;
        int groups = 0;
        int spilledGroups = 0;
        double onHeapBytes = 0;
        double loadedBytes = 0;
        double heat = 0;
        for (StateTable<?, ?, ?> table : tables) {
            TablePlacement placement = table.placement();
            placement.measure();
            for (int i = 0; i < placement.groupCount(); i++) {
                onHeap += placement.heapEntries(i);
                spilled += placement.spilledEntries(i);
                onHeapBytes += placement.heapBytes(i);
                loadedBytes += placement.loadedBytes(i);
                groups++;
                spilledGroups += placement.residency(i) == Residency.ON_HEAP ? 0 : 1;
                heat += placement.heat(i);
            }
            if (coolDown) {
                placement.coolDown();
            }
        }
        heapBytes = (long) onHeapBytes;
        spilledBytes = (long) loadedBytes;
        heatPerByte = heapBytes == 0 ? 0 : heat / heapBytes;
        counters.placed(onHeap, spilled, groups - spilledGroups, spilledGroups, heapBytes);
    }

    /** Of entries on the heap, as last counted. */
    long heapBytes() {
        return heapBytes;
    }

    /** What spilled entries would take on the heap, as last counted. */
    long spilledBytes() {
        return spilledBytes;
    }

    /** Recent accesses per byte on the heap, as last counted. */
    double heatPerByte() {
        return heatPerByte;
    }
}
