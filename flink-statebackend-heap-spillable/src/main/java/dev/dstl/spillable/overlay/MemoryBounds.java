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

/**
 * Between which bounds the memory of overlays stays, as the limit of the budget changes. Task
 * thread only.
 *
 * <p>If the limit becomes lower than what is used, as when another backend of the slot begins to
 * spill, the task does not wait until memory has come down: it is granted what it has, and less
 * with everything that merges give back. Slabs of which blocks are freed here and there would stay,
 * so overlays move together meanwhile.
 */
final class MemoryBounds {

    /** So many overlays move with a change. */
    private static final int MOVED_AT_A_TIME = 4;

    private final OffHeapBudget budget;
    private final OverlayMemory memory;
    private final PruningList<LivePartition> withOverlay;
    private long grantedBytes;

    /** Overlays before this one are still to move. */
    private int moveCursor;

    /** Bytes of blocks when overlays began to move; once there are fewer they may move again. */
    private long movedAtBytes = Long.MAX_VALUE;

    /**
     * @param withOverlay the partitions that may have overlays
     */
    MemoryBounds(
            OffHeapBudget budget, OverlayMemory memory, PruningList<LivePartition> withOverlay) {
        this.budget = budget;
        this.memory = memory;
        this.withOverlay = withOverlay;
        this.grantedBytes = budget.limitBytes();
    }

    /** Whether there is anything to do after a change. */
    boolean areReached() {
        long limit = budget.limitBytes();
        return memory.blockBytes() > limit / 4 * 3 || budget.usedBytes() > limit / 8 * 7;
    }

    /** Bytes of blocks above which they are merged. */
    long mergeAbove() {
        return budget.limitBytes() / 4 * 3;
    }

    /** The limit, or as long as memory has not come down to it, what may be used meanwhile. */
    long grantedBytes() {
        return grantedBytes;
    }

    /** Whether the task waits; slabs in pieces count as long as blocks fill half of the budget. */
    boolean isNearLimit() {
        long blocks = memory.neededBytes();
        return blocks > grantedBytes / 8 * 7
                || (usedBytes() > grantedBytes - memory.slabBytes() && blocks > grantedBytes / 2);
    }

    private long usedBytes() {
        return budget.usedBytes() - memory.deferredBlockBytes();
    }

    /** Follows the limit. To be called after changes while the bounds are reached. */
    void follow() {
        long limit = budget.limitBytes();
        if (limit < grantedBytes) {
            long slab = memory.slabBytes();
            long blocks = memory.neededBytes();
            long enough = Math.max(blocks + blocks / 6, usedBytes() + slab) + slab;
            grantedBytes = Math.max(limit, Math.min(grantedBytes, enough));
        } else {
            grantedBytes = limit;
        }
        if (grantedBytes > limit) {
            moveTogether(limit);
        } else if (movedAtBytes < Long.MAX_VALUE) {
            movedAtBytes = Long.MAX_VALUE;
            moveCursor = 0;
            memory.fillFirst(Long.MAX_VALUE);
        }
    }

    private void moveTogether(long limit) {
        long blocks = memory.blockBytes();
        if (moveCursor == 0 && blocks < mergeAbove() && blocks < movedAtBytes / 8 * 7) {
            movedAtBytes = blocks;
            moveCursor = withOverlay.size();
            memory.fillFirst(limit);
        }
        moveCursor = Math.min(moveCursor, withOverlay.size());
        for (int i = 0; i < MOVED_AT_A_TIME && moveCursor > 0 && memory.fillsSomeFirst(); i++) {
            LivePartition partition = withOverlay.get(--moveCursor);
            if (!partition.dropped && partition.active != null && !partition.active.isShared()) {
                partition.owner.moveOverlay(partition);
            }
        }
    }
}
