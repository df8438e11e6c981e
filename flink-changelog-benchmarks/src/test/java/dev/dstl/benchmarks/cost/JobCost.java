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

package dev.dstl.benchmarks.cost;

import java.util.ArrayList;
import java.util.List;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;

/** The cost of a job with one workload and one changelog. Immutable. */
final class JobCost {

    /** Number of final checkpoints whose acknowledgements are measured. */
    private static final int ACKNOWLEDGED = 10;

    private final CostWorkload workload;
    private final CostedChangelog changelog;
    private final StoreUse use;
    private final double acknowledgedBytes;
    private final double metadataBytes;
    private final double highAvailabilityBytes;
    private final double firstHeapBytes;
    private final double furtherHeapBytes;

    private JobCost(
            CostWorkload workload,
            CostedChangelog changelog,
            StoreUse use,
            double acknowledgedBytes,
            double metadataBytes,
            double highAvailabilityBytes,
            double firstHeapBytes,
            double furtherHeapBytes) {
        this.workload = workload;
        this.changelog = changelog;
        this.use = use;
        this.acknowledgedBytes = acknowledgedBytes;
        this.metadataBytes = metadataBytes;
        this.highAvailabilityBytes = highAvailabilityBytes;
        this.firstHeapBytes = firstHeapBytes;
        this.furtherHeapBytes = furtherHeapBytes;
    }

    /** Simulates a few TaskManagers, and the JobManager with acknowledgements of all of them. */
    static JobCost of(CostWorkload workload, CostedChangelog changelog) throws Exception {
        int count = changelog.taskManagers(workload);
        int measured = changelog.measuredCheckpoints(workload);
        List<List<ChangelogStateHandleStreamImpl>> lastButOne = new ArrayList<>();
        List<List<ChangelogStateHandleStreamImpl>> last = new ArrayList<>();
        double acknowledgedBytes = 0;
        StoreUse sum = null;
        for (int i = 0; i < count; i++) {
            try (SimulatedTaskManager taskManager =
                    new SimulatedTaskManager(
                            workload,
                            changelog.open(workload, i),
                            changelog.isVaried(),
                            i,
                            count)) {
                for (int n = 0; n < workload.checkpointsPerMaterialization(); n++) {
                    taskManager.checkpoint();
                }
                StoreUse before = StoreUse.of(taskManager.store());
                List<List<ChangelogStateHandleStreamImpl>> checkpoints = new ArrayList<>();
                for (int n = 0; n < measured; n++) {
                    List<ChangelogStateHandleStreamImpl> checkpoint = taskManager.checkpoint();
                    if (n >= measured - ACKNOWLEDGED) {
                        checkpoints.add(checkpoint);
                        acknowledgedBytes += SimulatedJobManager.acknowledgedBytes(checkpoint, i);
                    }
                }
                lastButOne.add(checkpoints.get(checkpoints.size() - 2));
                last.add(checkpoints.get(checkpoints.size() - 1));
                StoreUse use = StoreUse.of(taskManager.store()).since(before);
                if (!changelog.isVaried()) {
                    use = use.withADeletionPerFile();
                }
                sum = sum == null ? use : sum.plus(use);
            }
        }
        int acknowledged = count * Math.min(measured, ACKNOWLEDGED);
        int share = changelog.sampleShare(workload);
        SimulatedJobManager jobManager =
                new SimulatedJobManager(CostWorkload.TASK_MANAGERS / share);
        jobManager.complete(1, lastButOne);
        long first = jobManager.heapBytes();
        jobManager.complete(2, last);
        long further = jobManager.heapBytes() - first;
        return new JobCost(
                workload,
                changelog,
                sum.per(count, measured),
                acknowledgedBytes / acknowledged * CostWorkload.TASK_MANAGERS,
                (double) share * jobManager.metadataBytes(),
                (double) share * jobManager.highAvailabilityBytes(),
                (double) share * first,
                (double) share * further);
    }

    CostWorkload workload() {
        return workload;
    }

    CostedChangelog changelog() {
        return changelog;
    }

    /** Requests of one TaskManager per checkpoint. */
    StoreUse use() {
        return use;
    }

    /** Size of the acknowledgements of all subtasks per checkpoint. */
    double acknowledgedBytes() {
        return acknowledgedBytes;
    }

    /** Size of the metadata of a checkpoint. */
    double metadataBytes() {
        return metadataBytes;
    }

    /** Size of the file that high availability keeps of a checkpoint. */
    double highAvailabilityBytes() {
        return highAvailabilityBytes;
    }

    /** Heap of the JobManager for one checkpoint and the registry of shared state. */
    double firstHeapBytes() {
        return firstHeapBytes;
    }

    /** Heap of the JobManager for each further checkpoint. */
    double furtherHeapBytes() {
        return furtherHeapBytes;
    }

    /** Cost of the store for all TaskManagers in USD per month. */
    double dollarsPerMonth() {
        double writes = use.puts * (1 + changelog.listsPerFile());
        // The plugin asks for a file before it deletes it.
        double reads = use.gets + use.puts * changelog.headsPerFile() + use.deletes;
        double checkpoints = (double) StorePrices.SECONDS_PER_MONTH / workload.intervalSeconds();
        double requests =
                checkpoints
                        * (writes * StorePrices.WRITE.dollars()
                                + reads * StorePrices.READ.dollars());
        double storage = use.storedBytes / 1e9 * StorePrices.GIGABYTE_MONTH.dollars();
        return CostWorkload.TASK_MANAGERS * (requests + storage);
    }
}
