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
 * Work that blocks, on a thread of its own that only runs while the schedule waits for it. So
 * everything is still one thing after the other, although the production code holds a whole call
 * stack while the store does not answer.
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

    /** Tells the owner of the calling thread's fiber; returns false if there is none. */
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
    }

    Lane lane() {
        return lane;
    }

    boolean hasEnded() {
        return ended;
    }

    void start() {
        thread = owner.idleThread();
        thread.run(this);
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

    void interrupt() {
        if (pause != null) {
            pause.end(true, "interrupted");
        }
    }

    /** Unwinds the stack, which by now can have no effect on anybody else. */
    void vanish() {
        gone = true;
        lane.close();
        if (pause != null) {
            resume();
        }
    }

    /** On the fiber's thread. */
    void work() {
        CURRENT.set(this);
        try {
            work.run();
        } catch (Throwable failure) {
            if (!gone) {
                owner.failed(failure);
            }
        } finally {
            CURRENT.remove();
            ended = true;
        }
    }

    /** Something that a fiber waits for; ends once, whatever comes first. */
    public static final class Pause {
        @Nullable private Fiber fiber;
        private boolean over;
        private boolean interrupted;

        /** Lets the fiber go on, when its turn comes. */
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

    /** Ends the work of a process that does not exist any more. */
    public static final class ProcessGone extends Error {
        private static final long serialVersionUID = 1L;

        ProcessGone() {
            super("The process is gone", null, false, false);
        }
    }

    /** A thread that runs one fiber after the other. */
    static final class FiberThread {
        private static final int SPINS = 200;

        private final Thread thread;
        private Thread schedule;
        private Fiber fiber;
        private volatile boolean fibersTurn;
        private volatile boolean stopped;

        FiberThread(String name) {
            thread = new InterruptibleThread(this, name);
            thread.setDaemon(true);
            thread.start();
        }

        /** Returns when the fiber pauses or ends. */
        void run(Fiber next) {
            fiber = next;
            proceed();
        }

        void proceed() {
            schedule = Thread.currentThread();
            fibersTurn = true;
            LockSupport.unpark(thread);
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

        private void loop() {
            await(true);
            while (!stopped) {
                fiber.work();
                giveBack();
            }
        }

        void stop() {
            stopped = true;
            LockSupport.unpark(thread);
        }

        /** To the fiber it runs, an interrupt is an event like any other. */
        private static final class InterruptibleThread extends Thread {
            private final FiberThread owner;

            private InterruptibleThread(FiberThread owner, String name) {
                super(owner::loop, name);
                this.owner = owner;
            }

            @Override
            public void interrupt() {
                if (currentThread() == this) {
                    super.interrupt();
                } else if (owner.fiber != null) {
                    owner.fiber.interrupt();
                }
            }
        }
    }
}
