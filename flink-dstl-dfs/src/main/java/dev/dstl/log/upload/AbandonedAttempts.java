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
import dev.dstl.log.execution.Timers;
import dev.dstl.log.metrics.DstlMetrics;
import dev.dstl.log.ownership.SegmentRegistry;
import java.io.Closeable;
import java.util.concurrent.Executor;
import javax.annotation.Nullable;
import org.apache.flink.core.fs.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Attempts that were cancelled while they wrote, until their threads return. They hold no other
 * resource, so they only matter in large numbers: the client of the file system then ignores both
 * the interrupt and the closing of its stream. Thread safe; no method blocks.
 */
final class AbandonedAttempts {

    /** Threads that may hang. At this many nothing is cancelled any more to be replaced. */
    static final int MAX = 1_024;

    /** Number of threads from which a line is logged. */
    static final int MANY = 20;

    /**
     * What a client still sends when its caller is gone may arrive after the file was deleted, so
     * it is deleted once more.
     */
    private static final long DELETE_AGAIN_MILLIS = 30_000;

    private static final Logger LOG = LoggerFactory.getLogger(AbandonedAttempts.class);

    private final Executor threads;
    private final Timers timers;
    private final SegmentRegistry registry;
    private final DstlMetrics metrics;

    @GuardedBy("this")
    private int count;

    @GuardedBy("this")
    private boolean reported;

    @GuardedBy("this")
    private boolean closing;

    AbandonedAttempts(
            Executor threads, Timers timers, SegmentRegistry registry, DstlMetrics metrics) {
        this.threads = threads;
        this.timers = timers;
        this.registry = registry;
        this.metrics = metrics;
    }

    /** An attempt was cancelled while it wrote. */
    synchronized void began() {
        count++;
        metrics.attemptCancelled();
    }

    /**
     * Its thread came back.
     *
     * @param attempt for the log
     * @param file what it may have written, null if it did not get that far
     * @param complete whether the file was closed without complaint all the same
     */
    void ended(Object attempt, @Nullable Path file, boolean complete) {
        synchronized (this) {
            count--;
            reported &= count >= MANY / 2;
        }
        LOG.debug("{} came back after it was cancelled", attempt);
        if (file != null) {
            registry.discardAttempt(file);
            if (!complete) {
                timers.schedule(() -> registry.discardAttempt(file), DELETE_AGAIN_MILLIS);
            }
        }
    }

    /**
     * Its thread did not come back in time.
     *
     * @param attempt for the log
     * @param stream closed elsewhere, since that may hang as well
     */
    void doesNotReact(Object attempt, Closeable stream) {
        boolean report;
        boolean close;
        int hanging;
        synchronized (this) {
            hanging = count;
            report = count >= MANY && !reported;
            reported |= report;
            close = !closing;
            closing = true;
        }
        if (report) {
            LOG.warn(
                    "{} threads hang in the client of the changelog store with uploads that were"
                            + " cancelled, the latest being {}: it does not react to an interrupt."
                            + " Their segments were or are written by other attempts and nothing is"
                            + " lost; at {} such threads no attempt that hangs is replaced any more."
                            + " Set the timeouts of the file system's client, and check the"
                            + " network.",
                    hanging,
                    attempt,
                    MAX);
        }
        if (close) {
            close(attempt, stream);
        }
    }

    /** One at a time. */
    private void close(Object attempt, Closeable stream) {
        try {
            threads.execute(
                    () -> {
                        try {
                            stream.close();
                        } catch (Throwable t) {
                            LOG.debug("Closing the stream of {} failed", attempt, t);
                        } finally {
                            closed();
                        }
                    });
        } catch (Throwable noThread) {
            closed();
        }
    }

    private synchronized void closed() {
        closing = false;
    }

    /** Threads that did not come back. */
    synchronized int count() {
        return count;
    }

    /** Whether one more thread may hang. */
    synchronized boolean hasRoom() {
        return count < MAX;
    }
}
