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
import java.lang.invoke.VarHandle;
import javax.annotation.Nullable;

/** A partition that changes. Task thread only. */
final class LivePartition extends Layers {

    private static final int OVERLAY_BYTES_TO_SPLIT = 512 << 10;

    /** An overlay of large entries is split with so many times fewer of them. */
    private static final int FEW_LARGE = 64;

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

    /** The overlay is not split before it has so many cells in use. */
    int splitAt;

    LivePartition(PartitionOwner owner, int depth, int firstHash, int splitAt) {
        super(depth, firstHash);
        this.owner = owner;
        this.splitAt = splitAt;
    }

    /** Freezes the active overlay, unless one is frozen already, and starts a merge of it. */
    PartitionMerge startMerge(StateIdentity identity, KeyHash keyHash, OverlayMemory memory) {
        if (frozen == null) {
            frozen = active;
            active = null;
        }
        merging = true;
        Layers input = held();
        if (input.active != null) {
            input.active.release();
            input.active = null;
        }
        return new PartitionMerge(owner, this, input, identity, keyHash, memory);
    }

    /**
     * Puts what a merge has written in the place of the layers that it has read: first the new one,
     * so that another thread finds each entry in one or the other.
     */
    void replaceMerged(@Nullable SealedPartition written, OverlayMemory memory) {
        Layers merged = new Layers(depth, firstHash);
        merged.frozen = frozen;
        merged.sealed = sealed;
        sealed = written;
        VarHandle.storeStoreFence();
        frozen = null;
        merged.release(memory);
    }

    /** Whether the active overlay is to be split or merged. */
    boolean isTooLarge() {
        return active.used() > splitAt
                || (active.bytes() > OVERLAY_BYTES_TO_SPLIT && active.used() > splitAt / FEW_LARGE);
    }

    /** Whether entries with a hash belong here. */
    boolean has(int hash) {
        return depth == 0 || (hash ^ firstHash) >>> (32 - depth) == 0;
    }

    /** Bytes of memory that a merge would give back. */
    int overlayBytes() {
        return (active == null ? 0 : active.bytes()) + (frozen == null ? 0 : frozen.bytes());
    }

    /** Bytes of the sealed layer. */
    int sealedBytes() {
        return sealed == null ? 0 : sealed.length();
    }

    /** Memory that a merge would give back per byte written. */
    double mergeGain() {
        int overlay = overlayBytes();
        return (double) overlay / ((long) overlay + sealedBytes());
    }

    /** Whether a merge would give back nothing as long as a view is being read. */
    boolean isKept() {
        Overlay written = frozen == null ? active : frozen;
        return written != null && written.isShared() && owner.isKept(this, written);
    }
}
