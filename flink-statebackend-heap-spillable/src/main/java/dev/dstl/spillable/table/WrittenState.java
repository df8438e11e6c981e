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

package dev.dstl.spillable.table;

import dev.dstl.spillable.layout.KeyForm;
import dev.dstl.spillable.layout.SpilledLayout;
import dev.dstl.spillable.layout.SpilledLayouts;
import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.TypeSerializerSchemaCompatibility;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.runtime.state.RegisteredKeyValueStateBackendMetaInfo;
import org.apache.flink.runtime.state.metainfo.StateMetaInfoSnapshot;
import org.apache.flink.util.StateMigrationException;

/**
 * A state as one handle of a snapshot has it. Each handle is read by the serializers that have
 * written it: another subtask may have had others. Task thread only.
 */
public final class WrittenState<K, N, S> {

    private final StateMetaInfoSnapshot snapshot;
    private final TypeSerializer<K> keySerializer;
    private final RegisteredKeyValueStateBackendMetaInfo<N, S> metaInfo;
    private boolean isOtherVersion;

    /**
     * @param snapshot of keyed state
     * @param keySerializer reads its keys
     */
    public WrittenState(StateMetaInfoSnapshot snapshot, TypeSerializer<K> keySerializer) {
        this.snapshot = snapshot;
        this.keySerializer = keySerializer;
        this.metaInfo = new RegisteredKeyValueStateBackendMetaInfo<>(snapshot);
    }

    /** Name of the state. */
    public String name() {
        return metaInfo.getName();
    }

    /** Kind of the state. */
    public StateDescriptor.Type type() {
        return metaInfo.getStateType();
    }

    /** Reads its keys. */
    public TypeSerializer<K> keySerializer() {
        return keySerializer;
    }

    /** Reads its namespaces. */
    public TypeSerializer<N> namespaceSerializer() {
        return metaInfo.getPreviousNamespaceSerializer();
    }

    /** Reads whole states. */
    public TypeSerializer<S> stateSerializer() {
        return metaInfo.getPreviousStateSerializer();
    }

    /**
     * As what the state is registered until the job asks for it: with serializers that read what
     * they write. Those of a snapshot need not, as they may read an old schema and write a new one.
     */
    RegisteredKeyValueStateBackendMetaInfo<N, S> registration() {
        boolean readsWhatItWrites =
                !KeyForm.differs(namespaceSnapshot(), namespaceSerializer())
                        && !KeyForm.differs(stateSnapshot(), stateSerializer());
        return readsWhatItWrites ? metaInfo : metaInfo.withSerializerUpgradesAllowed();
    }

    /** Whether its spilled entries are other bytes than these serializers write. */
    boolean isWrittenUnlike(
            TypeSerializer<K> keys, TypeSerializer<N> namespaces, TypeSerializer<S> states) {
        return KeyForm.differs(keySerializer, keys)
                || KeyForm.differs(namespaceSnapshot(), namespaces)
                || KeyForm.differs(stateSnapshot(), states);
    }

    /**
     * Tells it what another handle had.
     *
     * @param registered serializer of whole states with which the state is registered since
     */
    void follows(WrittenState<K, ?, ?> first, TypeSerializer<?> registered) {
        isOtherVersion =
                KeyForm.differs(stateSnapshot(), registered)
                        && isMigrated(first.stateSnapshot(), stateSnapshot());
    }

    @SuppressWarnings("unchecked") // of the same state, as its name says
    private static <T> boolean isMigrated(
            TypeSerializerSnapshot<T> first, TypeSerializerSnapshot<?> other) {
        if (!KeyForm.differs(first, other)) {
            return false;
        }
        TypeSerializerSchemaCompatibility<T> compatibility =
                first.resolveSchemaCompatibility((TypeSerializerSnapshot<T>) other);
        return compatibility.isCompatibleAfterMigration() || compatibility.isIncompatible();
    }

    /**
     * Is called for a state that has entries.
     *
     * @throws StateMigrationException if another handle has them in another version, which one
     *     serializer cannot write
     */
    public void requireOneVersion() throws StateMigrationException {
        if (isOtherVersion) {
            throw new StateMigrationException(
                    String.format(
                            "State '%s' is in two versions in what is restored: some subtasks had"
                                    + " converted it after an upgrade of the job, others had not"
                                    + " asked for it. The spillable heap alone cannot restore it"
                                    + " at this parallelism. Set state.changelog.enabled: true,"
                                    + " which restores each version, and ask for the state in"
                                    + " open().",
                            name()));
        }
    }

    private TypeSerializerSnapshot<?> namespaceSnapshot() {
        return snapshot.getTypeSerializerSnapshot(
                StateMetaInfoSnapshot.CommonSerializerKeys.NAMESPACE_SERIALIZER);
    }

    private TypeSerializerSnapshot<?> stateSnapshot() {
        return snapshot.getTypeSerializerSnapshot(
                StateMetaInfoSnapshot.CommonSerializerKeys.VALUE_SERIALIZER);
    }

    /** Reads its spilled entries. */
    SpilledLayout<K, N, S> newLayout() {
        return SpilledLayouts.of(type(), keySerializer, namespaceSerializer(), stateSerializer());
    }
}
