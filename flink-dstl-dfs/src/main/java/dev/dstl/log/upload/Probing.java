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
 * <p>Thread safe; no method blocks.
 *
 * @param <A> an attempt
 */
final class Probing<A extends Probing.Attempt> {

    /** What may get a probe beside it. */
    interface Attempt {

        /** What it writes; 0 if that is not known yet. */
        long bytes();

        /** Gets a probe beside it; returns whether it did. */
        boolean probe();
    }

    /** Bound of both a probe's life and the pause after it. */
    static final long MAX_LIFETIME_MILLIS = 10_000;

    private static final int MAX_DOUBLINGS = 20;

    /** After so long it begins anew. */
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

    /** Something changed: an attempt is timed out, or ended. Starts a probe if one is due. */
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
            if (waitMillis > 0) {
                again = timers.schedule(this::pauseEnded, waitMillis);
                return;
            }
            running = true;
            if (pauseMillis < -FORGET_MILLIS) {
                doublings = 0;
            }
            lifetimeMillis = lifetimeMillis(hanging.bytes());
        }
        if (!hanging.probe()) {
            ended(false);
        }
    }

    /**
     * Age at which the store is pinged because of an attempt: that is slower than any of late then,
     * and if a stall is over by then, it ends in time. 0 for never.
     */
    long pingDelayMillis(long bytes) {
        return policy.allowsSecondAttempts() ? graceMillis(bytes) : 0;
    }

    /** What attempts that hang are given once the store answers; more than they need as a rule. */
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
     * A probe begins to write.
     *
     * @return when it is to be cancelled
     */
    synchronized long began(A began) {
        probe = began;
        return lifetimeMillis;
    }

    /** The running probe ended, was cancelled, was not made after all, or its time is over. */
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

    /** The probe that writes now; none is needed once an attempt that was timed out succeeds. */
    @Nullable
    synchronized A probe() {
        return probe;
    }
}
