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

package dev.dstl.changelog.mutation;

import javax.annotation.Nullable;
import org.apache.flink.api.common.state.StateTtlConfig;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;

/**
 * A state as its writer registered it, read back from the log. The serializers are those that read
 * the records of the state; they belong to the thread that replays.
 */
public final class RestoredRegistration {

    private final StateKind kind;
    private final String name;
    private final TypeSerializerSnapshot<?> keySerializerSnapshot;
    @Nullable private final TypeSerializer<?> namespaceSerializer;
    private final TypeSerializer<?> valueSerializer;
    private final StateTtlConfig timeToLive;
    @Nullable private final Object defaultValue;

    RestoredRegistration(
            StateKind kind,
            String name,
            TypeSerializerSnapshot<?> keySerializerSnapshot,
            @Nullable TypeSerializer<?> namespaceSerializer,
            TypeSerializer<?> valueSerializer,
            StateTtlConfig timeToLive,
            @Nullable Object defaultValue) {
        this.kind = kind;
        this.name = name;
        this.keySerializerSnapshot = keySerializerSnapshot;
        this.namespaceSerializer = namespaceSerializer;
        this.valueSerializer = valueSerializer;
        this.timeToLive = timeToLive;
        this.defaultValue = defaultValue;
    }

    /** What the state is. */
    public StateKind kind() {
        return kind;
    }

    /** The state's name. */
    public String name() {
        return name;
    }

    /** What wrote the keys. */
    public TypeSerializerSnapshot<?> keySerializerSnapshot() {
        return keySerializerSnapshot;
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
