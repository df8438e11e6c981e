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

import dev.dstl.spillable.partition.EntryFormat;
import dev.dstl.spillable.partition.KeyHash;
import dev.dstl.spillable.partition.SealedPartition;
import java.io.IOException;
import javax.annotation.Nullable;
import org.apache.flink.core.memory.MemorySegment;

/**
 * What a partition consists of: what an upper layer has of a key, an entry or its removal, hides
 * what lower ones have.
 *
 * <pre>
 *   active    takes changes
 *   frozen    is being merged with the sealed layer
 *   sealed    in a file
 * </pre>
 *
 * A covered entry of the active overlay says whether one of the layers below has the key.
 */
class Layers {

    /** Number of leading bits that all hashes of the partition share. */
    final int depth;

    /** The lowest hash that the partition may have. */
    final int firstHash;

    @Nullable Overlay active;
    @Nullable Overlay frozen;
    @Nullable SealedPartition sealed;

    Layers(int depth, int firstHash) {
        this.depth = depth;
        this.firstHash = firstHash;
    }

    /** The same layers, held once more. */
    final Layers held() {
        Layers copy = new Layers(depth, firstHash);
        copy.active = active;
        copy.frozen = frozen;
        copy.sealed = sealed;
        if (active != null) {
            active.hold();
        }
        if (frozen != null) {
            frozen.hold();
        }
        if (sealed != null) {
            sealed.hold();
        }
        return copy;
    }

    /**
     * Hands over what the overlays have, each key once, as the upper one has it. Removals of keys
     * that the sealed layer does not have are left out.
     */
    final void forEachChange(KeyHash hash, ChangeConsumer consumer) throws IOException {
        byte[] scratch = new byte[Overlay.LONGEST_IN_CELL];
        for (Overlay overlay : new Overlay[] {frozen, active}) {
            Overlay other = overlay == active ? frozen : active;
            for (int cell = 0; overlay != null && cell < overlay.cells(); cell++) {
                if (overlay.isUsed(cell)) {
                    int there = other == null ? -1 : find(other, overlay, cell, hash, scratch);
                    if (overlay == active || there < 0) {
                        boolean removed = overlay.isRemoved(cell);
                        boolean covers = there < 0 ? overlay.covers(cell) : other.covers(there);
                        if (covers || !removed) {
                            consumer.accept(
                                    overlay.segmentAt(cell),
                                    overlay.entryAt(cell),
                                    removed,
                                    covers);
                        }
                    }
                }
            }
        }
    }

    /** The cell that an overlay has for the key of a cell of another, or -1. */
    private static int find(
            Overlay searched, Overlay source, int cell, KeyHash keyHash, byte[] scratch) {
        int hash = source.hashOf(cell, keyHash, scratch);
        MemorySegment segment = source.segmentAt(cell);
        int entry = source.entryAt(cell);
        int word = EntryFormat.varintAt(segment, entry);
        byte[] key = EntryFormat.copyKey(segment, entry, scratch);
        return searched.find(key, EntryFormat.keyLength(word), word, hash);
    }

    /** Gives up all layers, which this object has no more then. */
    final void release(OverlayMemory memory) {
        Overlay oldActive = active;
        Overlay oldFrozen = frozen;
        SealedPartition oldSealed = sealed;
        active = null;
        frozen = null;
        sealed = null;
        if (oldActive != null) {
            oldActive.release();
        }
        if (oldFrozen != null) {
            oldFrozen.release();
        }
        if (oldSealed != null) {
            memory.release(oldSealed);
        }
    }
}
