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

import dev.dstl.spillable.partition.CellSizes;
import dev.dstl.spillable.partition.EntryFormat;
import dev.dstl.spillable.partition.KeyHash;

/**
 * Writes to the active overlays of one map, and puts another overlay in the place of one that is
 * full, untidy or held by somebody else. Task thread only.
 */
final class ActiveOverlays {

    private static final int FIRST_CELLS = 7;

    private final PartitionPool pool;
    private final KeyHash keyHash;
    private final ChangeSequence changes;

    /** Of the overlay made last; 0 if none was. */
    private int cellBytes;

    /**
     * @param keyHash by which keys are found
     * @param changes of the partitions
     */
    ActiveOverlays(PartitionPool pool, KeyHash keyHash, ChangeSequence changes) {
        this.pool = pool;
        this.keyHash = keyHash;
        this.changes = changes;
    }

    /**
     * Writes an entry.
     *
     * @param cell of the key in the active overlay, or -1
     * @param flags if the key has no cell
     */
    void put(
            LivePartition partition,
            int cell,
            int hash,
            int flags,
            byte[] key,
            int keyLength,
            boolean part,
            byte[] value,
            int valueLength) {
        int bytes = EntryFormat.entryBytes(keyLength, valueLength);
        changes.begin();
        try {
            makeWritable(partition, bytes);
            int written = cell;
            if (cell >= 0) {
                partition.active.replace(cell, hash, bytes);
            } else {
                written = partition.active.add(hash, bytes, flags);
                if (written < 0) {
                    setActive(partition, partition.active.grown(keyHash, bytes));
                    written = partition.active.add(hash, bytes, flags);
                }
            }
            Overlay active = partition.active;
            EntryFormat.put(
                    active.segmentAt(written),
                    active.entryAt(written),
                    key,
                    keyLength,
                    part,
                    value,
                    valueLength);
        } finally {
            changes.end();
        }
    }

    /** Copies an entry of another partition with its flags. */
    void addCopy(LivePartition partition, int hash, Overlay source, int cell) {
        int bytes = source.lengthOf(cell);
        makeWritable(partition, bytes);
        if (!partition.active.addCopy(hash, source, cell)) {
            setActive(partition, partition.active.grown(keyHash, bytes));
            partition.active.addCopy(hash, source, cell);
        }
    }

    /** Removes the key of a cell of the active overlay. */
    void remove(LivePartition partition, int cell) {
        changes.begin();
        try {
            makeWritable(partition, 0);
            partition.active.remove(cell);
        } finally {
            changes.end();
        }
    }

    /** Copies the active overlay to memory that is taken first. */
    void move(LivePartition partition) {
        changes.begin();
        try {
            setActive(partition, partition.active.copy());
        } finally {
            changes.end();
        }
    }

    /** Cells of the active overlay stay where they are. */
    private void makeWritable(LivePartition partition, int entryBytes) {
        Overlay overlay = partition.active;
        if (overlay == null) {
            if (cellBytes == 0) {
                int[] length = {entryBytes + 1};
                cellBytes = CellSizes.bestOr(Overlay.SMALLEST_CELL, length, 1);
            }
            partition.active =
                    new Overlay(
                            pool.memory(), FIRST_CELLS, cellBytes, new OverlayHeap(pool.memory()));
            pool.overlayAdded(partition);
        } else if (overlay.isShared()) {
            setActive(partition, overlay.copy());
        } else if (overlay.isUntidy(entryBytes)) {
            setActive(partition, overlay.tidied(keyHash));
        }
    }

    private void setActive(LivePartition partition, Overlay overlay) {
        Overlay old = partition.active;
        partition.active = overlay;
        old.release();
        cellBytes = overlay.cellBytes();
    }
}
