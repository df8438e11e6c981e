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
import dev.dstl.log.record.LogRecord;
import dev.dstl.log.record.RecordCursor;
import dev.dstl.log.replay.MutationLogReader;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import java.util.SortedSet;
import java.util.UUID;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import javax.annotation.Nullable;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;

/**
 * Merges batches of the logs of a job on a TaskManager, one run at a time, so that the memory it
 * takes is bounded: reads them back, from the local disk if they are there, and writes what is left
 * of them after newer records have superseded older ones into one segment. So a checkpoint names
 * few segments and a restore reads few, however many checkpoints there were since the last
 * materialization. Thread safe.
 */
public final class LogMerging {

    /** How much larger records may be in memory than in their frames. */
    private static final int MAX_EXPANSION = 4;

    /** The share of the heap that the records of a merge may take. */
    private static final int HEAP_SHARE = 8;

    /** What an encoder takes per record while it orders them and looks for what is superseded. */
    private static final int ENCODER_BYTES_PER_RECORD = 40;

    @Nullable private final MergeRule rule;
    private final long maxMemoryBytes;
    private final Executor threads;
    private final PagePool pages;
    private final MutationLogReader reader;
    private final Timers timers;
    private final MergePace pace;
    private final MergeMemory memory;
    private final DstlMetrics metrics;

    /** In the order in which they began. */
    @GuardedBy("this")
    private final Deque<LogMerge> waiting = new ArrayDeque<>();

    @GuardedBy("this")
    @Nullable
    private LogMerge running;

    /**
     * Starts without merges.
     *
     * @param threads for one task at a time, which blocks
     * @param pages for the records of one merge
     * @param reader reads what is merged
     * @param timers tells the time
     */
    public LogMerging(
            DstlSettings settings,
            Executor threads,
            PagePool pages,
            MutationLogReader reader,
            Timers timers,
            DstlMetrics metrics) {
        this(settings, threads, pages, reader, timers, metrics, JobMemory.alone(Long.MAX_VALUE));
    }

    /**
     * Starts without merges.
     *
     * @param threads for one task at a time, which blocks
     * @param pages for the records of one merge
     * @param reader reads what is merged
     * @param timers tells the time
     * @param memory of the job, where merges have to find room
     */
    public LogMerging(
            DstlSettings settings,
            Executor threads,
            PagePool pages,
            MutationLogReader reader,
            Timers timers,
            DstlMetrics metrics,
            JobMemory memory) {
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
    }

    /**
     * As {@link MergeRule#choose}, and nothing if merging is switched off or there is no memory for
     * it. What is chosen has to be merged, and to end.
     */
    List<TailBatch> choose(Collection<TailBatch> tail, SortedSet<Long> marks, double kept) {
        return rule == null ? List.of() : memory.admit(rule.choose(tail, marks, kept, isRested()));
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

    /** Has a merge run when it is its turn, unless the storage is closed. */
    void start(LogMerge merge) {
        synchronized (this) {
            if (running != null) {
                waiting.add(merge);
                return;
            }
            running = merge;
        }
        execute(merge);
    }

    /** A merge is durable or given up; whatever comes after that changes nothing. */
    void ended(LogMerge merge) {
        memory.ended(merge.batches());
        LogMerge next;
        synchronized (this) {
            if (merge != running) {
                waiting.remove(merge);
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
        }
    }

    /**
     * Reads everything behind a handle into one batch; what supersedes what is seen when it is
     * encoded.
     *
     * @return owned by the caller; null if the records take too much memory
     */
    @Nullable
    LogBatch read(ChangelogStateHandleStreamImpl handle, UUID logId, long sequence)
            throws IOException {
        long startNanos = timers.nanoTime();
        ActiveBatch batch = new ActiveBatch(logId, handle.getKeyGroupRange(), pages);
        try (RecordCursor records = reader.open(handle)) {
            LogRecord record = new LogRecord();
            byte[] scratch = new byte[256];
            while (records.next(record)) {
                int length = record.identityLength() + record.payloadLength();
                if (length > scratch.length) {
                    scratch = new byte[Math.max(length, 2 * scratch.length)];
                }
                System.arraycopy(record.buffer(), record.identityOffset(), scratch, 0, length);
                batch.append(
                        record.kind(),
                        record.keyGroup(),
                        record.stateId(),
                        scratch,
                        record.prefixLength(),
                        record.identityLength(),
                        length);
                if (memoryBytes(batch.sizeBytes(), batch.recordCount()) > maxMemoryBytes) {
                    batch.discard();
                    return null;
                }
            }
            return batch.seal(sequence);
        } catch (Throwable t) {
            batch.discard();
            throw t;
        } finally {
            pace.worked(startNanos);
        }
    }
}
