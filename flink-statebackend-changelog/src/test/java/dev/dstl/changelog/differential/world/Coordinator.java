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

import java.io.DataInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import javax.annotation.Nullable;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.JobStatus;
import org.apache.flink.core.execution.RestoreMode;
import org.apache.flink.runtime.checkpoint.CheckpointProperties;
import org.apache.flink.runtime.checkpoint.CheckpointRetentionPolicy;
import org.apache.flink.runtime.checkpoint.CheckpointType;
import org.apache.flink.runtime.checkpoint.Checkpoints;
import org.apache.flink.runtime.checkpoint.CheckpointsCleaner;
import org.apache.flink.runtime.checkpoint.CompletedCheckpoint;
import org.apache.flink.runtime.checkpoint.OperatorState;
import org.apache.flink.runtime.checkpoint.SnapshotType;
import org.apache.flink.runtime.checkpoint.StandaloneCompletedCheckpointStore;
import org.apache.flink.runtime.checkpoint.TaskStateSnapshot;
import org.apache.flink.runtime.checkpoint.metadata.CheckpointMetadata;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.runtime.state.CheckpointMetadataOutputStream;
import org.apache.flink.runtime.state.CheckpointStorageAccess;
import org.apache.flink.runtime.state.CheckpointStorageLocation;
import org.apache.flink.runtime.state.CompletedCheckpointStorageLocation;
import org.apache.flink.runtime.state.SharedStateRegistry;
import org.apache.flink.util.InstantiationUtil;
import org.apache.flink.util.concurrent.Executors;

/**
 * The JobManager's part in the checkpoints of a job, from its submission to its end, with Flink's
 * own store of completed checkpoints and registry of shared state.
 */
final class Coordinator {

    private static final CheckpointProperties CHECKPOINT =
            CheckpointProperties.forCheckpoint(CheckpointRetentionPolicy.RETAIN_ON_CANCELLATION);

    private final JobID jobId;
    private final CheckpointStorageAccess storage;
    private final StandaloneCompletedCheckpointStore store;
    private final CheckpointsCleaner cleaner = new CheckpointsCleaner();
    private final TreeMap<Long, Pending> pending = new TreeMap<>();
    private final TreeMap<Long, Set<Path>> received = new TreeMap<>();
    private final Set<Path> claimed = new TreeSet<>();
    private long lastId;
    private boolean forceFull;

    /** A checkpoint that not all subtasks have acknowledged. */
    private static final class Pending {
        final CheckpointProperties properties;
        final CheckpointStorageLocation location;
        final Map<OperatorID, OperatorState> states = new LinkedHashMap<>();
        final Set<Integer> missing = new HashSet<>();

        Pending(CheckpointProperties properties, CheckpointStorageLocation location) {
            this.properties = properties;
            this.location = location;
        }
    }

    /**
     * @param claimMode of the restored checkpoint, if there is one
     */
    Coordinator(JobID jobId, CheckpointStorageAccess storage, int retained, RestoreMode claimMode)
            throws IOException {
        this.jobId = jobId;
        this.storage = storage;
        storage.initializeBaseLocationsForCheckpoint();
        store =
                new StandaloneCompletedCheckpointStore(
                        retained,
                        SharedStateRegistry.DEFAULT_FACTORY,
                        Executors.directExecutor(),
                        claimMode);
    }

    JobID jobId() {
        return jobId;
    }

    /** Starts from a checkpoint of another job. */
    void restore(String pointer, RestoreMode claimMode) throws Exception {
        CompletedCheckpointStorageLocation location = storage.resolveCheckpoint(pointer);
        CheckpointMetadata metadata;
        try (DataInputStream in =
                new DataInputStream(location.getMetadataHandle().openInputStream())) {
            metadata =
                    Checkpoints.loadCheckpointMetadata(
                            in, Coordinator.class.getClassLoader(), pointer);
        }
        Map<OperatorID, OperatorState> states = new LinkedHashMap<>();
        metadata.getOperatorStates().forEach(state -> states.put(state.getOperatorID(), state));
        CompletedCheckpoint restored =
                new CompletedCheckpoint(
                        jobId,
                        metadata.getCheckpointId(),
                        0,
                        0,
                        states,
                        List.of(),
                        properties(claimMode),
                        new ClaimedLocation(location),
                        null,
                        metadata.getCheckpointProperties());
        restored.registerSharedStatesAfterRestored(store.getSharedStateRegistry(), claimMode);
        store.addCheckpointAndSubsumeOldestOne(restored, cleaner, () -> {});
        if (claimMode == RestoreMode.CLAIM) {
            claimed.addAll(filesOf(restored));
        }
        lastId = metadata.getCheckpointId();
        forceFull = claimMode == RestoreMode.NO_CLAIM;
    }

    private static CheckpointProperties properties(RestoreMode claimMode) {
        switch (claimMode) {
            case CLAIM:
                return CHECKPOINT;
            case NO_CLAIM:
                return CheckpointProperties.forUnclaimedSnapshot();
            default:
                return CheckpointProperties.forSavepoint(
                        false, org.apache.flink.core.execution.SavepointFormatType.CANONICAL);
        }
    }

    /**
     * Begins a checkpoint.
     *
     * @param savepoint in which directory, null if it is none
     * @return its id
     */
    long begin(
            CheckpointProperties properties,
            @Nullable Path savepoint,
            List<OperatorID> operators,
            int parallelism,
            int maxParallelism)
            throws IOException {
        long id = ++lastId;
        Pending checkpoint =
                new Pending(
                        properties,
                        savepoint == null
                                ? storage.initializeLocationForCheckpoint(id)
                                : storage.initializeLocationForSavepoint(
                                        id, savepoint.toUri().toString()));
        for (OperatorID operator : operators) {
            checkpoint.states.put(
                    operator,
                    FlinkConstructors.operatorState(operator, parallelism, maxParallelism));
        }
        for (int subtask = 0; subtask < parallelism; subtask++) {
            checkpoint.missing.add(subtask);
        }
        pending.put(id, checkpoint);
        return id;
    }

    static CheckpointProperties periodic() {
        return CHECKPOINT;
    }

    /** Returns the type that is requested from tasks. */
    SnapshotType type(long id) {
        CheckpointProperties properties = pending.get(id).properties;
        return forceFull && !properties.isSavepoint()
                ? CheckpointType.FULL_CHECKPOINT
                : properties.getCheckpointType();
    }

    CheckpointStorageLocation location(long id) {
        return pending.get(id).location;
    }

    boolean isPending(long id) {
        return pending.containsKey(id);
    }

    List<Long> pending() {
        return new ArrayList<>(pending.keySet());
    }

    /**
     * A subtask acknowledges a checkpoint, be it too late.
     *
     * @return the checkpoint if that completes it
     */
    @Nullable
    CompletedCheckpoint acknowledge(long id, int subtask, TaskStateSnapshot sent) throws Exception {
        TaskStateSnapshot state = InstantiationUtil.clone(sent);
        Pending checkpoint = pending.get(id);
        received.computeIfAbsent(id, missing -> new TreeSet<>()).addAll(ReferencedFiles.of(state));
        if (checkpoint == null || !checkpoint.properties.isSavepoint()) {
            state.registerSharedStates(store.getSharedStateRegistry(), id);
        }
        if (checkpoint == null) {
            state.discardState();
            return null;
        }
        state.getSubtaskStateMappings()
                .forEach(
                        entry ->
                                checkpoint
                                        .states
                                        .get(entry.getKey())
                                        .putState(subtask, entry.getValue()));
        checkpoint.missing.remove(subtask);
        return checkpoint.missing.isEmpty() ? complete(id, checkpoint) : null;
    }

    private CompletedCheckpoint complete(long id, Pending checkpoint) throws Exception {
        CheckpointMetadata metadata =
                new CheckpointMetadata(
                        id, checkpoint.states.values(), List.of(), checkpoint.properties);
        CompletedCheckpointStorageLocation location;
        try (CheckpointMetadataOutputStream out =
                checkpoint.location.createMetadataOutputStream()) {
            Checkpoints.storeCheckpointMetadata(metadata, out);
            location = out.closeAndFinalizeCheckpoint();
        }
        CompletedCheckpoint completed =
                new CompletedCheckpoint(
                        jobId,
                        id,
                        0,
                        0,
                        checkpoint.states,
                        List.of(),
                        checkpoint.properties,
                        location,
                        null);
        pending.remove(id);
        if (!checkpoint.properties.isSavepoint()) {
            store.addCheckpointAndSubsumeOldestOne(completed, cleaner, () -> {});
            forceFull = false;
        }
        return completed;
    }

    /** Returns the pending checkpoints that the completion of another one aborts. */
    List<Long> overtakenBy(long id) {
        return pending.headMap(id).entrySet().stream()
                .filter(entry -> !entry.getValue().properties.isSavepoint())
                .map(Map.Entry::getKey)
                .collect(Collectors.toList());
    }

    void abort(long id) throws Exception {
        Pending checkpoint = pending.remove(id);
        for (OperatorState state : checkpoint.states.values()) {
            state.discardState();
        }
        checkpoint.location.disposeOnFailure();
    }

    /** Returns the checkpoint that tasks restore after a failure. */
    @Nullable
    CompletedCheckpoint latest() throws Exception {
        return store.getLatestCheckpoint();
    }

    /** Returns the id of the oldest checkpoint that may still be restored. */
    long oldestId() {
        return store.getAllCheckpoints().stream()
                .mapToLong(CompletedCheckpoint::getCheckpointID)
                .min()
                .orElse(0);
    }

    /** Returns missing files of completed checkpoints. */
    Set<Path> missingFiles() throws IOException {
        Set<Path> missing = new TreeSet<>();
        for (CompletedCheckpoint checkpoint : store.getAllCheckpoints()) {
            for (Path file : filesOf(checkpoint)) {
                if (!Files.exists(file)) {
                    missing.add(file);
                }
            }
        }
        return missing;
    }

    static Set<Path> filesOf(CompletedCheckpoint checkpoint) throws IOException {
        Set<Path> files = new TreeSet<>();
        for (OperatorState state : checkpoint.getOperatorStates().values()) {
            files.addAll(ReferencedFiles.of(state));
        }
        files.addAll(ReferencedFiles.of(checkpoint.getMetadataHandle()));
        return files;
    }

    /**
     * The job ends.
     *
     * @return files that are nobody's but the user's from now on: those of checkpoints that are
     *     kept; those that Flink forgets then, since it deletes no shared file that a checkpoint
     *     from the oldest kept one on came with; and those of a claimed checkpoint, whose deletion
     *     it puts off and forgets
     */
    Set<Path> end(JobStatus status) throws Exception {
        for (long id : pending()) {
            abort(id);
        }
        Set<Path> users = new TreeSet<>();
        long oldestKept = Long.MAX_VALUE;
        for (CompletedCheckpoint checkpoint : store.getAllCheckpoints()) {
            if (!checkpoint.shouldBeDiscardedOnShutdown(status)) {
                users.addAll(filesOf(checkpoint));
                oldestKept = Math.min(oldestKept, checkpoint.getCheckpointID());
            }
        }
        received.tailMap(oldestKept).values().forEach(users::addAll);
        if (oldestKept < Long.MAX_VALUE) {
            users.addAll(claimed);
        }
        store.shutdown(status, cleaner);
        store.getSharedStateRegistry().close();
        return users;
    }
}
