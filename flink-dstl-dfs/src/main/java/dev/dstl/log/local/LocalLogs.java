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

package dev.dstl.log.local;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Tracks how long copies are needed that no open changelog holds any more. A task recovers from the
 * latest completed checkpoint, so a copy is released as soon as a checkpoint completes that does
 * not contain it.
 *
 * <pre>
 *   in the tail of a log --truncated--> expiring -------------------.
 *        |                               |    ^                     |
 *        |                      log closed    |                     |
 *        |                               v    | successor truncates |
 *        '---------log closed---------> inherited                   |
 *                                         |                         v
 *                                         '--no successor here--> a later checkpoint completes:
 *                                                                 released
 * </pre>
 *
 * <p>What a changelog leaves when it is closed belongs to every later checkpoint of the same task,
 * until that has a base of its own and truncates. This includes what was truncated after the latest
 * completed checkpoint, as the task continues from that one. Thread-safe; no method blocks.
 */
public final class LocalLogs {

    private static final long NO_CHECKPOINT = -1;
    private static final long DEPENDENT = Long.MAX_VALUE;

    @GuardedBy("this")
    private final Map<String, Task> tasks = new HashMap<>();

    @GuardedBy("this")
    private long latestConfirmed = NO_CHECKPOINT;

    @GuardedBy("this")
    private Runnable whenIndependent = () -> {};

    /**
     * Registers an action that runs once, when no task can recover any more from copies of an
     * earlier process.
     *
     * @param action runs on a task thread; must not block
     */
    synchronized void whenIndependent(Runnable action) {
        whenIndependent = action;
    }

    /**
     * Reports that a changelog is opened.
     *
     * @param task operator and key groups of the task, the same whenever the task is restarted
     */
    synchronized void opened(String task) {
        task(task).liveLogs++;
    }

    @GuardedBy("this")
    private Task task(String task) {
        return tasks.computeIfAbsent(task, name -> new Task());
    }

    /**
     * Reports that a batch was truncated that was in checkpoints.
     *
     * @param lastCheckpoint the last checkpoint that may contain it
     */
    synchronized void truncated(String task, LocalCopy copy, long lastCheckpoint) {
        copy.retain();
        task(task).expire(lastCheckpoint, List.of(copy));
    }

    /** Reports that a changelog was closed with a batch in its tail that was in checkpoints. */
    synchronized void left(String task, LocalCopy copy) {
        copy.retain();
        task(task).inherited.add(copy);
    }

    /**
     * Reports that a changelog has a base of its own.
     *
     * @param lastCheckpoint the last checkpoint that may contain inherited copies
     */
    synchronized void independent(String task, long lastCheckpoint) {
        task(task).independent(lastCheckpoint);
    }

    /**
     * Reports that a changelog has ended, after {@link #left} was called for its copies.
     *
     * @param lastCheckpoint the last checkpoint that may contain batches of it
     */
    synchronized void closed(String task, long lastCheckpoint) {
        task(task).closed(lastCheckpoint, latestConfirmed);
    }

    /**
     * Reports that a checkpoint of the job is complete, which releases copies that only earlier
     * ones contain.
     */
    void confirmed(long checkpointId) {
        List<LocalCopy> unneeded = new ArrayList<>();
        Runnable independent = () -> {};
        synchronized (this) {
            latestConfirmed = Math.max(latestConfirmed, checkpointId);
            tasks.values().forEach(task -> task.confirmed(checkpointId, unneeded));
            tasks.values().removeIf(task -> task.hasNoSuccessor(checkpointId));
            if (tasks.values().stream().allMatch(task -> task.independentAfter < checkpointId)) {
                independent = whenIndependent;
                whenIndependent = () -> {};
            }
        }
        unneeded.forEach(LocalCopy::release);
        independent.run();
    }

    /** The copies that a task may recover from and no open changelog of it holds. */
    private static final class Task {

        /** Copies by the highest checkpoint that may contain them. */
        private final TreeMap<Long, List<LocalCopy>> expiring = new TreeMap<>();

        private final List<LocalCopy> inherited = new ArrayList<>();

        /** The last checkpoint that closed changelogs took part in. */
        private long lastCheckpoint = NO_CHECKPOINT;

        private int liveLogs;

        /**
         * The last checkpoint that may contain state that the first changelog was restored from.
         */
        private long independentAfter = DEPENDENT;

        private void expire(long last, List<LocalCopy> copies) {
            expiring.computeIfAbsent(last, id -> new ArrayList<>()).addAll(copies);
        }

        private void independent(long last) {
            if (independentAfter == DEPENDENT) {
                independentAfter = Math.max(last, lastCheckpoint);
            }
            if (!inherited.isEmpty()) {
                expire(Math.max(last, lastCheckpoint), inherited);
                inherited.clear();
            }
        }

        private void closed(long last, long latestConfirmed) {
            liveLogs--;
            lastCheckpoint = Math.max(lastCheckpoint, last);
            expiring.values().forEach(inherited::addAll);
            expiring.clear();
            if (independentAfter >= latestConfirmed) {
                independentAfter = DEPENDENT;
            }
        }

        private void confirmed(long checkpointId, List<LocalCopy> unneeded) {
            Map<Long, List<LocalCopy>> past = expiring.headMap(checkpointId);
            past.values().forEach(unneeded::addAll);
            past.clear();
            if (hasNoSuccessor(checkpointId)) {
                unneeded.addAll(inherited);
            }
        }

        private boolean hasNoSuccessor(long checkpointId) {
            return liveLogs == 0 && lastCheckpoint < checkpointId;
        }
    }
}
