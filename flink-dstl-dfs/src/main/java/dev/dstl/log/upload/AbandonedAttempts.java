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

package dev.dstl.log.upload;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.dstl.log.metrics.DstlMetrics;
import dev.dstl.log.ownership.SegmentRegistry;
import java.io.Closeable;
import java.util.IdentityHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import javax.annotation.Nullable;
import org.apache.flink.core.fs.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Attempts that were cancelled while they wrote, until their threads return. They hold no other
 * resource, so they only matter in large numbers: the client of the file system then ignores both
 * the interrupt and the closing of its stream. Thread-safe; no method blocks.
 */
final class AbandonedAttempts {

    /**
     * Threads that may hang at a time. While there are so many, no hanging attempt is cancelled to
     * be replaced.
     */
    static final int MAX = 1_024;

    /** Number of threads from which a warning is logged. */
    static final int MANY = 20;

    /** Closes that may hang at a time. While there are so many, no further stream is closed. */
    static final int MAX_CLOSING = 4;

    /** Age from which a close counts as hanging, and another one may begin. */
    private static final long CLOSE_NANOS = TimeUnit.SECONDS.toNanos(10);

    private static final Logger LOG = LoggerFactory.getLogger(AbandonedAttempts.class);

    private final Executor threads;
    private final LongSupplier nanoTime;
    private final SegmentRegistry registry;
    private final DstlMetrics metrics;

    @GuardedBy("this")
    private int count;

    @GuardedBy("this")
    private boolean reported;

    /** The attempts whose streams are being closed, and since when. */
    @GuardedBy("this")
    private final IdentityHashMap<Object, Long> closing = new IdentityHashMap<>();

    /**
     * Creates an object without attempts.
     *
     * @param threads close streams; must never queue tasks
     * @param nanoTime the clock
     */
    AbandonedAttempts(
            Executor threads,
            LongSupplier nanoTime,
            SegmentRegistry registry,
            DstlMetrics metrics) {
        this.threads = threads;
        this.nanoTime = nanoTime;
        this.registry = registry;
        this.metrics = metrics;
    }

    /** Reports that an attempt was cancelled while it was writing. */
    synchronized void began() {
        count++;
        metrics.attemptCancelled();
    }

    /**
     * Reports that the thread of a cancelled attempt has returned. Its file is deleted twice,
     * whatever the client reported: when it is interrupted, S3A returns as if the file were stored,
     * and goes on sending it.
     *
     * @param attempt named in log lines
     * @param file file that it may have written; null if it did not get that far
     */
    void ended(Object attempt, @Nullable Path file) {
        synchronized (this) {
            count--;
            reported &= count >= MANY / 2;
        }
        LOG.debug("{} returned after it was cancelled", attempt);
        if (file != null) {
            registry.discardAttemptTwice(file);
        }
    }

    /**
     * Reports that the thread of a cancelled attempt did not return in time. Closes its stream on
     * another thread, since that may hang as well; one stream at a time, as closing one may upload
     * what it has buffered, and the next one while a close hangs.
     *
     * @param attempt named in log lines
     * @param stream closed elsewhere
     * @return false if the stream is not closed because others are; the caller tries again later
     */
    boolean doesNotReact(Object attempt, Closeable stream) {
        boolean report;
        boolean close;
        int hanging;
        synchronized (this) {
            hanging = count;
            report = count >= MANY && !reported;
            reported |= report;
            close = mayClose();
            if (close) {
                closing.put(attempt, nanoTime.getAsLong());
            }
        }
        if (report) {
            LOG.warn(
                    "{} threads hang in the client of the changelog store with uploads that were"
                            + " cancelled, the latest being {}: the client ignores interrupts."
                            + " Their segments were or are written by other attempts and nothing is"
                            + " lost; at {} such threads, hanging attempts are no longer replaced."
                            + " Set the timeouts of the file system's client, and check the"
                            + " network.",
                    hanging,
                    attempt,
                    MAX);
        }
        return close && close(attempt, stream);
    }

    @GuardedBy("this")
    private boolean mayClose() {
        long now = nanoTime.getAsLong();
        return closing.size() < MAX_CLOSING
                && closing.values().stream().allMatch(since -> now - since >= CLOSE_NANOS);
    }

    private boolean close(Object attempt, Closeable stream) {
        try {
            threads.execute(
                    () -> {
                        try {
                            stream.close();
                        } catch (Throwable t) {
                            LOG.debug("Closing the stream of {} failed", attempt, t);
                        } finally {
                            closed(attempt);
                        }
                    });
            return true;
        } catch (RejectedExecutionException storageClosed) {
            closed(attempt);
            return true;
        } catch (Throwable noThread) {
            closed(attempt);
            return false;
        }
    }

    private synchronized void closed(Object attempt) {
        closing.remove(attempt);
    }

    /** Returns the number of threads that have not returned. */
    synchronized int count() {
        return count;
    }

    /** Returns whether one more thread may hang. */
    synchronized boolean hasRoom() {
        return count < MAX;
    }
}
