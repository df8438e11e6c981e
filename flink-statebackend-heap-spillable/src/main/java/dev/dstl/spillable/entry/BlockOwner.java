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

package dev.dstl.spillable.entry;

import javax.annotation.Nullable;

/**
 * What has blocks, as the pool that seals and compacts them sees it. Task thread only. A class and
 * not an interface, so that none of it is public.
 */
abstract class BlockOwner {

    /** The block of that number, or null if there is none any more. */
    @Nullable
    abstract Block block(int number);

    /** Whether entries are appended to the block; it is not compacted then. */
    abstract boolean isOpen(int number);

    /** Puts a block in the place of one that has the same entries. */
    abstract void replaceBlock(int number, Block block);

    /**
     * Copies what lives in a block to the end of the log, over {@code bytes} of it from {@code
     * from} on, and drops the block once its end is reached.
     *
     * @return where to go on, or -1 if the block is gone
     */
    abstract int compact(int number, int from, int bytes);
}
