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

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import javax.annotation.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs merges on another thread and keeps those that have ended until the task thread takes them
 * over. Task thread only, except {@link #close()}.
 */
final class MergeRunner implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(MergeRunner.class);

    private final ExecutorService executor;
    private final MergeWorkspace workspace;

    /** Merges that have ended and were not taken over; guards itself and {@link #closed}. */
    private final Queue<PartitionMerge> ended = new ArrayDeque<>();

    private boolean closed;
    private volatile boolean hasEnded;
    private int running;
    private long runningBytes;

    /**
     * @param executor shut down by this object
     */
    MergeRunner(ExecutorService executor, MergeWorkspace workspace) {
        this.executor = executor;
        this.workspace = workspace;
    }

    /** Runs a merge, which ends in any case: one that no thread can be had for has failed. */
    void start(PartitionMerge merge) {
        running++;
        runningBytes += merge.inputBytes();
        try {
            executor.execute(() -> run(merge));
        } catch (RejectedExecutionException | Error e) {
            merge.fail(e);
            ended(merge);
        }
    }

    private void run(PartitionMerge merge) {
        try {
            if (isClosed()) {
                merge.fail(new RejectedExecutionException("Nobody needs the merge any more"));
            } else {
                merge.run(workspace);
            }
        } catch (Throwable e) {
            merge.failure = e;
        }
        ended(merge);
    }

    private boolean isClosed() {
        synchronized (ended) {
            return closed;
        }
    }

    private void ended(PartitionMerge merge) {
        synchronized (ended) {
            if (!closed) {
                ended.add(merge);
                hasEnded = true;
                ended.notifyAll();
                return;
            }
        }
        discard(merge);
    }

    /** Merges started and not yet polled. */
    int running() {
        return running;
    }

    /** Bytes of memory that those merges give back. */
    long runningBytes() {
        return runningBytes;
    }

    /** Whether {@link #poll} has one. */
    boolean hasEnded() {
        return hasEnded;
    }

    /** Waits until one of the running merges has ended. */
    void await() {
        boolean interrupted = false;
        synchronized (ended) {
            while (ended.isEmpty()) {
                try {
                    ended.wait();
                } catch (InterruptedException e) {
                    // A merge ends soon, and its memory is needed even for an orderly end.
                    interrupted = true;
                }
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** A merge that has ended, to be closed by the caller, or null. */
    @Nullable
    PartitionMerge poll() {
        PartitionMerge merge;
        synchronized (ended) {
            merge = ended.poll();
            hasEnded = !ended.isEmpty();
        }
        if (merge != null) {
            running--;
            runningBytes -= merge.inputBytes();
        }
        return merge;
    }

    static void close(PartitionMerge merge) {
        try {
            merge.close();
        } catch (IOException e) {
            LOG.warn("Cannot delete the spill directories of this task.", e);
        }
    }

    /** Never fails: what leaves a thread of the executor ends the process. */
    private static void discard(PartitionMerge merge) {
        try {
            merge.discard();
            close(merge);
        } catch (Throwable t) {
            LOG.warn("What a merge of a closed backend has written cannot be deleted.", t);
        }
    }

    /**
     * Discards what is not taken over; a merge that runs discards its result when it ends, one that
     * waits does not run.
     */
    @Override
    public void close() {
        List<PartitionMerge> left;
        synchronized (ended) {
            closed = true;
            left = new ArrayList<>(ended);
            ended.clear();
        }
        left.forEach(MergeRunner::discard);
        executor.shutdown();
    }
}
