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

package dev.dstl.log.testing;

import dev.dstl.log.execution.Timers;
import java.util.HashMap;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.concurrent.TimeUnit;

/** Time that a test advances. Actions run on the thread that advances it. */
public final class ManualTimers implements Timers {

    private final PriorityQueue<Pending> pending = new PriorityQueue<>();
    private long nowNanos = 1;
    private long nextOrder;
    private final Map<Long, Runnable> hooks = new HashMap<>();

    @Override
    public synchronized long nanoTime() {
        return nowNanos;
    }

    @Override
    public Timer schedule(Runnable action, long delayMillis) {
        if (delayMillis < 0) {
            throw new IllegalArgumentException("Negative delay " + delayMillis);
        }
        Runnable hook;
        synchronized (this) {
            hook = hooks.remove(delayMillis);
        }
        if (hook != null) {
            hook.run();
        }
        return add(action, delayMillis);
    }

    @Override
    public void every(long periodMillis, Runnable action) {
        add(
                () -> {
                    try {
                        action.run();
                    } finally {
                        every(periodMillis, action);
                    }
                },
                periodMillis);
    }

    private synchronized Timer add(Runnable action, long delayMillis) {
        Pending scheduled =
                new Pending(
                        action, nowNanos + TimeUnit.MILLISECONDS.toNanos(delayMillis), nextOrder++);
        pending.add(scheduled);
        return () -> cancel(scheduled);
    }

    /** Runs something once, just before an action with this delay is scheduled. May throw. */
    public synchronized void beforeNext(long delayMillis, Runnable hook) {
        hooks.put(delayMillis, hook);
    }

    private synchronized void cancel(Pending scheduled) {
        pending.remove(scheduled);
    }

    /** Advances time and runs due actions in order. */
    public void advanceMillis(long millis) {
        long end;
        synchronized (this) {
            end = nowNanos + TimeUnit.MILLISECONDS.toNanos(millis);
        }
        for (Pending due = nextUntil(end); due != null; due = nextUntil(end)) {
            due.action.run();
        }
        synchronized (this) {
            nowNanos = end;
        }
    }

    private synchronized Pending nextUntil(long endNanos) {
        Pending next = pending.peek();
        if (next == null || next.atNanos > endNanos) {
            return null;
        }
        nowNanos = Math.max(nowNanos, next.atNanos);
        return pending.poll();
    }

    /** Number of scheduled actions. */
    public synchronized int pendingCount() {
        return pending.size();
    }

    private static final class Pending implements Comparable<Pending> {
        private final Runnable action;
        private final long atNanos;
        private final long order;

        private Pending(Runnable action, long atNanos, long order) {
            this.action = action;
            this.atNanos = atNanos;
            this.order = order;
        }

        @Override
        public int compareTo(Pending other) {
            int byTime = Long.compare(atNanos, other.atNanos);
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
