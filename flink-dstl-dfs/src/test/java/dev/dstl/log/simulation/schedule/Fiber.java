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

import java.util.concurrent.locks.LockSupport;
import javax.annotation.Nullable;

/**
 * Blocking work on a thread of its own, which only runs while the schedule waits for it. So the
 * simulation stays sequential, although production code blocks deep in its call stack while the
 * store does not answer.
 *
 * <pre>
 *   schedule   ---- resume() .............. ---- resume() ......... ----
 *   fiber                    work  pause()                work ends
 * </pre>
 */
public final class Fiber {

    private static final ThreadLocal<Fiber> CURRENT = new ThreadLocal<>();

    private final FiberThreads owner;
    private final Lane lane;
    private final Runnable work;

    private FiberThread thread;
    private Pause pause;
    private boolean gone;
    private boolean ended;
    private boolean interrupted;

    Fiber(FiberThreads owner, Lane lane, Runnable work) {
        this.owner = owner;
        this.lane = lane;
        this.work = work;
    }

    /** The fiber that runs on the calling thread. */
    public static Fiber current() {
        Fiber fiber = CURRENT.get();
        if (fiber == null) {
            throw new IllegalStateException(
                    "Only an upload may block, not " + Thread.currentThread());
        }
        return fiber;
    }

    /** Whether the calling thread may block. */
    public static boolean isCurrent() {
        return CURRENT.get() != null;
    }

    /** Notifies the owner of the calling thread's fiber; returns false if there is none. */
    public static boolean report(Throwable failure) {
        Fiber fiber = CURRENT.get();
        if (fiber != null && !fiber.gone) {
            fiber.owner.failed(failure);
        }
        return fiber != null;
    }

    /**
     * Gives the control back until somebody ends the pause. Called on the fiber.
     *
     * @throws InterruptedException if the pool was shut down meanwhile
     * @throws ProcessGone if the process does not exist any more
     */
    public void pause(Pause until) throws InterruptedException {
        if (gone) {
            throw new ProcessGone();
        }
        if (Thread.interrupted()) {
            if (!until.uninterruptible) {
                throw new InterruptedException();
            }
            interrupted = true;
        }
        pause = until;
        until.fiber = this;
        thread.giveBack();
        pause = null;
        if (gone) {
            throw new ProcessGone();
        }
        if (until.interrupted) {
            throw new InterruptedException();
        }
        takeInterrupt();
    }

    /** Applies an interrupt that arrived while the fiber could not be interrupted. */
    private void takeInterrupt() {
        if (interrupted) {
            interrupted = false;
            Thread.currentThread().interrupt();
        }
    }

    Lane lane() {
        return lane;
    }

    boolean hasEnded() {
        return ended;
    }

    void start() {
        thread = owner.idleThread();
        thread.work(this);
        afterTurn();
    }

    private void resume() {
        thread.proceed();
        afterTurn();
    }

    private void afterTurn() {
        if (ended) {
            owner.ended(this, thread);
            thread = null;
        }
    }

    /** Interrupts the current pause, or else the next one. */
    void interrupt() {
        if (pause == null || pause.over || pause.uninterruptible) {
            interrupted = true;
        } else {
            pause.end(true, "interrupted");
        }
    }

    /** Unwinds the stack, which has no effects any more. */
    void vanish() {
        gone = true;
        lane.close();
        if (pause != null) {
            resume();
        }
    }

    /** Runs the work. Called on the fiber's thread. */
    void work() {
        CURRENT.set(this);
        try {
            takeInterrupt();
            work.run();
        } catch (Throwable failure) {
            if (!gone) {
                owner.failed(failure);
            }
        } finally {
            CURRENT.remove();
            boolean unused = Thread.interrupted();
            ended = true;
        }
    }

    /** An event that a fiber waits for. Ends once. */
    public static final class Pause {
        @Nullable private Fiber fiber;
        private final boolean uninterruptible;
        private boolean over;
        private boolean interrupted;

        /** Creates a pause that an interrupt ends too. */
        public Pause() {
            this(false);
        }

        private Pause(boolean uninterruptible) {
            this.uninterruptible = uninterruptible;
        }

        /** Creates a pause that ignores interrupts. */
        public static Pause uninterruptible() {
            return new Pause(true);
        }

        /** Resumes the fiber when it is scheduled. */
        public void end(String why) {
            end(false, why);
        }

        private void end(boolean interrupt, String why) {
            if (!over && fiber != null) {
                over = true;
                interrupted = interrupt;
                fiber.lane.add(why, fiber::resume);
            }
        }
    }

    /** Thrown in fibers of a process that has ended. */
    public static final class ProcessGone extends Error {
        private static final long serialVersionUID = 1L;

        ProcessGone() {
            super("The process is gone", null, false, false);
        }
    }

    /** A thread that runs one fiber after the other. */
    static final class FiberThread extends Thread {
        private static final int SPINS = 200;

        private Thread schedule;
        private Fiber fiber;
        private volatile boolean fibersTurn;
        private volatile boolean stopped;

        FiberThread(String name) {
            super(name);
            setDaemon(true);
            start();
        }

        /**
         * An interrupt of the thread interrupts the fiber, even while the fiber waits to be
         * resumed.
         */
        @Override
        public void interrupt() {
            Fiber running = fiber;
            if (Thread.currentThread() == this) {
                super.interrupt();
            } else if (running != null && !running.ended) {
                running.interrupt();
            }
        }

        /** Runs a fiber until it pauses or ends. */
        void work(Fiber next) {
            fiber = next;
            proceed();
        }

        void proceed() {
            schedule = Thread.currentThread();
            fibersTurn = true;
            LockSupport.unpark(this);
            await(false);
        }

        void giveBack() {
            fibersTurn = false;
            LockSupport.unpark(schedule);
            await(true);
        }

        private void await(boolean turn) {
            for (int spin = 0; fibersTurn != turn && !stopped; spin++) {
                if (spin < SPINS) {
                    Thread.onSpinWait();
                } else {
                    LockSupport.park(this);
                }
            }
        }

        @Override
        public void run() {
            await(true);
            while (!stopped) {
                fiber.work();
                giveBack();
            }
        }

        void end() {
            stopped = true;
            LockSupport.unpark(this);
        }
    }
}
