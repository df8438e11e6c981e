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
import dev.dstl.log.execution.ErrorLog;
import java.util.HashSet;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.IntPredicate;

/**
 * The compactions that wait and those that read their inputs. A compaction that cannot be queued or
 * started fails, also for lack of memory: its changelog has no other one meanwhile. Thread-safe.
 */
final class CompactionQueue {

    private static final ErrorLog LOG = new ErrorLog(CompactionQueue.class);

    private final Executor threads;
    private final IntPredicate mayRead;

    /** In start order. An ArrayDeque that cannot grow would forget what it holds. */
    @GuardedBy("this")
    private final Queue<Task> waiting = new ConcurrentLinkedQueue<>();

    @GuardedBy("this")
    private final Set<Task> reading = new HashSet<>();

    /** Whether a thread is in {@link #runNext}, which then starts all that may read. */
    @GuardedBy("this")
    private boolean starting;

    /**
     * Creates an empty queue.
     *
     * @param threads must never queue tasks
     * @param mayRead whether another compaction may read beside so many; called with a lock held,
     *     must not call this queue
     */
    CompactionQueue(Executor threads, IntPredicate mayRead) {
        this.threads = threads;
        this.mayRead = mayRead;
    }

    /** Adds a compaction. {@link #runNext} must follow. */
    void add(Task compaction) {
        try {
            synchronized (this) {
                waiting.add(compaction);
            }
        } catch (Throwable noMemory) {
            fail(compaction, noMemory);
        }
    }

    /** Removes a compaction that reads no more or has ended. */
    synchronized void remove(Task compaction) {
        waiting.remove(compaction);
        reading.remove(compaction);
    }

    /** Returns whether any compaction reads. */
    synchronized boolean isReading() {
        return !reading.isEmpty();
    }

    /**
     * Lets compactions read until enough do. A compaction whose thread cannot be started ends
     * within, and calls this method again, which leaves the next one to the caller then.
     */
    void runNext() {
        synchronized (this) {
            if (starting) {
                return;
            }
            starting = true;
        }
        try {
            boolean more = true;
            while (more) {
                more = startNext();
            }
        } catch (Throwable t) {
            synchronized (this) {
                starting = false;
            }
            throw t;
        }
    }

    /**
     * Lets the next compaction read. An error ends it, since nothing else may ever start it.
     *
     * @return false if none may read, which ends the starting
     */
    private boolean startNext() {
        Task next;
        Throwable failure = null;
        synchronized (this) {
            next = waiting.peek();
            boolean may = false;
            try {
                may = mayRead.test(reading.size());
                if (may && next != null) {
                    reading.add(next);
                }
            } catch (Throwable noMemory) {
                failure = noMemory;
            }
            if (next == null || (!may && failure == null)) {
                starting = false;
                return false;
            }
            waiting.remove();
        }
        if (failure == null) {
            execute(next);
        } else {
            fail(next, failure);
        }
        return true;
    }

    private void execute(Task compaction) {
        try {
            threads.execute(compaction);
        } catch (RejectedExecutionException closed) {
            compaction.abandon();
        } catch (Throwable noThread) {
            fail(compaction, noThread);
        }
    }

    private static void fail(Task compaction, Throwable cause) {
        try {
            compaction.failed(cause);
        } catch (Throwable t) {
            LOG.error("A compaction failed to end; this is a defect, please report it.", t);
        }
    }

    /** A compaction, as this queue sees it. */
    interface Task extends Runnable {

        /** Ends the compaction because of a failure that is not the inputs'. */
        void failed(Throwable cause);

        /** Ends the compaction because its output is no longer needed. */
        void abandon();
    }
}
