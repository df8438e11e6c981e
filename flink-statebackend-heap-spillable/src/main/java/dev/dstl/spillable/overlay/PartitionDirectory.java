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

import dev.dstl.spillable.partition.KeyHash;
import java.util.List;

/** Creates, splits, replaces and drops the partitions of one map. Task thread only. */
final class PartitionDirectory {

    private final PartitionOwner owner;
    private final EntryReader entries;
    private final ActiveOverlays overlays;
    private final KeyHash keyHash;
    private final OverlayMemory memory;
    private final ChangeSequence changes;

    PartitionDirectory(
            PartitionOwner owner,
            EntryReader entries,
            ActiveOverlays overlays,
            KeyHash keyHash,
            OverlayMemory memory,
            ChangeSequence changes) {
        this.owner = owner;
        this.entries = entries;
        this.overlays = overlays;
        this.keyHash = keyHash;
        this.memory = memory;
        this.changes = changes;
    }

    LivePartition create(int depth, int firstHash) {
        return new LivePartition(owner, depth, firstHash);
    }

    /** Splits an overlay over nothing, unless nearly all of its hashes have the same next bit. */
    void split(LivePartition partition) {
        Overlay overlay = partition.active;
        byte[] scratch = new byte[Overlay.LONGEST_IN_CELL];
        int bit = 1 << (31 - partition.depth);
        int ones = 0;
        for (int cell = 0; cell < overlay.cells(); cell++) {
            if (overlay.isUsed(cell)) {
                int hash = overlay.hashOf(cell, keyHash, scratch);
                ones += (hash & bit) == 0 ? 0 : 1;
            }
        }
        int smallerSide = Math.min(ones, overlay.used() - ones);
        if (partition.depth >= PartitionMerge.MOST_DEPTH
                || smallerSide < Math.max(1, overlay.used() / PartitionMerge.SMALLEST_SIDE)) {
            partition.splitLater();
            return;
        }
        int depth = partition.depth + 1;
        replace(
                partition,
                List.of(
                        create(depth, partition.firstHash),
                        create(depth, partition.firstHash | bit)));
    }

    /**
     * Puts partitions in the place of one, with what that has in its active overlay. Without enough
     * memory it fails and changes nothing.
     */
    void replace(LivePartition partition, List<LivePartition> targets) {
        boolean replaced = false;
        try {
            Overlay active = partition.active;
            byte[] scratch = new byte[Overlay.LONGEST_IN_CELL];
            for (int cell = 0; active != null && cell < active.cells(); cell++) {
                if (active.isUsed(cell)) {
                    moveTo(targets, active.hashOf(cell, keyHash, scratch), active, cell);
                }
            }
            changes.begin();
            try {
                entries.placeAll(targets);
            } finally {
                changes.end();
            }
            replaced = true;
        } finally {
            if (replaced) {
                drop(partition);
            } else {
                targets.forEach(this::drop);
            }
        }
    }

    /** Puts the entry of another overlay's cell into the partition of its hash. */
    private void moveTo(List<LivePartition> targets, int hash, Overlay source, int cell) {
        LivePartition target = targets.get(0);
        for (int i = 1; !target.has(hash); i++) {
            target = targets.get(i);
        }
        overlays.addCopy(target, hash, source, cell);
        boolean covers = source.covers(cell);
        boolean removed = source.isRemoved(cell);
        target.live += covers == removed ? (covers ? -1 : 1) : 0;
    }

    void drop(LivePartition partition) {
        partition.dropped = true;
        partition.release(memory);
    }
}
