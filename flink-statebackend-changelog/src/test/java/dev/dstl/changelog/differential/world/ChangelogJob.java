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

import dev.dstl.changelog.differential.job.JobShape;
import dev.dstl.changelog.differential.job.KeyedOperator;
import dev.dstl.changelog.differential.schema.JobClasses;
import dev.dstl.log.testing.FileTree;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.CancellationException;
import java.util.stream.Collectors;
import javax.annotation.Nullable;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.JobStatus;
import org.apache.flink.core.execution.RestoreMode;
import org.apache.flink.runtime.checkpoint.CheckpointOptions;
import org.apache.flink.runtime.checkpoint.CheckpointProperties;
import org.apache.flink.runtime.checkpoint.CheckpointType;
import org.apache.flink.runtime.checkpoint.CompletedCheckpoint;
import org.apache.flink.runtime.checkpoint.JobManagerTaskRestore;
import org.apache.flink.runtime.checkpoint.OperatorState;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.checkpoint.StateAssignmentOperation;
import org.apache.flink.runtime.checkpoint.StateObjectCollection;
import org.apache.flink.runtime.checkpoint.TaskStateSnapshot;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.runtime.state.CheckpointStorageAccess;
import org.apache.flink.runtime.state.IncrementalKeyedStateHandle.HandleAndLocalPath;
import org.apache.flink.runtime.state.IncrementalRemoteKeyedStateHandle;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.StateBackend;
import org.apache.flink.runtime.state.changelog.ChangelogStateBackendHandle;
import org.apache.flink.runtime.state.storage.FileSystemCheckpointStorage;
import org.apache.flink.runtime.state.ttl.TtlTimeProvider;
import org.apache.flink.util.InstantiationUtil;

/**
 * The job on DSTL, with its TaskManagers and its JobManager, on a local file system. To be closed.
 */
public final class ChangelogJob implements AutoCloseable {

    private final JobShape shape;
    private final LogOptions options;
    private final Path directory;
    private final TtlTimeProvider clock;
    private final long seed;
    private final Conditions conditions;
    private final List<Worker> workers = new ArrayList<>();
    private final List<Subtask> subtasks = new ArrayList<>();
    private final Set<Path> users = new TreeSet<>();
    private final Set<String> restoredKeys = new TreeSet<>();
    private Deployment deployment;
    private Coordinator coordinator;
    private int createdWorkers;

    public ChangelogJob(
            JobShape shape,
            LogOptions options,
            Path directory,
            TtlTimeProvider clock,
            long seed,
            Conditions conditions)
            throws IOException {
        this.shape = shape;
        this.options = options;
        this.directory = directory;
        this.clock = clock;
        this.seed = seed;
        this.conditions = conditions;
        for (int worker = 0; worker < options.workers(); worker++) {
            workers.add(new Worker(options, directory, createdWorkers++));
        }
    }

    /** Submits the job, from an earlier checkpoint or savepoint if given. */
    public void submit(Deployment newDeployment, @Nullable String pointer, RestoreMode claimMode)
            throws Exception {
        JobID jobId = new JobID();
        coordinator = new Coordinator(jobId, checkpoints(jobId), options.retained(), claimMode);
        if (pointer != null) {
            coordinator.restore(pointer, claimMode);
            if (claimMode == RestoreMode.CLAIM) {
                users.removeAll(Coordinator.filesOf(coordinator.latest()));
            }
        }
        start(newDeployment);
    }

    private CheckpointStorageAccess checkpoints(JobID jobId) throws IOException {
        return new FileSystemCheckpointStorage(
                        directory.resolve("checkpoints").toUri(), options.stateThreshold())
                .createCheckpointStorage(jobId);
    }

    /**
     * Starts all tasks from the latest completed checkpoint.
     *
     * @throws Exception if a task cannot restore
     */
    public void start(Deployment newDeployment) throws Exception {
        deployment = newDeployment;
        ClassLoader loader = JobClasses.of(deployment.generation()).loader();
        Thread.currentThread().setContextClassLoader(loader);
        StateBackend delegate =
                deployment
                        .storage()
                        .delegate(directory.resolve("state-" + UUID.randomUUID()), seed);
        List<KeyGroupRange> ranges = deployment.keyGroups();
        CompletedCheckpoint latest = coordinator.latest();
        restoredKeys.clear();
        if (latest != null) {
            restoredKeys.addAll(
                    SharedKeys.of(new ArrayList<>(latest.getOperatorStates().values())));
        }
        for (int index = 0; index < ranges.size(); index++) {
            Worker worker = workers.get(index % workers.size());
            CheckpointStorageAccess storage = checkpoints(coordinator.jobId());
            Subtask subtask =
                    new Subtask(
                            shape,
                            deployment,
                            ranges.get(index),
                            worker,
                            coordinator.jobId(),
                            worker.taskStateManager(
                                    coordinator.jobId(),
                                    index,
                                    deployment.changelog(),
                                    latest == null ? null : restored(latest, index, ranges)),
                            new FaultyCheckpoints(storage));
            subtasks.add(subtask);
            subtask.open(delegate, clock);
            if (subtask.localFailure() != null) {
                throw new Violation("Local state cannot be restored", subtask.localFailure());
            }
            conditions.metIf(subtask.localRestores() > 0, Coverage.LOCAL_RESTORES);
            conditions.metIf(
                    subtask.localRestores() > 1, Coverage.CHAINED_OPERATORS_WITH_LOCAL_RECOVERY);
        }
    }

    private JobManagerTaskRestore restored(
            CompletedCheckpoint checkpoint, int index, List<KeyGroupRange> ranges)
            throws Exception {
        TaskStateSnapshot state = new TaskStateSnapshot();
        for (OperatorState operator : checkpoint.getOperatorStates().values()) {
            Collection<KeyedStateHandle> handles;
            if (operator.getParallelism() == ranges.size()) {
                handles =
                        operator.getState(index) == null
                                ? List.of()
                                : operator.getState(index).getManagedKeyedState();
            } else {
                handles =
                        StateAssignmentOperation.getManagedKeyedStateHandles(
                                operator, ranges.get(index));
            }
            state.putSubtaskStateByOperatorID(
                    operator.getOperatorID(),
                    OperatorSubtaskState.builder()
                            .setManagedKeyedState(
                                    new StateObjectCollection<>(new ArrayList<>(handles)))
                            .build());
        }
        return new JobManagerTaskRestore(
                checkpoint.getCheckpointID(), InstantiationUtil.clone(state));
    }

    /** Ends all tasks, after a failure or at the end of the job. */
    public void stopTasks() throws Exception {
        for (Subtask subtask : subtasks) {
            subtask.close();
        }
        subtasks.clear();
        for (long id : coordinator.pending()) {
            coordinator.abort(id);
        }
    }

    /** Replaces a TaskManager, whose local data is lost. */
    public void replaceWorker(int number) throws Exception {
        int index = number % workers.size();
        workers.get(index).release(coordinator.jobId());
        workers.get(index).close();
        workers.set(index, new Worker(options, directory, createdWorkers++));
    }

    /** Ends the job; completed checkpoints remain if it was cancelled. */
    public void end(JobStatus status) throws Exception {
        stopTasks();
        users.addAll(coordinator.end(status));
        Path shared =
                directory
                        .resolve("checkpoints")
                        .resolve(coordinator.jobId().toHexString())
                        .resolve("shared");
        if (!deployment.changelog() && Files.exists(shared)) {
            // What late acknowledgements of Flink's own RocksDB backend leave is not our concern.
            users.addAll(FileTree.files(shared));
        }
        for (Worker worker : workers) {
            worker.release(coordinator.jobId());
        }
    }

    /** Returns the operator of a chain that owns a key group. */
    public KeyedOperator owner(int operator, int keyGroup) {
        return subtask(keyGroup).operators().get(operator);
    }

    private Subtask subtask(int keyGroup) {
        return subtasks.stream()
                .filter(subtask -> subtask.keyGroups().contains(keyGroup))
                .findFirst()
                .orElseThrow();
    }

    /** All operators of all subtasks. */
    public List<List<KeyedOperator>> subtasks() {
        List<List<KeyedOperator>> operators = new ArrayList<>();
        subtasks.forEach(subtask -> operators.add(subtask.operators()));
        return operators;
    }

    /**
     * Registers all states, so that they are of one version wherever the next savepoint has them.
     */
    public void registerAll() throws Exception {
        for (Subtask subtask : subtasks) {
            for (KeyedOperator operator : subtask.operators()) {
                operator.registerAll();
            }
        }
    }

    private void meetClasses() throws Exception {
        for (Subtask subtask : subtasks) {
            for (KeyedOperator operator : subtask.operators()) {
                operator.meetClasses();
            }
        }
    }

    /** Records that a state access of the owner of a key group failed halfway. */
    public void markIncomplete(int keyGroup) {
        subtask(keyGroup).markIncomplete();
    }

    /** Whether any changelog may be incomplete. */
    public boolean isIncomplete() {
        return subtasks.stream().anyMatch(Subtask::isIncomplete);
    }

    /** Triggers a checkpoint, full if requested. */
    public long trigger(boolean full) throws Exception {
        CheckpointProperties properties = Coordinator.periodic();
        long id = begin(properties, null);
        CheckpointOptions asked =
                new CheckpointOptions(
                        full ? CheckpointType.FULL_CHECKPOINT : coordinator.type(id),
                        coordinator.location(id).getLocationReference());
        conditions.metIf(
                asked.getCheckpointType() == CheckpointType.FULL_CHECKPOINT,
                Coverage.FULL_CHECKPOINTS);
        for (Subtask subtask : subtasks) {
            subtask.trigger(id, asked);
        }
        return id;
    }

    private long begin(CheckpointProperties properties, @Nullable Path savepoint) throws Exception {
        if (shape.meetsClasses()) {
            meetClasses();
        }
        List<OperatorID> ids = new ArrayList<>();
        for (int operator = 0; operator < shape.operators(); operator++) {
            ids.add(Subtask.operatorId(operator));
        }
        return coordinator.begin(
                properties, savepoint, ids, deployment.parallelism(), JobShape.KEY_GROUPS);
    }

    /** Takes a savepoint and waits for it. */
    public CompletedCheckpoint savepoint(CheckpointProperties properties) throws Exception {
        long id = begin(properties, directory.resolve("savepoints"));
        for (Subtask subtask : subtasks) {
            subtask.trigger(
                    id,
                    new CheckpointOptions(
                            coordinator.type(id), coordinator.location(id).getLocationReference()));
        }
        CompletedCheckpoint completed = null;
        for (int index = 0; index < subtasks.size(); index++) {
            completed = coordinator.acknowledge(id, index, subtasks.get(index).finish(id));
        }
        users.addAll(Coordinator.filesOf(completed));
        return completed;
    }

    /** Unfinished snapshots, each as (checkpoint, subtask). */
    public List<long[]> running() {
        List<long[]> running = new ArrayList<>();
        for (int index = 0; index < subtasks.size(); index++) {
            for (long id : subtasks.get(index).running().keySet()) {
                running.add(new long[] {id, index});
            }
        }
        return running;
    }

    /**
     * A subtask finishes a checkpoint and acknowledges it, unless it has been cancelled.
     *
     * @param losses which notifications get lost, bit by bit
     * @return the checkpoint if that completed it
     */
    @Nullable
    public Long acknowledge(long id, int index, int losses) throws Exception {
        if (!subtasks.get(index).running().containsKey(id)) {
            return null;
        }
        TaskStateSnapshot state;
        try {
            state = subtasks.get(index).finish(id);
        } catch (CancellationException e) {
            if (coordinator.isPending(id)) {
                throw new Violation("Subtask " + index + " cancels checkpoint " + id, e);
            }
            // It was aborted while the subtask waited for the changelog.
            return null;
        } catch (Exception e) {
            if (!FaultyCheckpoints.isCauseOf(e)) {
                throw new Violation("Subtask " + index + " declines checkpoint " + id, e);
            }
            abort(id, losses, true);
            return null;
        }
        boolean late = !coordinator.isPending(id);
        conditions.metIf(late, Coverage.LATE_ACKNOWLEDGEMENTS);
        conditions.metIf(
                late && deployment.changelog() && sharesDeletedFiles(state),
                Coverage.LATE_ACKNOWLEDGEMENTS_OF_DELETED_FILES);
        CompletedCheckpoint completed;
        try {
            completed = coordinator.acknowledge(id, index, state);
        } catch (IllegalStateException subsumed) {
            if (deployment.changelog()
                    && restoredKeys.stream().noneMatch(subsumed.getMessage()::contains)) {
                throw subsumed;
            }
            // Incremental RocksDB on its own refers to files of a completed checkpoint, and so
            // does DSTL to those that it has restored, and a concurrent one that did not has
            // subsumed it since. Flink logs that and loses the acknowledgement, with the files
            // that came with it.
            users.addAll(ReferencedFiles.of(state));
            abort(id, losses, true);
            return null;
        }
        if (completed == null) {
            return null;
        }
        conditions.met(Coverage.COMPLETED_CHECKPOINTS);
        for (long overtaken : coordinator.overtakenBy(id)) {
            conditions.met(Coverage.OVERTAKEN_CHECKPOINTS);
            coordinator.abort(overtaken);
            // Flink does not tell the tasks; they take it from the newer one.
            cancel(overtaken, losses >> 8);
        }
        for (int subtask = 0; subtask < subtasks.size(); subtask++) {
            if ((losses >> subtask & 1) == 0) {
                subtasks.get(subtask).notifyComplete(id);
                subtasks.get(subtask).notifySubsumed(coordinator.oldestId() - 1);
            } else {
                conditions.met(Coverage.LOST_NOTIFICATIONS);
            }
        }
        checkFiles();
        return id;
    }

    private static boolean sharesDeletedFiles(TaskStateSnapshot state) throws IOException {
        List<HandleAndLocalPath> shared =
                state.getSubtaskStateMappings().stream()
                        .flatMap(of -> of.getValue().getManagedKeyedState().stream())
                        .map(ChangelogStateBackendHandle.class::cast)
                        .flatMap(handle -> handle.getMaterializedStateHandles().stream())
                        .filter(IncrementalRemoteKeyedStateHandle.class::isInstance)
                        .map(IncrementalRemoteKeyedStateHandle.class::cast)
                        .flatMap(base -> base.getSharedState().stream())
                        .collect(Collectors.toList());
        return !ReferencedFiles.of(shared).stream().allMatch(Files::exists);
    }

    /** Aborts a checkpoint; tasks cancel their snapshots unless they are finished. */
    public void abort(long id, int losses, boolean tell) throws Exception {
        if (!coordinator.isPending(id)) {
            return;
        }
        conditions.met(Coverage.ABORTED_CHECKPOINTS);
        coordinator.abort(id);
        cancel(id, losses >> 8);
        for (int subtask = 0; tell && subtask < subtasks.size(); subtask++) {
            if ((losses >> subtask & 1) == 0) {
                subtasks.get(subtask).notifyAborted(id);
            }
        }
    }

    /** Cancels the snapshots, except those that will be acknowledged late. */
    private void cancel(long id, int late) throws Exception {
        for (int subtask = 0; subtask < subtasks.size(); subtask++) {
            if ((late >> subtask & 1) == 0) {
                subtasks.get(subtask).cancel(id);
            }
        }
    }

    public List<Long> pending() {
        return coordinator.pending();
    }

    /** Returns the checkpoint to restore after a failure; null if there is none. */
    @Nullable
    public CompletedCheckpoint latest() throws Exception {
        return coordinator.latest();
    }

    public long oldestId() {
        return coordinator.oldestId();
    }

    private void checkFiles() throws IOException {
        Set<Path> missing = coordinator.missingFiles();
        if (!missing.isEmpty()) {
            throw new Violation("Completed checkpoints refer to deleted files " + missing);
        }
    }

    /**
     * Begins a materialization.
     *
     * @param fault the kind of fault if it is to fail, none for most numbers
     * @return false if there is nothing to do
     */
    public boolean materialize(int index, int operator, int fault) throws Exception {
        if (shape.meetsClasses()) {
            meetClasses();
        }
        Subtask subtask = subtasks.get(index % subtasks.size());
        return subtask.materialize(
                operator % subtask.operators().size(), FaultyCheckpoints.Fault.of(fault));
    }

    /** Waits for the end of a running materialization; returns false if there is none. */
    public boolean endMaterialization(int which) throws Exception {
        List<Subtask> materializing =
                subtasks.stream().filter(Subtask::isMaterializing).collect(Collectors.toList());
        if (materializing.isEmpty()) {
            return false;
        }
        Subtask subtask = materializing.get(which % materializing.size());
        Subtask.Ending ending = subtask.endMaterialization();
        boolean completed = ending == Subtask.Ending.COMPLETED;
        conditions.metIf(completed, Coverage.MATERIALIZATIONS);
        conditions.metIf(
                completed && subtask.mostMaterializations() > 1,
                Coverage.REPEATED_MATERIALIZATIONS);
        conditions.metIf(ending == Subtask.Ending.FAILED, Coverage.FAILED_MATERIALIZATIONS);
        return true;
    }

    /** Files owned by the user: savepoints and checkpoints of cancelled jobs. */
    public Set<Path> usersFiles() {
        return users;
    }

    @Override
    public void close() throws IOException {
        for (Subtask subtask : subtasks) {
            subtask.close();
        }
        subtasks.clear();
        for (Worker worker : workers) {
            worker.close();
        }
    }
}
