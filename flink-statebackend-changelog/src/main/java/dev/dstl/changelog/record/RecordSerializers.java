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

import dev.dstl.compat.ExpiringState;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.runtime.state.internal.InternalKvState;

/**
 * The serializers that write the records of a state. Its registration describes these, since a
 * serializer may learn from what it writes. Used by the thread that changes the state.
 *
 * @param <K> type of the key
 * @param <N> type of the namespace
 * @param <V> type of the whole value
 */
public final class RecordSerializers<K, N, V> {

    private final TypeSerializer<K> keys;
    private final TypeSerializer<N> namespaces;
    private final TypeSerializer<V> values;

    private RecordSerializers(
            TypeSerializer<K> keys, TypeSerializer<N> namespaces, TypeSerializer<V> values) {
        this.keys = keys;
        this.namespaces = namespaces;
        this.values = values;
    }

    /**
     * Returns the serializers of a delegate that keeps objects. They meet the subclasses of POJOs,
     * which its snapshots must describe, only by writing the records.
     */
    public static <K, N, V> RecordSerializers<K, N, V> of(InternalKvState<K, N, V> state) {
        return new RecordSerializers<>(
                state.getKeySerializer(),
                state.getNamespaceSerializer(),
                ExpiringState.unwrapped(state.getValueSerializer()));
    }

    /**
     * Returns duplicates of the serializers of a delegate that writes each value with them at once.
     * Flink's serializer for Kryo allocates 8 KiB each time it writes to another buffer than
     * before, which a shared one would do twice for each value.
     */
    public static <K, N, V> RecordSerializers<K, N, V> duplicatesOf(
            InternalKvState<K, N, V> state) {
        RecordSerializers<K, N, V> delegates = of(state);
        return new RecordSerializers<>(
                delegates.keys.duplicate(),
                delegates.namespaces.duplicate(),
                delegates.values.duplicate());
    }

    /** Returns the serializer of keys. */
    public TypeSerializer<K> keys() {
        return keys;
    }

    /** Returns the serializer of namespaces. */
    public TypeSerializer<N> namespaces() {
        return namespaces;
    }

    /** Returns the serializer of values: whole lists and maps. */
    public TypeSerializer<V> values() {
        return values;
    }
}
