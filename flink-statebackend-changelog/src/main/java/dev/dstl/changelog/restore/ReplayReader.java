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

package dev.dstl.changelog.restore;

import dev.dstl.changelog.sorting.SortingCursor;
import java.io.InterruptedIOException;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadFactory;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The thread that reads the changelogs of a restore, one after the other, so that each can use all
 * the memory. Where no thread can be had, as when all tasks of a process start again at once, it
 * begins later. To be used by the task thread.
 */
final class ReplayReader implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(ReplayReader.class);

    private static final int TRIES = 10;

    private final ExecutorService thread;
    private final long pauseMillis;

    /** In the order in which they are replayed: each waits for memory that those before it have. */
    private final Queue<SortingCursor> waiting = new ArrayDeque<>();

    /**
     * Creates a reader without a thread.
     *
     * @param pauseMillis between two tries to start the thread, in {@link #require}
     */
    ReplayReader(ThreadFactory threads, long pauseMillis) {
        this.thread = Executors.newFixedThreadPool(1, threads);
        this.pauseMillis = pauseMillis;
    }

    /** Reads a changelog behind those before it, now or once there is a thread. */
    void read(SortingCursor changelog) {
        waiting.add(changelog);
        try {
            startWaiting();
        } catch (OutOfMemoryError noThread) {
            LOG.debug("Reading the changelog waits for a thread", noThread);
        }
    }

    private void startWaiting() {
        while (!waiting.isEmpty()) {
            waiting.element().start(thread);
            waiting.remove();
        }
    }

    /**
     * Returns once all changelogs are being read.
     *
     * @throws OutOfMemoryError if there is no thread for several seconds
     * @throws InterruptedIOException if the task is cancelled
     */
    void require() throws InterruptedIOException {
        for (int tries = 1; ; tries++) {
            try {
                startWaiting();
                return;
            } catch (OutOfMemoryError noThread) {
                if (tries == TRIES) {
                    throw noThread;
                }
            }
            try {
                Thread.sleep(pauseMillis);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new InterruptedIOException("The task was cancelled during replay");
            }
        }
    }

    /** Interrupts the thread. */
    @Override
    public void close() {
        thread.shutdownNow();
    }
}
