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
import javax.annotation.Nullable;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.util.IOUtils;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Restores snapshots that may be written in different schema versions. A delegate reads all that it
 * restores with the serializers of one of them. So those of one version are restored together, the
 * larger part first, and each of the others alone; it is then put in entry by entry.
 *
 * <p>Belongs to the task thread.
 *
 * @param <K> type of the key
 */
final class BaseRestore<K> {

    private static final Logger LOG = LoggerFactory.getLogger(BaseRestore.class);

    private final DelegateFactory<K> delegates;
    private final TypeSerializer<K> keySerializer;
    private final SnapshotSchemas schemas;

    /**
     * @param delegates creates delegates
     * @param keySerializer of the job
     * @param schemas reads in which versions snapshots are written
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
     * Restores.
     *
     * @param keyGroups of the delegate
     * @param snapshots no two of which hold a key group of these
     * @param history hears of the versions
     * @return the delegate is owned by the caller
     * @throws Exception if anything cannot be restored; nothing is left open then
     */
    RestoredBase<K> restore(
            KeyGroupRange keyGroups, List<KeyedStateHandle> snapshots, SchemaHistory history)
            throws Exception {
        List<Group> groups = groups(snapshots, history);
        Group first = groups.isEmpty() ? new Group(null) : groups.get(0);
        AbstractKeyedStateBackend<K> delegate =
                delegates.create(keyGroups, keySerializer, first.snapshots);
        try {
            RestoredStates<K> states = new RestoredStates<>(delegate, first.schema, history);
            for (Group other : groups.subList(Math.min(1, groups.size()), groups.size())) {
                for (KeyedStateHandle snapshot : other.snapshots) {
                    add(snapshot, keyGroups, other.schema, states);
                }
            }
            return new RestoredBase<>(delegate, states, groups.size() > 1);
        } catch (Throwable t) {
            close(delegate);
            throw t;
        }
    }

    private void add(
            KeyedStateHandle snapshot,
            KeyGroupRange keyGroups,
            SnapshotSchema schema,
            RestoredStates<K> states)
            throws Exception {
        KeyGroupRange part = keyGroups.getIntersection(snapshot.getKeyGroupRange());
        KeyedStateHandle cut = snapshot.getIntersection(part);
        if (cut == null) {
            return;
        }
        LOG.info("{} is written in other schema versions and restored alone", snapshot);
        AbstractKeyedStateBackend<K> alone = delegates.create(part, keySerializer, List.of(cut));
        try {
            new BaseReplayer<>(states).replay(alone, schema);
        } finally {
            close(alone);
        }
    }

    private static void close(AbstractKeyedStateBackend<?> delegate) {
        IOUtils.closeQuietly(delegate);
        delegate.dispose();
    }

    /** The snapshots by version, that of most bytes first. */
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
            group.snapshots.add(snapshot);
        }
        groups.sort(Comparator.comparingLong(Group::bytes).reversed());
        return groups;
    }

    /** Snapshots that a delegate can restore together. */
    private static final class Group {

        @Nullable private final SnapshotSchema schema;
        private final List<KeyedStateHandle> snapshots = new ArrayList<>();

        Group(@Nullable SnapshotSchema schema) {
            this.schema = schema;
        }

        /** What only its own state backend can read is of one kind, and it knows what to do. */
        boolean fits(@Nullable SnapshotSchema other) {
            return schema == null ? other == null : other != null && schema.isSameAs(other);
        }

        long bytes() {
            return snapshots.stream().mapToLong(KeyedStateHandle::getStateSize).sum();
        }
    }
}
