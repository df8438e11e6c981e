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
import dev.dstl.spillable.partition.KeyHash;
import java.io.IOException;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.function.LongSupplier;
import javax.annotation.Nullable;
import org.apache.flink.util.ExceptionUtils;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The memory and the files that the spilled maps of one backend share, and when which partition is
 * merged. Task thread only, except {@link #close()} and the numbers for metrics.
 *
 * <pre>
 *   memory of overlays     0         3/4          7/8      1     2 + 32 MB
 *                          |----------|------------|-------|---------|
 *                             no merge   merges by    the task    no disk takes partitions, or
 *                                        the executor   waits     views hold all: then an error
 * </pre>
 *
 * A merge takes the overlay that gives back most memory per byte written, of {@value #CANDIDATES}
 * chosen at random: nearly as good as the best of all, at a cost that does not depend on their
 * number. Overlays that a view keeps since it is being read give back nothing: they come last, and
 * only if the budget is used up, as each change of one would copy it. If more than half of the
 * files is no longer occupied, the partitions in the emptiest files are written anew.
 */
public final class PartitionPool implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(PartitionPool.class);

    private static final int CANDIDATES = 24;

    /** Less memory than this per byte written, and memory grows first, up to the budget. */
    private static final double SMALLEST_GAIN = 1.0 / 256;

    private static final int MOST_RUNNING = 4;

    /**
     * As many as can be taken over and started within two milliseconds: a task without input starts
     * none between its checkpoints, and writes all overlays again with each of them.
     */
    private static final int MOST_RUNNING_FOR_CHECKPOINT = 1024;

    private static final int SMALL_OVERLAY_BYTES = 16 << 10;
    private static final int SEALED_PER_OVERLAY = 4;

    private static final int SKIPPED_REFUSALS = 1024;

    /** While no merge gives back memory, only every so many changes look for one. */
    private static final int SKIPPED_STARTS = 64;

    private static final int FILES_PER_OCCUPIED = 2;

    private final OffHeapBudget budget;
    private final OverlayMemory memory;
    private final ChunkFiles files;
    private final KeyHash keyHash;
    private final ReplacedStates replacedStates = new ReplacedStates();
    private final MergeRunner runner;
    private final MajorFaults faults = new MajorFaults();
    private final PageReads pageReads;
    private final MemoryBounds bounds;
    private final PruningList<LivePartition> withOverlay = new PruningList<>(one -> one.dropped);
    private final PruningList<LivePartition> inFiles = new PruningList<>(one -> one.dropped);
    private final PruningList<SpilledView> views = new PruningList<>(SpilledView::isClosed);
    private final SplittableRandom random = new SplittableRandom(1);

    private int viewCursor;

    /** Partitions before this one may have overlays to be sealed for a checkpoint. */
    private int sealingCursor;

    private boolean diskRefuses;
    private int refusalsToSkip;
    private int startsToSkip;
    private int openChanges;
    @Nullable private Throwable postponed;

    // Plain, for the sake of the task thread; a thread that reports metrics reads them somewhat
    // late.
    private long liveBytes;
    private long putBytes;
    private long sealedBytes;
    private long merges;

    /**
     * @param budget released by this object, after the last view was released
     * @param files owned and closed by this object, after the last view was released
     * @param keyHash by which keys of new maps are found
     * @param executor runs merges, shut down by this object
     */
    public PartitionPool(
            OffHeapBudget budget, ChunkFiles files, KeyHash keyHash, ExecutorService executor) {
        this(budget, files, keyHash, executor, null);
    }

    /**
     * @param majorFaults of the task thread so far; null to ask the operating system
     */
    PartitionPool(
            OffHeapBudget budget,
            ChunkFiles files,
            KeyHash keyHash,
            ExecutorService executor,
            @Nullable LongSupplier majorFaults) {
        this.pageReads = new PageReads(majorFaults == null ? faults : majorFaults);
        this.budget = budget;
        this.memory = new OverlayMemory(budget, files);
        this.files = files;
        this.keyHash = keyHash;
        this.runner = new MergeRunner(executor, new MergeWorkspace(memory, budget));
        this.bounds = new MemoryBounds(budget, memory, withOverlay);
    }

    /** What overlays and merges may take and take. */
    public OffHeapBudget budget() {
        return budget;
    }

    /** The files of sealed partitions; they belong to this object. */
    public ChunkFiles chunks() {
        return files;
    }

    /** By which keys of new maps are found. */
    public KeyHash keyHash() {
        return keyHash;
    }

    /** Whether the last attempt to write a partition failed. */
    public boolean diskRefuses() {
        return diskRefuses;
    }

    /** Bytes of all entries that can be found, parts included. */
    public long liveBytes() {
        return liveBytes;
    }

    /** Bytes of entries that puts have written so far, those changed in place left out. */
    public long putBytes() {
        return putBytes;
    }

    /** Bytes of overlays. */
    public long overlayBytes() {
        return memory.blockBytes();
    }

    /** Bytes of partitions written so far. */
    public long sealedBytes() {
        return sealedBytes;
    }

    /** Reads past the mappings, for which the page cache was too small. */
    public long pageReadCount() {
        return pageReads.window().reads();
    }

    PageReads pageReads() {
        return pageReads;
    }

    /** Merges taken over so far. */
    public long merges() {
        return merges;
    }

    /** Partitions that this pool refers to, twice if they have an overlay and a sealed part. */
    int listed() {
        return withOverlay.size() + inFiles.size();
    }

    ReplacedStates replacedStates() {
        return replacedStates;
    }

    OverlayMemory memory() {
        return memory;
    }

    void addPutBytes(long bytes) {
        putBytes += bytes;
    }

    void addLiveBytes(long bytes) {
        liveBytes += bytes;
    }

    /** A partition got an overlay. */
    void overlayAdded(LivePartition partition) {
        if (!partition.listed) {
            partition.listed = true;
            withOverlay.add(partition);
        }
    }

    /** A partition has a new sealed part. */
    void sealed(LivePartition partition) {
        if (!partition.listedInFiles && partition.sealed != null) {
            partition.listedInFiles = true;
            inFiles.add(partition);
        }
    }

    /** A view was opened, which may hold overlays. */
    void viewOpened(SpilledView view) {
        views.add(view);
    }

    /** Whether disks take more spilled state; those that refused are tried again. */
    public boolean diskTakesMore() {
        if (diskRefuses) {
            refusalsToSkip = 0;
            if (memory.neededBytes() <= bounds.mergeAbove()) {
                diskRefuses = false;
            } else if (runner.running() > 0 || startBest()) {
                runner.await();
                takeOver();
            }
        }
        return !diskRefuses;
    }

    /** A change of several entries begins, in the midst of which no maintenance may fail. */
    void begin() {
        openChanges++;
    }

    /** The change is done; fails now with what would have failed in its midst. */
    void end() {
        if (--openChanges == 0 && postponed != null) {
            Throwable failure = postponed;
            postponed = null;
            ExceptionUtils.rethrow(failure);
        }
    }

    /** Keeps memory and files within bounds; to be called after each change. */
    void maintain() {
        if (openChanges == 0) {
            keepBounds();
            return;
        }
        try {
            keepBounds();
        } catch (RuntimeException | Error e) {
            if (postponed == null) {
                postponed = e;
            }
        }
    }

    private void keepBounds() {
        if (runner.hasEnded()) {
            takeOver();
        }
        if (bounds.areReached()) {
            relieve();
        }
    }

    private void relieve() {
        bounds.follow();
        if (diskRefuses && --refusalsToSkip > 0) {
            memory.requireLittleOverdraft(bounds.grantedBytes(), diskRefuses);
            return;
        }
        while (runner.running() < MOST_RUNNING
                && memory.neededBytes() - runner.runningBytes() > bounds.mergeAbove()
                && --startsToSkip < 0) {
            startsToSkip = startBest() ? 0 : SKIPPED_STARTS;
        }
        if (runner.hasEnded()) {
            takeOver();
        }
        while (bounds.isNearLimit() && !(diskRefuses && refusalsToSkip > 0)) {
            if (runner.running() == 0 && !startBest()) {
                break;
            }
            long before = memory.neededBytes();
            runner.await();
            takeOver();
            if (memory.neededBytes() >= before && before <= bounds.grantedBytes()) {
                break;
            }
        }
        memory.requireLittleOverdraft(bounds.grantedBytes(), diskRefuses);
    }

    /**
     * Starts the merge that gives back most memory per byte written.
     *
     * @return false if none gives back enough to be worth it
     */
    private boolean startBest() {
        if (bounds.isNearLimit() && startMergeOfView()) {
            return true;
        }
        LivePartition best = null;
        double bestGain = memory.neededBytes() > bounds.grantedBytes() ? 0 : SMALLEST_GAIN;
        for (int i = 0; i < CANDIDATES && !withOverlay.isEmpty(); i++) {
            int index = random.nextInt(withOverlay.size());
            LivePartition candidate = withOverlay.get(index);
            if (candidate.dropped || candidate.overlayBytes() == 0) {
                candidate.listed = false;
                withOverlay.remove(index);
            } else if (!candidate.merging) {
                double gain = candidate.mergeGain() * (candidate.isKept() ? SMALLEST_GAIN : 1);
                if (gain > bestGain) {
                    best = candidate;
                    bestGain = gain;
                }
            }
        }
        if (best == null) {
            return startMergeOfView();
        }
        startMerge(best);
        return true;
    }

    /** Starts a merge of overlays that only a view holds. */
    private boolean startMergeOfView() {
        for (int i = 0; i < CANDIDATES && !views.isEmpty(); i++) {
            viewCursor = (viewCursor + 1) % views.size();
            SpilledView view = views.get(viewCursor);
            PartitionMerge merge = view.startMerge();
            if (merge != null) {
                runner.start(merge);
                return true;
            }
            if (view.isClosed()) {
                views.remove(viewCursor);
            }
        }
        return false;
    }

    /** Lets a partition that is not being merged be merged, now and then while no disk takes it. */
    void startMerge(LivePartition partition) {
        if (!diskRefuses || --refusalsToSkip <= 0) {
            runner.start(partition.owner.startMerge(partition));
        }
    }

    /**
     * Lets overlays be sealed that are not small, by themselves and against what they lie over: an
     * incremental checkpoint writes overlays each time. Goes on with each merge that ends.
     */
    public void sealLargeOverlays() {
        if (runner.hasEnded()) {
            takeOver();
        }
        sealingCursor = withOverlay.size();
        sealNext();
    }

    private void sealNext() {
        sealingCursor = Math.min(sealingCursor, withOverlay.size());
        while (sealingCursor > 0
                && runner.running() < MOST_RUNNING_FOR_CHECKPOINT
                && !diskRefuses) {
            sealingCursor--;
            LivePartition candidate = withOverlay.get(sealingCursor);
            long overlay = candidate.overlayBytes();
            if (!candidate.dropped
                    && !candidate.merging
                    && overlay > SMALL_OVERLAY_BYTES
                    && overlay > candidate.sealedBytes() / SEALED_PER_OVERLAY) {
                startMerge(candidate);
            }
        }
    }

    private void takeOver() {
        Throwable fatal = null;
        for (PartitionMerge merge = runner.poll(); merge != null; merge = runner.poll()) {
            Throwable failure = merge.failure;
            if (failure == null) {
                sealedBytes += merge.outputBytes();
                merges++;
                diskRefuses = false;
            } else if (failure instanceof IOException) {
                refused((IOException) failure);
            } else {
                fatal = ExceptionUtils.firstOrSuppressed(failure, fatal);
            }
            try {
                merge.owner.merged(merge);
            } finally {
                // The extents of what was merged may become others'.
                pageReads.window().forget();
                MergeRunner.close(merge);
            }
        }
        if (fatal != null) {
            ExceptionUtils.rethrow(fatal);
        }
        sealNext();
        rewriteSparseFile();
    }

    private void refused(IOException failure) {
        if (!diskRefuses) {
            LOG.error(
                    "No disk takes spilled state; it stays in memory, nothing more is spilled"
                            + " until a disk has room again.",
                    failure);
        }
        diskRefuses = true;
        refusalsToSkip = SKIPPED_REFUSALS;
    }

    private void rewriteSparseFile() {
        long occupied = files.occupiedBytes();
        if (runner.running() >= MOST_RUNNING
                || diskRefuses
                || files.fileBytes() <= FILES_PER_OCCUPIED * (occupied + files.chunkBytes())) {
            return;
        }
        LivePartition sparsest = null;
        double smallestShare = 1.0 / FILES_PER_OCCUPIED;
        for (int i = 0; i < CANDIDATES && !inFiles.isEmpty(); i++) {
            int index = random.nextInt(inFiles.size());
            LivePartition candidate = inFiles.get(index);
            if (candidate.dropped || candidate.sealed == null) {
                candidate.listedInFiles = false;
                inFiles.remove(index);
            } else if (!candidate.merging) {
                double share = candidate.sealed.extent().occupiedShare();
                if (share < smallestShare) {
                    sparsest = candidate;
                    smallestShare = share;
                }
            }
        }
        if (sparsest != null) {
            startMerge(sparsest);
        }
    }

    /**
     * Releases the budget and deletes the chunk files as soon as no view needs them. The maps must
     * have been closed. Any thread.
     *
     * @throws IOException if a directory cannot be deleted
     */
    @Override
    public void close() throws IOException {
        try {
            runner.close();
            faults.close();
        } finally {
            budget.retire();
            memory.release();
        }
    }
}
