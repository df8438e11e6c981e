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

package dev.dstl.log.segment;

import dev.dstl.log.execution.DaemonThreads;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.LongSupplier;
import javax.annotation.Nullable;

/**
 * Runs the requests of one thread on another thread, which is abandoned when it hangs: some clients
 * of stores ignore both interrupts and the closing of their stream. Not thread-safe.
 */
final class RequestThread {

    private static final DaemonThreads THREADS = new DaemonThreads("changelog-restore-read");

    /** Null before the first request, and after a request that hung. */
    @Nullable private ExecutorService thread;

    /**
     * Runs a request and waits for it.
     *
     * @param patienceMillis approximate time without progress after which the request is abandoned
     * @param progress returns a value that changes when the request makes progress
     * @throws ReadTimeoutException if the request made no progress for so long; its thread is
     *     interrupted and not used again
     * @throws InterruptedIOException if the calling thread is interrupted
     */
    <T> T call(Callable<T> request, long patienceMillis, LongSupplier progress) throws IOException {
        long seen = progress.getAsLong();
        Future<T> answer = submit(request);
        while (true) {
            try {
                return answer.get(patienceMillis, TimeUnit.MILLISECONDS);
            } catch (TimeoutException e) {
                long now = progress.getAsLong();
                if (now == seen) {
                    end();
                    throw new ReadTimeoutException(
                            "No answer for "
                                    + TimeUnit.MILLISECONDS.toSeconds(patienceMillis)
                                    + " s");
                }
                seen = now;
            } catch (InterruptedException e) {
                end();
                Thread.currentThread().interrupt();
                throw new InterruptedIOException("Interrupted while a segment was being read");
            } catch (ExecutionException e) {
                throw unwrapped(e.getCause());
            }
        }
    }

    private <T> Future<T> submit(Callable<T> request) throws IOException {
        try {
            if (thread == null) {
                thread = Executors.newSingleThreadExecutor(THREADS);
            }
            return thread.submit(request);
        } catch (OutOfMemoryError noThread) {
            end();
            throw new IOException("No thread could be started to read a segment", noThread);
        }
    }

    private static IOException unwrapped(Throwable cause) {
        if (cause instanceof RuntimeException) {
            throw (RuntimeException) cause;
        }
        if (cause instanceof Error) {
            throw (Error) cause;
        }
        return cause instanceof IOException ? (IOException) cause : new IOException(cause);
    }

    /** Interrupts the running request, if there is one. */
    void end() {
        if (thread != null) {
            thread.shutdownNow();
            thread = null;
        }
    }
}
