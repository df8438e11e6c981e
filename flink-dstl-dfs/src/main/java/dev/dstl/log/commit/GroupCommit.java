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

package dev.dstl.log.commit;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.dstl.log.batch.LogBatch;
import dev.dstl.log.config.DstlSettings;
import dev.dstl.log.execution.ErrorLog;
import dev.dstl.log.execution.Timers;
import dev.dstl.log.execution.Timers.Timer;
import dev.dstl.log.local.LocalCopies;
import dev.dstl.log.memory.JobMemory;
import dev.dstl.log.memory.MemoryUse;
import dev.dstl.log.memory.ProcessMemory;
import dev.dstl.log.metrics.DstlMetrics;
import dev.dstl.log.ownership.SegmentRegistry;
import dev.dstl.log.segment.EncodedSegment;
import dev.dstl.log.segment.RecentSegments;
import dev.dstl.log.segment.SegmentEncoder;
import dev.dstl.log.upload.InFlightBudget;
import dev.dstl.log.upload.SegmentUploader;
import java.io.IOException;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.BiConsumer;
import javax.annotation.Nullable;

/**
 * Queues the sealed batches of all tasks of a job on a TaskManager and rolls them into one segment:
 * shortly after an urgent batch, at a size, or when the oldest batch reaches an age. A batch is
 * sealed when a checkpoint persists, when a task's active batch reaches a size, and when it reaches
 * an age. A batch that is small enough to travel in the checkpoint's handle is not urgent and
 * leaves with the next segment.
 *
 * <pre>
 *   writers --submit, hold--> queue --roll--> segment --upload--> durable --> listeners
 *          '--inline--> encoded --> listener
 * </pre>
 *
 * <p>Thread-safe; called by tasks and by upload threads; the lock is only ever held for a few
 * assignments, and no listener is called under it. One batch's listener or release never affects
 * another batch: a batch that is released after its segment was rolled stays in the file, unused.
 */
public final class GroupCommit implements AutoCloseable {

    private static final ErrorLog LOG = new ErrorLog(GroupCommit.class);

    private final SegmentUploader uploader;
    private final SegmentRegistry registry;
    private final LocalCopies localCopies;
    private final SegmentRoller roller;
    private final InFlightBudget budget;
    private final Timers timers;
    private final DstlMetrics metrics;
    private final long lingerMillis;
    private final long rollThresholdBytes;
    private final long inlineThresholdBytes;
    private final AgedLogs logs;
    private final Object lock = new Object();

    @GuardedBy("lock")
    private final Set<SealedBatch> queue = new LinkedHashSet<>();

    @GuardedBy("lock")
    private long queuedBytes;

    @GuardedBy("lock")
    @Nullable
    private Timer linger;

    @GuardedBy("lock")
    private boolean closed;

    /**
     * Creates an empty queue and, unless disabled, schedules the age checks. All arguments stay the
     * caller's.
     */
    public GroupCommit(
            DstlSettings settings,
            SegmentUploader uploader,
            SegmentRegistry registry,
            LocalCopies localCopies,
            RecentSegments recentSegments,
            InFlightBudget budget,
            Timers timers,
            DstlMetrics metrics) {
        this.uploader = uploader;
        this.registry = registry;
        this.localCopies = localCopies;
        SegmentListener listener = new Listener();
        this.roller =
                new SegmentRoller(
                        batches ->
                                new RolledSegment(
                                        batches,
                                        listener,
                                        registry,
                                        uploader,
                                        localCopies,
                                        recentSegments,
                                        budget));
        this.budget = budget;
        this.timers = timers;
        this.metrics = metrics;
        this.lingerMillis = settings.lingerMillis();
        this.rollThresholdBytes = settings.rollThresholdBytes();
        this.inlineThresholdBytes = settings.inlineThresholdBytes();
        metrics.measureUploadQueue(this::queueSize);
        metrics.measureInFlight(budget::reservedBytes);
        ProcessMemory process = budget.memory().process();
        metrics.measureMemory(process::reservedBytes, process::stopBytes);
        uploader.reportWaiting(budget::reservedBytes);
        this.logs = new AgedLogs(timers, settings.maxAgeMillis(), budget, this::rollAgedQueue);
    }

    /** Returns the changelog memory of the job. */
    public JobMemory memory() {
        return budget.memory();
    }

    /** Returns the copies of segments on the local disk. */
    public LocalCopies localCopies() {
        return localCopies;
    }

    /** Starts checking the age of a changelog's active batch. */
    public void register(AgedLog log) {
        logs.add(log);
    }

    /**
     * Stops checking the age of a changelog's active batch. Its sealed batches are not affected.
     */
    public void unregister(AgedLog log) {
        logs.remove(log);
    }

    private void rollAgedQueue() {
        List<RolledSegment> rolled;
        synchronized (lock) {
            // Batches of the tasks that were just asked to seal may still join.
            rolled = queue.isEmpty() ? List.of() : rollSoon();
        }
        start(rolled);
    }

    /**
     * Returns how many bytes of a changelog may travel inline in a handle instead of waiting for an
     * upload; 0 for none.
     */
    public long inlineThresholdBytes() {
        return inlineThresholdBytes;
    }

    /**
     * Queues an urgent batch, which is uploaded shortly. Its bytes count as in flight until it is
     * durable or released.
     *
     * @throws IllegalStateException if the storage is closed; the batch stays the caller's then
     */
    public void submit(SealedBatch batch) {
        enqueue(batch, true);
    }

    /**
     * Queues a batch that is not urgent. It is uploaded with the next segment that is rolled for
     * another batch, or when it reaches the age limit. Its bytes count as in flight until it is
     * durable or released.
     *
     * @throws IllegalStateException if the storage is closed; the batch stays the caller's then
     */
    public void hold(SealedBatch batch) {
        enqueue(batch, false);
    }

    /**
     * Uploads the outputs of compactions at once, in a segment of their own, or in several if the
     * changelogs' last checkpoints differ too much to share one. They do not count as in flight, so
     * no task stops because of them.
     *
     * @throws IllegalStateException if the storage is closed; the batches stay the caller's then
     */
    public void submitOutputs(List<SealedBatch> batches) {
        List<RolledSegment> rolled;
        synchronized (lock) {
            checkOpen();
            batches.forEach(batch -> batch.moveTo(BatchState.QUEUED));
            rolled = roller.roll(batches);
        }
        start(rolled);
    }

    /** Returns whether the upload of a batch is suspended until a checkpoint needs it. */
    public boolean isSuspended(SealedBatch batch) {
        RolledSegment segment;
        synchronized (lock) {
            segment = batch.segment();
        }
        return segment != null && segment.upload().isSuspended();
    }

    /**
     * Asks whether the checkpoints of a changelog may name a durable output of a compaction from
     * now on.
     *
     * @param lastCheckpoint last checkpoint of the changelog, which does not name the output
     * @return false if other changelogs began to name the segment at checkpoints too far from that
     *     one; the output may then never be named
     */
    public boolean enter(SealedBatch output, long lastCheckpoint) {
        synchronized (lock) {
            return SegmentSharing.allowsEntry(output, lastCheckpoint)
                    && output.enter(lastCheckpoint);
        }
    }

    /** Returns the number of open changelogs. */
    public int logCount() {
        return logs.count();
    }

    @GuardedBy("lock")
    private void checkOpen() {
        if (closed) {
            throw new IllegalStateException(
                    "The changelog storage of this job is closed, nothing can be appended");
        }
    }

    private void enqueue(SealedBatch batch, boolean urgent) {
        List<RolledSegment> rolled = List.of();
        synchronized (lock) {
            checkOpen();
            batch.moveTo(BatchState.QUEUED);
            batch.reserve();
            budget.reserve(batch.reservedBytes());
            queue.add(batch);
            queuedBytes += batch.sizeBytes();
            if (queuedBytes >= rollThresholdBytes) {
                rolled = roll();
            } else if (urgent) {
                rolled = rollSoon();
            }
        }
        start(rolled);
    }

    /**
     * Rolls the queue after the linger; without a linger, rolls it at once and returns the
     * segments.
     */
    @GuardedBy("lock")
    private List<RolledSegment> rollSoon() {
        if (lingerMillis == 0) {
            return roll();
        }
        if (linger == null) {
            linger = timers.schedule(this::lingered, lingerMillis);
        }
        return List.of();
    }

    private void lingered() {
        List<RolledSegment> rolled;
        synchronized (lock) {
            rolled = roll();
        }
        start(rolled);
    }

    /**
     * Returns one segment, or several if the changelogs' last checkpoints differ too much to share
     * one.
     */
    @GuardedBy("lock")
    private List<RolledSegment> roll() {
        if (linger != null) {
            linger.cancel();
            linger = null;
        }
        List<RolledSegment> rolled = roller.roll(queue);
        queue.clear();
        queuedBytes = 0;
        return rolled;
    }

    private void start(List<RolledSegment> rolled) {
        for (RolledSegment segment : rolled) {
            metrics.segmentRolled(segment.batches().size());
            segment.upload().ensureRunning();
        }
    }

    /**
     * Ensures that a batch becomes durable because a checkpoint needs it: rolls it if it is held,
     * and resumes its upload if that is suspended.
     */
    public void require(SealedBatch batch) {
        RolledSegment segment = null;
        List<RolledSegment> rolled = List.of();
        synchronized (lock) {
            if (batch.state() == BatchState.QUEUED) {
                rolled = rollSoon();
            } else if (batch.state() == BatchState.IN_SEGMENT) {
                segment = batch.segment();
            }
        }
        start(rolled);
        if (segment != null) {
            segment.upload().ensureRunning();
        }
    }

    /**
     * Asks whether a checkpoint may have batches inline instead of naming their segments.
     *
     * @param batches of one changelog; no earlier checkpoint of it waits for their segments
     * @return true if the checkpoint must have them inline; false if it must wait for their
     *     segments
     */
    public boolean omit(List<SealedBatch> batches, long checkpointId) {
        synchronized (lock) {
            if (!SegmentSharing.allows(batches, checkpointId)) {
                return false;
            }
            batches.forEach(batch -> batch.omitBy(checkpointId));
            return true;
        }
    }

    /**
     * Encodes batches into a segment that travels inline in a handle. Makes no request to the
     * store, and does not affect the upload of the batches.
     *
     * @param batches of one changelog, ascending; owned and released by this method, unless it
     *     throws
     * @param whenDone called on a thread of the changelog storage, with the positions of the
     *     batches or with a failure
     */
    public void inline(
            List<LogBatch> batches, BiConsumer<List<BatchPosition>, Throwable> whenDone) {
        String name = InlineSegment.name(batches);
        long workingBytes = SegmentEncoder.workingBytes(batches);
        BiConsumer<EncodedSegment, Throwable> encoded =
                (segment, failure) -> {
                    memory().release(MemoryUse.ENCODING, workingBytes);
                    InlineSegment.report(whenDone, name, segment, failure);
                };
        memory().reserve(MemoryUse.ENCODING, workingBytes);
        try {
            uploader.encode(batches, encoded);
        } catch (Throwable t) {
            memory().release(MemoryUse.ENCODING, workingBytes);
            throw t;
        }
    }

    /**
     * Reports that a handle with a batch is about to be sent to the JobManager, which then owns the
     * segment, unless the segment travels inline.
     */
    public void handOver(BatchPosition position) {
        if (!position.isInline()) {
            registry.handOver(position.owner());
        }
    }

    /** Reports that a handle with a batch was dropped before it was sent to the JobManager. */
    public void reclaim(BatchPosition position) {
        if (!position.isInline()) {
            registry.reclaim(position.owner());
        }
    }

    /** Counts a persist that completed without waiting for the store. */
    public void persistedInline() {
        metrics.persistedInline();
    }

    /** Releases a batch that is no longer needed. Its listener is not called any more. */
    public void release(SealedBatch batch) {
        RolledSegment segment;
        synchronized (lock) {
            if (queue.remove(batch)) {
                queuedBytes -= batch.sizeBytes();
            }
            batch.moveTo(BatchState.RELEASED);
            segment = batch.segment();
        }
        if (segment == null) {
            batch.batch().release();
            budget.release(batch.reservedBytes());
            return;
        }
        segment.releaseCopy();
        if (registry.release(segment.owner())) {
            segment.abandon();
        }
    }

    private int queueSize() {
        synchronized (lock) {
            return queue.size();
        }
    }

    /** Rejects further batches and notifies every changelog. Running uploads continue. */
    @Override
    public void close() {
        synchronized (lock) {
            closed = true;
            if (linger != null) {
                linger.cancel();
                linger = null;
            }
        }
        logs.close();
    }

    private final class Listener implements SegmentListener {

        @Override
        public void segmentDurable(RolledSegment segment) {
            synchronized (lock) {
                segment.becameDurable();
            }
        }

        @Override
        public void durable(SealedBatch batch, BatchPosition position) {
            BatchListener listener;
            synchronized (lock) {
                if (batch.state() == BatchState.RELEASED) {
                    return;
                }
                listener = batch.listener();
                batch.moveTo(BatchState.DURABLE);
            }
            try {
                listener.durable(position);
            } catch (Throwable t) {
                report(batch, t);
            }
        }

        @Override
        public void suspended(List<SealedBatch> batches, IOException cause) {
            for (SealedBatch batch : batches) {
                try {
                    batch.listener().suspended(cause);
                } catch (Throwable t) {
                    report(batch, t);
                }
            }
        }

        private void report(SealedBatch batch, Throwable failure) {
            LOG.error(
                    "The writer of {} failed; this is a defect, please report it.",
                    batch.batch(),
                    failure);
        }
    }
}
