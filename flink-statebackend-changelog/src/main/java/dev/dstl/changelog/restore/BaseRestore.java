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

import dev.dstl.changelog.replay.BaseReplayer;
import dev.dstl.changelog.replay.RestoredStates;
import dev.dstl.changelog.schema.SchemaHistory;
import dev.dstl.changelog.schema.SchemaVersion;
import dev.dstl.changelog.schema.SnapshotSchema;
import dev.dstl.changelog.schema.StateSchema;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;
import javax.annotation.Nullable;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.util.IOUtils;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Restores snapshots that may have different schema versions. A delegate reads all snapshots that
 * it restores with the serializers of one of them. So the snapshots of one version are restored
 * together, those of the version with most bytes first; each of the others is restored separately
 * and copied entry by entry.
 *
 * <p>Used by the task thread.
 *
 * @param <K> type of the key
 */
final class BaseRestore<K> {

    private static final Logger LOG = LoggerFactory.getLogger(BaseRestore.class);

    private final DelegateFactory<K> delegates;
    private final TypeSerializer<K> keySerializer;
    private final SnapshotSchemas schemas;

    /**
     * Creates a restore.
     *
     * @param delegates creates delegates
     * @param keySerializer key serializer of the job
     * @param schemas reads the schema versions of snapshots
     */
    BaseRestore(
            DelegateFactory<K> delegates,
            TypeSerializer<K> keySerializer,
            SnapshotSchemas schemas) {
        this.delegates = delegates;
        this.keySerializer = keySerializer;
        this.schemas = schemas;
    }

    /**
     * Restores snapshots.
     *
     * @param keyGroups key groups of the delegate
     * @param snapshots must not overlap in these key groups
     * @param history records the schema versions
     * @param onlyRead see {@link DelegateFactory#create}
     * @return the delegate is owned by the caller
     * @throws Exception if a snapshot cannot be restored; nothing is left open then
     */
    RestoredBase<K> restore(
            KeyGroupRange keyGroups,
            List<KeyedStateHandle> snapshots,
            SchemaHistory history,
            boolean onlyRead)
            throws Exception {
        List<Group> groups = groups(snapshots, history);
        Group first = groups.isEmpty() ? new Group(null) : groups.get(0);
        AbstractKeyedStateBackend<K> delegate =
                delegates.create(keyGroups, keySerializer, first.handles(), onlyRead);
        try {
            RestoredStates<K> states = new RestoredStates<>(delegate, first.schema, history);
            for (Group other : groups.subList(Math.min(1, groups.size()), groups.size())) {
                for (Snapshot snapshot : other.snapshots) {
                    add(snapshot, keyGroups, states);
                }
            }
            return new RestoredBase<>(delegate, states, groups.size() > 1);
        } catch (Throwable t) {
            close(delegate);
            throw t;
        }
    }

    private void add(Snapshot snapshot, KeyGroupRange keyGroups, RestoredStates<K> states)
            throws Exception {
        KeyGroupRange own = keyGroups.getIntersection(snapshot.handle.getKeyGroupRange());
        KeyedStateHandle cut = snapshot.handle.getIntersection(own);
        if (cut == null) {
            return;
        }
        LOG.info("{} is written in other schema versions and restored separately", snapshot.handle);
        AbstractKeyedStateBackend<K> alone =
                delegates.create(own, keySerializer, List.of(cut), true);
        try {
            new BaseReplayer<>(states).replay(alone, snapshot.schema);
        } finally {
            close(alone);
        }
    }

    private static void close(AbstractKeyedStateBackend<?> delegate) {
        IOUtils.closeQuietly(delegate);
        delegate.dispose();
    }

    /** Returns the snapshots by schema version, the version with most bytes first. */
    private List<Group> groups(List<KeyedStateHandle> snapshots, SchemaHistory history)
            throws IOException {
        List<Group> groups = new ArrayList<>();
        for (KeyedStateHandle snapshot : snapshots) {
            SnapshotSchema schema = schemas.read(snapshot);
            if (schema != null) {
                history.restoredKeys(SchemaVersion.of(schema.keys()));
                for (StateSchema state : schema.schemas()) {
                    history.restored(state);
                }
            }
            Group group =
                    groups.stream().filter(known -> known.fits(schema)).findFirst().orElse(null);
            if (group == null) {
                group = new Group(schema);
                groups.add(group);
            }
            group.add(new Snapshot(snapshot, schema));
        }
        groups.sort(Comparator.comparingLong(Group::bytes).reversed());
        return groups;
    }

    /** A snapshot and its schema versions. */
    private static final class Snapshot {

        private final KeyedStateHandle handle;
        @Nullable private final SnapshotSchema schema;

        Snapshot(KeyedStateHandle handle, @Nullable SnapshotSchema schema) {
            this.handle = handle;
            this.schema = schema;
        }
    }

    /**
     * Snapshots that a delegate can restore together. Each may contain states that others lack, as
     * a subtask may register a state that other subtasks have not used yet.
     */
    private static final class Group {

        private final List<Snapshot> snapshots = new ArrayList<>();

        /** Schema versions of all states of all snapshots. */
        @Nullable private SnapshotSchema schema;

        Group(@Nullable SnapshotSchema schema) {
            this.schema = schema;
        }

        /**
         * Snapshots that only their own state backend can read are restored together; it detects
         * incompatible ones.
         */
        boolean fits(@Nullable SnapshotSchema other) {
            return schema == null ? other == null : other != null && schema.isSameAs(other);
        }

        void add(Snapshot snapshot) {
            snapshots.add(snapshot);
            schema = schema == null ? null : schema.with(snapshot.schema);
        }

        List<KeyedStateHandle> handles() {
            return snapshots.stream().map(snapshot -> snapshot.handle).collect(Collectors.toList());
        }

        long bytes() {
            return snapshots.stream().mapToLong(snapshot -> snapshot.handle.getStateSize()).sum();
        }
    }
}
