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

/** Who has partitions that change, as the pool that lets them be merged sees it. */
abstract class PartitionOwner extends MergeOwner {

    /** Freezes the overlay of a partition that is not being merged, for a merge to be run. */
    abstract PartitionMerge startMerge(LivePartition partition);

    /**
     * Copies the active overlay of a partition, of which nobody else has it, to where memory is.
     */
    abstract void moveOverlay(LivePartition partition);

    /** Whether a view that is being read keeps an overlay of a partition, merged or not. */
    abstract boolean isKept(LivePartition partition, Overlay overlay);
}
