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

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.dstl.log.execution.DaemonThreads;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.LongSupplier;
import javax.annotation.Nullable;

/**
 * Runs the requests of one thread on another thread, which is abandoned when it hangs: some clients
 * of stores ignore both interrupts and the closing of their stream. Another thread may only {@link
 * #end} them.
 */
final class RequestThread {

    private static final DaemonThreads THREADS = new DaemonThreads("changelog-restore-read");

    /** Null before the first request, and after a request that hung. */
    @GuardedBy("this")
    @Nullable
    private ExecutorService thread;

    /** The latest request that was submitted. */
    @GuardedBy("this")
    @Nullable
    private Request<?> latest;

    private final HangingReads hanging;
    private final ThreadFactory threads;

    RequestThread() {
        this(HangingReads.ofProcess(), THREADS);
    }

    /**
     * Creates an object without a thread.
     *
     * @param hanging counts requests that were abandoned and run on
     * @param threads creates the thread
     */
    RequestThread(HangingReads hanging, ThreadFactory threads) {
        this.hanging = hanging;
        this.threads = threads;
    }

    /**
     * Runs a request and waits for it.
     *
     * @param patienceMillis approximate time without progress after which the request is abandoned
     * @param progress returns a value that changes when the request makes progress
     * @throws ReadTimeoutException if the request made no progress for so long; its thread is
     *     interrupted and not used again
     * @throws InterruptedIOException if the calling thread is interrupted, or if another thread
     *     ended the requests before this one began
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
            } catch (CancellationException e) {
                throw new InterruptedIOException("Closed while a segment was being read");
            } catch (ExecutionException e) {
                throw unwrapped(e.getCause());
            }
        }
    }

    private synchronized <T> Future<T> submit(Callable<T> call) throws IOException {
        hanging.requireRoom();
        try {
            if (thread == null) {
                thread = Executors.newSingleThreadExecutor(threads);
            }
            Request<T> request = new Request<>(call, hanging);
            Future<T> answer = thread.submit(request);
            // Not before: a request whose thread does not start never ends.
            latest = request;
            return answer;
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

    /** Interrupts the running request, and lets nobody wait for one that has not begun. */
    synchronized void end() {
        if (thread != null) {
            List<Runnable> neverStart = thread.shutdownNow();
            thread = null;
            neverStart.forEach(request -> ((Future<?>) request).cancel(false));
            if (latest != null && neverStart.isEmpty()) {
                latest.abandon();
            }
        }
    }

    /** A request that counts as hanging from when it is abandoned until it ends. */
    private static final class Request<T> implements Callable<T> {

        private final Callable<T> call;
        private final HangingReads hanging;

        @GuardedBy("this")
        private boolean ended;

        private Request(Callable<T> call, HangingReads hanging) {
            this.call = call;
            this.hanging = hanging;
        }

        @Override
        public T call() throws Exception {
            try {
                return call.call();
            } finally {
                synchronized (this) {
                    ended = true;
                    hanging.returned(this);
                }
            }
        }

        private synchronized void abandon() {
            if (!ended) {
                hanging.abandoned(this);
            }
        }
    }
}
