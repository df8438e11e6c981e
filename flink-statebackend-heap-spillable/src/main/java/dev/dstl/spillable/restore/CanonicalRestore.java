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

package dev.dstl.spillable.restore;

import dev.dstl.spillable.spill.StateMover;
import dev.dstl.spillable.table.StateRegistry;
import dev.dstl.spillable.table.StateTable;
import dev.dstl.spillable.table.WrittenState;
import java.io.IOException;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.base.ListSerializer;
import org.apache.flink.api.common.typeutils.base.MapSerializer;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.runtime.state.CompositeKeySerializationUtils;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.ListDelimitedSerializer;
import org.apache.flink.runtime.state.StateSerializerProvider;
import org.apache.flink.runtime.state.restore.FullSnapshotRestoreOperation;
import org.apache.flink.runtime.state.restore.KeyGroup;
import org.apache.flink.runtime.state.restore.KeyGroupEntry;
import org.apache.flink.runtime.state.restore.SavepointRestoreResult;
import org.apache.flink.runtime.state.restore.ThrowingIterator;
import org.apache.flink.util.StateMigrationException;

/**
 * Reads canonical savepoints, which any backend may have written. Runs on the task thread; a handle
 * with key groups of another task fails the restore.
 */
public final class CanonicalRestore<K> {

    private final StateRegistry<K> states;
    private final SnapshotKeys<K> keys;
    private final KeyGroupRange keyGroupRange;
    private final int keyGroupPrefixBytes;
    private final ClassLoader userClassLoader;
    private final StateMover mover;
    private final ElementRestore<K> elements;
    private final DataInputDeserializer keyIn = new DataInputDeserializer();
    private final DataInputDeserializer valueIn = new DataInputDeserializer();
    private final ListDelimitedSerializer listSerializer = new ListDelimitedSerializer();

    /**
     * @param states takes what is read; filled in part if a restore fails
     * @param keySerializerProvider checks the key serializers of the handles
     * @param mover asked before each entry whether it fits on the heap, told after each key group
     */
    public CanonicalRestore(
            StateRegistry<K> states,
            StateSerializerProvider<K> keySerializerProvider,
            KeyGroupRange keyGroupRange,
            int numberOfKeyGroups,
            ClassLoader userClassLoader,
            StateMover mover) {
        this.states = states;
        this.keys = new SnapshotKeys<>(keySerializerProvider);
        this.keyGroupRange = keyGroupRange;
        this.keyGroupPrefixBytes =
                CompositeKeySerializationUtils.computeRequiredBytesInKeyGroupPrefix(
                        numberOfKeyGroups);
        this.userClassLoader = userClassLoader;
        this.mover = mover;
        this.elements = new ElementRestore<>(mover);
    }

    /**
     * Reads all handles, one after the other.
     *
     * @throws Exception if a handle cannot be read or its key serializer is incompatible
     */
    public void restore(Collection<KeyedStateHandle> handles) throws Exception {
        for (KeyedStateHandle handle : handles) {
            StateSerializerProvider<K> written = keys.next();
            FullSnapshotRestoreOperation<K> operation =
                    new FullSnapshotRestoreOperation<>(
                            keyGroupRange,
                            userClassLoader,
                            Collections.singletonList(handle),
                            written);
            try (ThrowingIterator<SavepointRestoreResult> savepoints = operation.restore()) {
                while (savepoints.hasNext()) {
                    restore(savepoints.next(), written);
                }
            }
        }
    }

    private void restore(SavepointRestoreResult savepoint, StateSerializerProvider<K> writtenKeys)
            throws Exception {
        SnapshotStates<K> written =
                new SnapshotStates<>(
                        states,
                        savepoint.getStateMetaInfoSnapshots(),
                        writtenKeys.previousSchemaSerializer(),
                        keys.current());
        try (ThrowingIterator<KeyGroup> keyGroups = savepoint.getRestoredKeyGroups()) {
            while (keyGroups.hasNext()) {
                try (ThrowingIterator<KeyGroupEntry> entries =
                        keyGroups.next().getKeyGroupEntries()) {
                    while (entries.hasNext()) {
                        KeyGroupEntry entry = entries.next();
                        restore(entry, written);
                    }
                }
                mover.keyGroupRestored();
            }
        }
    }

    private void restore(KeyGroupEntry entry, SnapshotStates<K> written)
            throws IOException, StateMigrationException {
        keyIn.setBuffer(entry.getKey());
        valueIn.setBuffer(entry.getValue());
        WrittenState<K, ?, ?> state = written.state(entry.getKvStateId());
        if (state == null) {
            keyIn.skipBytesToRead(keyGroupPrefixBytes);
            written.readTimer(entry.getKvStateId(), keyIn);
        } else {
            restoreEntry(entry, state);
        }
    }

    @SuppressWarnings("unchecked") // the kind of state decides the type of its serializer
    private <N, S> void restoreEntry(KeyGroupEntry entry, WrittenState<K, N, S> written)
            throws IOException, StateMigrationException {
        StateTable<K, N, S> table = states.tableOf(written);
        TypeSerializer<K> keySerializer = written.keySerializer();
        TypeSerializer<N> namespaceSerializer = written.namespaceSerializer();
        TypeSerializer<S> stateSerializer = written.stateSerializer();
        boolean ambiguous = keySerializer.getLength() < 0 && namespaceSerializer.getLength() < 0;
        int keyGroup = CompositeKeySerializationUtils.readKeyGroup(keyGroupPrefixBytes, keyIn);
        K key = CompositeKeySerializationUtils.readKey(keySerializer, keyIn, ambiguous);
        N namespace =
                CompositeKeySerializationUtils.readNamespace(namespaceSerializer, keyIn, ambiguous);
        long bytes = (long) entry.getKey().length + entry.getValue().length;
        switch (written.type()) {
            case LIST:
                List<Object> list =
                        listSerializer.deserializeList(
                                entry.getValue(),
                                ((ListSerializer<Object>) (TypeSerializer<?>) stateSerializer)
                                        .getElementSerializer());
                elements.entry(table, key, keyGroup, namespace, (S) list, bytes);
                break;
            case MAP:
                restoreUserEntry(
                        (StateTable<K, N, Map<Object, Object>>) table,
                        (MapSerializer<Object, Object>) (TypeSerializer<?>) stateSerializer,
                        key,
                        keyGroup,
                        namespace,
                        bytes);
                break;
            default:
                S state = stateSerializer.deserialize(valueIn);
                elements.entry(table, key, keyGroup, namespace, state, bytes);
        }
    }

    private <N> void restoreUserEntry(
            StateTable<K, N, Map<Object, Object>> table,
            MapSerializer<Object, Object> serializer,
            K key,
            int keyGroup,
            N namespace,
            long bytes)
            throws IOException {
        Object userKey = serializer.getKeySerializer().deserialize(keyIn);
        boolean isNull = valueIn.readBoolean();
        Object userValue = isNull ? null : serializer.getValueSerializer().deserialize(valueIn);
        elements.userEntry(table, key, keyGroup, namespace, userKey, userValue, bytes);
    }
}
