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

package dev.dstl.log.ownership;

import dev.dstl.log.config.DstlOptions;
import dev.dstl.log.execution.Timers;
import dev.dstl.log.metrics.DstlMetrics;
import dev.dstl.log.store.SegmentStore;
import java.io.IOException;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.flink.core.fs.Path;
import org.apache.flink.util.function.SupplierWithException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tracks the owner of each segment, and is the only class that deletes segments. It deletes two
 * things: files of attempts that lost, and segments that lost their last reference while no handle
 * containing them was ever sent to the JobManager. Everything else is the JobManager's.
 *
 * <p>Thread-safe. Deleting happens on the executor; a failed deletion is retried a few times; then
 * the file is left behind, counted, and logged once. A deletion without an answer is interrupted
 * and has failed; if it ignores the interrupt, it keeps its thread, which is logged once. Deletions
 * wait for a thread without a limit.
 */
public final class SegmentRegistry {

    private static final Logger LOG = LoggerFactory.getLogger(SegmentRegistry.class);
    private static final int MAX_TRIES = 4;
    private static final long RETRY_DELAY_MILLIS = 1_000;

    /** Longer than any store needs. All other deletions may have to wait for one that hangs. */
    private static final long DELETE_MILLIS = 60_000;

    /** Longer than data takes that a client has sent or still sends. */
    private static final long DELETE_AGAIN_MILLIS = 30_000;

    private final SegmentStore store;
    private final Executor discards;
    private final Timers timers;
    private final DstlMetrics metrics;
    private final AtomicInteger ownedSegments = new AtomicInteger();
    private final AtomicBoolean failureReported = new AtomicBoolean();
    private final AtomicBoolean hangReported = new AtomicBoolean();

    /** Number of deletions that have neither succeeded nor finally failed. */
    private final AtomicInteger pendingDiscards = new AtomicInteger();

    /** Second deletions that are not due yet. */
    private final Set<Deletion> postponed = ConcurrentHashMap.newKeySet();

    private volatile Runnable whenQuiet = () -> {};
    private volatile boolean hurried;
    private volatile boolean closed;

    /**
     * Creates a registry without segments.
     *
     * @param discards runs deletions; if it rejects one, the calling thread deletes
     */
    public SegmentRegistry(
            SegmentStore store, Executor discards, Timers timers, DstlMetrics metrics) {
        this.store = store;
        this.discards = discards;
        this.timers = timers;
        this.metrics = metrics;
        metrics.measureUncheckpointedSegments(ownedSegments::get);
    }

    /**
     * Starts tracking a segment that is being uploaded.
     *
     * @param references number of batches in the segment; each is released once
     */
    public OwnedSegment open(int references) {
        return new OwnedSegment(references);
    }

    /**
     * Reports that an attempt succeeded. Deletes the file if the segment has no references left.
     */
    public void durable(OwnedSegment segment, Path file) {
        if (segment.durableAs(file) == SegmentOwnership.TASK_MANAGER) {
            ownedSegments.incrementAndGet();
        } else {
            beginDiscard(file);
        }
    }

    /**
     * Reports that a handle with the segment is about to be sent to the JobManager. Called once per
     * handle.
     *
     * @throws IllegalStateException if the segment is not durable or has no references left
     */
    public void handOver(OwnedSegment segment) {
        if (segment.handOver()) {
            ownedSegments.decrementAndGet();
        }
    }

    /**
     * Reports that a handle with the segment was dropped before it was sent to the JobManager. If
     * no other handle may have been sent, the TaskManager owns the segment again, and deletes it if
     * it has no references.
     *
     * @throws IllegalStateException if it was called more often than {@link #handOver}
     */
    public void reclaim(OwnedSegment segment) {
        if (segment.reclaim()) {
            ownedSegments.incrementAndGet();
            if (!segment.isReferenced()) {
                deleteOwned(segment);
            }
        }
    }

    /**
     * Drops the reference of a batch. Deletes the segment with the last reference, if the
     * TaskManager owns it.
     *
     * @return whether it was the last reference
     * @throws IllegalStateException if there are no references left
     */
    public boolean release(OwnedSegment segment) {
        if (!segment.release()) {
            return false;
        }
        deleteOwned(segment);
        return true;
    }

    private void deleteOwned(OwnedSegment segment) {
        Path file = segment.disown();
        if (file != null) {
            ownedSegments.decrementAndGet();
            beginDiscard(file);
        }
    }

    /** Deletes the file of an attempt that lost, if it exists. */
    public void discardAttempt(Path file) {
        beginDiscard(file);
    }

    /**
     * Deletes the file of an attempt that was cancelled or failed, now and again later: a failure
     * may only mean that the answer of the store was lost, and the store may store the file after
     * its first deletion. The file counts once, as the second deletion ends.
     */
    public void discardAttemptTwice(Path file) {
        if (closed) {
            beginDiscard(file);
            return;
        }
        Deletion again = new Deletion(file, true);
        pendingDiscards.incrementAndGet();
        postponed.add(again);
        begin(new Deletion(file, false));
        if (hurried) {
            discardPostponed(again);
        } else {
            schedule(again, () -> discardPostponed(again), DELETE_AGAIN_MILLIS);
        }
    }

    private void discardPostponed(Deletion deletion) {
        if (postponed.remove(deletion)) {
            discardAgain(deletion);
        }
    }

    /** Postpones no deletion from now on, and makes those that were, since the process ends. */
    public void hurry() {
        hurried = true;
        postponed.forEach(this::discardPostponed);
    }

    /** Repeats no deletion from now on: a file whose deletion fails is left behind. */
    public void close() {
        closed = true;
    }

    /**
     * Registers an action that runs whenever no deletion is pending.
     *
     * @param action runs on any thread; must not block
     */
    public void whenQuiet(Runnable action) {
        whenQuiet = action;
        pendingDiscards.incrementAndGet();
        discardEnded();
    }

    private void beginDiscard(Path file) {
        begin(new Deletion(file, true));
    }

    private void begin(Deletion deletion) {
        pendingDiscards.incrementAndGet();
        discard(deletion);
    }

    private void discardEnded() {
        if (pendingDiscards.decrementAndGet() == 0) {
            whenQuiet.run();
        }
    }

    private void discard(Deletion deletion) {
        try {
            execute(deletion);
        } catch (RejectedExecutionException ended) {
            deleteHere(deletion);
        }
    }

    /** Called by a timer, which must not block. */
    private void discardAgain(Deletion deletion) {
        try {
            execute(deletion);
        } catch (RejectedExecutionException ended) {
            giveUp(deletion, ended);
        }
    }

    private void execute(Deletion deletion) {
        try {
            discards.execute(() -> delete(deletion));
        } catch (RejectedExecutionException ended) {
            throw ended;
        } catch (Throwable notStarted) {
            // There may be no memory for one more thread; the caller may be a task. The store was
            // not asked, so this does not count as a try.
            discardLater(deletion, RETRY_DELAY_MILLIS);
        }
    }

    /**
     * Deletes with the interrupt flag cleared: the thread of an ending task may be interrupted, and
     * most clients would then do nothing.
     */
    private void deleteHere(Deletion deletion) {
        boolean interrupted = Thread.interrupted();
        try {
            deletion.tries = MAX_TRIES - 1;
            delete(deletion);
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private void delete(Deletion deletion) {
        try {
            deletion.tries++;
            deleteInTime(deletion.file);
        } catch (Throwable t) {
            // Not only IOException: file systems also throw what their clients throw.
            tryAgain(deletion, t);
            return;
        }
        if (deletion.counts) {
            metrics.fileDiscarded();
        }
        discardEnded();
    }

    private void deleteInTime(Path file) throws IOException {
        boolean unused =
                inTime(
                        file,
                        () -> {
                            store.delete(file);
                            return true;
                        });
    }

    /** Makes a request on the calling thread, with the time limit of deletions. */
    public <T> T inTime(Path path, SupplierWithException<T, IOException> request)
            throws IOException {
        TimedRequest timed = new TimedRequest(timers, DELETE_MILLIS, () -> doesNotReact(path));
        try {
            return request.get();
        } finally {
            timed.end();
        }
    }

    private void doesNotReact(Path file) {
        if (hangReported.compareAndSet(false, true)) {
            LOG.warn(
                    "Deleting {} does not end, and the client of the changelog store ignores the"
                            + " interrupt. Each such deletion keeps one of the '{}' threads that"
                            + " delete; when all are taken, further files that no checkpoint needs"
                            + " stay. Set the timeouts of the file system's client, and check the"
                            + " network. Logged once.",
                    file,
                    DstlOptions.DISCARD_THREADS.key());
        }
    }

    private void tryAgain(Deletion deletion, Throwable cause) {
        if (deletion.tries < MAX_TRIES && !closed) {
            discardLater(deletion, RETRY_DELAY_MILLIS * deletion.tries);
        } else {
            giveUp(deletion, cause);
        }
    }

    private void giveUp(Deletion deletion, Throwable cause) {
        if (deletion.counts) {
            leaveBehind(deletion.file, cause);
        }
        discardEnded();
    }

    private void discardLater(Deletion deletion, long delayMillis) {
        schedule(deletion, () -> discardAgain(deletion), delayMillis);
    }

    private void schedule(Deletion deletion, Runnable action, long delayMillis) {
        try {
            timers.schedule(action, delayMillis);
        } catch (Throwable noMemory) {
            giveUp(deletion, noMemory);
        }
    }

    private void leaveBehind(Path file, Throwable cause) {
        metrics.discardFailed();
        if (failureReported.compareAndSet(false, true)) {
            LOG.warn(
                    "Could not delete {}, which no checkpoint needs. Delete it by hand, or give"
                            + " the TaskManagers permission to delete. Further files are counted"
                            + " in numberOfDiscardFailures only.",
                    file,
                    cause);
        }
    }

    /** A file to delete. Used by one thread at a time. */
    private static final class Deletion {

        private final Path file;

        /** Whether this is the last deletion of the file. */
        private final boolean counts;

        private int tries;

        private Deletion(Path file, boolean counts) {
            this.file = file;
            this.counts = counts;
        }
    }
}
