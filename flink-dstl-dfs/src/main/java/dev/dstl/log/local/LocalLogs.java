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
 * Tracks how long copies are needed that no live log holds any more. A task recovers from the
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
 * <p>What a log leaves when it is closed belongs to every checkpoint of the log that comes after it
 * in the same task, until that has a base of its own and truncates. Thread safe; no method blocks.
 */
public final class LocalLogs {

    private static final long DEPENDENT = Long.MAX_VALUE;

    /** By the checkpoint that may contain them, the highest. */
    @GuardedBy("this")
    private final TreeMap<Long, List<LocalCopy>> expiring = new TreeMap<>();

    @GuardedBy("this")
    private final Map<String, Inheritance> inheritances = new HashMap<>();

    @GuardedBy("this")
    private Runnable whenIndependent = () -> {};

    /**
     * Has an action run once, when no log can recover any more from what an earlier process left.
     *
     * @param action runs on a task thread, may not block
     */
    synchronized void whenIndependent(Runnable action) {
        whenIndependent = action;
    }

    /**
     * A log begins.
     *
     * @param task names the task's operator and key groups, the same whenever the task is restarted
     */
    synchronized void opened(String task) {
        inheritanceOf(task).liveLogs++;
    }

    @GuardedBy("this")
    private Inheritance inheritanceOf(String task) {
        return inheritances.computeIfAbsent(task, name -> new Inheritance());
    }

    /** A truncated batch was in checkpoints, up to a given one. */
    synchronized void truncated(LocalCopy copy, long lastCheckpoint) {
        copy.retain();
        expiring.computeIfAbsent(lastCheckpoint, id -> new ArrayList<>()).add(copy);
    }

    /** A log was closed with a batch in its tail that was in checkpoints, up to a given one. */
    synchronized void left(String task, LocalCopy copy, long lastCheckpoint) {
        copy.retain();
        Inheritance inheritance = inheritanceOf(task);
        inheritance.copies.add(copy);
        inheritance.lastCheckpoint = Math.max(inheritance.lastCheckpoint, lastCheckpoint);
    }

    /**
     * A log has a base of its own now.
     *
     * @param lastCheckpoint the last one that may contain what it inherited
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

    /** A log ended, after it reported the copies that it leaves. */
    synchronized void closed(String task) {
        inheritanceOf(task).liveLogs--;
    }

    /** A checkpoint of the job is complete. */
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

    /** What the closed logs of a task left. */
    private static final class Inheritance {
        private final List<LocalCopy> copies = new ArrayList<>();
        private long lastCheckpoint = -1;
        private int liveLogs;

        /** The last checkpoint that may contain what the first log was restored from. */
        private long independentAfter = DEPENDENT;

        private boolean isIndependent(long checkpointId) {
            return liveLogs == 0 || independentAfter < checkpointId;
        }
    }
}
