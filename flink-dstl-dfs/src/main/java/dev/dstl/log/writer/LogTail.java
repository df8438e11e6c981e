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

package dev.dstl.log.writer;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.dstl.log.batch.LogBatch;
import dev.dstl.log.commit.AgedLog;
import dev.dstl.log.commit.BatchPosition;
import dev.dstl.log.commit.GroupCommit;
import dev.dstl.log.commit.SealedBatch;
import dev.dstl.log.compaction.Compaction;
import dev.dstl.log.compaction.CompactionGoal;
import dev.dstl.log.compaction.CompactionListener;
import dev.dstl.log.compaction.Compactor;
import dev.dstl.log.execution.ErrorLog;
import dev.dstl.log.local.LocalLog;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import javax.annotation.Nullable;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;

/**
 * The sealed batches of one changelog that are not truncated, and the checkpoints that wait for
 * them. The task thread adds, persists and truncates; threads of the changelog storage report the
 * outcome of each batch. The thread that reports the last missing batch completes the future,
 * without any lock held.
 *
 * <p>If the batches of a persist that are not durable are small, they travel in the handle: the
 * persist waits for their encoding and for no upload. They are written to a segment later.
 *
 * <p>Adjacent durable batches without a compaction boundary between them are compacted in the
 * background, see {@link Compactor}; the output replaces its inputs once it is durable.
 *
 * <p>A batch is released as soon as neither the tail nor a pending persist refers to it. A failed
 * persist affects no other: the batches stay, and the next persist requests them again.
 */
final class LogTail implements AgedLog, TailBatchListener, CompactionListener<TailBatch> {

    /** Number of inline batches at which a segment is rolled for them. */
    private static final int MAX_INLINE_BATCHES = 8;

    private static final ErrorLog LOG = new ErrorLog(LogTail.class);

    private final GroupCommit commit;
    private final Compactor compactor;
    private final HandleAssembler handles;
    private final LocalLog localLog;
    private final BatchAge age;
    private final long inlineThresholdBytes;

    @GuardedBy("this")
    private final TailBatches batches = new TailBatches();

    @GuardedBy("this")
    private final PendingPersists persists = new PendingPersists();

    /** Inline size of the batches that are neither durable nor truncated. */
    @GuardedBy("this")
    private long pendingBytes;

    /** 0 before the first checkpoint. */
    @GuardedBy("this")
    private long lastCheckpoint;

    @GuardedBy("this")
    private boolean closed;

    @GuardedBy("this")
    private final TailCompaction compaction;

    private final Deliveries deliveries = new Deliveries();

    LogTail(
            UUID logId,
            long inlineThresholdBytes,
            CompactionGoal goal,
            GroupCommit commit,
            Compactor compactor,
            HandleAssembler handles,
            LocalLog localLog,
            BatchAge age) {
        this.commit = commit;
        this.compactor = compactor;
        this.handles = handles;
        this.localLog = localLog;
        this.age = age;
        this.compaction =
                new TailCompaction(
                        this,
                        this,
                        logId,
                        commit,
                        compactor,
                        handles,
                        batches,
                        goal,
                        () -> startCompaction(TailCompaction::retryIsDue));
        this.inlineThresholdBytes = inlineThresholdBytes;
        commit.register(this);
    }

    /**
     * Appends a batch and submits it.
     *
     * @param due whether it shall be uploaded even if it is small enough to travel inline
     * @throws IllegalStateException if the storage is closed
     */
    void add(LogBatch batch, boolean due) {
        TailBatch added;
        boolean small;
        synchronized (this) {
            if (closed) {
                batch.release();
                throw new IllegalStateException(
                        "The changelog storage of this job is closed, nothing can be persisted");
            }
            small = pendingBytes + batch.sizeBytes() <= inlineThresholdBytes;
            added = new TailBatch(this, batch, small, lastCheckpoint);
            batches.add(added);
            pendingBytes += added.sealed().inlineBytes();
        }
        if (small && !due) {
            commit.hold(added.sealed());
        } else {
            commit.submit(added.sealed());
        }
    }

    /**
     * Returns a future handle of the batches {@code [from, to)}. Failures after the persist was
     * recorded fail the future instead of this method, since other changelogs may rely on it
     * already.
     *
     * @throws IllegalArgumentException if some of these batches were truncated
     */
    CompletableFuture<SnapshotResult<ChangelogStateHandleStreamImpl>> persist(
            long from, long to, long checkpointId) {
        PendingPersist persist;
        List<TailBatch> missing = new ArrayList<>();
        List<TailBatch> encode = new ArrayList<>();
        List<LogBatch> records = new ArrayList<>();
        synchronized (this) {
            if (closed) {
                return CompletableFuture.failedFuture(cancellation());
            }
            List<TailBatch> range = batches.range(from, to);
            for (TailBatch batch : range) {
                if (!batch.isDurable()) {
                    missing.add(batch);
                }
            }
            lastCheckpoint = Math.max(lastCheckpoint, checkpointId);
            boolean inline =
                    TailBatches.canTravelInline(missing, inlineThresholdBytes)
                            && mayOmit(missing, checkpointId);
            persist = new PendingPersist(range, inline, checkpointId, unreferenced());
            persists.add(persist);
            if (inline) {
                for (TailBatch batch : missing) {
                    if (batch.needsEncoding()) {
                        encode.add(batch);
                        records.add(batch.startEncoding());
                    }
                }
            }
        }
        // An aborted checkpoint must neither hold memory nor count as one that has its segments.
        persist.whenCancelled(cause -> giveUp(persist, cause));
        try {
            if (!persist.isInline() || missing.size() >= MAX_INLINE_BATCHES) {
                missing.forEach(batch -> commit.require(batch.sealed()));
            }
        } catch (Throwable t) {
            giveUp(persist, t);
        }
        for (int i = 0; i < encode.size(); i++) {
            encode(encode.get(i), records.get(i));
        }
        startCompaction(TailCompaction::persisted);
        completeFinished();
        return persist.future();
    }

    /**
     * Encodes each batch into an inline segment of its own; otherwise a handle would contain a
     * shared one once per batch.
     */
    private void encode(TailBatch batch, LogBatch records) {
        try {
            commit.inline(
                    List.of(records),
                    (at, failure) -> encoded(batch, at == null ? null : at.get(0), failure));
        } catch (Throwable t) {
            records.release();
            encoded(batch, null, t);
        }
    }

    /** Starts a compaction if one is chosen. */
    private void startCompaction(Function<TailCompaction, Optional<Compaction<TailBatch>>> choice) {
        try {
            Optional<Compaction<TailBatch>> begun = Optional.empty();
            synchronized (this) {
                if (!closed) {
                    begun = choice.apply(compaction);
                }
            }
            compactor.start(begun);
        } catch (Throwable t) {
            LOG.error("No compaction could begin; this is a defect, please report it.", t);
        }
    }

    /** No effect if the persist has ended before. */
    private void giveUp(PendingPersist persist, Throwable cause) {
        synchronized (this) {
            if (!persists.take(persist)) {
                return;
            }
            persist.release();
        }
        persist.fail(cause);
    }

    @Override
    public synchronized long lastCheckpoint() {
        return lastCheckpoint;
    }

    /** Allows a persist to begin at {@code sequence}, which the next batch will have. */
    synchronized void addCompactionBoundary(long sequence) {
        batches.addCompactionBoundary(sequence);
    }

    /** Removes one boundary at {@code sequence}. */
    synchronized void removeCompactionBoundary(long sequence) {
        batches.removeCompactionBoundary(sequence);
    }

    @Override
    public void compacted(Compaction<TailBatch> ended, BatchPosition position) {
        UnreferencedBatches unreferenced = unreferenced();
        boolean taken;
        synchronized (this) {
            if (!compaction.isCurrent(ended)) {
                return;
            }
            taken = compaction.compacted(ended, position, lastCheckpoint, unreferenced);
        }
        try {
            if (taken) {
                compactor.metrics().compacted();
            } else {
                ended.abandon();
            }
        } finally {
            unreferenced.run();
            if (taken) {
                startCompaction(TailCompaction::next);
            }
        }
    }

    @Override
    public void compactionFailed(Compaction<TailBatch> failed, @Nullable Throwable cause) {
        UnreferencedBatches unreferenced = unreferenced();
        Runnable afterwards;
        synchronized (this) {
            if (!compaction.isCurrent(failed)) {
                return;
            }
            afterwards = compaction.failed(failed, cause, unreferenced);
        }
        failed.abandon();
        unreferenced.run();
        afterwards.run();
    }

    /**
     * Returns whether a checkpoint may have batches inline: no earlier checkpoint waits for them,
     * and no other changelog is affected.
     */
    @GuardedBy("this")
    private boolean mayOmit(List<TailBatch> missing, long checkpointId) {
        List<SealedBatch> omitted = new ArrayList<>(missing.size());
        for (TailBatch batch : missing) {
            if (persists.needSegmentOf(batch)) {
                return false;
            }
            omitted.add(batch.sealed());
        }
        return commit.omit(omitted, checkpointId);
    }

    /** Reports that a batch is encoded for handles, or could not be. Called without a lock held. */
    private void encoded(
            TailBatch batch, @Nullable BatchPosition position, @Nullable Throwable failure) {
        List<PendingPersist> failed = new ArrayList<>();
        synchronized (this) {
            if (position == null) {
                batch.encodingFailed();
                persists.takeWaiting(batch, true, failed);
            } else {
                persists.arrived(batch, true);
                batch.becameInline(position);
            }
            failed.forEach(PendingPersist::release);
        }
        IOException cause =
                new IOException("State changes could not be encoded for the checkpoint", failure);
        failed.forEach(persist -> persist.fail(cause));
        completeFinished();
    }

    /** Truncates the batches before {@code to}, exclusive. Pending persists keep theirs. */
    void truncate(long to) {
        UnreferencedBatches unreferenced = unreferenced();
        synchronized (this) {
            for (TailBatch batch : batches.truncate(to)) {
                pendingBytes -= batch.takePendingBytes();
                unreferenced.add(batch);
            }
        }
        unreferenced.run();
    }

    /** Truncates everything and cancels pending persists. */
    void close() {
        List<PendingPersist> cancelled;
        Compaction<TailBatch> unwanted;
        UnreferencedBatches unreferenced = unreferenced();
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
            localLog.closing();
            cancelled = persists.takeAll();
            cancelled.forEach(PendingPersist::release);
            batches.all().forEach(unreferenced::add);
            batches.clear();
            unwanted = compaction.close(unreferenced);
        }
        try {
            commit.unregister(this);
        } finally {
            try {
                cancelled.forEach(persist -> persist.fail(cancellation()));
                if (unwanted != null) {
                    unwanted.abandon();
                }
            } finally {
                unreferenced.run();
                localLog.closed();
            }
        }
    }

    private UnreferencedBatches unreferenced() {
        return new UnreferencedBatches(commit, localLog);
    }

    private static CancellationException cancellation() {
        return new CancellationException("The changelog of this task is closed");
    }

    @Override
    public void durable(TailBatch batch, BatchPosition position) {
        try {
            synchronized (this) {
                pendingBytes -= batch.takePendingBytes();
                persists.arrived(batch, false);
                batch.becameDurable(position);
            }
        } finally {
            completeFinished();
        }
    }

    /** Reports that a handle will never be sent to the JobManager. Called without a lock held. */
    void dropped(ChangelogStateHandleStreamImpl handle) {
        deliveries.dropped(handle);
    }

    private void completeFinished() {
        boolean more = true;
        while (more) {
            more = completeNext();
        }
    }

    /** Completes one persist; returns false if none is complete. */
    private boolean completeNext() {
        PendingPersist complete;
        synchronized (this) {
            complete = persists.takeComplete();
            if (complete == null) {
                return false;
            }
            assemble(complete);
        }
        complete.end();
        return true;
    }

    /**
     * Hands the segments of a persist over to the JobManager. Happens under the lock that closing
     * takes, so that closing never deletes a segment that was handed over. A failure fails this
     * persist and no other.
     */
    @GuardedBy("this")
    private void assemble(PendingPersist persist) {
        Delivery delivery = null;
        try {
            List<BatchPosition> positions = persist.positions();
            long newBytes = persist.handOver(positions);
            delivery = new Delivery(commit, positions);
            SnapshotResult<ChangelogStateHandleStreamImpl> result =
                    handles.assemble(positions, newBytes);
            if (!positions.isEmpty()) {
                deliveries.add(result.getJobManagerOwnedSnapshot(), delivery);
            }
            if (positions.stream().anyMatch(BatchPosition::isInline)) {
                commit.persistedInline();
            }
            persist.deliver(result, delivery);
        } catch (Throwable t) {
            persist.cannotDeliver(t, delivery);
        } finally {
            persist.release();
        }
    }

    @Override
    public void suspended(TailBatch batch, IOException cause) {
        List<PendingPersist> failed = new ArrayList<>();
        synchronized (this) {
            // A checkpoint that has resumed the upload meanwhile does not fail because of the past.
            if (batch.isDurable() || !commit.isSuspended(batch.sealed())) {
                return;
            }
            persists.takeWaiting(batch, false, failed);
            failed.forEach(PendingPersist::release);
        }
        failed.forEach(persist -> persist.fail(cause));
    }

    @Override
    public void grownOlder() {
        age.grownOlder();
    }

    @Override
    public void memoryShort() {
        age.memoryShort();
    }

    @Override
    public void storageClosed() {
        try {
            close();
        } catch (Throwable t) {
            LOG.error("A changelog could not be closed; this is a defect, please report it.", t);
        }
    }
}
