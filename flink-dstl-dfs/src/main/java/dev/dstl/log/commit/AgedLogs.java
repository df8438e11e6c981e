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

package dev.dstl.log.commit;

import dev.dstl.log.execution.ErrorLog;
import dev.dstl.log.execution.Timers;
import dev.dstl.log.upload.InFlightBudget;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArraySet;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/**
 * The changelogs of a job on this TaskManager. Asks them to seal batches that reach the age limit,
 * and all batches while memory is short. Thread-safe; no method blocks.
 */
final class AgedLogs {

    private static final ErrorLog LOG = new ErrorLog(AgedLogs.class);

    /**
     * Interval at which tasks are asked again to seal while memory stays short, and the shortest
     * time between two such requests: each adds runs and writes, also of tasks that hold little.
     */
    private static final long RELIEF_MILLIS = 1_000;

    private final Timers timers;
    private final InFlightBudget budget;
    private final Runnable whenAsked;

    /** Whether memory was reported as short since tasks were last asked. */
    private final AtomicBoolean reported = new AtomicBoolean();

    /** Whether a timer for {@link #relieve} is scheduled. */
    private final AtomicBoolean relieving = new AtomicBoolean();

    private final Set<AgedLog> logs = new CopyOnWriteArraySet<>();
    private volatile boolean closed;

    /**
     * Creates an empty set and, unless disabled, schedules the age checks.
     *
     * @param maxAgeMillis maximum age of an active batch; 0 disables the age checks
     * @param budget reports when memory is short
     * @param whenAsked called after changelogs were asked to seal
     */
    AgedLogs(Timers timers, long maxAgeMillis, InFlightBudget budget, Runnable whenAsked) {
        this.timers = timers;
        this.budget = budget;
        this.whenAsked = whenAsked;
        budget.memory().whenShort(this::memoryShort);
        if (maxAgeMillis > 0) {
            timers.every(maxAgeMillis, this::age);
        }
    }

    void add(AgedLog log) {
        logs.add(log);
    }

    void remove(AgedLog log) {
        logs.remove(log);
    }

    int count() {
        return logs.size();
    }

    private void age() {
        logs.forEach(log -> ask(log, AgedLog::grownOlder));
        whenAsked.run();
    }

    private static void ask(AgedLog log, Consumer<AgedLog> question) {
        try {
            question.accept(log);
        } catch (Throwable t) {
            LOG.error("A changelog could not be aged; this is a defect, please report it.", t);
        }
    }

    /**
     * Called when tasks are stopped. Their active batches are sealed, so that they can be uploaded
     * and released.
     */
    private void memoryShort() {
        reported.set(true);
        if (relieving.compareAndSet(false, true)) {
            scheduleRelief(0);
        }
    }

    private void scheduleRelief(long delayMillis) {
        try {
            timers.schedule(this::relieve, delayMillis);
        } catch (Throwable t) {
            relieving.set(false);
            throw t;
        }
    }

    private void relieve() {
        if (closed) {
            return;
        }
        if (!reported.getAndSet(false) && budget.isAvailable()) {
            relieving.set(false);
            // A report in between relied on this timer.
            if (reported.get()) {
                memoryShort();
            }
            return;
        }
        try {
            logs.forEach(log -> ask(log, AgedLog::memoryShort));
            whenAsked.run();
        } finally {
            scheduleRelief(RELIEF_MILLIS);
        }
    }

    /** Notifies every changelog that the storage is closed. */
    void close() {
        closed = true;
        logs.forEach(AgedLog::storageClosed);
    }
}
