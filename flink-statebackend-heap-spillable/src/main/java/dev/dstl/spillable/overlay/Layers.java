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

    /** Hands over what the overlays have, each key once, as the upper one has it. */
    final void forEachChange(KeyHash hash, ChangeConsumer consumer) throws IOException {
        byte[] scratch = new byte[Overlay.LONGEST_IN_CELL];
        for (Overlay overlay : new Overlay[] {frozen, active}) {
            for (int cell = 0; overlay != null && cell < overlay.cells(); cell++) {
                if (overlay.isUsed(cell)) {
                    MemorySegment segment = overlay.segmentAt(cell);
                    int at = overlay.entryAt(cell);
                    if (overlay == active
                            || !isChanged(
                                    segment, at, overlay.hashOf(cell, hash, scratch), scratch)) {
                        consumer.accept(segment, at, overlay.isRemoved(cell));
                    }
                }
            }
        }
    }

    /** Whether the active overlay has the key of an entry of the frozen one. */
    private boolean isChanged(MemorySegment segment, int entry, int hash, byte[] buffer) {
        if (active == null) {
            return false;
        }
        int word = EntryFormat.varintAt(segment, entry);
        byte[] key = EntryFormat.copyKey(segment, entry, buffer);
        return active.find(key, EntryFormat.keyLength(word), word, hash) >= 0;
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
