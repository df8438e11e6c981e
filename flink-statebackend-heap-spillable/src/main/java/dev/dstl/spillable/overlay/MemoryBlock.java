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

import org.apache.flink.core.memory.MemorySegment;

/** A piece of a slab. Its owner gives it back once. */
final class MemoryBlock {

    final MemorySegment segment;
    final int offset;
    final int bytes;

    /** Number of the slab, or -1 if the block is a segment of its own. */
    final int slab;

    MemoryBlock(MemorySegment segment, int offset, int bytes, int slab) {
        this.segment = segment;
        this.offset = offset;
        this.bytes = bytes;
        this.slab = slab;
    }
}
