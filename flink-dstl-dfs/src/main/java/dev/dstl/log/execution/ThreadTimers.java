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

package dev.dstl.log.execution;

import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** Timers on a thread of their own. Actions that are not due when it is closed are dropped. */
public final class ThreadTimers implements Timers, AutoCloseable {

    private static final ErrorLog LOG = new ErrorLog(ThreadTimers.class);
    private static final Timer NEVER = () -> {};

    private final ScheduledThreadPoolExecutor thread;

    /**
     * Starts the thread, which runs until this object is closed, so that no later action fails
     * because a thread cannot be started.
     */
    public ThreadTimers(String threadName) {
        thread = new ScheduledThreadPoolExecutor(1, new DaemonThreads(threadName));
        thread.setRemoveOnCancelPolicy(true);
        thread.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
        thread.prestartCoreThread();
    }

    @Override
    public long nanoTime() {
        return System.nanoTime();
    }

    @Override
    public Timer schedule(Runnable action, long delayMillis) {
        try {
            ScheduledFuture<?> future =
                    thread.schedule(() -> run(action), delayMillis, TimeUnit.MILLISECONDS);
            return () -> future.cancel(false);
        } catch (RejectedExecutionException closed) {
            return NEVER;
        }
    }

    @Override
    public void every(long periodMillis, Runnable action) {
        try {
            ScheduledFuture<?> unused =
                    thread.scheduleWithFixedDelay(
                            () -> run(action), periodMillis, periodMillis, TimeUnit.MILLISECONDS);
        } catch (RejectedExecutionException closed) {
            return;
        }
    }

    private static void run(Runnable action) {
        try {
            action.run();
        } catch (Throwable t) {
            // Nothing may leave a periodic action, which would end it.
            LOG.error("A timer of the changelog failed; this is a defect, please report it.", t);
        }
    }

    @Override
    public void close() {
        thread.shutdownNow();
    }
}
