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
 * <p>The pool, every view and every merge hold it; the last holder gives all memory back, releases
 * the budget and closes the chunk files. While a reader of another thread looks at live memory,
 * nothing is freed; it looks at one entry at a time.
 */
final class OverlayMemory {

    private static final int LARGEST_SLAB = 2 << 20;
    private static final int SMALLEST_SLAB = 32 << 10;
    private static final int SLABS_IN_BUDGET = 32;
    private static final int OVERDRAFT = 2;
    private static final long OVERDRAFT_BYTES = 32L << 20;

    /** Readers of other threads wait when what they keep is more than one in so many bytes. */
    private static final int DEFERRED_IN_BUDGET = 8;

    private final OffHeapBudget budget;
    private final ChunkFiles files;
    private final SlabAllocator slabs;
    private final AtomicLong blockBytes = new AtomicLong();
    private final AtomicInteger holders = new AtomicInteger(1);

    /** The holders together, and each who needs only the files. */
    private final AtomicInteger fileHolders = new AtomicInteger(1);

    private final AtomicInteger foreignReaders = new AtomicInteger();

    // What readers of other threads keep.
    private final AtomicLong deferredBlockBytes = new AtomicLong();
    private final AtomicLong deferredExtentBytes = new AtomicLong();
    private final Queue<Object> deferred;

    /**
     * @param budget released with the last holder
     * @param files closed with the last holder
     */
    OverlayMemory(OffHeapBudget budget, ChunkFiles files) {
        this(budget, files, new ConcurrentLinkedQueue<>());
    }

    /**
     * @param deferred takes what cannot be freed yet; used by any thread
     */
    OverlayMemory(OffHeapBudget budget, ChunkFiles files, Queue<Object> deferred) {
        this.budget = budget;
        this.files = files;
        this.deferred = deferred;
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

    /** Bytes of blocks, those left out that only readers of other threads keep. */
    long neededBytes() {
        return blockBytes.get() - deferredBlockBytes.get();
    }

    /**
     * @param grantedBytes the limit, or what is granted beyond it
     * @param diskRefuses whether no disk takes overlays
     * @throws IllegalStateException if blocks take far more than that
     */
    void requireLittleOverdraft(long grantedBytes, boolean diskRefuses) {
        long bytes = blockBytes.get();
        if (bytes > OVERDRAFT * grantedBytes + OVERDRAFT_BYTES) {
            String cause;
            if (diskRefuses) {
                cause = "no disk takes it. Free space in the spill directories";
            } else if (deferredBlockBytes.get() > budget.limitBytes()) {
                cause = "a query that does not end holds the rest. Query less";
            } else {
                cause =
                        "snapshots that are being written hold the rest. Let fewer checkpoints run"
                                + " at a time";
            }
            throw new IllegalStateException(
                    String.format(
                            "Spilled state needs %d bytes in memory, its budget is %d, and %s, or"
                                    + " raise state.backend.spillable.off-heap.size.",
                            bytes, budget.limitBytes(), cause));
        }
    }

    /** Bytes of blocks that were given back and that readers of other threads keep. */
    long deferredBlockBytes() {
        return deferredBlockBytes.get();
    }

    /** Bytes in which memory is taken from the operating system. */
    int slabBytes() {
        return slabs.slabBytes();
    }

    /**
     * Fills up so many bytes of slabs first, and as long as they have room takes nothing from the
     * others, which become empty when blocks move.
     */
    void fillFirst(long bytes) {
        slabs.fillFirst((int) Math.min(Integer.MAX_VALUE, bytes / slabs.slabBytes()));
    }

    /** Whether some slabs are filled first and have room. */
    boolean fillsSomeFirst() {
        return slabs.fillsSomeFirst();
    }

    MemoryBlock allocate(int bytes) {
        MemoryBlock block = slabs.allocate(bytes);
        blockBytes.addAndGet(block.bytes);
        return block;
    }

    void free(MemoryBlock block) {
        freeUnlessSeen(block);
    }

    /** Gives up one hold on a partition, and its extent if that was the last. */
    void release(SealedPartition partition) {
        if (partition.release()) {
            freeUnlessSeen(partition.extent());
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

    private void freeUnlessSeen(Object blockOrExtent) {
        if (nobodyLooks()) {
            freeNow(blockOrExtent);
        } else {
            defer(blockOrExtent);
            // The last reader may have left before this was added.
            freeDeferred();
        }
    }

    private void freeDeferred() {
        while (nobodyLooks()) {
            Object one = deferred.poll();
            if (one == null) {
                return;
            }
            countDeferred(one, -1);
            // A reader that came before the poll may see it.
            if (nobodyLooks()) {
                freeNow(one);
            } else {
                defer(one);
            }
        }
    }

    private void defer(Object blockOrExtent) {
        countDeferred(blockOrExtent, 1);
        deferred.add(blockOrExtent);
    }

    private void countDeferred(Object blockOrExtent, int sign) {
        if (blockOrExtent instanceof MemoryBlock) {
            deferredBlockBytes.addAndGet((long) sign * ((MemoryBlock) blockOrExtent).bytes);
        } else {
            deferredExtentBytes.addAndGet((long) sign * ((Extent) blockOrExtent).length());
        }
    }

    private void freeNow(Object blockOrExtent) {
        if (blockOrExtent instanceof MemoryBlock) {
            MemoryBlock block = (MemoryBlock) blockOrExtent;
            blockBytes.addAndGet(-block.bytes);
            slabs.free(block);
        } else {
            files.release((Extent) blockOrExtent);
        }
    }

    /**
     * Whether another reader of another thread may come: if those that are there keep much, it has
     * to wait until they have gone. So however many come, they keep little.
     */
    boolean takesReaders() {
        return deferredBlockBytes.get() + deferredExtentBytes.get()
                <= budget.limitBytes() / DEFERRED_IN_BUDGET;
    }

    /**
     * Keeps memory that is given back from now on, until {@link #leaveForeign()}.
     *
     * @throws IllegalStateException if the last holder has gone, and the memory with it
     */
    void enterForeign() {
        if (holders.getAndUpdate(count -> count == 0 ? 0 : count + 1) == 0) {
            throw new IllegalStateException("The state backend is closed");
        }
        foreignReaders.incrementAndGet();
    }

    void leaveForeign() throws IOException {
        foreignReaders.decrementAndGet();
        freeDeferred();
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
            try {
                slabs.close();
            } finally {
                try {
                    budget.release();
                } finally {
                    releaseFiles();
                }
            }
        }
    }

    /**
     * Keeps the chunk files until {@link #releaseFiles()}, but neither memory nor budget.
     *
     * @throws IllegalStateException if they are gone
     */
    void holdFiles() {
        if (fileHolders.getAndUpdate(count -> count == 0 ? 0 : count + 1) == 0) {
            throw new IllegalStateException("The state backend is closed");
        }
    }

    /**
     * @throws IOException if this was the last holder and a directory cannot be deleted
     */
    void releaseFiles() throws IOException {
        if (fileHolders.decrementAndGet() == 0) {
            files.close();
        }
    }
}
