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

package dev.dstl.log.simulation.schedule;

import java.util.ArrayList;
import java.util.List;
import java.util.PriorityQueue;

/**
 * Chooses the next step at random: the next event of any lane, or the passage of time. All steps
 * are sequential.
 */
public final class Schedule {

    /** Probability that time passes although an event is ready, as threads may be slow. */
    private static final int IMPATIENCE_PERCENT = 6;

    private final Dice dice;
    private final Trace trace;
    private final List<Lane> ready = new ArrayList<>();
    private final PriorityQueue<Delayed> delayed = new PriorityQueue<>();
    private long maxLatenessMillis = Long.MAX_VALUE;
    private long nowMillis = 1;
    private long nextOrder;

    public Schedule(Dice dice, Trace trace) {
        this.dice = dice;
        this.trace = trace;
    }

    public Lane lane(String name) {
        return new Lane(this, name);
    }

    /** Limits the delay of ready events from now on. */
    public void limitLateness(long latenessMillis) {
        maxLatenessMillis = latenessMillis;
    }

    public long nowMillis() {
        return nowMillis;
    }

    /** Records the outcome of an event. */
    public void note(String who, String what) {
        trace.note(nowMillis, who, what);
    }

    Delayed in(long delayMillis, Lane lane, String what, Runnable action) {
        if (delayMillis < 0) {
            throw new IllegalArgumentException("Negative delay " + delayMillis + " of " + what);
        }
        Delayed event = new Delayed(nowMillis + delayMillis, nextOrder++, lane, what, action);
        delayed.add(event);
        return event;
    }

    void becameReady(Lane lane) {
        ready.add(lane);
    }

    void becameIdle(Lane lane) {
        int at = ready.indexOf(lane);
        Lane last = ready.remove(ready.size() - 1);
        if (last != lane) {
            ready.set(at, last);
        }
    }

    /**
     * Lets one thing happen.
     *
     * @return false if nothing is left that could
     */
    public boolean step() {
        if (ready.isEmpty() || (isNear() && dice.percent(IMPATIENCE_PERCENT))) {
            if (!passTime()) {
                return !ready.isEmpty() || !delayed.isEmpty();
            }
        }
        Lane lane = ready.get(dice.below(ready.size()));
        Lane.Event event = lane.next();
        trace.note(nowMillis, lane.name(), event.what);
        event.action.run();
        return true;
    }

    private boolean isNear() {
        dropCancelled();
        return !delayed.isEmpty() && delayed.peek().atMillis - nowMillis <= maxLatenessMillis;
    }

    /** Removes cancelled events, which must not determine the time of the next one. */
    private void dropCancelled() {
        while (!delayed.isEmpty() && delayed.peek().cancelled) {
            delayed.poll();
        }
    }

    /** Advances time to the next delayed event; returns whether an event is ready. */
    private boolean passTime() {
        dropCancelled();
        if (!delayed.isEmpty()) {
            nowMillis = Math.max(nowMillis, delayed.peek().atMillis);
            while (!delayed.isEmpty() && delayed.peek().atMillis <= nowMillis) {
                Delayed due = delayed.poll();
                if (!due.cancelled) {
                    due.lane.add(due.what, due::runUnlessCancelled);
                }
            }
        }
        return !ready.isEmpty();
    }

    /** A delayed event. */
    public static final class Delayed implements Comparable<Delayed> {
        private final long atMillis;
        private final long order;
        private final Lane lane;
        private final String what;
        private final Runnable action;
        private boolean cancelled;

        private Delayed(long atMillis, long order, Lane lane, String what, Runnable action) {
            this.atMillis = atMillis;
            this.order = order;
            this.lane = lane;
            this.what = what;
            this.action = action;
        }

        /** Cancels the event, unless it has run. */
        public void cancel() {
            cancelled = true;
        }

        private void runUnlessCancelled() {
            if (!cancelled) {
                action.run();
            }
        }

        @Override
        public int compareTo(Delayed other) {
            int byTime = Long.compare(atMillis, other.atMillis);
            return byTime != 0 ? byTime : Long.compare(order, other.order);
        }

        @Override
        public boolean equals(Object other) {
            return this == other;
        }

        @Override
        public int hashCode() {
            return Long.hashCode(order);
        }
    }
}
