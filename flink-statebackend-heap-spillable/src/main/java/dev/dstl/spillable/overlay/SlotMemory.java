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
import java.util.List;

/**
 * Off-heap memory that the backends of one slot share. Used by any thread.
 *
 * <p>Each backend that spills gets an equal part. When another one joins, the parts of those that
 * are there get smaller at once, but what they use takes a while to follow: until then those that
 * use less than their part share what is free, so that all together stay within the memory.
 *
 * <pre>
 *   part      |----------------------|          the same for all
 *   used      |----------------------------|    more: the limit is the part
 *             |------|                          less: the limit is lower by what others use beyond
 *   limit     |------------|                    theirs, in proportion to the room
 * </pre>
 */
public final class SlotMemory implements AutoCloseable {

    /** Whoever joins may use one in so many bytes of its part, whatever others use. */
    private static final int SMALLEST_IN_PART = 8;

    private final long bytes;
    private final long smallestBytes;
    private final List<OffHeapBudget> budgets = new ArrayList<>();

    /**
     * @param bytes over 0
     * @param smallestBytes with which a backend can work, from 1 to {@code bytes}
     */
    public SlotMemory(long bytes, long smallestBytes) {
        this.bytes = bytes;
        this.smallestBytes = smallestBytes;
    }

    /**
     * The part of another backend, until the budget is released.
     *
     * @param onRelease called once then, by any thread
     */
    public OffHeapBudget join(Runnable onRelease) {
        OffHeapBudget budget = new OffHeapBudget(this, onRelease);
        synchronized (this) {
            budgets.add(budget);
            divide();
        }
        return budget;
    }

    synchronized void leave(OffHeapBudget budget) {
        budgets.remove(budget);
        divide();
    }

    /** One of the budgets is used more, or less, or by nobody who needs a part. */
    synchronized void changed() {
        divide();
    }

    private void divide() {
        int parts = 0;
        for (OffHeapBudget budget : budgets) {
            parts += budget.isRetired() ? 0 : 1;
        }
        if (parts == 0) {
            return;
        }
        long part = Math.max(smallestBytes, bytes / parts);
        long excess = 0;
        long room = 0;
        for (OffHeapBudget budget : budgets) {
            long free = (budget.isRetired() ? 0 : part) - budget.usedBytes();
            excess += Math.max(0, -free);
            room += Math.max(0, free);
        }
        double missing = room == 0 ? 0 : Math.min(1, (double) excess / room);
        long smallest = Math.max(smallestBytes, part / SMALLEST_IN_PART);
        for (OffHeapBudget budget : budgets) {
            long free = Math.max(0, part - budget.usedBytes());
            budget.limitTo(Math.max(smallest, part - (long) Math.ceil(missing * free)));
        }
    }

    /** Nothing to close: the memory is what budgets allocate and free. */
    @Override
    public void close() {}
}
