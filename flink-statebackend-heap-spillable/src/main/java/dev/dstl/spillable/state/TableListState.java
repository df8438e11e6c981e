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

import dev.dstl.spillable.table.StateTable;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.base.ListSerializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.runtime.state.internal.InternalListState;

/** A list per key and namespace. */
final class TableListState<K, N, V> extends TableMergingState<K, N, V, List<V>, Iterable<V>>
        implements InternalListState<K, N, V> {

    TableListState(
            StateTable<K, N, List<V>> table,
            TypeSerializer<K> keySerializer,
            List<V> defaultValue) {
        super(table, keySerializer, defaultValue);
    }

    @Override
    public Iterable<V> get() {
        return getInternal();
    }

    @Override
    public void add(V value) {
        Objects.requireNonNull(value, "You cannot add null to a ListState.");
        List<V> list = table.get(namespace);
        if (list == null) {
            list = new ArrayList<>();
            table.put(namespace, list);
        }
        list.add(value);
    }

    @Override
    public void addAll(List<V> values) throws Exception {
        Objects.requireNonNull(values, "List of values to add cannot be null.");
        requireNoNulls(values);
        if (!values.isEmpty()) {
            table.transform(
                    namespace,
                    values,
                    (previous, added) -> {
                        List<V> list = previous == null ? new ArrayList<>(added.size()) : previous;
                        list.addAll(added);
                        return list;
                    });
        }
    }

    @Override
    public void update(List<V> values) {
        Objects.requireNonNull(values, "List of values to add cannot be null.");
        requireNoNulls(values);
        if (values.isEmpty()) {
            clear();
        } else {
            table.put(namespace, new ArrayList<>(values));
        }
    }

    private static void requireNoNulls(List<?> values) {
        for (Object value : values) {
            Objects.requireNonNull(value, "You cannot add null to a ListState.");
        }
    }

    @Override
    List<V> merge(List<V> first, List<V> second) {
        first.addAll(second);
        return first;
    }

    @Override
    byte[] serialize(List<V> state, TypeSerializer<List<V>> serializer) throws Exception {
        TypeSerializer<V> elementSerializer =
                ((ListSerializer<V>) serializer).getElementSerializer();
        DataOutputSerializer out = new DataOutputSerializer(64);
        Iterator<V> elements = state.iterator();
        while (elements.hasNext()) {
            elementSerializer.serialize(elements.next(), out);
            if (elements.hasNext()) {
                out.writeByte(',');
            }
        }
        return out.getCopyOfBuffer();
    }
}
