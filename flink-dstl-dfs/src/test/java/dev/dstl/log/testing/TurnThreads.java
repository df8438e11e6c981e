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
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.Semaphore;
import javax.annotation.Nullable;

/**
 * Threads that may block on the manual clock. One runs at a time, while the thread that lets time
 * pass waits for it, so that everything happens in the same order each time. Each begins, and goes
 * on after a {@link Pause}, from a timer without delay.
 */
public final class TurnThreads implements Executor, AutoCloseable {

    private final Timers timers;
    private final Semaphore clocksTurn = new Semaphore(0);
    private final ExecutorService threads = Executors.newCachedThreadPool(TurnThread::new);
    private final Set<TurnThread> paused = new LinkedHashSet<>();
    private int running;
    private int failingStarts;
    private Runnable startFailure = () -> {};
    private boolean closed;

    /**
     * @param timers of the clock that threads wait for
     */
    public TurnThreads(Timers timers) {
        this.timers = timers;
    }

    @Override
    public void execute(Runnable work) {
        if (closed) {
            throw new RejectedExecutionException("Closed");
        }
        if (failingStarts > 0) {
            failingStarts--;
            startFailure.run();
        }
        running++;
        timers.schedule(() -> start(work), 0);
    }

    /**
     * As many of the next threads do not start.
     *
     * @param failure throws what starting them throws
     */
    public void failNextStarts(int count, Runnable failure) {
        failingStarts = count;
        startFailure = failure;
    }

    /** Number of threads with a task, paused or not yet begun. */
    public int runningCount() {
        return running;
    }

    private void start(Runnable work) {
        threads.execute(
                () -> {
                    TurnThread thread = (TurnThread) Thread.currentThread();
                    thread.owner = this;
                    try {
                        work.run();
                    } catch (Closed closing) {
                        // Unwound.
                    } finally {
                        thread.owner = null;
                        running--;
                        clocksTurn.release();
                    }
                });
        clocksTurn.acquireUninterruptibly();
    }

    private void resume(TurnThread thread) {
        paused.remove(thread);
        thread.turn.release();
        clocksTurn.acquireUninterruptibly();
    }

    /** Unwinds the paused threads. */
    @Override
    public void close() {
        closed = true;
        while (!paused.isEmpty()) {
            resume(paused.iterator().next());
        }
        threads.shutdownNow();
    }

    /** An event that one thread waits for. Ends once. */
    public static final class Pause {
        private final boolean uninterruptible;
        @Nullable private TurnThread thread;
        private boolean over;
        private boolean interrupted;

        /** Creates a pause that an interrupt ends too. */
        public Pause() {
            this(false);
        }

        /**
         * @param uninterruptible whether it goes on when the thread is interrupted
         */
        public Pause(boolean uninterruptible) {
            this.uninterruptible = uninterruptible;
        }

        /** Resumes the thread. */
        public void end() {
            if (!over) {
                over = true;
                TurnThread waiting = thread;
                if (waiting != null) {
                    TurnThreads owner = waiting.owner;
                    owner.timers.schedule(
                            () -> {
                                if (owner.paused.contains(waiting)) {
                                    owner.resume(waiting);
                                }
                            },
                            0);
                }
            }
        }

        /**
         * Waits, on one of these threads.
         *
         * @throws InterruptedException if the thread was interrupted, unless it is uninterruptible
         */
        public void await() throws InterruptedException {
            TurnThread waiting = (TurnThread) Thread.currentThread();
            TurnThreads owner = waiting.owner;
            if (owner.closed) {
                throw new Closed();
            }
            if (over) {
                return;
            }
            if (!uninterruptible && Thread.interrupted()) {
                over = true;
                throw new InterruptedException();
            }
            thread = waiting;
            waiting.pause = this;
            owner.paused.add(waiting);
            owner.clocksTurn.release();
            waiting.turn.acquireUninterruptibly();
            waiting.pause = null;
            if (owner.closed && !over) {
                throw new Closed();
            }
            if (interrupted) {
                throw new InterruptedException();
            }
        }
    }

    /** Thrown in threads whose test has ended. */
    private static final class Closed extends Error {
        private static final long serialVersionUID = 1L;

        private Closed() {
            super("The test is over", null, false, false);
        }
    }

    /** A thread whose interrupts, while it is paused, are events like others. */
    private static final class TurnThread extends Thread {
        private final Semaphore turn = new Semaphore(0);
        @Nullable private volatile TurnThreads owner;
        @Nullable private Pause pause;

        private TurnThread(Runnable loop) {
            super(loop, "turn");
            setDaemon(true);
        }

        @Override
        public void interrupt() {
            Pause current = pause;
            if (owner == null || currentThread() == this || current == null) {
                super.interrupt();
            } else if (!current.uninterruptible && !current.over) {
                current.interrupted = true;
                current.end();
            }
        }
    }
}
