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
import javax.annotation.Nullable;

/**
 * Chooses which key group of which state moves next: the coldest per byte goes, the hottest comes.
 * Where spilling takes more memory than it frees, nothing goes.
 */
final class ColdestPerByte {

    /** One key group of one state. */
    static final class Choice {
        final TablePlacement placement;
        final int position;

        Choice(TablePlacement placement, int position) {
            this.placement = placement;
            this.position = position;
        }
    }

    private ColdestPerByte() {}

    /** What to spill next, or null if nothing is left on the heap for which it is worth it. */
    @Nullable
    static Choice toSpill(Collection<? extends StateTable<?, ?, ?>> tables) {
        Choice coldest = null;
        double least = Double.POSITIVE_INFINITY;
        for (StateTable<?, ?, ?> table : tables) {
            TablePlacement placement = table.placement();
            for (int i = 0; i < placement.groupCount(); i++) {
                boolean halfDrained =
                        placement.residency(i) == Residency.SPILLING && !placement.isUnwritable(i);
                if (!halfDrained && !placement.isWorthSpilling(i)) {
                    continue;
                }
                // A group that is half drained is finished first.
                double heat = halfDrained ? -1 : placement.heat(i) / placement.heapBytes(i);
                if (heat < least) {
                    least = heat;
                    coldest = new Choice(placement, i);
                }
            }
        }
        return coldest;
    }

    /**
     * What to load next, or null if nothing is spilled, or nothing that can be read and for which
     * there is room. A group that was loading until the job removed what was left needs a last
     * step.
     *
     * @param room bytes of heap that entries may take
     */
    @Nullable
    static Choice toLoad(Collection<? extends StateTable<?, ?, ?>> tables, double room) {
        Choice hottest = null;
        double most = Double.NEGATIVE_INFINITY;
        for (StateTable<?, ?, ?> table : tables) {
            TablePlacement placement = table.placement();
            for (int i = 0; i < placement.groupCount(); i++) {
                boolean halfLoaded = placement.residency(i) == Residency.LOADING;
                if ((placement.spilledEntries(i) == 0 && !halfLoaded)
                        || placement.isUnloadable(i)
                        || placement.nothingFits(i, room)) {
                    continue;
                }
                double heat =
                        halfLoaded
                                ? Double.MAX_VALUE
                                : placement.heat(i) / Math.max(1, placement.loadedBytes(i));
                if (heat > most) {
                    most = heat;
                    hottest = new Choice(placement, i);
                }
            }
        }
        return hottest;
    }
}
