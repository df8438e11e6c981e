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

import org.apache.flink.api.common.JobID;

/** One of the jobs that share the processes, with one JobManager after the other. */
public final class SimulatedJob {

    private final Cluster cluster;
    private final String name;
    private final JobID id;
    private SimulatedJobManager jobManager;

    SimulatedJob(Cluster cluster, String name, JobID id) {
        this.cluster = cluster;
        this.name = name;
        this.id = id;
        this.jobManager = new SimulatedJobManager(cluster, this, 0);
    }

    /** Another JobManager takes over, with what the old one made durable. */
    void replaceJobManager() {
        SimulatedJobManager old = jobManager;
        jobManager = new SimulatedJobManager(cluster, this, old.epoch() + 1);
        jobManager.takeOver(old);
    }

    /** Returns the current JobManager. */
    public SimulatedJobManager jobManager() {
        return jobManager;
    }

    JobID id() {
        return id;
    }

    @Override
    public String toString() {
        return name;
    }
}
