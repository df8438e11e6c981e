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

package dev.dstl.benchmarks.probe;

import dev.dstl.benchmarks.measurement.HandleCount;
import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.flink.runtime.checkpoint.Checkpoints;
import org.apache.flink.runtime.checkpoint.OperatorState;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.checkpoint.metadata.CheckpointMetadata;
import org.apache.flink.runtime.state.IncrementalRemoteKeyedStateHandle;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.changelog.ChangelogStateBackendHandle;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandle;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;

/** Counts the handles in the metadata of a checkpoint, without opening them. */
public final class CheckpointProbe {

    private CheckpointProbe() {}

    /**
     * Counts handles.
     *
     * @param metadata its {@code _metadata} as a local file
     */
    public static HandleCount count(Path metadata) throws IOException {
        HandleCount count = new HandleCount();
        count.metadataBytes = Files.size(metadata);
        for (OperatorState operator : read(metadata).getOperatorStates()) {
            for (OperatorSubtaskState subtask : operator.getStates()) {
                add(subtask, count);
            }
        }
        return count;
    }

    private static CheckpointMetadata read(Path metadata) throws IOException {
        try (DataInputStream in =
                new DataInputStream(new BufferedInputStream(Files.newInputStream(metadata)))) {
            return Checkpoints.loadCheckpointMetadata(
                    in,
                    CheckpointProbe.class.getClassLoader(),
                    // Flink looks there while it reads, so it has to be where this process sees it.
                    metadata.toUri().toString());
        }
    }

    private static void add(OperatorSubtaskState subtask, HandleCount count) {
        long log = 0;
        long all = 0;
        for (KeyedStateHandle handle : subtask.getManagedKeyedState()) {
            if (handle instanceof ChangelogStateBackendHandle) {
                ChangelogStateBackendHandle changelog = (ChangelogStateBackendHandle) handle;
                for (ChangelogStateHandle part : changelog.getNonMaterializedStateHandles()) {
                    log += handles(part);
                    count.logStorages.add(part.getStorageIdentifier());
                }
                for (KeyedStateHandle part : changelog.getMaterializedStateHandles()) {
                    all += handles(part);
                }
            } else {
                all += handles(handle);
            }
        }
        count.logPerSubtask = Math.max(count.logPerSubtask, log);
        count.perSubtask = Math.max(count.perSubtask, log + all);
    }

    private static long handles(KeyedStateHandle handle) {
        if (handle instanceof ChangelogStateHandleStreamImpl) {
            return ((ChangelogStateHandleStreamImpl) handle).getHandlesAndOffsets().size();
        }
        if (handle instanceof IncrementalRemoteKeyedStateHandle) {
            IncrementalRemoteKeyedStateHandle files = (IncrementalRemoteKeyedStateHandle) handle;
            return files.getSharedState().size() + files.getPrivateState().size() + 1L;
        }
        return 1;
    }
}
