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
 *                                         |    |                    v
 *                                         |    '--no successor--> a later checkpoint completes:
 *                                         |                       released
 *                                         v
 *                  successor restored from an earlier checkpoint: released
 * </pre>
 *
 * <p>What a changelog leaves when it is closed belongs to every later checkpoint of the same task,
 * until that has a base of its own and truncates. This includes what was truncated after the latest
 * completed checkpoint, as the task continues from that one. It does not include what only
 * checkpoints contain that never completed, of which a task that fails again and again leaves some
 * each time. Thread-safe; no method blocks.
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

    /**
     * Reports the checkpoint that the task of a changelog was restored from.
     *
     * @param checkpointId 0 if it began without state
     */
    void restoredFrom(String task, long checkpointId) {
        List<LocalCopy> unneeded = new ArrayList<>();
        synchronized (this) {
            task(task).restoredFrom(checkpointId, unneeded);
        }
        unneeded.forEach(LocalCopy::release);
    }

    /** Reports that the task of a changelog was restored from an unknown checkpoint. */
    void restoredFromLatest(String task) {
        long latest;
        synchronized (this) {
            latest = latestConfirmed;
        }
        restoredFrom(task, latest);
    }

    @GuardedBy("this")
    private Task task(String task) {
        return tasks.computeIfAbsent(task, name -> new Task());
    }

    /**
     * Reports that a batch was truncated that was in checkpoints. Its copy is not needed if a later
     * one is complete.
     *
     * @param firstCheckpoint the first checkpoint that may contain it
     * @param lastCheckpoint the last checkpoint that may contain it
     */
    synchronized void truncated(
            String task, LocalCopy copy, long firstCheckpoint, long lastCheckpoint) {
        if (lastCheckpoint < latestConfirmed) {
            return;
        }
        copy.retain();
        task(task).expire(lastCheckpoint, List.of(new HeldCopy(copy, firstCheckpoint)));
    }

    /**
     * Reports that a changelog was closed with a batch in its tail that was in checkpoints.
     *
     * @param firstCheckpoint the first checkpoint that may contain it
     */
    synchronized void left(String task, LocalCopy copy, long firstCheckpoint) {
        copy.retain();
        task(task).inherited.add(new HeldCopy(copy, firstCheckpoint));
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
        private final TreeMap<Long, List<HeldCopy>> expiring = new TreeMap<>();

        private final List<HeldCopy> inherited = new ArrayList<>();

        /** The last checkpoint that closed changelogs took part in. */
        private long lastCheckpoint = NO_CHECKPOINT;

        private int liveLogs;

        /**
         * The last checkpoint that may contain state that the first changelog was restored from.
         */
        private long independentAfter = DEPENDENT;

        private void restoredFrom(long checkpointId, List<LocalCopy> unneeded) {
            inherited.removeIf(
                    held -> {
                        boolean later = held.firstCheckpoint > checkpointId;
                        if (later) {
                            unneeded.add(held.copy);
                        }
                        return later;
                    });
        }

        private void expire(long last, List<HeldCopy> copies) {
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
            Map<Long, List<HeldCopy>> past = expiring.headMap(checkpointId);
            past.values().forEach(copies -> release(copies, unneeded));
            past.clear();
            if (hasNoSuccessor(checkpointId)) {
                release(inherited, unneeded);
            }
        }

        private static void release(List<HeldCopy> copies, List<LocalCopy> unneeded) {
            copies.forEach(held -> unneeded.add(held.copy));
        }

        private boolean hasNoSuccessor(long checkpointId) {
            return liveLogs == 0 && lastCheckpoint < checkpointId;
        }
    }

    /** A copy with a reference of its own. */
    private static final class HeldCopy {
        private final LocalCopy copy;

        /** The first checkpoint that may contain it. */
        private final long firstCheckpoint;

        private HeldCopy(LocalCopy copy, long firstCheckpoint) {
            this.copy = copy;
            this.firstCheckpoint = firstCheckpoint;
        }
    }
}
