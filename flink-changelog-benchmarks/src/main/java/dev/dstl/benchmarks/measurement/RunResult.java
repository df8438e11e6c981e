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

    public String workload = "";
    public String variant = "";

    /** From 1. */
    public int round;

    /** Why there are no figures; empty if there are. */
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

    public List<ProcessSample> process = new ArrayList<>();

    /** Within the window. */
    public StoreTraffic traffic = new StoreTraffic();

    /** From the kill to the first record. */
    public StoreTraffic recoveryTraffic = new StoreTraffic();

    /** What lay in the store at the kill, garbage included. */
    public long storedObjects;

    public long storedBytes;

    public HandleCount handles = new HandleCount();
    public RecoverySample recovery = new RecoverySample();

    public boolean hasFigures() {
        return failure.isEmpty();
    }

    public double recordsPerSecond() {
        return records / windowSeconds;
    }
}
