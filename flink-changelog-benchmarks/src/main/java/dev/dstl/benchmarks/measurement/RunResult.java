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

/** All that one run of a workload on a variant gave. Written as JSON. */
public final class RunResult {

    /** Id of the workload. */
    public String workload = "";

    /** Id of the variant. */
    public String variant = "";

    /** From 1. */
    public int round;

    /** Why there are no results; empty if there are. */
    public String failure = "";

    /** The length of the measured window. */
    public double windowSeconds;

    /** Records that the sources read within the window. */
    public long records;

    /** Of the TaskManager within the window, user and system. */
    public double cpuSeconds;

    /**
     * Of all other processes of the machine within the window: the JobManager, the benchmark, and
     * whatever else disturbs it.
     */
    public double otherCpuSeconds;

    /** Those that completed within the window. */
    public List<CheckpointSample> checkpoints = new ArrayList<>();

    /** Those that failed within the window. */
    public long failedCheckpoints;

    /** Samples of the TaskManager within the window. */
    public List<ProcessSample> process = new ArrayList<>();

    /** Within the window. */
    public StoreTraffic traffic = new StoreTraffic();

    /** From the kill to the first record. */
    public StoreTraffic recoveryTraffic = new StoreTraffic();

    /** What lay in the store at the kill, garbage included. */
    public long storedObjects;

    /** Bytes of these objects. */
    public long storedBytes;

    /** Handles in the last checkpoint before the kill. */
    public HandleCount handles = new HandleCount();

    /** How long recovery took. */
    public RecoverySample recovery = new RecoverySample();

    /** Whether the run was measured to its end. */
    public boolean hasFigures() {
        return failure.isEmpty();
    }

    /** Records that the sources read per second of the window. */
    public double recordsPerSecond() {
        return records / windowSeconds;
    }
}
