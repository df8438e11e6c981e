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

package dev.dstl.log.simulation.cluster;

import dev.dstl.log.batch.PagePool;
import dev.dstl.log.memory.ProcessMemory;
import dev.dstl.log.simulation.schedule.Lane;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A process with at most one changelog storage of each job at a time. */
public final class SimulatedTaskManager {

    /** A few pages: results must not depend on how many are pooled. */
    private static final long MAX_FREE_BYTES = 1 << 18;

    private final Cluster cluster;
    private final String name;
    private final SimulatedHost host;
    private final Lane asyncLane;
    private final Map<SimulatedJob, SimulatedLog> logs = new LinkedHashMap<>();
    private final List<SimulatedLog> openedLogs = new ArrayList<>();
    private final ProcessMemory memory = new ProcessMemory();
    private final PagePool pages = new PagePool(MAX_FREE_BYTES, memory);
    private boolean alive = true;

    SimulatedTaskManager(Cluster cluster, String name, SimulatedHost host) {
        this.cluster = cluster;
        this.name = name;
        this.host = host;
        this.asyncLane = cluster.schedule().lane(name + "-async");
    }

    String name() {
        return name;
    }

    SimulatedHost host() {
        return host;
    }

    /** Memory that all changelogs of the process share. */
    ProcessMemory memory() {
        return memory;
    }

    PagePool pages() {
        return pages;
    }

    boolean isAlive() {
        return alive;
    }

    /** Returns the lane of the asynchronous part of checkpoints. */
    Lane asyncLane() {
        return asyncLane;
    }

    /** Returns the changelog for a task that starts; opens it if necessary. */
    SimulatedLog log(SimulatedJob job) {
        return logs.computeIfAbsent(job, this::open);
    }

    private SimulatedLog open(SimulatedJob job) {
        SimulatedLog log =
                new SimulatedLog(cluster, job, this, name + "." + (openedLogs.size() + 1));
        openedLogs.add(log);
        return log;
    }

    /** All changelogs that the process has ever opened. */
    public List<SimulatedLog> openedLogs() {
        return openedLogs;
    }

    /** Closes the changelog of a job that has no tasks here any more. */
    void release(SimulatedJob job) {
        SimulatedLog log = logs.remove(job);
        if (log != null) {
            cluster.schedule().note(name, "closes log");
            log.close();
        }
    }

    /** Ends the process without closing anything. */
    void crash() {
        alive = false;
        cluster.schedule().note(name, "crashes");
        asyncLane.close();
        logs.values().forEach(SimulatedLog::vanish);
    }

    @Override
    public String toString() {
        return name;
    }
}
