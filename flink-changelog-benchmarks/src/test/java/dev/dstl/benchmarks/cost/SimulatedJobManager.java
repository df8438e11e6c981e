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

import dev.dstl.log.segment.FrameList;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.core.fs.Path;
import org.apache.flink.runtime.checkpoint.CheckpointProperties;
import org.apache.flink.runtime.checkpoint.CheckpointRetentionPolicy;
import org.apache.flink.runtime.checkpoint.Checkpoints;
import org.apache.flink.runtime.checkpoint.CompletedCheckpoint;
import org.apache.flink.runtime.checkpoint.OperatorState;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.checkpoint.TaskStateSnapshot;
import org.apache.flink.runtime.checkpoint.metadata.CheckpointMetadata;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.runtime.state.CompletedCheckpointStorageLocation;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.SharedStateRegistryImpl;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.runtime.state.changelog.ChangelogStateBackendHandle;
import org.apache.flink.runtime.state.changelog.ChangelogStateBackendHandle.ChangelogStateBackendHandleImpl;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandle;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;
import org.apache.flink.runtime.state.filesystem.FileStateHandle;
import org.apache.flink.util.InstantiationUtil;
import org.apache.flink.util.SerializedValue;
import org.apache.flink.util.concurrent.Executors;

/**
 * The JobManager of the job. Receives the serialized acknowledgement of every keyed subtask, and
 * holds completed checkpoints and Flink's registry of shared state. TaskManagers that are not
 * simulated acknowledge the same as simulated ones, with file names of their own.
 */
final class SimulatedJobManager {

    private static final int MAX_PARALLELISM = 1 << 15;

    private final int taskManagers;
    private final SharedStateRegistryImpl registry =
            new SharedStateRegistryImpl(Executors.directExecutor());
    private final List<Object> held = new ArrayList<>();
    private final Set<Path> paths = new HashSet<>();
    private long metadataBytes;
    private long highAvailabilityBytes;

    /**
     * @param taskManagers of the job; others have no part in it
     */
    SimulatedJobManager(int taskManagers) {
        this.taskManagers = taskManagers;
        held.add(registry);
    }

    /** Size of the metadata of the latest checkpoint. */
    long metadataBytes() {
        return metadataBytes;
    }

    /** Size of the file that high availability keeps of the latest checkpoint. */
    long highAvailabilityBytes() {
        return highAvailabilityBytes;
    }

    /** Heap of all checkpoints, of the registry, and of the map by which DSTL shares paths. */
    long heapBytes() {
        return WalkedHeap.bytes(held) + WalkedHeap.weakMapBytes(paths.size());
    }

    /**
     * Completes a checkpoint and holds it.
     *
     * @param simulated what the changelogs of each TaskManager that was simulated contain
     */
    void complete(long checkpointId, List<List<ChangelogStateHandleStreamImpl>> simulated)
            throws Exception {
        Map<OperatorID, OperatorState> operators = new HashMap<>();
        for (int i = 0; i < taskManagers; i++) {
            RenamedFiles files = new RenamedFiles(i);
            List<ChangelogStateHandleStreamImpl> alike = simulated.get(i % simulated.size());
            for (int changelog = 0; changelog < alike.size(); changelog++) {
                int slots = CostWorkload.PARALLELISM / CostWorkload.TASK_MANAGERS;
                OperatorID operator = new OperatorID(1, changelog / slots);
                int subtask = i * slots + changelog % slots;
                operators
                        .computeIfAbsent(
                                operator,
                                id ->
                                        new OperatorState(
                                                id, CostWorkload.PARALLELISM, MAX_PARALLELISM))
                        .putState(
                                subtask,
                                acknowledged(
                                        operator, state(alike.get(changelog), files, subtask)));
            }
        }
        CompletedCheckpoint checkpoint = checkpoint(checkpointId, operators);
        registry.registerAll(checkpoint.getOperatorStates().values(), checkpointId);
        ByteCounter counter = new ByteCounter();
        Checkpoints.storeCheckpointMetadata(
                new CheckpointMetadata(checkpointId, operators.values(), List.of()),
                new DataOutputStream(counter));
        metadataBytes = counter.bytes;
        ByteCounter stored = new ByteCounter();
        InstantiationUtil.serializeObject(stored, checkpoint);
        highAvailabilityBytes = stored.bytes;
        held.add(checkpoint);
        rememberPaths(checkpoint);
    }

    /** Size of the acknowledgements of all changelogs of a TaskManager. */
    static long acknowledgedBytes(List<ChangelogStateHandleStreamImpl> handles, int taskManager)
            throws Exception {
        RenamedFiles files = new RenamedFiles(taskManager);
        long bytes = 0;
        for (ChangelogStateHandleStreamImpl handle : handles) {
            bytes += message(new OperatorID(1, 1), state(handle, files, 0)).getByteArray().length;
        }
        return bytes;
    }

    private static OperatorSubtaskState state(
            ChangelogStateHandleStreamImpl alike, RenamedFiles files, int subtask) {
        if (alike == null) {
            return OperatorSubtaskState.builder().build();
        }
        KeyGroupRange keyGroups =
                KeyGroupRangeAssignment.computeKeyGroupRangeForOperatorIndex(
                        MAX_PARALLELISM, CostWorkload.PARALLELISM, subtask);
        ChangelogStateHandle handle =
                new ChangelogStateHandleStreamImpl(
                        frames(alike, files),
                        keyGroups,
                        alike.getStateSize(),
                        alike.getCheckpointedSize(),
                        alike.getStorageIdentifier());
        return OperatorSubtaskState.builder()
                .setManagedKeyedState(
                        new ChangelogStateBackendHandleImpl(
                                List.of(), List.of(handle), keyGroups, 1, 1, 1))
                .build();
    }

    private static List<Tuple2<StreamStateHandle, Long>> frames(
            ChangelogStateHandleStreamImpl alike, RenamedFiles files) {
        List<Tuple2<StreamStateHandle, Long>> frames = new ArrayList<>();
        for (Tuple2<StreamStateHandle, Long> frame : alike.getHandlesAndOffsets()) {
            StreamStateHandle segment = frame.f0;
            if (segment instanceof FileStateHandle) {
                Path file = ((FileStateHandle) segment).getFilePath();
                segment = new FileStateHandle(files.of(file), segment.getStateSize());
            }
            frames.add(Tuple2.of(segment, frame.f1));
        }
        return DstlChangelogs.isDstl(alike) ? FrameList.of(frames) : frames;
    }

    private OperatorSubtaskState acknowledged(OperatorID operator, OperatorSubtaskState sent)
            throws Exception {
        return message(operator, sent)
                .deserializeValue(getClass().getClassLoader())
                .getSubtaskStateByOperatorID(operator);
    }

    /** Returns the message that a TaskManager sends. */
    private static SerializedValue<TaskStateSnapshot> message(
            OperatorID operator, OperatorSubtaskState state) throws IOException {
        TaskStateSnapshot snapshot = new TaskStateSnapshot();
        snapshot.putSubtaskStateByOperatorID(operator, state);
        return new SerializedValue<>(snapshot);
    }

    private static CompletedCheckpoint checkpoint(
            long id, Map<OperatorID, OperatorState> operators) {
        return new CompletedCheckpoint(
                DstlChangelogs.JOB_ID,
                id,
                1,
                1,
                operators,
                null,
                CheckpointProperties.forCheckpoint(
                        CheckpointRetentionPolicy.RETAIN_ON_CANCELLATION),
                new Location(),
                null);
    }

    private void rememberPaths(CompletedCheckpoint checkpoint) {
        for (OperatorState operator : checkpoint.getOperatorStates().values()) {
            for (OperatorSubtaskState subtask : operator.getStates()) {
                for (KeyedStateHandle state : subtask.getManagedKeyedState()) {
                    ((ChangelogStateBackendHandle) state)
                            .getNonMaterializedStateHandles()
                            .forEach(this::rememberPaths);
                }
            }
        }
    }

    private void rememberPaths(ChangelogStateHandle state) {
        ChangelogStateHandleStreamImpl handle = (ChangelogStateHandleStreamImpl) state;
        if (DstlChangelogs.isDstl(handle)) {
            for (Tuple2<StreamStateHandle, Long> frame : handle.getHandlesAndOffsets()) {
                if (frame.f0 instanceof FileStateHandle) {
                    paths.add(((FileStateHandle) frame.f0).getFilePath());
                }
            }
        }
    }

    private static final class ByteCounter extends OutputStream {
        private long bytes;

        @Override
        public void write(int b) {
            bytes++;
        }

        @Override
        public void write(byte[] source, int offset, int length) {
            bytes += length;
        }
    }

    private static final class Location implements CompletedCheckpointStorageLocation {

        private static final long serialVersionUID = 1L;

        @Override
        public String getExternalPointer() {
            return "s3://bucket/flink/checkpoints/chk-1";
        }

        @Override
        public StreamStateHandle getMetadataHandle() {
            return new FileStateHandle(new Path(getExternalPointer(), "_metadata"), 1);
        }

        @Override
        public void disposeStorageLocation() {}
    }
}
