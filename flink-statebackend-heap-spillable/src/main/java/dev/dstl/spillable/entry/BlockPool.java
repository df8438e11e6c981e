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

import dev.dstl.spillable.chunk.ChunkFiles;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The blocks that the spilled maps of one backend share: which are sealed and which are compacted
 * when. Task thread only, except {@link #close()}.
 *
 * <p>Blocks in memory over the budget are sealed, oldest first. If no directory takes them, they
 * stay in memory, over the budget, up to {@value #OVERDRAFT} times of it; then the task fails.
 *
 * <p>Dead bytes over {@value #DEAD_PERCENT} % of the live ones are worked off by copying what lives
 * in the deadest of {@value #CANDIDATES} randomly chosen blocks: as good as the deadest of all to
 * within a few percent, at a cost that does not depend on their number.
 */
public final class BlockPool implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(BlockPool.class);

    private static final int OVERDRAFT = 2;
    private static final int DEAD_PERCENT = 50;
    private static final int CANDIDATES = 24;
    private static final long COMPACTION_FLOOR_BYTES = 1 << 20;
    private static final int COMPACTION_STEP_BYTES = 2048;

    /** Where a block is, as long as it is there. */
    private static final class Place {
        final BlockOwner owner;
        final int number;
        final long id;

        Place(BlockOwner owner, int number, long id) {
            this.owner = owner;
            this.number = number;
            this.id = id;
        }

        /** The block, or null once it was dropped. */
        Block block() {
            Block block = owner.block(number);
            return block != null && block.id == id ? block : null;
        }
    }

    private final OffHeapMemory memory;
    private final OffHeapBudget budget;
    private final ChunkFiles chunks;
    private final SealedBlockReader sealedBlocks;
    private final Deque<Place> inMemory = new ArrayDeque<>();
    private final List<Place> candidates = new ArrayList<>();
    private final SplittableRandom random = new SplittableRandom(1);

    private long nextBlockId;
    private int blockCount;
    private long ownedBlockBytes;
    private long entryBytes;
    private long deadBytes;
    private long sealedBytes;
    private long compactedBytes;
    private boolean diskRefuses;
    private int refusalsToSkip;

    private Place compacting;
    private int compactedTo;
    private boolean inCompaction;

    /**
     * @param budget released by this object, after the last view was released
     * @param chunks owned and closed by this object, after the last view was released
     * @param clockNanos time in nanoseconds, by which slow reads are told from fast ones
     */
    public BlockPool(OffHeapBudget budget, ChunkFiles chunks, LongSupplier clockNanos) {
        this.memory = new OffHeapMemory(budget, chunks);
        this.budget = budget;
        this.chunks = chunks;
        this.sealedBlocks = new SealedBlockReader(clockNanos);
    }

    /** What the blocks and the index may take and take. */
    public OffHeapBudget budget() {
        return budget;
    }

    /** The files of sealed blocks; they belong to this object. */
    public ChunkFiles chunks() {
        return chunks;
    }

    /** Whether the last attempt to write a chunk file failed. */
    public boolean diskRefuses() {
        return diskRefuses;
    }

    /** Whether disks take more spilled state; those that refused are tried again. */
    public boolean diskTakesMore() {
        if (diskRefuses) {
            refusalsToSkip = 0;
            if (ownedBlockBytes <= budget.blockLimitBytes()) {
                diskRefuses = false;
            } else {
                sealOldest();
            }
        }
        return !diskRefuses;
    }

    /** Bytes of all entries, dead ones included. */
    public long entryBytes() {
        return entryBytes;
    }

    /** Bytes of entries that were replaced, removed or copied, and not given back yet. */
    public long deadBytes() {
        return deadBytes;
    }

    /** Bytes of entries written to chunk files so far. */
    public long sealedBytes() {
        return sealedBytes;
    }

    /** Bytes of blocks that compaction has read so far. */
    public long compactedBytes() {
        return compactedBytes;
    }

    /** Reads of single pages, past the mapping, for which the page cache was too small. */
    public long pageReads() {
        return sealedBlocks.pageReads();
    }

    OffHeapMemory memory() {
        return memory;
    }

    SealedBlockReader sealedBlocks() {
        return sealedBlocks;
    }

    Block allocateBlock(int bytes) {
        ownedBlockBytes += bytes;
        return new Block(memory, nextBlockId++, memory.allocateBlock(bytes), bytes);
    }

    void appended(int bytes) {
        entryBytes += bytes;
    }

    void died(int bytes) {
        deadBytes += bytes;
    }

    /** A block joined the log of a map. */
    void blockAdded(BlockOwner owner, int number) {
        Place place = new Place(owner, number, owner.block(number).id);
        blockCount++;
        if (candidates.size() > 2 * blockCount + 64) {
            candidates.removeIf(p -> p.block() == null);
        }
        if (inMemory.size() > 2 * blockCount + 64) {
            inMemory.removeIf(p -> p.block() == null);
        }
        inMemory.add(place);
        candidates.add(place);
    }

    /** A map dropped a block. */
    void blockDropped(Block block) {
        blockCount--;
        entryBytes -= block.used;
        deadBytes -= block.dead;
        if (!block.isSealed()) {
            ownedBlockBytes -= block.capacity;
        }
    }

    /** Keeps memory and dead bytes within bounds; a bounded piece of work per call. */
    void maintain() {
        if (ownedBlockBytes > budget.blockLimitBytes()) {
            sealOldest();
        }
        if (!inCompaction
                && deadBytes > COMPACTION_FLOOR_BYTES
                && deadBytes * 100 > (entryBytes - deadBytes) * DEAD_PERCENT) {
            inCompaction = true;
            try {
                compactStep();
            } finally {
                inCompaction = false;
            }
        }
    }

    private void sealOldest() {
        if (diskRefuses && --refusalsToSkip > 0) {
            return;
        }
        while (ownedBlockBytes > budget.blockLimitBytes() && !inMemory.isEmpty()) {
            Place oldest = inMemory.peek();
            Block block = oldest.block();
            if (block == null || block.isSealed()) {
                inMemory.poll();
                continue;
            }
            try {
                Block sealed = block.sealed(chunks.write(block.segment, block.used));
                oldest.owner.replaceBlock(oldest.number, sealed);
                ownedBlockBytes -= block.capacity;
                sealedBytes += block.used;
                block.release();
                inMemory.poll();
                diskRefuses = false;
            } catch (IOException e) {
                refused(e);
                return;
            }
        }
    }

    private void refused(IOException cause) {
        if (!diskRefuses) {
            LOG.error(
                    "No disk takes spilled state; it stays in memory, nothing more is spilled until"
                            + " a disk has room again.",
                    cause);
        }
        diskRefuses = true;
        refusalsToSkip = 1024;
        if (ownedBlockBytes > OVERDRAFT * budget.limitBytes() + (32L << 20)) {
            throw new IllegalStateException(
                    String.format(
                            "Spilled state needs %d bytes in memory, its budget is %d, and no disk"
                                    + " takes it. Free space in the spill directories, or raise"
                                    + " state.backend.spillable.off-heap.size.",
                            ownedBlockBytes, budget.limitBytes()),
                    cause);
        }
    }

    private void compactStep() {
        if (compacting == null || compacting.block() == null) {
            compacting = chooseVictim();
            compactedTo = 0;
            if (compacting == null) {
                return;
            }
            if (compacting.block().isSealed()) {
                sealedBlocks.startCompaction(compacting.block());
            }
        }
        int from = compactedTo;
        compactedTo = compacting.owner.compact(compacting.number, from, COMPACTION_STEP_BYTES);
        if (compactedTo < 0) {
            compacting = null;
        } else {
            compactedBytes += compactedTo - from;
        }
    }

    private Place chooseVictim() {
        Place victim = null;
        double victimDead = 0.25;
        for (int i = 0; i < CANDIDATES && !candidates.isEmpty(); i++) {
            int index = random.nextInt(candidates.size());
            Place candidate = candidates.get(index);
            Block block = candidate.block();
            if (block == null) {
                candidates.set(index, candidates.get(candidates.size() - 1));
                candidates.remove(candidates.size() - 1);
                continue;
            }
            double dead = (double) block.dead / Math.max(1, block.used);
            if (dead > victimDead && !candidate.owner.isOpen(candidate.number)) {
                victim = candidate;
                victimDead = dead;
            }
        }
        return victim;
    }

    /**
     * Releases the budget and deletes the chunk files as soon as no view needs them. The maps must
     * have been closed. Any thread.
     *
     * @throws IOException if a directory cannot be deleted
     */
    @Override
    public void close() throws IOException {
        memory.release();
    }
}
