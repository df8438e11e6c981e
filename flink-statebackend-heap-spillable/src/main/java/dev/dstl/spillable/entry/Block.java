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

import dev.dstl.spillable.chunk.Extent;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicInteger;
import javax.annotation.Nullable;
import org.apache.flink.core.memory.MemorySegment;

/**
 * A run of entries of one state in one key group: in memory, where entries may change in place, or
 * sealed in a chunk file for good.
 *
 * <p>Held by the live map and by every view opened while it was current; the last holder gives the
 * memory or the extent back. What a view can see is not changed while the view holds the block.
 */
final class Block {

    private final OffHeapMemory memory;

    /** Distinguishes the block from others that had its number before; kept when it is sealed. */
    final long id;

    final MemorySegment segment;

    /** Where the block starts in {@link #segment}. */
    final int base;

    final int capacity;
    @Nullable private final Extent extent;
    private final AtomicInteger holders = new AtomicInteger(1);

    /** Bytes of entries, {@code [0, used)}. */
    int used;

    /** Bytes of entries no longer in the index. Task thread only. */
    int dead;

    /** Entries below this offset are visible to views. Task thread only. */
    private int viewedBelow;

    Block(OffHeapMemory memory, long id, MemorySegment segment, int capacity) {
        this.memory = memory;
        this.id = id;
        this.segment = segment;
        this.base = 0;
        this.capacity = capacity;
        this.extent = null;
    }

    private Block(Block original, Extent extent) {
        this.memory = original.memory;
        this.id = original.id;
        this.segment = extent.segment();
        this.base = extent.offset();
        this.capacity = original.used;
        this.extent = extent;
        this.used = original.used;
        this.dead = original.dead;
    }

    /** The same entries, in the extent they were written to. */
    Block sealed(Extent target) {
        return new Block(this, target);
    }

    boolean isSealed() {
        return extent != null;
    }

    boolean isMutable(int offset) {
        return extent == null && (offset >= viewedBelow || holders.get() == 1);
    }

    /**
     * Reads {@code target.remaining()} bytes from {@code from} on out of the file of a sealed
     * block, past its mapping.
     */
    void read(ByteBuffer target, int from) throws IOException {
        extent.read(target, from);
    }

    void holdForView() {
        viewedBelow = used;
        holders.incrementAndGet();
    }

    void release() {
        if (holders.decrementAndGet() == 0) {
            if (extent == null) {
                memory.freeBlock(segment);
            } else {
                memory.releaseExtent(extent);
            }
        }
    }
}
