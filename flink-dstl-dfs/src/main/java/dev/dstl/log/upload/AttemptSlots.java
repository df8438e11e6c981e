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
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;

/**
 * How many attempts run at a time. An attempt that turns out slow gives its place to the next one
 * and moves to one of the places for slow attempts, so that hanging requests do not keep others
 * waiting. When those places are taken it keeps its first one until a slow attempt ends.
 *
 * <pre>
 *   waiting ---> running (regular places) ---> slow (slow places) ---> ended
 *                        '-------------------------------------------'
 * </pre>
 *
 * <p>Thread safe; no method blocks.
 */
final class AttemptSlots {

    private final Executor threads;
    private final int regularPlaces;
    private final int slowPlaces;

    @GuardedBy("this")
    private final ArrayDeque<Slot> waiting = new ArrayDeque<>();

    /** Running in a regular place for lack of a slow one, oldest first. */
    @GuardedBy("this")
    private final Set<Slot> overdue = new LinkedHashSet<>();

    @GuardedBy("this")
    private int running;

    @GuardedBy("this")
    private int slow;

    @GuardedBy("this")
    private boolean closed;

    /**
     * @param threads has a thread for every place, and for attempts that are just ending
     */
    AttemptSlots(Executor threads, int regularPlaces, int slowPlaces) {
        this.threads = threads;
        this.regularPlaces = regularPlaces;
        this.slowPlaces = slowPlaces;
    }

    /** Runs an attempt as soon as there is a place; never, once closed. */
    Slot submit(Runnable attempt) {
        Slot slot = new Slot(attempt);
        synchronized (this) {
            if (!closed) {
                waiting.add(slot);
            }
        }
        startWaiting();
        return slot;
    }

    private void startWaiting() {
        List<Slot> ready = new ArrayList<>();
        synchronized (this) {
            while (running < regularPlaces && !waiting.isEmpty()) {
                Slot next = waiting.poll();
                next.state = SlotState.RUNNING;
                running++;
                ready.add(next);
            }
        }
        for (Slot slot : ready) {
            try {
                threads.execute(slot::run);
            } catch (RejectedExecutionException shutDown) {
                ended(slot);
            }
        }
    }

    private void becameSlow(Slot slot) {
        synchronized (this) {
            if (slot.state != SlotState.RUNNING) {
                return;
            }
            if (slow == slowPlaces) {
                overdue.add(slot);
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

    private void ended(Slot slot) {
        synchronized (this) {
            if (slot.state == SlotState.SLOW) {
                slow--;
                if (!overdue.isEmpty()) {
                    Slot oldest = overdue.iterator().next();
                    overdue.remove(oldest);
                    move(oldest);
                }
            } else {
                running--;
                overdue.remove(slot);
            }
            slot.state = SlotState.ENDED;
        }
        startWaiting();
    }

    /** Attempts in slow places. */
    synchronized int slowCount() {
        return slow;
    }

    /** Drops what waits; what runs is not touched. */
    synchronized void close() {
        closed = true;
        waiting.clear();
    }

    private enum SlotState {
        WAITING,
        RUNNING,
        SLOW,
        ENDED
    }

    /** The place of one attempt. */
    final class Slot {
        private final Runnable attempt;

        /** Guarded by the enclosing object. */
        private SlotState state = SlotState.WAITING;

        private Slot(Runnable attempt) {
            this.attempt = attempt;
        }

        private void run() {
            try {
                attempt.run();
            } finally {
                ended(this);
            }
        }

        /** The attempt takes longer than it should. No effect unless it runs. */
        void becameSlow() {
            AttemptSlots.this.becameSlow(this);
        }

        /** Gives a place in the queue up; returns false if the attempt has already begun. */
        boolean withdraw() {
            synchronized (AttemptSlots.this) {
                return waiting.remove(this);
            }
        }
    }
}
