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

/** A range of hashes of one map and what is sealed of it, as a snapshot has it. */
public final class RestoredPartition {

    final int depth;
    final int firstHash;
    @Nullable final SealedPartition sealed;

    /**
     * @param depth number of leading bits that all hashes share
     * @param firstHash the lowest hash
     * @param sealed the entries, null if there are none
     */
    public RestoredPartition(int depth, int firstHash, @Nullable SealedPartition sealed) {
        this.depth = depth;
        this.firstHash = firstHash;
        this.sealed = sealed;
    }

    /** Number of leading bits that all hashes share. */
    public int depth() {
        return depth;
    }

    /** The lowest hash. */
    public int firstHash() {
        return firstHash;
    }

    /** The entries, or null. */
    @Nullable
    public SealedPartition sealed() {
        return sealed;
    }
}
