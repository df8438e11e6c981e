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

package dev.dstl.changelog.restore;

import dev.dstl.changelog.materialization.MaterializedBase;
import dev.dstl.changelog.materialization.StateParts;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import org.apache.flink.runtime.state.CheckpointBoundKeyedStateHandle;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.SavepointKeyedStateHandle;
import org.apache.flink.runtime.state.changelog.ChangelogStateBackendHandle;
import org.apache.flink.runtime.state.changelog.ChangelogStateBackendHandle.ChangelogStateBackendHandleImpl;
import org.apache.flink.runtime.state.changelog.ChangelogStateBackendLocalHandle;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandle;
import org.apache.flink.runtime.state.changelog.SequenceNumber;

/**
 * The handles of a checkpoint or savepoint, told apart: what the delegate restores, which logs
 * follow, and what goes into the next checkpoint. Handles that were written without a changelog are
 * bases with no log. Immutable.
 */
public final class RestoredHandles {

    private final List<ChangelogStateBackendHandle> handles;

    private RestoredHandles(List<ChangelogStateBackendHandle> handles) {
        this.handles = handles;
    }

    /** Takes handles as Flink gives them, null and plain ones included. */
    public static RestoredHandles of(Collection<KeyedStateHandle> handles) {
        return new RestoredHandles(
                handles.stream()
                        .filter(Objects::nonNull)
                        .map(ChangelogStateBackendHandleImpl::getChangelogStateBackendHandle)
                        .collect(Collectors.toList()));
    }

    /** What the delegate restores; local copies if Flink chose these. */
    public List<KeyedStateHandle> snapshots() {
        return handles.stream()
                .flatMap(handle -> handle.getMaterializedStateHandles().stream())
                .collect(Collectors.toList());
    }

    /**
     * What a delegate restores that will go on without a changelog. The delegate numbered its
     * snapshots by materializations, the JobManager numbers them by checkpoints.
     */
    public List<KeyedStateHandle> snapshotsBoundToCheckpoints() {
        List<KeyedStateHandle> snapshots = new ArrayList<>();
        for (ChangelogStateBackendHandle handle : handles) {
            for (KeyedStateHandle snapshot : handle.getMaterializedStateHandles()) {
                snapshots.add(
                        snapshot instanceof CheckpointBoundKeyedStateHandle
                                ? ((CheckpointBoundKeyedStateHandle) snapshot)
                                        .rebound(handle.getCheckpointId())
                                : snapshot);
            }
        }
        return snapshots;
    }

    /** What to replay on top of the snapshots, in this order. */
    public List<ChangelogStateHandle> logs() {
        return handles.stream()
                .flatMap(handle -> handle.getNonMaterializedStateHandles().stream())
                .collect(Collectors.toList());
    }

    /**
     * The base of the next checkpoint. Its id is at least every id that the delegate has seen.
     *
     * @param to where the new log begins
     */
    public MaterializedBase base(SequenceNumber to) {
        long id = 0;
        for (ChangelogStateBackendHandle handle : handles) {
            id = Math.max(id, handle.getMaterializationID());
            for (KeyedStateHandle snapshot : handle.getMaterializedStateHandles()) {
                if (snapshot instanceof CheckpointBoundKeyedStateHandle) {
                    id =
                            Math.max(
                                    id,
                                    ((CheckpointBoundKeyedStateHandle) snapshot).getCheckpointId());
                }
            }
        }
        return new MaterializedBase(id, id, to, to, remoteParts(), localParts());
    }

    private StateParts remoteParts() {
        List<KeyedStateHandle> snapshots = new ArrayList<>();
        List<ChangelogStateHandle> logs = new ArrayList<>();
        for (ChangelogStateBackendHandle handle : handles) {
            if (handle instanceof ChangelogStateBackendLocalHandle) {
                ChangelogStateBackendLocalHandle local = (ChangelogStateBackendLocalHandle) handle;
                snapshots.addAll(local.getRemoteMaterializedStateHandles());
                logs.addAll(local.getRemoteNonMaterializedStateHandles());
            } else {
                snapshots.addAll(handle.getMaterializedStateHandles());
                logs.addAll(handle.getNonMaterializedStateHandles());
            }
        }
        return new StateParts(snapshots, logs);
    }

    private StateParts localParts() {
        return handles.size() == 1 && handles.get(0) instanceof ChangelogStateBackendLocalHandle
                ? new StateParts(snapshots(), logs())
                : StateParts.EMPTY;
    }

    /**
     * Whether the next checkpoint must not refer to the restored snapshots: handles of a canonical
     * savepoint change their identity whenever they are read or cut to fewer key groups, so the
     * JobManager could delete a file for one subtask that another one still needs.
     */
    public boolean needFullSnapshot() {
        return snapshots().stream().anyMatch(SavepointKeyedStateHandle.class::isInstance);
    }
}
