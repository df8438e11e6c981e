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
 * A state as its writer registered it, read back from a log or a snapshot. The serializers are
 * those that read what was written, and for nothing else; they belong to the thread that replays.
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

    /** Timers, as the log or a snapshot describes them. */
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

    /** A state, as the log describes it. */
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
     * A state or timers, as a snapshot of a delegate describes them. It does not say how long
     * values live; they carry their time stamps with them.
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

    /** What the state is. */
    public StateKind kind() {
        return kind;
    }

    /** The state's name. */
    public String name() {
        return schema.name();
    }

    /** What wrote the keys. */
    public TypeSerializerSnapshot<?> keySerializerSnapshot() {
        return keySerializerSnapshot;
    }

    /** In which version the state is written. */
    public StateSchema schema() {
        return schema;
    }

    /** Reads the namespaces; null for a queue. */
    @Nullable
    public TypeSerializer<?> namespaceSerializer() {
        return namespaceSerializer;
    }

    /** Reads the values: a list's or a map's as a whole, a queue's elements. */
    public TypeSerializer<?> valueSerializer() {
        return valueSerializer;
    }

    /** Disabled if the state has none. */
    public StateTtlConfig timeToLive() {
        return timeToLive;
    }

    /** Null if the state has none. */
    @Nullable
    public Object defaultValue() {
        return defaultValue;
    }
}
