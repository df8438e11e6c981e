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

import dev.dstl.spillable.chunk.ChunkFiles;
import dev.dstl.spillable.chunk.Extent;
import dev.dstl.spillable.partition.SealedPartition;
import java.io.IOException;
import java.lang.invoke.VarHandle;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The memory of the overlays of one backend, in slabs counted in its budget, and what frees blocks
 * and extents when nobody can look at them any more. Used by any thread.
 *
 * <p>The pool, every view and every merge hold it; the last holder releases the budget and closes
 * the chunk files. While a reader of another thread looks at live memory, nothing is freed.
 */
final class OverlayMemory {

    private static final int LARGEST_SLAB = 2 << 20;
    private static final int SMALLEST_SLAB = 32 << 10;
    private static final int SLABS_IN_BUDGET = 32;

    private final OffHeapBudget budget;
    private final ChunkFiles files;
    private final SlabAllocator slabs;
    private final AtomicLong blockBytes = new AtomicLong();
    private final AtomicInteger holders = new AtomicInteger(1);
    private final AtomicInteger foreignReaders = new AtomicInteger();
    private final Queue<Object> deferred = new ConcurrentLinkedQueue<>();

    /**
     * @param budget released with the last holder
     * @param files closed with the last holder
     */
    OverlayMemory(OffHeapBudget budget, ChunkFiles files) {
        this.budget = budget;
        this.files = files;
        long share = Math.max(SMALLEST_SLAB, budget.limitBytes() / SLABS_IN_BUDGET);
        this.slabs =
                new SlabAllocator(
                        budget, Integer.highestOneBit((int) Math.min(LARGEST_SLAB, share)));
    }

    ChunkFiles files() {
        return files;
    }

    /** Bytes of all blocks, those that only a view or a merge holds included. */
    long blockBytes() {
        return blockBytes.get();
    }

    /** Bytes in which memory is taken from the operating system. */
    int slabBytes() {
        return slabs.slabBytes();
    }

    MemoryBlock allocate(int bytes) {
        MemoryBlock block = slabs.allocate(bytes);
        blockBytes.addAndGet(block.bytes);
        return block;
    }

    void free(MemoryBlock block) {
        if (nobodyLooks()) {
            blockBytes.addAndGet(-block.bytes);
            slabs.free(block);
        } else {
            deferred.add(block);
        }
    }

    /** Gives up one hold on a partition, and its extent if that was the last. */
    void release(SealedPartition partition) {
        if (partition.release()) {
            free(partition.extent());
        }
    }

    /**
     * Whoever gives memory back has first forgotten it, and a reader first enters and then looks:
     * with the fence between, one of the two notices the other.
     */
    private boolean nobodyLooks() {
        VarHandle.fullFence();
        return foreignReaders.get() == 0;
    }

    private void free(Extent extent) {
        if (nobodyLooks()) {
            files.release(extent);
        } else {
            deferred.add(extent);
        }
    }

    /** Keeps memory that is given back from now on, until {@link #leaveForeign()}. */
    void enterForeign() {
        holders.incrementAndGet();
        foreignReaders.incrementAndGet();
    }

    void leaveForeign() throws IOException {
        if (foreignReaders.decrementAndGet() == 0) {
            for (Object one = deferred.poll(); one != null; one = deferred.poll()) {
                if (one instanceof MemoryBlock) {
                    free((MemoryBlock) one);
                } else {
                    free((Extent) one);
                }
                if (foreignReaders.get() > 0) {
                    break;
                }
            }
        }
        release();
    }

    void hold() {
        holders.incrementAndGet();
    }

    /**
     * @throws IOException if this was the last holder and a directory cannot be deleted
     */
    void release() throws IOException {
        if (holders.decrementAndGet() == 0) {
            slabs.trim();
            budget.release();
            files.close();
        }
    }
}
