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
import dev.dstl.log.batch.ActiveBatch;
import dev.dstl.log.batch.LogBatch;
import dev.dstl.log.batch.PagePool;
import dev.dstl.log.config.DstlSettings;
import dev.dstl.log.execution.Timers;
import dev.dstl.log.memory.JobMemory;
import dev.dstl.log.metrics.DstlMetrics;
import dev.dstl.log.replay.DstlHandleReader;
import dev.dstl.log.segment.ReadSession;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SortedSet;
import java.util.UUID;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import javax.annotation.Nullable;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Merges batches of the logs of a job on a TaskManager, one run at a time, so that the memory it
 * takes is bounded: reads them back, from the local disk if they are there, and writes what is left
 * of them after newer records have superseded older ones into one segment. So a checkpoint names
 * few segments and a restore reads few, however many checkpoints there were since the last
 * materialization. Thread safe.
 *
 * <p>A read that the store does not answer in time is given up, and the next merge has a thread of
 * its own. A thread that does not heed that is left behind; there are {@value #MAX_HANGING} such
 * reads at most, and as long as there are that many, nothing is merged.
 */
public final class LogMerging {

    /** How much larger records may be in memory than in their frames. */
    private static final int MAX_EXPANSION = 4;

    /** The share of the heap that the records of a merge may take. */
    private static final int HEAP_SHARE = 8;

    /** What an encoder takes per record while it orders them and looks for what is superseded. */
    private static final int ENCODER_BYTES_PER_RECORD = 40;

    static final int MAX_HANGING = 4;

    /**
     * If half of the requests fail, one merge in some thousand does. What never succeeds takes one
     * second with the pauses.
     */
    private static final int READ_TRIES = 16;

    private static final long FIRST_PAUSE_MILLIS = 5;

    /** Short, as the log grows by a part with each checkpoint meanwhile; grows where needed. */
    private static final long LEAST_READ_NANOS = TimeUnit.SECONDS.toNanos(2);

    private static final long LEAST_UPLOAD_NANOS = TimeUnit.SECONDS.toNanos(3);

    /** Of a store that is worth waiting for, about 1 MB/s. */
    private static final long NANOS_PER_BYTE = 1_000;

    /** Of a whole read, in times of what one request may take. */
    private static final int READ_REQUESTS = 30;

    private static final Logger LOG = LoggerFactory.getLogger(LogMerging.class);

    @Nullable private final MergeRule rule;
    private final long maxMemoryBytes;
    private final Executor threads;
    private final PagePool pages;
    private final DstlHandleReader reader;
    private final Timers timers;
    private final MergePace pace;
    private final MergeMemory memory;
    private final long firstPauseMillis;
    private final MergePatience readPatience = new MergePatience(LEAST_READ_NANOS);
    private final MergePatience uploadPatience = new MergePatience(LEAST_UPLOAD_NANOS);
    private final DstlMetrics metrics;

    /** In the order in which they began. */
    @GuardedBy("this")
    private final Deque<LogMerge> waiting = new ArrayDeque<>();

    @GuardedBy("this")
    @Nullable
    private LogMerge running;

    /** Given up, while threads of theirs may still wait for the store. */
    @GuardedBy("this")
    private final Set<MergeRead> givenUp = new HashSet<>();

    @GuardedBy("this")
    private boolean hangingReported;

    /**
     * Starts without merges.
     *
     * @param threads for tasks that block, one at a time and those that hang; may never queue
     *     anything behind these
     * @param pages for the records of one merge
     * @param reader reads what is merged
     * @param timers tells the time
     */
    public LogMerging(
            DstlSettings settings,
            Executor threads,
            PagePool pages,
            DstlHandleReader reader,
            Timers timers,
            DstlMetrics metrics) {
        this(settings, threads, pages, reader, timers, metrics, JobMemory.alone(Long.MAX_VALUE));
    }

    /**
     * Starts without merges.
     *
     * @param memory of the job, where merges have to find room
     */
    public LogMerging(
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
     * Starts without merges.
     *
     * @param memory of the job, where merges have to find room
     * @param firstPauseMillis before a read that failed is tried again; doubles from try to try
     */
    public LogMerging(
            DstlSettings settings,
            Executor threads,
            PagePool pages,
            DstlHandleReader reader,
            Timers timers,
            DstlMetrics metrics,
            JobMemory memory,
            long firstPauseMillis) {
        this.firstPauseMillis = firstPauseMillis;
        this.memory = new MergeMemory(memory);
        this.maxMemoryBytes =
                Math.min(
                        Math.min(
                                MAX_EXPANSION * settings.mergeMaxBytes(),
                                MergeMemory.mostBytes(settings.maxInFlightBytes())),
                        Runtime.getRuntime().maxMemory() / HEAP_SHARE);
        this.rule =
                settings.mergeBatches() == 0
                        ? null
                        : new MergeRule(
                                settings.mergeBatches(), settings.mergeMaxBytes(), maxMemoryBytes);
        this.threads = threads;
        this.pages = pages;
        this.reader = reader;
        this.timers = timers;
        this.pace = new MergePace(timers);
        this.metrics = metrics;
        metrics.measureHangingMergeReads(this::hangingReads);
    }

    /**
     * As {@link MergeRule#choose}, and nothing if merging is switched off or there is no memory for
     * it. What is chosen has to be merged, and to end.
     */
    List<TailBatch> choose(
            Collection<TailBatch> tail, SortedSet<Long> marks, double kept, long persists) {
        return rule == null
                ? List.of()
                : memory.admit(rule.choose(tail, marks, kept, isRested(), persists));
    }

    /** Whether there is time for a large merge that is worth it, but not necessary. */
    private synchronized boolean isRested() {
        return running == null && pace.isRested();
    }

    /**
     * What the records of a merge take in memory.
     *
     * @param sizeBytes of the records alone
     */
    static long memoryBytes(long sizeBytes, int records) {
        return sizeBytes + (long) ENCODER_BYTES_PER_RECORD * records;
    }

    MergeMemory memory() {
        return memory;
    }

    DstlMetrics metrics() {
        return metrics;
    }

    Timers timers() {
        return timers;
    }

    MergePatience readPatience() {
        return readPatience;
    }

    MergePatience uploadPatience() {
        return uploadPatience;
    }

    /** What a whole merge has for reading so many bytes. */
    long readNanos(long bytes) {
        return READ_REQUESTS * readPatience.nanos() + bytes * NANOS_PER_BYTE;
    }

    /** What a merge has until so many bytes are durable. */
    long uploadNanos(long bytes) {
        return uploadPatience.nanos() + bytes * NANOS_PER_BYTE;
    }

    /** Has a merge run when it is its turn, unless the storage is closed. */
    void start(LogMerge merge) {
        synchronized (this) {
            waiting.add(merge);
        }
        runNext();
    }

    /** A merge is durable or given up; whatever comes after that changes nothing. */
    void ended(LogMerge merge) {
        memory.ended(merge.batches());
        synchronized (this) {
            waiting.remove(merge);
            if (running == merge) {
                running = null;
            }
        }
        runNext();
    }

    private void runNext() {
        LogMerge next;
        synchronized (this) {
            if (running != null || !mayRead()) {
                return;
            }
            next = waiting.poll();
            running = next;
        }
        if (next != null) {
            execute(next);
        }
    }

    private void execute(LogMerge merge) {
        try {
            threads.execute(merge);
        } catch (RejectedExecutionException closed) {
            merge.abandon();
        } catch (Throwable noThread) {
            merge.failed(noThread);
        }
    }

    @GuardedBy("this")
    private boolean mayRead() {
        givenUp.removeIf(read -> !read.isHanging());
        if (givenUp.size() < MAX_HANGING) {
            hangingReported = false;
            return true;
        }
        if (!hangingReported) {
            hangingReported = true;
            LOG.warn(
                    "The store does not answer {} reads of parts of logs, and they cannot be"
                            + " interrupted. No parts are merged until one of them ends, and"
                            + " checkpoints name more and more of them. Check the store and the"
                            + " timeouts of its client.",
                    givenUp.size());
        }
        return false;
    }

    private synchronized int hangingReads() {
        givenUp.removeIf(read -> !read.isHanging());
        return givenUp.size();
    }

    /** A read for one merge. */
    MergeRead newRead(KeyGroupRange keyGroups, UUID logId) {
        return new MergeRead(
                new ReadSession(
                        READ_TRIES,
                        firstPauseMillis,
                        timers::nanoTime,
                        metrics::readRetried,
                        this::runNext),
                new ActiveBatch(logId, keyGroups, pages),
                maxMemoryBytes);
    }

    /**
     * Gives a read up, and counts it as hanging until its threads have ended.
     *
     * @param overdueNanos see {@link MergeRead#giveUp}
     */
    void giveUp(MergeRead read, long overdueNanos) {
        synchronized (this) {
            givenUp.add(read);
        }
        read.giveUp(overdueNanos);
    }

    /**
     * Reads.
     *
     * @return owned by the caller; null if the records take too much memory
     */
    @Nullable
    LogBatch read(MergeRead read, ChangelogStateHandleStreamImpl handle, long sequence)
            throws IOException {
        long startNanos = timers.nanoTime();
        try {
            LogBatch batch = read.read(reader, handle, sequence);
            readPatience.sufficed(read.longestNanos());
            return batch;
        } finally {
            if (!read.isGivenUp()) {
                pace.worked(startNanos);
            }
        }
    }
}
