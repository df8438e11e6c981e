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
import dev.dstl.spillable.partition.SealedPartition;
import dev.dstl.spillable.partition.StateIdentity;
import javax.annotation.Nullable;

/** A partition that changes. Task thread only. */
final class LivePartition extends Layers {

    private static final int OVERLAY_BYTES_TO_SPLIT = 512 << 10;

    /** An overlay of large entries is split with so many of them. */
    private static final int FEW_LARGE = PartitionMerge.MOST_ENTRIES / 64;

    /** From so many bytes on two entries are enough: a view makes the task copy the overlay. */
    private static final int FAR_TOO_LARGE_BYTES = 16 << 20;

    final PartitionOwner owner;

    /** Entries that can be found, parts included. */
    int live;

    /** Whether a merge of the frozen and the sealed layer is under way. */
    boolean merging;

    /** Whether the map has no such partition any more. */
    boolean dropped;

    /** Whether the pool knows that the partition has an overlay. */
    boolean listed;

    /** Whether the pool knows that the partition has a sealed part. */
    boolean listedInFiles;

    /** The overlay is not split before it has so many cells in use, or so many bytes. */
    private int splitAtCells = PartitionMerge.MOST_ENTRIES;

    private long splitAtBytes = OVERLAY_BYTES_TO_SPLIT;

    LivePartition(PartitionOwner owner, int depth, int firstHash) {
        super(depth, firstHash);
        this.owner = owner;
    }

    /** Freezes the active overlay, unless one is frozen already, and starts a merge of it. */
    PartitionMerge startMerge(
            StateIdentity identity, KeyHash keyHash, OverlayMemory memory, ChangeSequence changes) {
        if (frozen == null) {
            changes.begin();
            frozen = active;
            active = null;
            changes.end();
        }
        merging = true;
        Layers input = held();
        if (input.active != null) {
            input.active.release();
            input.active = null;
        }
        return new PartitionMerge(owner, this, input, identity, keyHash, memory);
    }

    /** Puts what a merge has written in the place of the layers that it has read. */
    void replaceMerged(
            @Nullable SealedPartition written, OverlayMemory memory, ChangeSequence changes) {
        Layers merged = new Layers(depth, firstHash);
        merged.frozen = frozen;
        merged.sealed = sealed;
        changes.begin();
        sealed = written;
        frozen = null;
        changes.end();
        merged.release(memory);
    }

    /** Whether the active overlay, which has got another key, is to be split or merged. */
    boolean isTooLarge() {
        return active.used() > splitAtCells
                || (active.bytes() > splitAtBytes && active.used() > FEW_LARGE)
                || isFarTooLarge();
    }

    /** Whether it is to be split or merged even if its keys are what they were. */
    boolean isFarTooLarge() {
        return active.used() > 1
                && active.bytes() > Math.max(splitAtBytes, (long) FAR_TOO_LARGE_BYTES);
    }

    /** The active overlay cannot be split; it is tried again when it is twice as large. */
    void splitLater() {
        splitAtCells = Math.max(splitAtCells, active.used()) * 2;
        splitAtBytes = Math.max(splitAtBytes, active.bytes()) * 2;
    }

    /** Forgets {@link #splitLater}. */
    void splitAsUsual() {
        splitAtCells = PartitionMerge.MOST_ENTRIES;
        splitAtBytes = OVERLAY_BYTES_TO_SPLIT;
    }

    /** Whether entries with a hash belong here. */
    boolean has(int hash) {
        return depth == 0 || (hash ^ firstHash) >>> (32 - depth) == 0;
    }

    /** Bytes of memory that a merge would give back. */
    long overlayBytes() {
        return (active == null ? 0L : active.bytes()) + (frozen == null ? 0 : frozen.bytes());
    }

    /** Bytes of the sealed layer. */
    int sealedBytes() {
        return sealed == null ? 0 : sealed.length();
    }

    /** Memory that a merge would give back per byte written. */
    double mergeGain() {
        long overlay = overlayBytes();
        return (double) overlay / (overlay + sealedBytes());
    }

    /** Whether a merge would give back nothing as long as a view is being read. */
    boolean isKept() {
        Overlay written = frozen == null ? active : frozen;
        return written != null && written.isShared() && owner.isKept(this, written);
    }
}
