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

package dev.dstl.changelog.differential.world;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.flink.api.common.JobID;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.checkpoint.JobManagerTaskRestore;
import org.apache.flink.runtime.clusterframework.types.AllocationID;
import org.apache.flink.runtime.executiongraph.ExecutionAttemptID;
import org.apache.flink.runtime.jobgraph.JobVertexID;
import org.apache.flink.runtime.metrics.groups.UnregisteredMetricGroups;
import org.apache.flink.runtime.state.TaskExecutorLocalStateStoresManager;
import org.apache.flink.runtime.state.TaskExecutorStateChangelogStoragesManager;
import org.apache.flink.runtime.state.TaskLocalStateStore;
import org.apache.flink.runtime.state.TaskStateManager;
import org.apache.flink.runtime.state.TaskStateManagerImpl;
import org.apache.flink.runtime.taskmanager.NoOpCheckpointResponder;
import org.apache.flink.util.Reference;
import org.apache.flink.util.concurrent.Executors;

/**
 * A TaskManager: what its tasks share, with Flink's own managers of local state and of changelogs.
 */
final class Worker implements AutoCloseable {

    private static final JobVertexID VERTEX = new JobVertexID(1, 1);

    private final AllocationID slots = new AllocationID();
    private final LogOptions options;
    private final Path directory;
    private final Path temporary;
    private final TaskExecutorStateChangelogStoragesManager logs =
            new TaskExecutorStateChangelogStoragesManager();
    private final TaskExecutorLocalStateStoresManager localStates;

    Worker(LogOptions options, Path directory, int number) throws IOException {
        this.options = options;
        this.directory = directory;
        this.temporary = Files.createDirectories(directory.resolve("worker-" + number));
        this.localStates =
                new TaskExecutorLocalStateStoresManager(
                        options.localRecovery(),
                        options.localRecovery(),
                        Reference.owned(new File[] {temporary.resolve("local").toFile()}),
                        Executors.directExecutor());
    }

    Configuration configuration(boolean changelog) {
        return options.configuration(directory, changelog);
    }

    String temporaryDirectory() {
        return temporary.toString();
    }

    TaskStateManager taskStateManager(
            JobID jobId, int subtask, boolean changelog, JobManagerTaskRestore restored)
            throws IOException {
        Configuration configuration = configuration(changelog);
        TaskLocalStateStore localState =
                localStates.localStateStoreForSubtask(
                        jobId, slots, VERTEX, subtask, configuration, configuration);
        return new TaskStateManagerImpl(
                jobId,
                ExecutionAttemptID.randomId(),
                localState,
                null,
                changelog
                        ? logs.stateChangelogStorageForJob(
                                jobId,
                                configuration,
                                UnregisteredMetricGroups
                                        .createUnregisteredTaskManagerJobMetricGroup(),
                                localState.getLocalRecoveryConfig())
                        : null,
                logs,
                restored,
                NoOpCheckpointResponder.INSTANCE);
    }

    /** Releases a job that has no tasks here any more. */
    void release(JobID jobId) {
        localStates.releaseLocalStateForAllocationId(slots);
        logs.releaseResourcesForJob(jobId);
    }

    @Override
    public void close() throws IOException {
        logs.shutdown();
        try {
            localStates.shutdown();
        } catch (Exception e) {
            throw new IOException(e);
        }
    }
}
