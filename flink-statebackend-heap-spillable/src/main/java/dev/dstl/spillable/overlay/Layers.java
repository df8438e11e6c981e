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

import dev.dstl.spillable.partition.SealedPartition;
import javax.annotation.Nullable;

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
