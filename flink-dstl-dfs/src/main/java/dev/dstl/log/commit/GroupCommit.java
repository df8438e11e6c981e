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
import dev.dstl.log.execution.Timers;
import dev.dstl.log.execution.Timers.Timer;
import dev.dstl.log.local.LocalCopies;
import dev.dstl.log.memory.JobMemory;
import dev.dstl.log.memory.MemoryUse;
import dev.dstl.log.memory.ProcessMemory;
import dev.dstl.log.metrics.DstlMetrics;
import dev.dstl.log.ownership.SegmentRegistry;
import dev.dstl.log.segment.RecentSegments;
import dev.dstl.log.segment.SegmentEncoder;
import dev.dstl.log.upload.InFlightBudget;
import dev.dstl.log.upload.SegmentUploader;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import javax.annotation.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Collects the sealed batches of all tasks of a job on a TaskManager and cuts one segment from what
 * has come together: a short while after a batch came that is in a hurry, when there are enough
 * bytes, or when the queue grows old. Batches come when a checkpoint persists, when a task's active
 * batch grows too big, and when it grows too old. Those that are small enough to travel in the
 * checkpoint's handle are in no hurry, and go along with the next segment.
 *
 * <pre>
 *   writers --submit, hold--> queue --cut--> segment --upload--> durable --> listeners
 *          '--inline--> encoded --> listener
 * </pre>
 *
 * <p>Thread safe; called by tasks and by upload threads; the lock is only ever held for a few
 * assignments, and no listener is called under it. One batch's listener or release never affects
 * another batch: a batch that is released after the cut stays in the file, unused.
 */
public final class GroupCommit implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(GroupCommit.class);

    private final SegmentUploader uploader;
    private final SegmentRegistry registry;
    private final LocalCopies localCopies;
    private final RecentSegments recentSegments;
    private final InFlightBudget budget;
    private final Timers timers;
    private final DstlMetrics metrics;
    private final long lingerMillis;
    private final long cutThresholdBytes;
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
     * Starts with an empty queue and, unless switched off, the clock that ages batches. Owns none
     * of what it is given.
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
        this.recentSegments = recentSegments;
        this.budget = budget;
        this.timers = timers;
        this.metrics = metrics;
        this.lingerMillis = settings.lingerMillis();
        this.cutThresholdBytes = settings.cutThresholdBytes();
        this.inlineThresholdBytes = settings.inlineThresholdBytes();
        metrics.measureUploadQueue(this::queueSize);
        metrics.measureInFlight(budget::reservedBytes);
        ProcessMemory process = budget.memory().process();
        metrics.measureMemory(process::reservedBytes, process::limitBytes);
        uploader.reportWaiting(budget::reservedBytes);
        this.logs = new AgedLogs(timers, settings.maxAgeMillis(), budget, this::hurryQueue);
    }

    SegmentRegistry registry() {
        return registry;
    }

    /** What the job takes. */
    public JobMemory memory() {
        return budget.memory();
    }

    SegmentUploader uploader() {
        return uploader;
    }

    /** The copies of segments on the local disk. */
    public LocalCopies localCopies() {
        return localCopies;
    }

    RecentSegments recentSegments() {
        return recentSegments;
    }

    /** Begins to watch the age of a log. */
    public void register(AgedLog log) {
        logs.add(log);
    }

    /** Forgets a log. Its batches are not affected. */
    public void unregister(AgedLog log) {
        logs.remove(log);
    }

    private void hurryQueue() {
        List<CutSegment> cut;
        synchronized (lock) {
            // The tasks that were just asked to seal may still come along.
            cut = queue.isEmpty() ? List.of() : hurry();
        }
        start(cut);
    }

    /** Bytes of a log that may travel in a handle instead of being waited for; 0 for none. */
    public long inlineThresholdBytes() {
        return inlineThresholdBytes;
    }

    /**
     * Takes a batch that shall be durable soon. Its bytes count as in flight until it is durable or
     * released.
     *
     * @throws IllegalStateException if the storage is closed; the batch stays the caller's
     */
    public void submit(SealedBatch batch) {
        enqueue(batch, true);
    }

    /**
     * Takes a batch that is in no hurry: it goes into the next segment that is cut for another
     * reason, or when it grows old. Its bytes count as in flight until it is durable or released.
     *
     * @throws IllegalStateException if the storage is closed; the batch stays the caller's
     */
    public void hold(SealedBatch batch) {
        enqueue(batch, false);
    }

    /**
     * Takes outputs of compactions that shall be durable now, in a segment of their own, or in a
     * few where checkpoints of the logs lie far apart. No task has to stop for them: they do not
     * count as in flight.
     *
     * @throws IllegalStateException if the storage is closed; the batches stay the caller's
     */
    public void submitOutputs(List<SealedBatch> batches) {
        List<CutSegment> cut;
        synchronized (lock) {
            checkOpen();
            batches.forEach(batch -> batch.moveTo(BatchState.QUEUED));
            cut = cut(batches);
        }
        start(cut);
    }

    /**
     * The output of a compaction is durable, and its log would have its checkpoints name it.
     *
     * @param lastCheckpoint of the log: the last one that does not name it
     * @return false if checkpoints of other logs that name the segment lie too far from that: the
     *     log may never name it
     */
    public boolean enter(SealedBatch output, long lastCheckpoint) {
        synchronized (lock) {
            return SegmentSharing.allowsEntry(output, lastCheckpoint)
                    && output.enter(lastCheckpoint);
        }
    }

    /** How many logs there are now. */
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

    private void enqueue(SealedBatch batch, boolean inHurry) {
        List<CutSegment> cut = List.of();
        synchronized (lock) {
            checkOpen();
            batch.moveTo(BatchState.QUEUED);
            batch.reserve();
            budget.reserve(batch.reservedBytes());
            queue.add(batch);
            queuedBytes += batch.sizeBytes();
            if (queuedBytes >= cutThresholdBytes) {
                cut = cut();
            } else if (inHurry) {
                cut = hurry();
            }
        }
        start(cut);
    }

    /** Has the queue cut after the linger; with none, it is cut at once and returned. */
    @GuardedBy("lock")
    private List<CutSegment> hurry() {
        if (lingerMillis == 0) {
            return cut();
        }
        if (linger == null) {
            linger = timers.schedule(this::lingered, lingerMillis);
        }
        return List.of();
    }

    private void lingered() {
        List<CutSegment> cut;
        synchronized (lock) {
            cut = cut();
        }
        start(cut);
    }

    /** One segment, save when checkpoints of the logs lie far apart. */
    @GuardedBy("lock")
    private List<CutSegment> cut() {
        if (linger != null) {
            linger.cancel();
            linger = null;
        }
        List<CutSegment> cut = cut(queue);
        queue.clear();
        queuedBytes = 0;
        return cut;
    }

    @GuardedBy("lock")
    private List<CutSegment> cut(Collection<SealedBatch> queued) {
        List<CutSegment> cut = new ArrayList<>(1);
        for (List<SealedBatch> batches : SegmentSharing.partition(queued)) {
            CutSegment segment = new CutSegment(this, batches);
            batches.forEach(batch -> batch.cutInto(segment));
            cut.add(segment);
        }
        return cut;
    }

    private void start(List<CutSegment> cut) {
        for (CutSegment segment : cut) {
            metrics.segmentCut(segment.batches().size());
            segment.upload().ensureRunning();
        }
    }

    /**
     * A checkpoint needs a batch that is not durable: if it is held or its upload rests, it goes on
     * now.
     */
    public void require(SealedBatch batch) {
        CutSegment segment = null;
        List<CutSegment> cut = List.of();
        synchronized (lock) {
            if (batch.state() == BatchState.QUEUED) {
                cut = hurry();
            } else if (batch.state() == BatchState.IN_SEGMENT) {
                segment = batch.segment();
            }
        }
        start(cut);
        if (segment != null) {
            segment.upload().ensureRunning();
        }
    }

    /**
     * A checkpoint would like to do without the segments of some batches, and have them inline.
     *
     * @param batches of one log, none in a checkpoint of it that waits for segments
     * @return false if it must wait for the segments; true if it is taken to have them inline
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
     * Encodes batches into a segment that travels in a handle. Makes no request to the store and
     * does not change what becomes of the batches otherwise.
     *
     * @param batches of one log, ascending; owned by this call, which releases them
     * @param whenDone called on a thread of the log, with their positions or with what prevented it
     */
    public void inline(
            List<LogBatch> batches, BiConsumer<List<BatchPosition>, Throwable> whenDone) {
        String name = InlineSegment.name(batches);
        long workingBytes = SegmentEncoder.workingBytes(batches);
        memory().reserve(MemoryUse.ENCODING, workingBytes);
        uploader.encode(
                batches,
                (segment, failure) -> {
                    memory().release(MemoryUse.ENCODING, workingBytes);
                    InlineSegment.tell(whenDone, name, segment, failure);
                });
    }

    /**
     * A handle with a batch is about to be given to a checkpoint, which makes its segment the
     * JobManager's unless it travels in the handle.
     */
    public void handOut(BatchPosition position) {
        if (!position.isInline()) {
            registry.handOut(position.owner());
        }
    }

    /** A handle with a batch was dropped before it was sent to the JobManager. */
    public void takeBack(BatchPosition position) {
        if (!position.isInline()) {
            registry.takeBack(position.owner());
        }
    }

    /** A checkpoint was completed without waiting for the store. */
    public void persistedInline() {
        metrics.persistedInline();
    }

    /** A batch is not needed any more. Its listener hears nothing after that. */
    public void release(SealedBatch batch) {
        CutSegment segment;
        synchronized (lock) {
            if (queue.remove(batch)) {
                queuedBytes -= batch.sizeBytes();
            }
            batch.moveTo(BatchState.RELEASED);
            segment = batch.segment();
        }
        if (segment == null) {
            batch.batch().release();
            noLongerInFlight(batch.reservedBytes());
            return;
        }
        segment.releaseCopy();
        if (registry.release(segment.owner())) {
            segment.abandon();
        }
    }

    void noLongerInFlight(long bytes) {
        budget.release(bytes);
    }

    /** Before any of its batches is. */
    void durable(CutSegment segment) {
        synchronized (lock) {
            segment.becameDurable();
        }
    }

    void durable(SealedBatch batch, BatchPosition position) {
        synchronized (lock) {
            if (batch.state() == BatchState.RELEASED) {
                return;
            }
            batch.moveTo(BatchState.DURABLE);
        }
        tell(batch, listener -> listener.durable(position));
    }

    void parked(List<SealedBatch> batches, IOException cause) {
        for (SealedBatch batch : batches) {
            boolean needed;
            synchronized (lock) {
                needed = batch.state() != BatchState.RELEASED;
            }
            if (needed) {
                tell(batch, listener -> listener.parked(cause));
            }
        }
    }

    private static void tell(SealedBatch batch, Consumer<BatchListener> message) {
        try {
            message.accept(batch.listener());
        } catch (Throwable t) {
            LOG.error(
                    "The writer of {} failed; this is a defect, please report it.",
                    batch.batch(),
                    t);
        }
    }

    private int queueSize() {
        synchronized (lock) {
            return queue.size();
        }
    }

    /** Takes no more batches and tells every log. Uploads that run are not touched. */
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
}
