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
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.util.IOUtils;
import org.apache.flink.util.concurrent.ExecutorThreadFactory;

/**
 * Writes or reads several files of a checkpoint at a time: one stream to a store is slower than the
 * local disk. If one fails, the others end.
 */
final class FileTransfers {

    /** As many as Flink's RocksDB backend transfers by default. */
    private static final int THREADS = 4;

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
     * @throws Exception that of a transfer that failed
     */
    static void run(
            List<? extends Transfer> transfers, String threadName, CloseableRegistry cancelRegistry)
            throws Exception {
        if (transfers.isEmpty()) {
            return;
        }
        CloseableRegistry streams = new CloseableRegistry();
        cancelRegistry.registerCloseable(streams);
        ExecutorService executor =
                Executors.newFixedThreadPool(
                        Math.min(THREADS, transfers.size()), new ExecutorThreadFactory(threadName));
        try {
            List<Future<?>> running = new ArrayList<>();
            for (Transfer transfer : transfers) {
                running.add(
                        executor.submit(
                                () -> {
                                    transfer.run(streams);
                                    return null;
                                }));
            }
            for (Future<?> one : running) {
                one.get();
            }
        } catch (ExecutionException e) {
            throw asException(e.getCause());
        } finally {
            // Threads that still use streams fail by it and end.
            cancelRegistry.unregisterCloseable(streams);
            IOUtils.closeQuietly(streams);
            executor.shutdownNow();
            awaitEnd(executor);
        }
    }

    private static Exception asException(Throwable failure) {
        return failure instanceof Exception ? (Exception) failure : new IOException(failure);
    }

    /** No thread may use chunk files that are being closed. */
    private static void awaitEnd(ExecutorService executor) {
        boolean interrupted = false;
        while (true) {
            try {
                if (executor.awaitTermination(1, TimeUnit.SECONDS)) {
                    break;
                }
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
