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
import java.util.Optional;
import javax.annotation.Nullable;
import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.TypeSerializerSchemaCompatibility;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.runtime.state.RegisteredKeyValueStateBackendMetaInfo;
import org.apache.flink.runtime.state.StateSerializerProvider;
import org.apache.flink.runtime.state.StateSnapshotTransformer.StateSnapshotTransformFactory;
import org.apache.flink.runtime.state.metainfo.StateMetaInfoSnapshot;

/**
 * A state as one handle of a snapshot has it. Each handle is read by the serializers that have
 * written it: another subtask may have had others. Task thread only.
 *
 * <p>Serializers are compared by how they describe themselves in this process, never by what was
 * read: some descriptions that were read cannot be compared or written again, and some list classes
 * in an order that differs between processes.
 */
public final class WrittenState<K, N, S> {

    /** How its entries relate to those of the table. */
    private enum Relation {
        /** The serializers of the table read them. */
        SAME,
        /** They have to be written again. */
        OTHER_FORM,
        /** The table cannot have both. */
        OTHER_VERSION
    }

    private final StateMetaInfoSnapshot snapshot;
    private final TypeSerializer<K> keySerializer;
    private final RegisteredKeyValueStateBackendMetaInfo<N, S> metaInfo;

    /** Null until a handle has entries, whose serializers need not exist before. */
    @Nullable private Relation relation;

    @Nullable private Boolean keysDiffer;

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
     * As what a table is registered for it until the job asks for the state: with serializers that
     * read what they write, and write all values that the job's classes can hold. Those of a
     * snapshot need not, as they may read an old schema and write a new one.
     */
    RegisteredKeyValueStateBackendMetaInfo<N, S> register() {
        if (writesOtherVersion(namespaceSerializer(), namespaceSnapshot())
                || writesOtherVersion(stateSerializer(), stateSnapshot())) {
            relation = Relation.OTHER_FORM;
            return metaInfo.withSerializerUpgradesAllowed();
        }
        relation = Relation.SAME;
        TypeSerializer<N> namespaces =
                reconfigured(namespaceSerializer(), namespaceSnapshot())
                        .orElse(namespaceSerializer());
        TypeSerializer<S> states =
                reconfigured(stateSerializer(), stateSnapshot()).orElse(stateSerializer());
        if (!KeyForm.differs(namespaces, namespaceSerializer())
                && !KeyForm.differs(states, stateSerializer())) {
            return metaInfo;
        }
        return new RegisteredKeyValueStateBackendMetaInfo<>(
                        type(),
                        name(),
                        namespaces,
                        states,
                        StateSnapshotTransformFactory.<S>noTransform())
                .withSerializerUpgradesAllowed();
    }

    /** Whether a table that has entries of other handles cannot take its own. */
    boolean isOtherVersionThan(RegisteredKeyValueStateBackendMetaInfo<N, S> registered) {
        return relation(registered) == Relation.OTHER_VERSION;
    }

    /** Whether its spilled entries are other bytes than those of a table. */
    boolean isWrittenUnlike(
            TypeSerializer<K> keys, RegisteredKeyValueStateBackendMetaInfo<N, S> registered) {
        if (keysDiffer == null) {
            keysDiffer = KeyForm.differs(keySerializer, keys);
        }
        return keysDiffer || relation(registered) != Relation.SAME;
    }

    private Relation relation(RegisteredKeyValueStateBackendMetaInfo<N, S> registered) {
        if (relation == null) {
            TypeSerializer<S> states = registered.getStateSerializer();
            if (mayBeMigrated(states, stateSerializer())
                    || mayBeMigrated(stateSerializer(), states)) {
                relation = Relation.OTHER_VERSION;
            } else if (KeyForm.differs(namespaceSerializer(), registered.getNamespaceSerializer())
                    || !readsAsItIs(states, stateSerializer())
                    || writesOtherVersion(namespaceSerializer(), namespaceSnapshot())
                    || writesOtherVersion(stateSerializer(), stateSnapshot())) {
                relation = Relation.OTHER_FORM;
            } else {
                relation = Relation.SAME;
            }
        }
        return relation;
    }

    /** Whether what one serializer writes has to be migrated for another one, or it is unknown. */
    private static <T> boolean mayBeMigrated(TypeSerializer<T> to, TypeSerializer<T> from) {
        try {
            TypeSerializerSchemaCompatibility<T> compatibility =
                    StateSerializerProvider.fromPreviousSerializerSnapshot(
                                    from.snapshotConfiguration())
                            .registerNewSerializerForRestoredState(to.duplicate());
            return compatibility.isCompatibleAfterMigration() || compatibility.isIncompatible();
        } catch (RuntimeException classOrFieldIsGone) {
            return KeyForm.differs(to, from);
        }
    }

    /**
     * Whether one serializer reads what another one writes. Not if the first only says that it is
     * compatible: that of an enum says so of other orders of the constants.
     */
    private static <T> boolean readsAsItIs(TypeSerializer<T> to, TypeSerializer<T> from) {
        return !KeyForm.differs(to, from)
                || reconfigured(to, from.snapshotConfiguration())
                        .filter(reconfigured -> !KeyForm.differs(to, reconfigured))
                        .isPresent();
    }

    private static <T> boolean writesOtherVersion(
            TypeSerializer<T> restored, TypeSerializerSnapshot<T> from) {
        return compared(restored, from)
                .filter(TypeSerializerSchemaCompatibility::isCompatibleAfterMigration)
                .isPresent();
    }

    private static <T> Optional<TypeSerializer<T>> reconfigured(
            TypeSerializer<T> to, TypeSerializerSnapshot<T> from) {
        return compared(to, from)
                .filter(TypeSerializerSchemaCompatibility::isCompatibleWithReconfiguredSerializer)
                .map(TypeSerializerSchemaCompatibility::getReconfiguredSerializer);
    }

    /** Empty if they cannot be compared, as when a class or field is gone from the job. */
    private static <T> Optional<TypeSerializerSchemaCompatibility<T>> compared(
            TypeSerializer<T> to, TypeSerializerSnapshot<T> from) {
        try {
            return Optional.of(to.snapshotConfiguration().resolveSchemaCompatibility(from));
        } catch (RuntimeException e) {
            return Optional.empty();
        }
    }

    @SuppressWarnings("unchecked") // as the state's name says
    private TypeSerializerSnapshot<N> namespaceSnapshot() {
        return (TypeSerializerSnapshot<N>)
                snapshot.getTypeSerializerSnapshot(
                        StateMetaInfoSnapshot.CommonSerializerKeys.NAMESPACE_SERIALIZER);
    }

    @SuppressWarnings("unchecked") // as the state's name says
    private TypeSerializerSnapshot<S> stateSnapshot() {
        return (TypeSerializerSnapshot<S>)
                snapshot.getTypeSerializerSnapshot(
                        StateMetaInfoSnapshot.CommonSerializerKeys.VALUE_SERIALIZER);
    }

    /** Reads its spilled entries. */
    SpilledLayout<K, N, S> newLayout() {
        return SpilledLayouts.of(type(), keySerializer, namespaceSerializer(), stateSerializer());
    }
}
