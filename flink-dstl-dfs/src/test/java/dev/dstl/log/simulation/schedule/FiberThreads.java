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
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import javax.annotation.Nullable;

/** A pool of threads that may block. Each task is a {@link Fiber}. */
public final class FiberThreads implements Executor {

    private final Schedule schedule;
    private final String name;
    private final Pool pool;
    private final Consumer<Throwable> failures;
    private final ThreadStarts starts;
    private final int maxThreads;
    private final ArrayDeque<Fiber> waiting = new ArrayDeque<>();
    private final Set<Fiber> fibers = new LinkedHashSet<>();
    private int started;
    private boolean shutDown;
    private boolean gone;
    @Nullable private Runnable whenTerminated;

    /**
     * @param maxThreads work beyond that waits for its turn
     * @param failures hears of what no work may throw
     */
    public FiberThreads(
            Schedule schedule,
            String name,
            int maxThreads,
            ThreadStarts starts,
            Pool pool,
            Consumer<Throwable> failures) {
        this.maxThreads = maxThreads;
        this.starts = starts;
        this.schedule = schedule;
        this.name = name;
        this.pool = pool;
        this.failures = failures;
    }

    @Override
    public void execute(Runnable work) {
        if (gone) {
            return;
        }
        if (shutDown) {
            throw new RejectedExecutionException("Shut down");
        }
        boolean now = fibers.size() < maxThreads;
        long delayMillis = now ? starts.delayMillis() : 0;
        Fiber fiber = new Fiber(this, schedule.lane(name + "-" + ++started), work);
        if (now) {
            start(fiber, delayMillis);
        } else {
            waiting.add(fiber);
        }
    }

    private void start(Fiber fiber, long delayMillis) {
        fibers.add(fiber);
        if (delayMillis == 0) {
            fiber.lane().add("starts", fiber::start);
        } else {
            fiber.lane().addIn(delayMillis, "starts late", fiber::start);
        }
    }

    /**
     * Takes no more work.
     *
     * @param terminated run as soon as all work has ended
     */
    public void shutDown(Runnable terminated) {
        shutDown = true;
        whenTerminated = terminated;
        runIfTerminated();
    }

    private void runIfTerminated() {
        if (!gone && shutDown && whenTerminated != null && count() == 0) {
            Runnable action = whenTerminated;
            whenTerminated = null;
            action.run();
        }
    }

    /** Rejects further tasks, interrupts running ones and drops waiting ones. */
    public void shutDownNow() {
        shutDown = true;
        waiting.clear();
        new ArrayList<>(fibers).forEach(Fiber::interrupt);
    }

    /** Ends all tasks with their process. */
    public void vanish() {
        gone = true;
        new ArrayList<>(fibers).forEach(Fiber::vanish);
    }

    /** Number of tasks that have not ended. */
    public int count() {
        return fibers.size() + waiting.size();
    }

    Fiber.FiberThread idleThread() {
        return pool.take();
    }

    void ended(Fiber fiber, Fiber.FiberThread thread) {
        fibers.remove(fiber);
        pool.give(thread);
        if (!gone && !waiting.isEmpty()) {
            start(waiting.poll(), 0);
        }
        runIfTerminated();
    }

    void failed(Throwable failure) {
        failures.accept(failure);
    }

    /** Threads that simulations reuse, since starting one is expensive. */
    public static final class Pool implements AutoCloseable {
        private final ArrayDeque<Fiber.FiberThread> idle = new ArrayDeque<>();
        private int count;

        Fiber.FiberThread take() {
            Fiber.FiberThread thread = idle.poll();
            return thread == null ? new Fiber.FiberThread("fiber-" + ++count) : thread;
        }

        void give(Fiber.FiberThread thread) {
            idle.push(thread);
        }

        /** Stops the idle threads. */
        @Override
        public void close() {
            idle.forEach(Fiber.FiberThread::end);
            idle.clear();
        }
    }
}
