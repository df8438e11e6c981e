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

package dev.dstl.changelog.materialization;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.flink.runtime.state.IncrementalKeyedStateHandle.HandleAndLocalPath;
import org.apache.flink.runtime.state.IncrementalRemoteKeyedStateHandle;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.PhysicalStateHandleID;
import org.apache.flink.runtime.state.PlaceholderStreamStateHandle;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.runtime.state.memory.ByteStreamStateHandle;

/**
 * The files of a base that this attempt of the task has uploaded. A later incremental snapshot has
 * placeholders for them, which this resolves. Immutable.
 *
 * <p>Placeholders stay for files of the restored checkpoint, which may be another job's: the
 * JobManager deletes what it learns of first by a checkpoint of this job.
 */
final class SharedFiles {

    /** Of a base whose files are all restored. */
    static final SharedFiles NONE = new SharedFiles(StateParts.EMPTY);

    /**
     * Bytes of small files that are part of their handles. Placeholders stay for what exceeds this,
     * as each checkpoint that is overtaken carries them.
     */
    private static final long MAX_IN_HANDLES = 1 << 20;

    private final Map<PhysicalStateHandleID, StreamStateHandle> files = new HashMap<>();

    /** Collects the files of {@code base} that are no placeholders. */
    SharedFiles(StateParts base) {
        long inHandles = 0;
        for (KeyedStateHandle snapshot : base.snapshots()) {
            if (!isIncremental(snapshot)) {
                continue;
            }
            for (HandleAndLocalPath file :
                    ((IncrementalRemoteKeyedStateHandle) snapshot).getSharedState()) {
                StreamStateHandle handle = file.getHandle();
                inHandles += handle instanceof ByteStreamStateHandle ? handle.getStateSize() : 0;
                if (!isPlaceholder(handle)
                        && (inHandles <= MAX_IN_HANDLES
                                || !(handle instanceof ByteStreamStateHandle))) {
                    files.put(handle.getStreamStateHandleID(), handle);
                }
            }
        }
    }

    /**
     * Returns snapshots with files in place of placeholders. Leaves the given ones as they are, and
     * placeholders of unknown files.
     */
    StateParts resolve(StateParts snapshots) {
        return new StateParts(
                snapshots.snapshots().stream().map(this::resolve).collect(Collectors.toList()),
                snapshots.logs());
    }

    private KeyedStateHandle resolve(KeyedStateHandle snapshot) {
        if (!isIncremental(snapshot)) {
            return snapshot;
        }
        IncrementalRemoteKeyedStateHandle incremental =
                (IncrementalRemoteKeyedStateHandle) snapshot;
        List<HandleAndLocalPath> resolved = new ArrayList<>();
        for (HandleAndLocalPath file : incremental.getSharedState()) {
            StreamStateHandle handle = file.getHandle();
            resolved.add(
                    HandleAndLocalPath.of(
                            isPlaceholder(handle)
                                    ? files.getOrDefault(handle.getStreamStateHandleID(), handle)
                                    : handle,
                            file.getLocalPath()));
        }
        return IncrementalRemoteKeyedStateHandle.restore(
                incremental.getBackendIdentifier(),
                incremental.getKeyGroupRange(),
                incremental.getCheckpointId(),
                resolved,
                incremental.getPrivateState(),
                incremental.getMetaDataStateHandle(),
                incremental.getCheckpointedSize(),
                incremental.getStateHandleId());
    }

    private static boolean isIncremental(KeyedStateHandle snapshot) {
        // Not for subclasses, which may have additional fields.
        return snapshot.getClass() == IncrementalRemoteKeyedStateHandle.class;
    }

    private static boolean isPlaceholder(StreamStateHandle file) {
        return file instanceof PlaceholderStreamStateHandle;
    }
}
