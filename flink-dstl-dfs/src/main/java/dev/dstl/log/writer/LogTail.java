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
import java.io.IOException;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;

/**
 * The sealed batches of one log that are not truncated, and the checkpoints that wait for some of
 * them. The task adds, persists and truncates; threads of the log report what became of a batch.
 * Futures are completed by whichever of them brings the last piece, and without any lock held.
 *
 * <p>A batch is released as soon as neither the tail nor a persist under way refers to it. A failed
 * persist fails alone: the batches stay and the next one asks for them again.
 */
final class LogTail implements AgedLog {

    private final GroupCommit commit;
    private final HandleAssembler handles;

    @GuardedBy("this")
    private final TreeMap<Long, TailBatch> batches = new TreeMap<>();

    @GuardedBy("this")
    private final List<PendingPersist> persists = new ArrayList<>();

    @GuardedBy("this")
    private boolean closed;

    @GuardedBy("this")
    private long sealedBatches;

    @GuardedBy("this")
    private long sealedBatchesBefore;

    private volatile boolean sealDue;

    LogTail(GroupCommit commit, HandleAssembler handles) {
        this.commit = commit;
        this.handles = handles;
        commit.register(this);
    }

    /**
     * Adds a batch behind all others and sends it on its way.
     *
     * @throws IllegalStateException if the storage is closed
     */
    void add(LogBatch batch) {
        TailBatch added = new TailBatch(this, batch);
        synchronized (this) {
            if (closed) {
                batch.release();
                throw new IllegalStateException(
                        "The changelog storage of this job is closed, nothing can be persisted");
            }
            batches.put(batch.sequence(), added);
            sealedBatches++;
            sealDue = false;
        }
        commit.submit(added.sealed());
    }

    /** Asks for a handle to the batches {@code [from, to)}, none of which is truncated. */
    CompletableFuture<SnapshotResult<ChangelogStateHandleStreamImpl>> persist(long from, long to) {
        PendingPersist persist;
        List<TailBatch> missing = new ArrayList<>();
        synchronized (this) {
            if (closed) {
                return CompletableFuture.failedFuture(cancellation());
            }
            List<TailBatch> range = new ArrayList<>(batches.subMap(from, to).values());
            persist = new PendingPersist(range);
            persists.add(persist);
            for (TailBatch batch : range) {
                if (!batch.isDurable()) {
                    missing.add(batch);
                }
            }
        }
        for (TailBatch batch : missing) {
            commit.require(batch.sealed());
        }
        completeFinished();
        return persist.future();
    }

    /** Forgets the batches before {@code to}, except for persists under way. */
    void truncate(long to) {
        Releases releases = new Releases();
        synchronized (this) {
            SortedMap<Long, TailBatch> truncated = batches.headMap(to);
            truncated.values().forEach(releases::add);
            truncated.clear();
        }
        releases.run();
    }

    /** Forgets everything; persists under way are cancelled. */
    void close() {
        List<PendingPersist> cancelled;
        Releases releases = new Releases();
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
            cancelled = new ArrayList<>(persists);
            persists.clear();
            cancelled.forEach(persist -> persist.batches().forEach(releases::add));
            batches.values().forEach(releases::add);
            batches.clear();
        }
        commit.unregister(this);
        cancelled.forEach(persist -> persist.future().completeExceptionally(cancellation()));
        releases.run();
    }

    private static CancellationException cancellation() {
        return new CancellationException("The changelog of this task is closed");
    }

    /** A batch arrived. Called without any lock held. */
    void durable(TailBatch batch, BatchPosition position) {
        synchronized (this) {
            batch.becameDurable(position);
            for (PendingPersist persist : persists) {
                if (persist.contains(batch)) {
                    persist.batchArrived();
                }
            }
        }
        completeFinished();
    }

    private void completeFinished() {
        List<Runnable> completions = new ArrayList<>();
        synchronized (this) {
            Iterator<PendingPersist> waiting = persists.iterator();
            while (waiting.hasNext()) {
                PendingPersist persist = waiting.next();
                if (persist.isComplete()) {
                    waiting.remove();
                    completions.add(completion(persist));
                }
            }
        }
        completions.forEach(Runnable::run);
    }

    /**
     * From here on the segments are the JobManager's: this happens under the lock that closing
     * takes, so that a cancelled persist never hands anything out.
     */
    @GuardedBy("this")
    private Runnable completion(PendingPersist persist) {
        List<BatchPosition> positions = new ArrayList<>(persist.batches().size());
        long newBytes = 0;
        Releases releases = new Releases();
        for (TailBatch batch : persist.batches()) {
            BatchPosition position = batch.position();
            commit.handOut(position);
            positions.add(position);
            newBytes += batch.handOut() ? position.frameBytes() : 0;
            releases.add(batch);
        }
        SnapshotResult<ChangelogStateHandleStreamImpl> result =
                handles.assemble(positions, newBytes);
        return () -> {
            persist.future().complete(result);
            releases.run();
        };
    }

    /** A batch will not arrive for now. Called without any lock held. */
    void parked(TailBatch batch, IOException cause) {
        List<PendingPersist> failed = new ArrayList<>();
        Releases releases = new Releases();
        synchronized (this) {
            if (batch.isDurable()) {
                return;
            }
            persists.removeIf(persist -> persist.contains(batch) && failed.add(persist));
            failed.forEach(persist -> persist.batches().forEach(releases::add));
        }
        failed.forEach(persist -> persist.future().completeExceptionally(cause));
        releases.run();
    }

    /** Whether the task should seal its active batch because it grows old. */
    boolean isSealDue() {
        return sealDue;
    }

    /** The active batch is too young after all. */
    void postponeSeal() {
        sealDue = false;
    }

    @Override
    public synchronized void grownOlder() {
        sealDue = sealedBatches == sealedBatchesBefore;
        sealedBatchesBefore = sealedBatches;
    }

    @Override
    public void storageClosed() {
        close();
    }

    /** Drops references, and releases without the lock what nobody refers to any more. */
    private final class Releases implements Runnable {

        private final List<TailBatch> unreferenced = new ArrayList<>();

        /** Called with the lock held. */
        void add(TailBatch batch) {
            if (batch.release()) {
                unreferenced.add(batch);
            }
        }

        @Override
        public void run() {
            unreferenced.forEach(batch -> commit.release(batch.sealed()));
        }
    }
}
