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

package dev.dstl.log.compaction;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.dstl.log.batch.ActiveBatch;
import dev.dstl.log.batch.LogBatch;
import dev.dstl.log.batch.PagePool;
import dev.dstl.log.commit.GroupCommit;
import dev.dstl.log.config.DstlSettings;
import dev.dstl.log.execution.Timers;
import dev.dstl.log.memory.JobMemory;
import dev.dstl.log.metrics.DstlMetrics;
import dev.dstl.log.replay.DstlHandleReader;
import dev.dstl.log.segment.ReadSession;
import java.io.IOException;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import javax.annotation.Nullable;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs the compactions of a job on a TaskManager. Reads the inputs of up to {@value #MAX_READING}
 * compactions at a time, from memory or the local disk where possible, drops obsolete records, and
 * writes the outputs of several changelogs into one segment. Each compaction reserves the memory
 * for its records first. A checkpoint therefore names few segments and a restore reads few, however
 * many checkpoints were taken since the last materialization. Thread-safe.
 *
 * <p>A read that times out is abandoned, and the next compaction gets a new thread. A thread that
 * ignores the interrupt is left behind. Compaction is suspended while {@value #MAX_HANGING} such
 * reads hang, or others whose streams do not close.
 */
public final class Compactor {

    /** Maximum ratio of the size of records in memory to that of their frames. */
    private static final int MAX_EXPANSION = 4;

    /** Divisor of the heap size for the maximum size of one compaction's records. */
    private static final int HEAP_SHARE = 8;

    /** Reads that have ended and may hang before compaction is suspended. */
    public static final int MAX_HANGING = 4;

    /**
     * If half of all requests fail, one compaction in some thousand fails. A read that never
     * succeeds takes one second with its pauses.
     */
    private static final int READ_TRIES = 16;

    private static final long FIRST_PAUSE_MILLIS = 5;

    /**
     * Reading from a store is mostly waiting, some 200 ms for the usual 16 runs. 40 changelogs with
     * five checkpoints per second need 13 compactions per second; one compaction at a time manages
     * 5.
     */
    static final int MAX_READING = 4;

    /** Short, because the changelog grows by a run per checkpoint meanwhile; extended as needed. */
    private static final long LEAST_READ_NANOS = TimeUnit.SECONDS.toNanos(2);

    private static final long LEAST_UPLOAD_NANOS = TimeUnit.SECONDS.toNanos(3);

    /** Throughput of the slowest store that compaction waits for, about 1 MB/s. */
    private static final long NANOS_PER_BYTE = 1_000;

    /** Time for a whole read, as a multiple of the timeout of one request. */
    private static final int READ_REQUESTS = 30;

    private static final Logger LOG = LoggerFactory.getLogger(Compactor.class);

    @Nullable private final CompactionPolicy policy;
    private final long maxMemoryBytes;
    private final CompactionQueue queue;
    private final PagePool pages;
    private final DstlHandleReader reader;
    private final Timers timers;
    private final CompactionThrottle throttle;
    private final CompactionMemory memory;
    private final long firstPauseMillis;
    private final GatheredOutputs outputs;
    private final CompactionTimeout readTimeout = new CompactionTimeout(LEAST_READ_NANOS);
    private final CompactionTimeout uploadTimeout = new CompactionTimeout(LEAST_UPLOAD_NANOS);
    private final DstlMetrics metrics;

    /** Receives the outputs; null before the first. */
    @GuardedBy("this")
    @Nullable
    private GroupCommit target;

    /** Reads that have ended, abandoned or not, but whose threads may still wait for the store. */
    @GuardedBy("this")
    private final Set<CompactionRead> lingering = new HashSet<>();

    @GuardedBy("this")
    private boolean hangingReported;

    /**
     * Creates a compactor whose memory counts for no job.
     *
     * @param threads runs blocking tasks: a few at a time, and those that hang; must never queue
     *     tasks
     * @param pages for the records of compactions
     * @param reader reads the inputs
     * @param timers the clock
     */
    public Compactor(
            DstlSettings settings,
            Executor threads,
            PagePool pages,
            DstlHandleReader reader,
            Timers timers,
            DstlMetrics metrics) {
        this(settings, threads, pages, reader, timers, metrics, JobMemory.alone(Long.MAX_VALUE));
    }

    /**
     * Creates a compactor.
     *
     * @param memory of the job, from which compactions reserve
     * @param threads runs blocking tasks: a few at a time, and those that hang; must never queue
     *     tasks
     * @param pages for the records of compactions
     * @param reader reads the inputs
     */
    public Compactor(
            DstlSettings settings,
            Executor threads,
            PagePool pages,
            DstlHandleReader reader,
            Timers timers,
            DstlMetrics metrics,
            JobMemory memory) {
        this(settings, threads, pages, reader, timers, metrics, memory, FIRST_PAUSE_MILLIS);
    }

    /**
     * Creates a compactor.
     *
     * @param memory of the job, from which compactions reserve
     * @param firstPauseMillis pause before a failed read is retried; doubles with each try
     * @param threads runs blocking tasks: a few at a time, and those that hang; must never queue
     *     tasks
     * @param pages for the records of compactions
     * @param reader reads the inputs
     */
    public Compactor(
            DstlSettings settings,
            Executor threads,
            PagePool pages,
            DstlHandleReader reader,
            Timers timers,
            DstlMetrics metrics,
            JobMemory memory,
            long firstPauseMillis) {
        this.firstPauseMillis = firstPauseMillis;
        this.memory = new CompactionMemory(memory);
        this.maxMemoryBytes =
                Math.min(
                        Math.min(
                                MAX_EXPANSION * settings.compactionMaxBytes(),
                                CompactionMemory.mostBytes(settings.maxInFlightBytes())),
                        Runtime.getRuntime().maxMemory() / HEAP_SHARE);
        this.policy =
                settings.compactionMinRuns() == 0
                        ? null
                        : new CompactionPolicy(
                                settings.compactionMinRuns(),
                                settings.compactionMaxBytes(),
                                maxMemoryBytes);
        this.queue = new CompactionQueue(threads, this::mayRead);
        this.pages = pages;
        this.reader = reader;
        this.timers = timers;
        this.throttle = new CompactionThrottle(timers);
        this.outputs = new GatheredOutputs(timers, settings.rollThresholdBytes(), this::lingered);
        this.metrics = metrics;
        metrics.measureHangingCompactionReads(this::hangingReads);
    }

    /**
     * Chooses the runs of a changelog to compact next.
     *
     * @return neighbouring runs in order; empty if there is nothing to do or compaction is disabled
     */
    public <B extends CompactionInput> List<B> choose(CompactableChangelog<B> changelog) {
        return policy == null ? List.of() : policy.choose(changelog, hasTime(), joins());
    }

    /**
     * Reserves memory for the records of chosen runs. If it is granted, {@link #start} or {@link
     * #forget} must follow.
     *
     * @return whether the memory was reserved
     */
    public boolean admit(List<? extends CompactionInput> chosen) {
        return memory.admit(chosen);
    }

    /** Releases the memory of runs that were admitted but are not compacted. */
    public void forget(List<? extends CompactionInput> chosen) {
        memory.ended(chosen);
    }

    /**
     * Returns whether there is time for a large compaction that saves bytes but is not necessary.
     */
    private boolean hasTime() {
        return !queue.isReading()
                && !outputs.isGathering()
                && !outputs.isUploading()
                && throttle.hasTime();
    }

    /** Returns whether an output would share the segment of another one. */
    private boolean joins() {
        return queue.isReading() || outputs.isGathering();
    }

    CompactionMemory memory() {
        return memory;
    }

    /** Returns the metrics that count compactions. */
    public DstlMetrics metrics() {
        return metrics;
    }

    /** Returns the clock of compactions. */
    public Timers timers() {
        return timers;
    }

    CompactionTimeout readTimeout() {
        return readTimeout;
    }

    CompactionTimeout uploadTimeout() {
        return uploadTimeout;
    }

    /** Returns the time limit for reading the given number of bytes, in nanoseconds. */
    long readNanos(long bytes) {
        return READ_REQUESTS * readTimeout.nanos() + bytes * NANOS_PER_BYTE;
    }

    /** Returns the time limit for making the given number of bytes durable, in nanoseconds. */
    long uploadNanos(long bytes) {
        return uploadTimeout.nanos() + bytes * NANOS_PER_BYTE;
    }

    /**
     * Queues a compaction, if one was chosen. Allocates nothing before. Has no effect if the
     * storage is closed.
     */
    public void start(Optional<? extends Compaction<?>> chosen) {
        if (chosen.isPresent()) {
            start(chosen.get());
        }
    }

    /** Queues a compaction. Has no effect if the storage is closed. */
    public void start(Compaction<?> compaction) {
        queue.add(compaction);
        queue.runNext();
    }

    /** Reports that a compaction is durable or abandoned. Later events of it are ignored. */
    void ended(Compaction<?> compaction) {
        memory.ended(compaction.inputs());
        queue.remove(compaction);
        outputs.remove(compaction);
        submitDue();
        queue.runNext();
    }

    /**
     * Queues the output of a compaction to share a segment with others, and lets the next
     * compaction read.
     *
     * @param bytes size of its records
     */
    void gather(Compaction<?> compaction, GroupCommit commit, long bytes) {
        outputs.add(compaction, bytes);
        synchronized (this) {
            target = commit;
        }
        queue.remove(compaction);
        submitDue();
        queue.runNext();
    }

    /** Nothing else lets the next compaction read if no output is needed any more. */
    private void lingered() {
        submitDue();
        queue.runNext();
    }

    private void submitDue() {
        GroupCommit commit;
        synchronized (this) {
            commit = target;
        }
        boolean submitted = commit != null;
        while (submitted) {
            submitted = outputs.submitDue(commit);
        }
    }

    private boolean mayRead(int reading) {
        return reading < MAX_READING && !outputs.isUploading() && mayHang(reading);
    }

    private synchronized boolean mayHang(int reading) {
        int hanging = hangingReads();
        if (hanging < MAX_HANGING) {
            hangingReported = false;
            // Those that read now may hang as well.
            return hanging + reading < MAX_HANGING;
        }
        if (!hangingReported && lingering.stream().allMatch(Compactor::isSilent)) {
            hangingReported = true;
            LOG.warn(
                    "The store does not answer {} reads of changelog runs, and they cannot be"
                            + " interrupted. Compaction is suspended until one of them ends, and"
                            + " checkpoints list more and more runs. Check the store and the"
                            + " timeouts of its client.",
                    hanging);
        }
        return false;
    }

    /** Closing the streams of a read that has ended takes a moment, which is nothing to report. */
    private static boolean isSilent(CompactionRead read) {
        return read.oldestNanos() >= LEAST_READ_NANOS;
    }

    private synchronized int hangingReads() {
        lingering.removeIf(read -> !read.isHanging());
        return lingering.size();
    }

    /**
     * Creates the read of one compaction.
     *
     * @param inputs the runs that it reads, whose memory was reserved
     */
    CompactionRead newRead(
            KeyGroupRange keyGroups, UUID logId, List<? extends CompactionInput> inputs) {
        return new CompactionRead(
                new ReadSession(
                        READ_TRIES,
                        firstPauseMillis,
                        timers::nanoTime,
                        metrics::readRetried,
                        queue::runNext),
                new ActiveBatch(logId, keyGroups, pages),
                maxMemoryBytes,
                bytes -> memory.grew(inputs, bytes));
    }

    /**
     * Abandons a read and counts it as hanging until its threads have ended.
     *
     * @param timeoutNanos age from which a pending request counts as unanswered
     */
    void giveUp(CompactionRead read, long timeoutNanos) {
        try {
            read.giveUp(timeoutNanos);
        } finally {
            linger(read);
        }
    }

    /** Counts a read that has been given up or is finished, and not before: it would be removed. */
    private synchronized void linger(CompactionRead read) {
        lingering.add(read);
    }

    /**
     * Reads the inputs of one compaction.
     *
     * @return owned by the caller; null if the records need too much memory
     */
    @Nullable
    LogBatch read(CompactionRead read, ChangelogStateHandleStreamImpl handle, long sequence)
            throws IOException {
        long startNanos = timers.nanoTime();
        try {
            LogBatch batch = read.read(reader, handle, sequence);
            readTimeout.sufficed(read.longestNanos());
            return batch;
        } finally {
            if (!read.isGivenUp()) {
                throttle.worked(startNanos);
            }
            read.finish();
            if (read.isHanging()) {
                linger(read);
                interruptLater(read);
            }
        }
    }

    /** Interrupts threads of a finished read that still close streams after some time. */
    private void interruptLater(CompactionRead read) {
        try {
            timers.schedule(
                    read::interruptClosing, TimeUnit.NANOSECONDS.toMillis(readTimeout.nanos()) + 1);
        } catch (Throwable noMemory) {
            LOG.debug("A read that is finished is not interrupted", noMemory);
        }
    }
}
