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
import dev.dstl.log.metrics.DstlMetrics;
import dev.dstl.log.store.SegmentStore;
import java.util.concurrent.TimeUnit;
import javax.annotation.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Small requests that show whether the store answers, to distinguish a stalled store from a dead
 * connection, and to notice the end of an outage while nothing is uploaded. One at a time, each
 * paid for from the hedge budget. Any answer counts for attempts, and only a success for the health
 * of the store. A ping without an answer is abandoned after a while: its own connection may be the
 * dead one.
 *
 * <p>Thread-safe; no method blocks.
 */
final class StorePing {

    /** Longer than most stalls, shorter than users tolerate. */
    static final long MAX_MILLIS = 10_000;

    private static final Logger LOG = LoggerFactory.getLogger(StorePing.class);

    private final SegmentStore store;
    private final Timers timers;
    private final StoreHealth health;
    private final HedgeBudget budget;
    private final AttemptSlots slots;
    private final DstlMetrics metrics;
    private final Runnable whenOver;

    @GuardedBy("this")
    private PingState state = PingState.IDLE;

    /** Null until the first answer. */
    @GuardedBy("this")
    @Nullable
    private Long answeredNanos;

    /** Null while no thread sends a request. */
    @GuardedBy("this")
    @Nullable
    private Thread thread;

    @GuardedBy("this")
    @Nullable
    private Timer limit;

    /**
     * Creates a ping.
     *
     * @param whenOver called on any thread, without a lock held, after an answer and after a
     *     timeout
     */
    StorePing(
            SegmentStore store,
            Timers timers,
            StoreHealth health,
            HedgeBudget budget,
            AttemptSlots slots,
            DstlMetrics metrics,
            Runnable whenOver) {
        this.store = store;
        this.timers = timers;
        this.health = health;
        this.budget = budget;
        this.slots = slots;
        this.metrics = metrics;
        this.whenOver = whenOver;
    }

    /**
     * Sends a request, unless one is pending or the store asked for fewer, or its timeout cannot be
     * scheduled: attempts wait for a ping until it has ended.
     */
    void send() {
        if (health.isThrottled() || !begin()) {
            return;
        }
        try {
            budget.spend(0);
            slots.submitBeyond(this::ping, this::notStarted);
        } catch (Throwable noMemory) {
            notStarted(noMemory);
        }
    }

    private synchronized boolean begin() {
        if (state != PingState.IDLE) {
            return false;
        }
        try {
            limit = timers.schedule(this::timedOut, MAX_MILLIS);
        } catch (Throwable noMemory) {
            LOG.debug("The changelog store is not pinged", noMemory);
            return false;
        }
        state = state.to(PingState.AWAITED);
        return true;
    }

    private void ping() {
        if (!begins()) {
            ended(null);
            return;
        }
        try {
            metrics.storePinged();
            store.ping();
            health.answered();
        } catch (Throwable refused) {
            LOG.debug("The changelog store refused a ping", refused);
        }
        ended(timers.nanoTime());
    }

    /** Returns false if the thread started so late that nobody would end the request any more. */
    private synchronized boolean begins() {
        if (state != PingState.AWAITED) {
            return false;
        }
        thread = Thread.currentThread();
        return true;
    }

    private void notStarted(Throwable cause) {
        ended(null);
    }

    private void ended(@Nullable Long nanos) {
        synchronized (this) {
            if (thread != null) {
                thread = null;
                // The interrupt was meant for the request.
                boolean unused = Thread.interrupted();
            }
            if (state == PingState.AWAITED) {
                answeredNanos = nanos;
                limit.cancel();
            }
            state = state.to(PingState.IDLE);
        }
        whenOver.run();
    }

    private void timedOut() {
        synchronized (this) {
            if (state != PingState.AWAITED) {
                return;
            }
            state = state.to(PingState.TIMED_OUT);
            answeredNanos = null;
            if (thread != null) {
                thread.interrupt();
            }
        }
        whenOver.run();
    }

    /** Returns whether a request is pending and has not timed out. */
    synchronized boolean isAwaited() {
        return state == PingState.AWAITED;
    }

    /**
     * Returns how long attempts may still continue on their own, in milliseconds.
     *
     * @param afterAnswerMillis time that they get after the latest answer
     * @return zero or negative if they get no more time
     */
    synchronized long graceMillis(long afterAnswerMillis) {
        if (answeredNanos == null) {
            return 0;
        }
        long ageNanos = timers.nanoTime() - answeredNanos;
        return Math.max(0, afterAnswerMillis - TimeUnit.NANOSECONDS.toMillis(ageNanos));
    }

    /**
     * State of the request.
     *
     * <pre>
     * IDLE -> AWAITED -> IDLE
     *            |
     *            v
     *        TIMED_OUT -> IDLE    its thread came back
     * </pre>
     */
    private enum PingState {
        IDLE,
        AWAITED,
        TIMED_OUT;

        private PingState to(PingState next) {
            boolean allowed =
                    next == AWAITED
                            ? this == IDLE
                            : next == TIMED_OUT ? this == AWAITED : this != IDLE;
            if (!allowed) {
                throw new IllegalStateException("A ping cannot go from " + this + " to " + next);
            }
            return next;
        }
    }
}
