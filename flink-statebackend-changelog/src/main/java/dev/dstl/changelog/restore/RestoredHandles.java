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

import static org.apache.flink.runtime.checkpoint.filemerging.FileMergingSnapshotManager.isFileMergingHandle;

import dev.dstl.changelog.materialization.LocalCheckpoint;
import dev.dstl.changelog.materialization.MaterializedBase;
import dev.dstl.changelog.materialization.StateParts;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.runtime.state.CheckpointBoundKeyedStateHandle;
import org.apache.flink.runtime.state.IncrementalRemoteKeyedStateHandle;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyGroupsStateHandle;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.SavepointKeyedStateHandle;
import org.apache.flink.runtime.state.changelog.ChangelogStateBackendHandle;
import org.apache.flink.runtime.state.changelog.ChangelogStateBackendHandle.ChangelogStateBackendHandleImpl;
import org.apache.flink.runtime.state.changelog.ChangelogStateBackendLocalHandle;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandle;
import org.apache.flink.runtime.state.changelog.SequenceNumber;
import org.apache.flink.runtime.state.changelog.StateChange;
import org.apache.flink.runtime.state.changelog.inmemory.InMemoryChangelogStateHandle;
import org.apache.flink.runtime.state.filesystem.RelativeFileStateHandle;

/**
 * The handles of a checkpoint or savepoint by role: the bases that the delegate restores, the
 * changelogs to replay, and the handles that the next checkpoint contains. Handles written without
 * a changelog are bases without a changelog. Immutable.
 */
public final class RestoredHandles {

    private final KeyGroupRange keyGroups;
    private final List<ChangelogStateBackendHandle> handles;
    private final boolean shareSavepointFiles;

    private RestoredHandles(
            KeyGroupRange keyGroups,
            List<ChangelogStateBackendHandle> handles,
            boolean shareSavepointFiles) {
        this.keyGroups = keyGroups;
        this.handles = handles;
        this.shareSavepointFiles = shareSavepointFiles;
    }

    /**
     * Creates handles from those that Flink provides; null and plain ones are allowed.
     *
     * @param keyGroups key groups of the restoring task
     */
    public static RestoredHandles of(
            KeyGroupRange keyGroups, Collection<KeyedStateHandle> handles) {
        return new RestoredHandles(
                keyGroups,
                handles.stream()
                        .filter(Objects::nonNull)
                        .map(ChangelogStateBackendHandleImpl::getChangelogStateBackendHandle)
                        .collect(Collectors.toList()),
                handles.stream().anyMatch(RestoredHandles::sharesSavepointFiles));
    }

    private static boolean sharesSavepointFiles(KeyedStateHandle handle) {
        return handle instanceof IncrementalRemoteKeyedStateHandle
                && ((IncrementalRemoteKeyedStateHandle) handle)
                        .getSharedState().stream()
                                .anyMatch(
                                        file ->
                                                file.getHandle()
                                                        instanceof RelativeFileStateHandle);
    }

    /** Returns the snapshots that the delegate restores; local copies if Flink chose them. */
    public List<KeyedStateHandle> snapshots() {
        return distinct(
                handles.stream().flatMap(handle -> handle.getMaterializedStateHandles().stream()));
    }

    /** Removes duplicates: subtasks that were one before rescaling may share a base. */
    private static List<KeyedStateHandle> distinct(Stream<KeyedStateHandle> snapshots) {
        Set<Object> seen = new HashSet<>();
        return snapshots
                .filter(
                        snapshot ->
                                seen.add(
                                        Tuple2.of(
                                                snapshot.getStateHandleId(),
                                                snapshot.getKeyGroupRange())))
                .collect(Collectors.toList());
    }

    /**
     * Returns whether a snapshot contains key groups of this task for which another snapshot is
     * newer. The snapshots cannot be restored together then, see {@link #bases()}.
     */
    public boolean basesOverlap() {
        for (Base base : bases()) {
            for (KeyedStateHandle snapshot : snapshots()) {
                if (!base.contains(snapshot)
                        && snapshot.getKeyGroupRange()
                                        .getIntersection(base.keyGroups())
                                        .getNumberOfKeyGroups()
                                > 0) {
                    return true;
                }
            }
        }
        return false;
    }

    /** Returns the snapshots, each with the key groups for which it is the newest. */
    List<Base> bases() {
        List<Base> bases = new ArrayList<>();
        for (ChangelogStateBackendHandle handle : handles) {
            KeyGroupRange own = keyGroups.getIntersection(handle.getKeyGroupRange());
            if (own.getNumberOfKeyGroups() > 0) {
                bases.add(new Base(own, handle.getMaterializedStateHandles()));
            }
        }
        return bases;
    }

    /**
     * Returns the snapshots for a delegate that continues without a changelog. Snapshots are
     * numbered by materialization, but the JobManager refers to them by checkpoint.
     */
    public List<KeyedStateHandle> snapshotsBoundToCheckpoints() {
        return distinct(
                handles.stream()
                        .flatMap(
                                handle ->
                                        handle.getMaterializedStateHandles().stream()
                                                .map(snapshot -> bound(snapshot, handle))));
    }

    private static KeyedStateHandle bound(
            KeyedStateHandle snapshot, ChangelogStateBackendHandle handle) {
        return snapshot instanceof CheckpointBoundKeyedStateHandle
                ? ((CheckpointBoundKeyedStateHandle) snapshot).rebound(handle.getCheckpointId())
                : snapshot;
    }

    /** Returns the changelogs to replay on top of the snapshots, in order. */
    public List<ChangelogStateHandle> logs() {
        return handles.stream()
                .flatMap(handle -> logsOf(handle, handle.getNonMaterializedStateHandles()))
                .collect(Collectors.toList());
    }

    /**
     * Returns the changelogs without key groups that other subtasks took over by rescaling. An
     * in-memory changelog retains them, and they would be replayed twice when all come together
     * again.
     */
    private static Stream<ChangelogStateHandle> logsOf(
            ChangelogStateBackendHandle handle, List<ChangelogStateHandle> logs) {
        return logs.stream().flatMap(log -> narrowed(log, handle.getKeyGroupRange()));
    }

    private static Stream<ChangelogStateHandle> narrowed(
            ChangelogStateHandle log, KeyGroupRange range) {
        KeyGroupRange left = range.getIntersection(log.getKeyGroupRange());
        if (!(log instanceof InMemoryChangelogStateHandle) || left.equals(log.getKeyGroupRange())) {
            return Stream.of(log);
        }
        if (left.getNumberOfKeyGroups() == 0) {
            return Stream.empty();
        }
        // Every change, since Flink may have recorded one of a timer under any key group.
        List<StateChange> changes =
                new ArrayList<>(((InMemoryChangelogStateHandle) log).getChanges());
        return Stream.of(
                new InMemoryChangelogStateHandle(
                        changes, SequenceNumber.of(0), SequenceNumber.of(changes.size()), left));
    }

    /**
     * Returns the base of the next checkpoint. Its id is not less than any id that the delegate has
     * seen.
     *
     * @param to start of the new changelog
     */
    public MaterializedBase base(SequenceNumber to) {
        long id = 0;
        for (ChangelogStateBackendHandle handle : handles) {
            id = Math.max(id, LocalCheckpoint.baseId(handle));
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
                logsOf(handle, local.getRemoteNonMaterializedStateHandles()).forEach(logs::add);
            } else {
                snapshots.addAll(handle.getMaterializedStateHandles());
                logsOf(handle, handle.getNonMaterializedStateHandles()).forEach(logs::add);
            }
        }
        return new StateParts(distinct(snapshots.stream()), logs);
    }

    private StateParts localParts() {
        return handles.size() == 1 && handles.get(0) instanceof ChangelogStateBackendLocalHandle
                ? new StateParts(snapshots(), logs())
                : StateParts.EMPTY;
    }

    /** Returns whether the state is on the local disk. */
    public boolean isLocal() {
        return handles.size() == 1 && handles.get(0) instanceof LocalCheckpoint;
    }

    /** Returns the restored checkpoint if it is on the local disk. */
    public Optional<LocalCheckpoint> localCheckpoint() {
        return isLocal() ? Optional.of((LocalCheckpoint) handles.get(0)) : Optional.empty();
    }

    /**
     * Returns whether the next checkpoint must not contain the restored snapshots, for one of four
     * reasons. Handles of a canonical savepoint change their identity whenever they are read or
     * restricted to fewer key groups, so the JobManager could delete a file that another subtask
     * still needs. Paths in a native savepoint are relative to its directory, in DSTL's handle they
     * are not, and the JobManager fails if one file occurs in both forms. The JobManager deletes
     * the directories of merged files with the first checkpoint that does not name them, and only a
     * checkpoint written with file merging names them. Overlapping snapshots cannot be told apart
     * once they are in one handle.
     */
    public boolean needFullSnapshot() {
        return basesOverlap()
                || shareSavepointFiles
                || snapshots().stream().anyMatch(SavepointKeyedStateHandle.class::isInstance)
                || remoteParts().snapshots().stream().anyMatch(RestoredHandles::hasMergedFiles);
    }

    private static boolean hasMergedFiles(KeyedStateHandle snapshot) {
        if (snapshot instanceof KeyGroupsStateHandle) {
            return isFileMergingHandle(((KeyGroupsStateHandle) snapshot).getDelegateStateHandle());
        }
        if (!(snapshot instanceof IncrementalRemoteKeyedStateHandle)) {
            return false;
        }
        IncrementalRemoteKeyedStateHandle incremental =
                (IncrementalRemoteKeyedStateHandle) snapshot;
        return isFileMergingHandle(incremental.getMetaDataStateHandle())
                || Stream.concat(
                                incremental.getSharedState().stream(),
                                incremental.getPrivateState().stream())
                        .anyMatch(file -> isFileMergingHandle(file.getHandle()));
    }

    /** Snapshots of one handle, and the key groups of the task that it contains. */
    static final class Base {

        private final KeyGroupRange keyGroups;
        private final List<KeyedStateHandle> snapshots;

        Base(KeyGroupRange keyGroups, List<KeyedStateHandle> snapshots) {
            this.keyGroups = keyGroups;
            this.snapshots = snapshots;
        }

        KeyGroupRange keyGroups() {
            return keyGroups;
        }

        List<KeyedStateHandle> snapshots() {
            return snapshots;
        }

        boolean contains(KeyedStateHandle snapshot) {
            return snapshots.stream()
                    .anyMatch(
                            own ->
                                    own.getStateHandleId().equals(snapshot.getStateHandleId())
                                            && own.getKeyGroupRange()
                                                    .equals(snapshot.getKeyGroupRange()));
        }
    }
}
