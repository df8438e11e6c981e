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

import java.util.ArrayDeque;

/** Events that run in order, as on one thread; unordered relative to other lanes. */
public final class Lane {

    private final Schedule schedule;
    private final String name;
    private final ArrayDeque<Event> events = new ArrayDeque<>();
    private boolean closed;

    Lane(Schedule schedule, String name) {
        this.schedule = schedule;
        this.name = name;
    }

    /** Appends an event; no effect if the lane is closed. */
    public void add(String what, Runnable action) {
        if (closed) {
            return;
        }
        if (events.isEmpty()) {
            schedule.becameReady(this);
        }
        events.add(new Event(what, action));
    }

    /** Appends an event after a delay. */
    public Schedule.Delayed addIn(long delayMillis, String what, Runnable action) {
        return schedule.in(delayMillis, this, what, action);
    }

    /** Drops all events, now and in the future. */
    public void close() {
        closed = true;
        if (!events.isEmpty()) {
            events.clear();
            schedule.becameIdle(this);
        }
    }

    public boolean isClosed() {
        return closed;
    }

    public String name() {
        return name;
    }

    /** Removes and returns the first event. */
    Event next() {
        Event next = events.remove();
        if (events.isEmpty()) {
            schedule.becameIdle(this);
        }
        return next;
    }

    static final class Event {
        final String what;
        final Runnable action;

        Event(String what, Runnable action) {
            this.what = what;
            this.action = action;
        }
    }
}
