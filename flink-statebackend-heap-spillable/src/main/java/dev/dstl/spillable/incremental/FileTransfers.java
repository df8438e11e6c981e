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

package dev.dstl.spillable.incremental;

import java.io.IOException;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionService;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorCompletionService;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.util.IOUtils;
import org.apache.flink.util.concurrent.ExecutorThreadFactory;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes or reads several files of a checkpoint at a time: one stream to a store is slower than the
 * local disk. If one fails, the others end.
 */
final class FileTransfers {

    private static final Logger LOG = LoggerFactory.getLogger(FileTransfers.class);

    /** As many as Flink's RocksDB backend transfers by default. */
    private static final int THREADS = 4;

    /**
     * How long transfers that have failed or were cancelled may take before they are left behind.
     */
    private static final long PATIENCE_SECONDS = 1;

    /** The writing or reading of one file. */
    interface Transfer {
        /**
         * Called once, on any thread.
         *
         * @param streams closed if the transfer is to end
         */
        void run(CloseableRegistry streams) throws Exception;
    }

    private FileTransfers() {}

    /**
     * Runs all transfers and returns when the last one has ended.
     *
     * @param threadName prefix of the names of threads
     * @param cancelRegistry closed if all transfers are to end
     * @throws Exception that of the transfer that failed first
     */
    static void run(
            List<? extends Transfer> transfers, String threadName, CloseableRegistry cancelRegistry)
            throws Exception {
        run(transfers, new ExecutorThreadFactory(threadName), cancelRegistry);
    }

    /**
     * As the other {@code run}.
     *
     * @param threads that cannot be started are done without
     */
    static void run(
            List<? extends Transfer> transfers,
            ThreadFactory threads,
            CloseableRegistry cancelRegistry)
            throws Exception {
        run(transfers, threads, cancelRegistry, Long.MAX_VALUE);
    }

    /**
     * As {@link #run}, but after a failure, or if the calling thread is interrupted, it leaves
     * behind transfers whose client reacts neither to its closed stream nor to an interrupt. What
     * they use must stay until they end.
     */
    static void runOrAbandon(
            List<? extends Transfer> transfers, String threadName, CloseableRegistry cancelRegistry)
            throws Exception {
        run(transfers, new ExecutorThreadFactory(threadName), cancelRegistry, PATIENCE_SECONDS);
    }

    private static void run(
            List<? extends Transfer> transfers,
            ThreadFactory threads,
            CloseableRegistry cancelRegistry,
            long patienceSeconds)
            throws Exception {
        if (transfers.isEmpty()) {
            return;
        }
        CloseableRegistry streams = new CloseableRegistry();
        cancelRegistry.registerCloseable(streams);
        Queue<Transfer> waiting = new ConcurrentLinkedQueue<>(transfers);
        int most = Math.min(THREADS, transfers.size());
        ExecutorService executor = Executors.newFixedThreadPool(most, threads);
        boolean allEnded = false;
        try {
            CompletionService<Void> ended = new ExecutorCompletionService<>(executor);
            int started = start(most, () -> runAll(waiting, streams), ended);
            if (started == 0) {
                runAll(waiting, streams);
            }
            for (int i = 0; i < started; i++) {
                ended.take().get();
            }
            allEnded = true;
        } catch (ExecutionException e) {
            throw asException(e.getCause());
        } finally {
            waiting.clear();
            cancelRegistry.unregisterCloseable(streams);
            executor.shutdownNow();
            if (!allEnded) {
                // Threads that still use streams fail by it and end.
                close(streams, threads);
            }
            awaitEnd(executor, patienceSeconds);
        }
    }

    /** On another thread: some clients close a stream only when the read that hangs has ended. */
    private static void close(CloseableRegistry streams, ThreadFactory threads) {
        try {
            threads.newThread(() -> IOUtils.closeQuietly(streams)).start();
        } catch (OutOfMemoryError e) {
            IOUtils.closeQuietly(streams);
        }
    }

    /** Starts as many threads as there are to be had; returns their number. */
    private static int start(int most, Callable<Void> work, CompletionService<Void> ended) {
        for (int started = 0; started < most; started++) {
            try {
                ended.submit(work);
            } catch (OutOfMemoryError e) {
                LOG.debug("{} of {} threads could be started.", started, most, e);
                return started;
            }
        }
        return most;
    }

    private static Void runAll(Queue<Transfer> waiting, CloseableRegistry streams)
            throws Exception {
        for (Transfer next = waiting.poll(); next != null; next = waiting.poll()) {
            next.run(streams);
        }
        return null;
    }

    private static Exception asException(Throwable failure) {
        return failure instanceof Exception ? (Exception) failure : new IOException(failure);
    }

    private static void awaitEnd(ExecutorService executor, long patienceSeconds) {
        boolean interrupted = false;
        long left = patienceSeconds;
        while (left > 0) {
            try {
                if (executor.awaitTermination(1, TimeUnit.SECONDS)) {
                    break;
                }
                left--;
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
