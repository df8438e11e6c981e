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

package dev.dstl.changelog.materialization;

import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import javax.annotation.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The timer of the next periodic materialization. If it cannot be scheduled for lack of threads or
 * memory, neither a restore nor a task fails, and it can be tried again. Not thread-safe.
 */
final class MaterializationTimer {

    private static final Logger LOG = LoggerFactory.getLogger(MaterializationTimer.class);

    private final String subtask;
    private final ScheduledExecutorService clock;
    private final Runnable action;

    @Nullable private Future<?> scheduled;

    /** Whether it should be scheduled, but is not. */
    private boolean missing;

    private long dueNanos;

    /**
     * Creates a timer that is not scheduled.
     *
     * @param subtask name in log lines
     * @param clock stays the caller's
     * @param action must not block
     */
    MaterializationTimer(String subtask, ScheduledExecutorService clock, Runnable action) {
        this.subtask = subtask;
        this.clock = clock;
        this.action = action;
    }

    /** Schedules the action, and cancels what was scheduled before. Throws nothing. */
    void schedule(long delayMillis) {
        cancel();
        dueNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(delayMillis);
        try {
            scheduleIn(delayMillis);
        } catch (Throwable t) {
            missing = true;
            LOG.warn(
                    "The next materialization of {} is scheduled with the next checkpoint, since"
                            + " there is no timer for it",
                    subtask,
                    t);
        }
    }

    /** Schedules the action for the same time as before, if that has failed. Throws nothing. */
    void retry() {
        if (!missing) {
            return;
        }
        try {
            scheduleIn(Math.max(0, TimeUnit.NANOSECONDS.toMillis(dueNanos - System.nanoTime())));
            missing = false;
        } catch (Throwable t) {
            LOG.debug("There is still no timer for {}", subtask, t);
        }
    }

    private void scheduleIn(long delayMillis) {
        scheduled = clock.schedule(action, delayMillis, TimeUnit.MILLISECONDS);
    }

    /** Cancels the action. No effect if it is not scheduled. */
    void cancel() {
        missing = false;
        if (scheduled != null) {
            scheduled.cancel(false);
            scheduled = null;
        }
    }
}
