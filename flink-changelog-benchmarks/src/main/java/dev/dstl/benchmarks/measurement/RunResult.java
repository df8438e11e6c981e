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

package dev.dstl.benchmarks.measurement;

import java.util.ArrayList;
import java.util.List;

/** The result of one run of a workload on a variant. Written as JSON. */
public final class RunResult {

    /** Name of the workload. */
    public String workload = "";

    /** Name of the variant. */
    public String variant = "";

    /** Number of the round, from 1. */
    public int round;

    /** Reason why there are no results; empty if there are. */
    public String failure = "";

    /** Duration of the measured window in seconds. */
    public double windowSeconds;

    /** Records that the sources read within the window. */
    public long records;

    /** CPU time of the TaskManager in the window in seconds, user and system. */
    public double cpuSeconds;

    /**
     * CPU time of all other processes of the machine in the window in seconds: JobManager,
     * benchmark, and anything else.
     */
    public double otherCpuSeconds;

    /** Checkpoints that completed in the window. */
    public List<CheckpointSample> checkpoints = new ArrayList<>();

    /** Number of checkpoints that failed in the window. */
    public long failedCheckpoints;

    /** Samples of the TaskManager in the window. */
    public List<ProcessSample> process = new ArrayList<>();

    /** Requests in the window. */
    public StoreTraffic traffic = new StoreTraffic();

    /** Requests from the kill to the first record. */
    public StoreTraffic recoveryTraffic = new StoreTraffic();

    /** Number of objects in the store at the kill, including orphans. */
    public long storedObjects;

    /** Total size of these objects in bytes. */
    public long storedBytes;

    /** Handles of the last checkpoint before the kill. */
    public HandleCount handles = new HandleCount();

    /** Duration of the recovery. */
    public RecoverySample recovery = new RecoverySample();

    /** Returns whether the run was measured completely. */
    public boolean hasFigures() {
        return failure.isEmpty();
    }

    /** Returns the records that the sources read per second of the window. */
    public double recordsPerSecond() {
        return records / windowSeconds;
    }
}
