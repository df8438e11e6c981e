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

import java.nio.file.Path;
import java.nio.file.Paths;

/**
 * A changelog and the requests per operation on its files with the plugin flink-s3-fs-presto, as
 * counted by {@code JobRequestsReport} (docs/object-stores.md). Immutable.
 */
enum CostedChangelog {
    DSTL("DSTL", 0, 0, 2, 1.0, 1),
    /**
     * Without compaction its handles have hundreds of entries, so fewer are enough and feasible.
     */
    BUILT_IN("Flink's built-in", 2, 1, 1, 0.1, 50);

    private static final Path BUILT_IN_JARS = Paths.get("target", "built-in");

    private final String title;
    private final int headsPerFile;
    private final int listsPerFile;
    private final int changelogs;
    private final double measuredMaterializations;
    private final int sampleShare;

    CostedChangelog(
            String title,
            int headsPerFile,
            int listsPerFile,
            int changelogs,
            double measuredMaterializations,
            int sampleShare) {
        this.title = title;
        this.headsPerFile = headsPerFile;
        this.listsPerFile = listsPerFile;
        this.changelogs = changelogs;
        this.measuredMaterializations = measuredMaterializations;
        this.sampleShare = sampleShare;
    }

    String title() {
        return title;
    }

    /** Whether requests vary between checkpoints. */
    boolean isVaried() {
        return this == DSTL;
    }

    /** Number of HEADs before a file is written. */
    int headsPerFile() {
        return headsPerFile;
    }

    /** Number of LISTs before a file is written. */
    int listsPerFile() {
        return listsPerFile;
    }

    /** Number of simulated TaskManagers. */
    int taskManagers(CostWorkload workload) {
        return Math.max(1, changelogs / workload.changelogs());
    }

    /** Number of checkpoints that are counted, after the first materializations. */
    int measuredCheckpoints(CostWorkload workload) {
        return (int) (workload.checkpointsPerMaterialization() * measuredMaterializations);
    }

    /** Acknowledgements are built for one in this many TaskManagers. */
    int sampleShare(CostWorkload workload) {
        // At least as many subtasks as the smallest of the jobs has.
        int manySubtasks = workload.subtasks() == CostWorkload.PARALLELISM ? 1 : 5;
        return Math.max(sampleShare, manySubtasks);
    }

    SimulatedChangelogs open(CostWorkload workload, int taskManager) throws Exception {
        return this == DSTL
                ? new DstlChangelogs(workload, taskManager)
                : new BuiltInChangelogs(workload, BUILT_IN_JARS);
    }
}
