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

package dev.dstl.spillable.state;

import dev.dstl.spillable.table.CurrentEntry;
import dev.dstl.spillable.table.StateTable;
import java.util.Objects;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.queryablestate.client.state.serialization.KvStateSerializer;
import org.apache.flink.runtime.state.internal.InternalKvState;

/** What the five kinds of state have in common. Task thread, except {@link #getSerializedValue}. */
abstract class TableState<K, N, S> implements InternalKvState<K, N, S> {

    final StateTable<K, N, S> table;
    final CurrentEntry<K, N, S> entry;
    N namespace;
    private final TypeSerializer<K> keySerializer;
    private S defaultValue;

    TableState(StateTable<K, N, S> table, TypeSerializer<K> keySerializer, S defaultValue) {
        this.table = table;
        this.entry = table.current();
        this.keySerializer = keySerializer;
        this.defaultValue = defaultValue;
    }

    final void setDefaultValue(S newDefaultValue) {
        defaultValue = newDefaultValue;
    }

    /** A fresh copy of the default value, or null. */
    final S defaultValue() {
        return defaultValue == null ? null : table.stateSerializer().copy(defaultValue);
    }

    @Override
    public final void clear() {
        entry.remove(namespace);
    }

    @Override
    public final void setCurrentNamespace(N newNamespace) {
        namespace = Objects.requireNonNull(newNamespace, "Namespace must not be null.");
    }

    @Override
    public final TypeSerializer<K> getKeySerializer() {
        return keySerializer;
    }

    @Override
    public final TypeSerializer<N> getNamespaceSerializer() {
        return table.namespaceSerializer();
    }

    @Override
    public final TypeSerializer<S> getValueSerializer() {
        return table.stateSerializer();
    }

    @Override
    public final byte[] getSerializedValue(
            byte[] serializedKeyAndNamespace,
            TypeSerializer<K> safeKeySerializer,
            TypeSerializer<N> safeNamespaceSerializer,
            TypeSerializer<S> safeValueSerializer)
            throws Exception {
        Objects.requireNonNull(serializedKeyAndNamespace);
        Objects.requireNonNull(safeValueSerializer);
        Tuple2<K, N> keyAndNamespace =
                KvStateSerializer.deserializeKeyAndNamespace(
                        serializedKeyAndNamespace,
                        Objects.requireNonNull(safeKeySerializer),
                        Objects.requireNonNull(safeNamespaceSerializer));
        return table.query(
                keyAndNamespace.f0,
                keyAndNamespace.f1,
                safeKeySerializer,
                safeNamespaceSerializer,
                safeValueSerializer,
                state -> serialize(state, safeValueSerializer));
    }

    /** The state in the form a queryable-state client reads. */
    byte[] serialize(S state, TypeSerializer<S> serializer) throws Exception {
        return KvStateSerializer.serializeValue(state, serializer);
    }

    @Override
    public final StateIncrementalVisitor<K, N, S> getStateIncrementalVisitor(
            int recommendedMaxNumberOfReturnedRecords) {
        return table.visitor(recommendedMaxNumberOfReturnedRecords);
    }
}
