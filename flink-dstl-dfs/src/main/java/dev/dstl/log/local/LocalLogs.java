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
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Tracks how long copies are needed that no open changelog holds any more. A task recovers from the
 * latest completed checkpoint, so a copy is released as soon as a checkpoint completes that does
 * not contain it.
 *
 * <pre>
 *   in the tail of a log --truncated--> expiring ------------------.
 *        |                                ^                        |
 *        '--log closed--> inherited ------'                        |
 *                            |      successor truncates            |
 *                            |                                     v
 *                            '--no successor here--> a later checkpoint completes: released
 * </pre>
 *
 * <p>What a changelog leaves when it is closed belongs to every later checkpoint of the same task,
 * until that has a base of its own and truncates. Thread-safe; no method blocks.
 */
public final class LocalLogs {

    private static final long DEPENDENT = Long.MAX_VALUE;

    /** Copies by the highest checkpoint that may contain them. */
    @GuardedBy("this")
    private final TreeMap<Long, List<LocalCopy>> expiring = new TreeMap<>();

    @GuardedBy("this")
    private final Map<String, Inheritance> inheritances = new HashMap<>();

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
        inheritanceOf(task).liveLogs++;
    }

    @GuardedBy("this")
    private Inheritance inheritanceOf(String task) {
        return inheritances.computeIfAbsent(task, name -> new Inheritance());
    }

    /**
     * Reports that a batch was truncated that was in checkpoints.
     *
     * @param lastCheckpoint the last checkpoint that may contain it
     */
    synchronized void truncated(LocalCopy copy, long lastCheckpoint) {
        copy.retain();
        expiring.computeIfAbsent(lastCheckpoint, id -> new ArrayList<>()).add(copy);
    }

    /**
     * Reports that a changelog was closed with a batch in its tail that was in checkpoints.
     *
     * @param lastCheckpoint the last checkpoint that may contain it
     */
    synchronized void left(String task, LocalCopy copy, long lastCheckpoint) {
        copy.retain();
        Inheritance inheritance = inheritanceOf(task);
        inheritance.copies.add(copy);
        inheritance.lastCheckpoint = Math.max(inheritance.lastCheckpoint, lastCheckpoint);
    }

    /**
     * Reports that a changelog has a base of its own.
     *
     * @param lastCheckpoint the last checkpoint that may contain inherited copies
     */
    synchronized void independent(String task, long lastCheckpoint) {
        Inheritance inheritance = inheritanceOf(task);
        if (inheritance.independentAfter == DEPENDENT) {
            inheritance.independentAfter = lastCheckpoint;
        }
        if (!inheritance.copies.isEmpty()) {
            long last = Math.max(lastCheckpoint, inheritance.lastCheckpoint);
            expiring.computeIfAbsent(last, id -> new ArrayList<>()).addAll(inheritance.copies);
            inheritance.copies.clear();
        }
    }

    /** Reports that a changelog has ended, after {@link #left} was called for its copies. */
    synchronized void closed(String task) {
        inheritanceOf(task).liveLogs--;
    }

    /**
     * Reports that a checkpoint of the job is complete, which releases copies that only earlier
     * ones contain.
     */
    void confirmed(long checkpointId) {
        List<LocalCopy> unneeded = new ArrayList<>();
        Runnable independent = () -> {};
        synchronized (this) {
            if (inheritances.values().stream().allMatch(log -> log.isIndependent(checkpointId))) {
                independent = whenIndependent;
                whenIndependent = () -> {};
            }
            Map<Long, List<LocalCopy>> past = expiring.headMap(checkpointId);
            past.values().forEach(unneeded::addAll);
            past.clear();
            Iterator<Inheritance> each = inheritances.values().iterator();
            while (each.hasNext()) {
                Inheritance inheritance = each.next();
                if (inheritance.liveLogs == 0 && inheritance.lastCheckpoint < checkpointId) {
                    unneeded.addAll(inheritance.copies);
                    each.remove();
                }
            }
        }
        unneeded.forEach(LocalCopy::release);
        independent.run();
    }

    /** The copies that closed changelogs of a task left. */
    private static final class Inheritance {
        private final List<LocalCopy> copies = new ArrayList<>();
        private long lastCheckpoint = -1;
        private int liveLogs;

        /**
         * The last checkpoint that may contain state that the first changelog was restored from.
         */
        private long independentAfter = DEPENDENT;

        private boolean isIndependent(long checkpointId) {
            return liveLogs == 0 || independentAfter < checkpointId;
        }
    }
}
