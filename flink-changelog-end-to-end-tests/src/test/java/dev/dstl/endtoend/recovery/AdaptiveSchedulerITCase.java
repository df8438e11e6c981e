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

package dev.dstl.endtoend.recovery;

import java.nio.file.Path;
import java.time.Duration;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.JobManagerOptions;
import org.apache.flink.configuration.TaskManagerOptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Flink's adaptive scheduler runs a job with as many slots as there are. */
class AdaptiveSchedulerITCase {

    private static final Duration SOON = Duration.ofMillis(500);

    @TempDir private Path directory;

    @Test
    void jobThatLosesAndGetsATaskManager_goesOnAtAnotherParallelism() throws Exception {
        Configuration settings = new Configuration();
        settings.set(JobManagerOptions.SCHEDULER, JobManagerOptions.SchedulerType.Adaptive);
        settings.set(JobManagerOptions.RESOURCE_STABILIZATION_TIMEOUT, SOON);
        settings.setString("jobmanager.adaptive-scheduler.min-parallelism-increase", "1");
        settings.setString("jobmanager.adaptive-scheduler.scaling-interval.min", "1 s");
        settings.set(TaskManagerOptions.NUM_TASK_SLOTS, 1);
        try (RecoveryCluster cluster = new RecoveryCluster(directory, settings)) {
            OrderRun run = cluster.newRun(Backend.CHANGELOG_ON_ROCKSDB);
            run.submit();
            awaitTaskManagers(cluster, run, 2);
            run.awaitCheckpoints(3);

            cluster.processes().killTaskManager(cluster.processes().taskManagers().get(0));
            awaitTaskManagers(cluster, run, 1);
            run.awaitCheckpoints(3);

            cluster.processes().startTaskManager();
            awaitTaskManagers(cluster, run, 2);
            run.awaitCheckpoints(3);

            run.finish();
            run.verify();
        }
    }

    private static void awaitTaskManagers(RecoveryCluster cluster, OrderRun run, int count)
            throws Exception {
        run.await(
                "tasks on " + count + " TaskManagers",
                () ->
                        cluster.processes().client().allTasksRun(run.job())
                                && cluster.processes().client().taskManagersOf(run.job()).size()
                                        == count);
    }
}
