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

import dev.dstl.log.execution.Timers;
import dev.dstl.log.metrics.DstlMetrics;
import dev.dstl.log.store.SegmentStore;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.flink.core.fs.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tracks the owner of each segment, and is the only class that deletes segments. It deletes two
 * things: files of attempts that lost, and segments that lost their last reference while no handle
 * containing them was ever sent to the JobManager. Everything else is the JobManager's.
 *
 * <p>Thread safe. Deleting happens on the executor; a failed deletion is retried a few times; then
 * the file is left behind, counted, and logged once. Deletions wait for a thread without a limit.
 */
public final class SegmentRegistry {

    private static final Logger LOG = LoggerFactory.getLogger(SegmentRegistry.class);
    private static final int MAX_TRIES = 4;
    private static final long RETRY_DELAY_MILLIS = 1_000;

    private final SegmentStore store;
    private final Executor discards;
    private final Timers timers;
    private final DstlMetrics metrics;
    private final AtomicInteger ownedSegments = new AtomicInteger();
    private final AtomicBoolean failureReported = new AtomicBoolean();

    /** Files that are to be deleted and neither are nor are given up. */
    private final AtomicInteger pendingDiscards = new AtomicInteger();

    private volatile Runnable whenQuiet = () -> {};

    /**
     * Starts without segments.
     *
     * @param discards where to delete; when it rejects work, the caller's thread deletes
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
     * Begins to track a segment.
     *
     * @param references how many batches are in it; each is released once
     */
    public OwnedSegment open(int references) {
        return new OwnedSegment(references);
    }

    /** An attempt succeeded. Without references left, its file is deleted at once. */
    public void durable(OwnedSegment segment, Path file) {
        if (segment.durableAs(file) == SegmentOwnership.TASK_MANAGER) {
            ownedSegments.incrementAndGet();
        } else {
            beginDiscard(file);
        }
    }

    /**
     * A handle that contains the segment is about to be given to a checkpoint. Once for every
     * handle.
     *
     * @throws IllegalStateException if the segment is not durable, or has no reference left
     */
    public void handOver(OwnedSegment segment) {
        if (segment.handOver()) {
            ownedSegments.decrementAndGet();
        }
    }

    /**
     * A handle that contains the segment was dropped before it was sent to the JobManager. Without
     * another handle that may have been sent the segment is the TaskManager's again, and without
     * references it is deleted.
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
     * A batch in the segment is not needed any more.
     *
     * @return whether it was the last one
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

    /** Deletes what an attempt left behind that lost or failed, if it left anything. */
    public void discardAttempt(Path file) {
        beginDiscard(file);
    }

    /**
     * Has an action run as soon as there is nothing to delete; more than once if there is again.
     *
     * @param action runs on any thread, must not block
     */
    public void whenQuiet(Runnable action) {
        whenQuiet = action;
        pendingDiscards.incrementAndGet();
        discardEnded();
    }

    private void beginDiscard(Path file) {
        pendingDiscards.incrementAndGet();
        discard(file, 1);
    }

    private void discardEnded() {
        if (pendingDiscards.decrementAndGet() == 0) {
            whenQuiet.run();
        }
    }

    private void discard(Path file, int number) {
        try {
            discards.execute(() -> delete(file, number));
        } catch (RejectedExecutionException closed) {
            deleteHere(file);
        } catch (Throwable notStarted) {
            // There may be no memory for one more thread; the caller may be a task. The store has
            // refused nothing, so it does not count as a try.
            discardLater(file, number, RETRY_DELAY_MILLIS);
        }
    }

    /**
     * The thread of a task that ends may be interrupted, and most clients would do nothing then.
     */
    private void deleteHere(Path file) {
        boolean interrupted = Thread.interrupted();
        try {
            delete(file, MAX_TRIES);
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private void delete(Path file, int number) {
        try {
            store.delete(file);
        } catch (Throwable t) {
            // Not only IOException: file systems also throw what their clients throw.
            tryAgain(file, number, t);
            return;
        }
        metrics.fileDiscarded();
        discardEnded();
    }

    private void tryAgain(Path file, int number, Throwable cause) {
        if (number < MAX_TRIES) {
            discardLater(file, number + 1, RETRY_DELAY_MILLIS * number);
        } else {
            leaveBehind(file, cause);
        }
    }

    private void discardLater(Path file, int number, long delayMillis) {
        timers.schedule(() -> discard(file, number), delayMillis);
    }

    private void leaveBehind(Path file, Throwable cause) {
        metrics.discardFailed();
        discardEnded();
        if (failureReported.compareAndSet(false, true)) {
            LOG.warn(
                    "Could not delete {}, which no checkpoint needs. Delete it by hand, or give"
                            + " the TaskManagers permission to delete. Further files are counted"
                            + " in numberOfDiscardFailures only.",
                    file,
                    cause);
        }
    }
}
