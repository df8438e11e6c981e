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
import java.util.ArrayDeque;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import javax.annotation.Nullable;

/**
 * Limits the number of attempts that run at a time. A slow attempt moves from its regular slot to a
 * slot for slow attempts, so that hanging requests do not block others. If all of those are taken,
 * it keeps its regular slot until a slow attempt ends. A cancelled attempt releases its slot at
 * once, even if its thread has not ended.
 *
 * <pre>
 *   waiting ---> running (regular places) ---> slow (slow places) ---> released
 *                        '-------------------------------------------'
 * </pre>
 *
 * <p>Thread-safe; no method blocks, nor throws what starting a thread throws.
 */
final class AttemptSlots {

    private final Executor threads;
    private final int regularPlaces;
    private final int slowPlaces;

    @GuardedBy("this")
    private final ArrayDeque<Slot> waiting = new ArrayDeque<>();

    /** Slow attempts that keep a regular slot because all slow slots are taken, oldest first. */
    @GuardedBy("this")
    private final Set<Slot> slowInRegularPlaces = new LinkedHashSet<>();

    @GuardedBy("this")
    private int running;

    @GuardedBy("this")
    private int slow;

    @GuardedBy("this")
    private boolean closed;

    /**
     * Creates slots.
     *
     * @param threads has a thread for every slot, and for attempts that are just ending
     */
    AttemptSlots(Executor threads, int regularPlaces, int slowPlaces) {
        this.threads = threads;
        this.regularPlaces = regularPlaces;
        this.slowPlaces = slowPlaces;
    }

    /**
     * Runs an attempt as soon as a slot is free. Never runs it once closed.
     *
     * @param notStarted called instead, on any thread, if no thread could be started
     */
    Slot submit(Runnable attempt, Consumer<Throwable> notStarted) {
        Slot slot = new Slot(attempt, notStarted);
        synchronized (this) {
            if (!closed) {
                waiting.add(slot);
            }
        }
        startWaiting();
        return slot;
    }

    /**
     * Runs an attempt at once, without a slot.
     *
     * @param notStarted called instead, on any thread, if no thread could be started
     */
    Slot submitBeyond(Runnable attempt, Consumer<Throwable> notStarted) {
        Slot slot = new Slot(attempt, notStarted);
        synchronized (this) {
            if (closed) {
                return slot;
            }
            slot.state = SlotState.BEYOND;
        }
        start(slot);
        return slot;
    }

    private void startWaiting() {
        for (Slot next = nextToRun(); next != null; next = nextToRun()) {
            start(next);
        }
    }

    @Nullable
    private synchronized Slot nextToRun() {
        if (running >= regularPlaces || waiting.isEmpty()) {
            return null;
        }
        Slot next = waiting.poll();
        next.state = SlotState.RUNNING;
        running++;
        return next;
    }

    private void start(Slot slot) {
        try {
            threads.execute(slot::run);
        } catch (Throwable failure) {
            // Not only after a shutdown: there may be no memory for one more thread.
            boolean notify;
            synchronized (this) {
                release(slot);
                notify = !closed;
            }
            if (notify) {
                slot.notStarted.accept(failure);
            }
        }
    }

    private void becameSlow(Slot slot) {
        synchronized (this) {
            if (slot.state != SlotState.RUNNING) {
                return;
            }
            if (slow == slowPlaces) {
                slowInRegularPlaces.add(slot);
                return;
            }
            move(slot);
        }
        startWaiting();
    }

    @GuardedBy("this")
    private void move(Slot slot) {
        slot.state = SlotState.SLOW;
        running--;
        slow++;
    }

    /** Returns whether the attempt had not started. */
    private boolean releaseAndGoOn(Slot slot) {
        boolean waited;
        synchronized (this) {
            waited = slot.state == SlotState.WAITING;
            release(slot);
        }
        startWaiting();
        return waited;
    }

    @GuardedBy("this")
    private void release(Slot slot) {
        switch (slot.state) {
            case WAITING:
                waiting.remove(slot);
                break;
            case RUNNING:
                running--;
                slowInRegularPlaces.remove(slot);
                break;
            case SLOW:
                slow--;
                if (!slowInRegularPlaces.isEmpty()) {
                    Slot oldest = slowInRegularPlaces.iterator().next();
                    slowInRegularPlaces.remove(oldest);
                    move(oldest);
                }
                break;
            default:
                break;
        }
        slot.state = SlotState.RELEASED;
    }

    /** Returns the number of attempts in slow slots. */
    synchronized int slowCount() {
        return slow;
    }

    /** Drops waiting attempts; running ones continue. */
    synchronized void close() {
        closed = true;
        waiting.clear();
    }

    private enum SlotState {
        WAITING,
        RUNNING,
        SLOW,
        /** Runs without a slot. */
        BEYOND,
        RELEASED
    }

    /** The place of one attempt. */
    final class Slot {
        private final Runnable attempt;
        private final Consumer<Throwable> notStarted;

        /** Guarded by the enclosing object. */
        private SlotState state = SlotState.WAITING;

        private Slot(Runnable attempt, Consumer<Throwable> notStarted) {
            this.attempt = attempt;
            this.notStarted = notStarted;
        }

        private void run() {
            try {
                attempt.run();
            } finally {
                release();
            }
        }

        /** Moves a running attempt to a slow slot, if one is free. No effect unless it runs. */
        void becameSlow() {
            AttemptSlots.this.becameSlow(this);
        }

        /**
         * Releases the slot, or removes the attempt from the queue. No effect the second time.
         *
         * @return whether the attempt had not started, and now never will
         */
        boolean release() {
            return AttemptSlots.this.releaseAndGoOn(this);
        }
    }
}
