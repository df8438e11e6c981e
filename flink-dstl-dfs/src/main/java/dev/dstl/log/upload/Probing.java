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
import dev.dstl.log.execution.Timers.Timer;
import java.util.concurrent.TimeUnit;
import javax.annotation.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds out whether the store still serves requests while attempts hang: starts a second attempt
 * for the smallest of them. Only one such probe runs at a time and for a bounded time. After a
 * failed probe there is a pause, which doubles each time, so that probes take little of a congested
 * link. A probe that succeeds overtakes the hanging attempts, and the next one follows at once.
 *
 * <p>A store that answers no request gets no probe. Once it answers again, hanging attempts get
 * time to end on their own, since a copy would only take bandwidth from them. A {@link StorePing},
 * sent at half the timeout of an attempt and after a failed probe, distinguishes the two cases.
 *
 * <p>Thread-safe; no method blocks.
 *
 * @param <A> an attempt
 */
final class Probing<A extends Probing.Attempt> {

    /** An attempt that can be probed. */
    interface Attempt {

        /** Returns the size of its segment in bytes; 0 if unknown. */
        long bytes();

        /** Starts a second attempt for the same segment; returns whether it was started. */
        boolean probe();
    }

    /** Maximum lifetime of a probe, and maximum pause after it, unless the timeout is longer. */
    static final long MAX_LIFETIME_MILLIS = 10_000;

    private static final Logger LOG = LoggerFactory.getLogger(Probing.class);

    private static final int MAX_DOUBLINGS = 20;

    /** Age of the last pause after which the pauses start from the beginning. */
    private static final long FORGET_MILLIS = 60_000;

    private final RetryPolicy policy;
    private final AttemptTimeouts timeouts;
    private final StoreHealth health;
    private final AbandonedAttempts abandoned;
    private final LiveAttempts<A> live;
    private final StorePing ping;
    private final Timers timers;

    @GuardedBy("this")
    private boolean running;

    @GuardedBy("this")
    private int doublings;

    @GuardedBy("this")
    private long pauseEndNanos;

    @GuardedBy("this")
    private long lifetimeMillis;

    /** Null until the running probe writes. */
    @GuardedBy("this")
    @Nullable
    private A probe;

    @GuardedBy("this")
    @Nullable
    private Timer again;

    /** Whether the last pause was skipped. */
    @GuardedBy("this")
    private boolean skipped;

    Probing(
            RetryPolicy policy,
            AttemptTimeouts timeouts,
            StoreHealth health,
            AbandonedAttempts abandoned,
            LiveAttempts<A> live,
            StorePing ping,
            Timers timers) {
        this.policy = policy;
        this.timeouts = timeouts;
        this.health = health;
        this.abandoned = abandoned;
        this.live = live;
        this.ping = ping;
        this.timers = timers;
        this.pauseEndNanos = timers.nanoTime();
    }

    /** Starts a probe if one is due. Called when an attempt has timed out or ended. */
    void consider() {
        if (!policy.allowsSecondAttempts() || !abandoned.hasRoom()) {
            return;
        }
        A hanging = live.neitherServedNorOvertaken();
        if (hanging == null) {
            return;
        }
        if (ping.isAwaited()) {
            return;
        }
        long graceMillis = ping.graceMillis(graceMillis(hanging.bytes()));
        boolean throttled = health.isThrottled();
        synchronized (this) {
            if (running || again != null) {
                return;
            }
            long pauseMillis = TimeUnit.NANOSECONDS.toMillis(pauseEndNanos - timers.nanoTime());
            long waitMillis =
                    throttled ? StoreHealth.THROTTLED_MILLIS : Math.max(pauseMillis, graceMillis);
            if (waitMillis > 0 && !skipsPause(waitMillis)) {
                return;
            }
            running = true;
            if (pauseMillis < -FORGET_MILLIS) {
                doublings = 0;
            }
            lifetimeMillis = lifetimeMillis(hanging.bytes());
        }
        boolean started = false;
        try {
            started = hanging.probe();
        } finally {
            if (!started) {
                ended(false);
            }
        }
    }

    /**
     * Schedules the end of a pause. A pause that cannot be scheduled is skipped, since no other
     * event may follow; but not two in a row, so that the store does not get one probe after the
     * other.
     */
    @GuardedBy("this")
    private boolean skipsPause(long millis) {
        try {
            again = timers.schedule(this::pauseEnded, millis);
            skipped = false;
        } catch (Throwable noMemory) {
            LOG.debug("A probe is not delayed by {} ms", millis, noMemory);
            skipped = !skipped;
        }
        return skipped;
    }

    /**
     * Returns the age of an attempt in milliseconds at which the store is pinged; 0 for never. At
     * this age it is slower than recent attempts, and if a stall is over by then, it still ends in
     * time.
     */
    long pingDelayMillis(long bytes) {
        return policy.allowsSecondAttempts() ? graceMillis(bytes) : 0;
    }

    /**
     * Returns how long hanging attempts may continue once the store answers, in milliseconds;
     * usually more than they need.
     */
    private long graceMillis(long bytes) {
        return timeouts.timeoutMillis(bytes) / 2;
    }

    @GuardedBy("this")
    private long lifetimeMillis(long bytes) {
        long timeout = timeouts.timeoutMillis(bytes);
        return Math.min(timeout << doublings, Math.max(timeout, MAX_LIFETIME_MILLIS));
    }

    private void pauseEnded() {
        synchronized (this) {
            again = null;
        }
        consider();
    }

    /**
     * Reports that a probe starts to write.
     *
     * @return lifetime of the probe in milliseconds
     */
    synchronized long began(A began) {
        probe = began;
        return lifetimeMillis;
    }

    /** Reports that the probe ended, was cancelled, was not started, or reached its lifetime. */
    void ended(boolean succeeded) {
        boolean fruitless;
        synchronized (this) {
            fruitless = probe != null && !succeeded;
            running = false;
            probe = null;
            doublings = succeeded ? 0 : Math.min(MAX_DOUBLINGS, doublings + 1);
            pauseEndNanos =
                    timers.nanoTime()
                            + (succeeded ? 0 : TimeUnit.MILLISECONDS.toNanos(lifetimeMillis));
        }
        if (fruitless && live.neitherServedNorOvertaken() != null) {
            ping.send();
        }
        consider();
    }

    /**
     * Returns the probe that is writing. It is not needed any more once an attempt that has timed
     * out succeeds.
     */
    @Nullable
    synchronized A probe() {
        return probe;
    }
}
