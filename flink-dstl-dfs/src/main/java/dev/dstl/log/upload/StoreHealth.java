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
import dev.dstl.log.config.DstlSettings;
import dev.dstl.log.execution.Timers;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import javax.annotation.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Derives the health of the store from the attempts of all uploads, and logs one line per
 * transition instead of one per failure. A timed-out attempt counts as failed. Attempts are counted
 * in windows, so that isolated failures, which every store has, do not matter. During an outage in
 * which nothing is uploaded any more, pings show whether it is over. Thread-safe.
 */
final class StoreHealth {

    static final long WINDOW_MILLIS = 30_000;
    static final long OUTAGE_MILLIS = 10_000;
    static final long THROTTLED_MILLIS = 10_000;

    /** Between two pings during an outage while nothing is uploaded. */
    static final long PING_MILLIS = 10_000;

    private static final long TICK_MILLIS = 1_000;
    private static final int MIN_FAILED_ATTEMPTS = 3;
    private static final int ATTEMPTS_PER_FAILED_ONE = 10;

    private static final Logger LOG = LoggerFactory.getLogger(StoreHealth.class);

    private final Timers timers;
    private final String store;
    private final long maxInFlightBytes;

    private final AtomicInteger uploads = new AtomicInteger();

    private volatile LongSupplier waitingBytes = () -> 0;
    private volatile Runnable ping = () -> {};
    private volatile boolean closed;

    @GuardedBy("this")
    private StoreState state = StoreState.HEALTHY;

    /** Number of failed attempts since the window began with the first of them. */
    @GuardedBy("this")
    private int failedAttempts;

    @GuardedBy("this")
    private int successes;

    @GuardedBy("this")
    private long windowStartNanos;

    /** When the first attempt failed after the last success. */
    @GuardedBy("this")
    @Nullable
    private Long withoutSuccessSinceNanos;

    @GuardedBy("this")
    @Nullable
    private Long throttledAtNanos;

    @GuardedBy("this")
    private String lastFailure = "";

    @GuardedBy("this")
    private boolean ticking;

    StoreHealth(Timers timers, DstlSettings settings) {
        this.timers = timers;
        this.store = settings.basePath().toString();
        this.maxInFlightBytes = settings.maxInFlightBytes();
    }

    /** Sets the source of the number of waiting bytes. */
    void reportWaiting(LongSupplier bytes) {
        waitingBytes = bytes;
    }

    /**
     * Sets how to find out whether the store answers while nothing is uploaded.
     *
     * @param request sends a request, after which {@link #answered} is called if it succeeds; must
     *     not block
     */
    void pingWith(Runnable request) {
        ping = request;
    }

    /** Reports that an upload is started. It makes attempts until it ends. */
    void uploadBegan() {
        uploads.incrementAndGet();
    }

    /** Reports that an upload is complete or no longer needed. */
    void uploadEnded() {
        uploads.decrementAndGet();
    }

    /** Returns the value of the metric, see {@link StoreState#severity()}. */
    synchronized int severity() {
        return state.severity();
    }

    synchronized StoreState state() {
        return state;
    }

    /** Returns whether the store recently asked for fewer requests. */
    synchronized boolean isThrottled() {
        return throttledAtNanos != null && millisSince(throttledAtNanos) < THROTTLED_MILLIS;
    }

    /** Reports that an attempt succeeded. */
    void succeeded() {
        Runnable report = null;
        synchronized (this) {
            if (failedAttempts > 0) {
                successes++;
            }
            if (state == StoreState.OUTAGE) {
                report = recovered();
            }
            withoutSuccessSinceNanos = null;
            keepTicking();
        }
        run(report);
    }

    /**
     * Reports that a ping succeeded. That ends an outage only while nothing is uploaded: a store
     * may answer and yet accept no segment.
     */
    void answered() {
        Runnable report = null;
        synchronized (this) {
            if (state == StoreState.OUTAGE && uploads.get() == 0) {
                report = recoveredUnused();
                withoutSuccessSinceNanos = null;
            }
        }
        run(report);
    }

    /**
     * Reports that an attempt failed.
     *
     * @param throttled whether the store rejected it because of too many requests
     */
    void failed(Throwable cause, boolean throttled) {
        synchronized (this) {
            if (throttled) {
                throttledAtNanos = timers.nanoTime();
            }
        }
        attemptFailed(cause.toString());
    }

    /** Reports that an attempt has timed out. */
    void timedOut() {
        attemptFailed("an upload takes longer than upload.timeout and than uploads before it");
    }

    /**
     * Ignores attempts that end from now on: they were interrupted, which says nothing about the
     * store.
     */
    void close() {
        closed = true;
    }

    private void attemptFailed(String what) {
        if (closed) {
            return;
        }
        Runnable report = null;
        synchronized (this) {
            lastFailure = what;
            if (failedAttempts++ == 0) {
                windowStartNanos = timers.nanoTime();
            }
            if (withoutSuccessSinceNanos == null) {
                withoutSuccessSinceNanos = timers.nanoTime();
            }
            if (state == StoreState.HEALTHY && isDegraded()) {
                report = degraded();
            }
            keepTicking();
        }
        run(report);
    }

    @GuardedBy("this")
    private boolean isDegraded() {
        return failedAttempts >= MIN_FAILED_ATTEMPTS
                && (long) failedAttempts * ATTEMPTS_PER_FAILED_ONE
                        >= (long) failedAttempts + successes;
    }

    @GuardedBy("this")
    private void keepTicking() {
        boolean needed = state != StoreState.HEALTHY || failedAttempts > 0;
        if (needed && !closed && !ticking) {
            try {
                timers.schedule(this::tick, state == StoreState.OUTAGE ? PING_MILLIS : TICK_MILLIS);
                ticking = true;
            } catch (Throwable noMemory) {
                LOG.debug("The state of {} is updated with the next attempt", store, noMemory);
            }
        }
    }

    private void tick() {
        Runnable report = null;
        synchronized (this) {
            ticking = false;
            if (state == StoreState.OUTAGE) {
                // The uploads that failed may have ended with their tasks.
                report = uploads.get() == 0 && !closed ? ping : null;
            } else if (state != StoreState.HEALTHY
                    && withoutSuccessSinceNanos != null
                    && millisSince(withoutSuccessSinceNanos) >= OUTAGE_MILLIS
                    && failedAttempts > 0) {
                report = outage();
            } else if (millisSince(windowStartNanos) >= WINDOW_MILLIS) {
                report = closeWindow();
            }
            keepTicking();
        }
        run(report);
    }

    @GuardedBy("this")
    @Nullable
    private Runnable closeWindow() {
        Runnable report = null;
        if (isDegraded()) {
            report = state == StoreState.RECOVERED ? degraded() : null;
        } else if (state != StoreState.HEALTHY) {
            report = healthy();
        }
        openWindow();
        return report;
    }

    @GuardedBy("this")
    private void openWindow() {
        failedAttempts = 0;
        successes = 0;
        windowStartNanos = timers.nanoTime();
    }

    @GuardedBy("this")
    private Runnable degraded() {
        int counted = failedAttempts;
        String last = lastFailure;
        change(StoreState.DEGRADED);
        return () ->
                LOG.warn(
                        "The changelog store {} is degraded: {} uploads failed or timed out, the"
                                + " latest because of: {}. They are retried and nothing is lost;"
                                + " checkpoints take longer. {} bytes wait.",
                        store,
                        counted,
                        last,
                        waitingBytes.getAsLong());
    }

    @GuardedBy("this")
    private Runnable outage() {
        long millis = millisSince(withoutSuccessSinceNanos);
        String last = lastFailure;
        change(StoreState.OUTAGE);
        return () ->
                LOG.warn(
                        "The changelog store {} has accepted nothing for {} s, the latest problem"
                                + " was: {}. State changes are kept in memory and uploaded when it"
                                + " is back: {} bytes wait, and at {} at the latest the tasks"
                                + " stop taking input. Checkpoints wait or are declined. Check the"
                                + " store; nothing has to be restarted.",
                        store,
                        TimeUnit.MILLISECONDS.toSeconds(millis),
                        last,
                        waitingBytes.getAsLong(),
                        maxInFlightBytes);
    }

    @GuardedBy("this")
    private Runnable recovered() {
        long millis = withoutSuccessSinceNanos == null ? 0 : millisSince(withoutSuccessSinceNanos);
        change(StoreState.RECOVERED);
        keepTicking();
        return () ->
                LOG.info(
                        "The changelog store {} accepts segments again after {} s, nothing was"
                                + " lost. {} bytes still wait.",
                        store,
                        TimeUnit.MILLISECONDS.toSeconds(millis),
                        waitingBytes.getAsLong());
    }

    @GuardedBy("this")
    private Runnable recoveredUnused() {
        change(StoreState.RECOVERED);
        keepTicking();
        return () ->
                LOG.info("The changelog store {} answers again; nothing is being uploaded.", store);
    }

    @GuardedBy("this")
    private Runnable healthy() {
        change(StoreState.HEALTHY);
        return () -> LOG.info("The changelog store {} is healthy again.", store);
    }

    @GuardedBy("this")
    private void change(StoreState next) {
        state = state.to(next);
        openWindow();
    }

    @GuardedBy("this")
    private long millisSince(long nanos) {
        return TimeUnit.NANOSECONDS.toMillis(timers.nanoTime() - nanos);
    }

    private static void run(@Nullable Runnable report) {
        if (report != null) {
            report.run();
        }
    }
}
