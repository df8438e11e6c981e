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

package dev.dstl.changelog.record;

import dev.dstl.changelog.schema.StateSchema;
import javax.annotation.Nullable;
import org.apache.flink.api.common.state.StateTtlConfig;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.runtime.state.RegisteredKeyValueStateBackendMetaInfo;
import org.apache.flink.runtime.state.RegisteredPriorityQueueStateBackendMetaInfo;
import org.apache.flink.runtime.state.metainfo.StateMetaInfoSnapshot;
import org.apache.flink.runtime.state.metainfo.StateMetaInfoSnapshot.BackendStateType;

/**
 * A state as its writer registered it, read from a changelog or a snapshot. Its serializers are for
 * reading only, and belong to the thread that replays.
 */
public final class RestoredRegistration {

    private final StateKind kind;
    private final TypeSerializerSnapshot<?> keySerializerSnapshot;
    private final StateSchema schema;
    @Nullable private final TypeSerializer<?> namespaceSerializer;
    private final TypeSerializer<?> valueSerializer;
    private final StateTtlConfig timeToLive;
    @Nullable private final Object defaultValue;

    private RestoredRegistration(
            StateKind kind,
            TypeSerializerSnapshot<?> keySerializerSnapshot,
            StateSchema schema,
            @Nullable TypeSerializer<?> namespaceSerializer,
            TypeSerializer<?> valueSerializer,
            StateTtlConfig timeToLive,
            @Nullable Object defaultValue) {
        this.kind = kind;
        this.keySerializerSnapshot = keySerializerSnapshot;
        this.schema = schema;
        this.namespaceSerializer = namespaceSerializer;
        this.valueSerializer = valueSerializer;
        this.timeToLive = timeToLive;
        this.defaultValue = defaultValue;
    }

    /** Creates the registration of a timer queue. */
    static RestoredRegistration ofQueue(
            StateMetaInfoSnapshot metaInfo, TypeSerializerSnapshot<?> keySerializerSnapshot) {
        return new RestoredRegistration(
                StateKind.QUEUE,
                keySerializerSnapshot,
                StateSchema.of(metaInfo),
                null,
                new RegisteredPriorityQueueStateBackendMetaInfo<>(metaInfo).getElementSerializer(),
                StateTtlConfig.DISABLED,
                null);
    }

    /** Creates the registration of a state from a changelog. */
    static RestoredRegistration ofState(
            StateKind kind,
            StateMetaInfoSnapshot metaInfo,
            TypeSerializerSnapshot<?> keySerializerSnapshot,
            RegisteredKeyValueStateBackendMetaInfo<?, ?> restored,
            StateTtlConfig timeToLive,
            @Nullable Object defaultValue) {
        return new RestoredRegistration(
                kind,
                keySerializerSnapshot,
                StateSchema.of(metaInfo),
                restored.getNamespaceSerializer(),
                restored.getStateSerializer(),
                timeToLive,
                defaultValue);
    }

    /**
     * Creates the registration of a state or a timer queue from a snapshot of a delegate. Snapshots
     * do not contain the time to live; values carry their timestamps.
     */
    public static RestoredRegistration ofSnapshot(
            StateMetaInfoSnapshot metaInfo, TypeSerializerSnapshot<?> keySerializerSnapshot) {
        if (metaInfo.getBackendStateType() == BackendStateType.PRIORITY_QUEUE) {
            return ofQueue(metaInfo, keySerializerSnapshot);
        }
        RegisteredKeyValueStateBackendMetaInfo<?, ?> restored =
                new RegisteredKeyValueStateBackendMetaInfo<>(metaInfo);
        return ofState(
                StateKind.of(restored.getStateType()),
                metaInfo,
                keySerializerSnapshot,
                restored,
                StateTtlConfig.DISABLED,
                null);
    }

    /** Returns the kind of the state. */
    public StateKind kind() {
        return kind;
    }

    /** Returns the name of the state. */
    public String name() {
        return schema.name();
    }

    /** Returns the snapshot of the serializer that wrote the keys. */
    public TypeSerializerSnapshot<?> keySerializerSnapshot() {
        return keySerializerSnapshot;
    }

    /** Returns the schema version in which the state was written. */
    public StateSchema schema() {
        return schema;
    }

    /** Returns the serializer that reads the namespaces; null for a queue. */
    @Nullable
    public TypeSerializer<?> namespaceSerializer() {
        return namespaceSerializer;
    }

    /** Returns the serializer that reads the values: whole lists and maps, elements of a queue. */
    public TypeSerializer<?> valueSerializer() {
        return valueSerializer;
    }

    /** Returns the time to live; disabled if the state has none. */
    public StateTtlConfig timeToLive() {
        return timeToLive;
    }

    /** Returns the default value; null if the state has none. */
    @Nullable
    public Object defaultValue() {
        return defaultValue;
    }
}
