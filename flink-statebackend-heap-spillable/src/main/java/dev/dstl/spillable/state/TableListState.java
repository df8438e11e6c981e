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

import dev.dstl.spillable.layout.ListLayout;
import dev.dstl.spillable.overlay.PartitionedMap;
import dev.dstl.spillable.table.StateTable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.base.ListSerializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.runtime.state.internal.InternalListState;

/** A list per key and namespace. A spilled list is added to without being read. */
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

    /**
     * While the list is being copied off-heap, a copy: if the job changed what it gets, the copy
     * would consist of two lists.
     */
    @Override
    public List<V> getInternal() {
        List<V> list = super.getInternal();
        return list != null && entry.isLeaving(namespace) ? new ArrayList<>(list) : list;
    }

    private ListLayout<K, N, V> layout() {
        return (ListLayout<K, N, V>) entry.layout();
    }

    @Override
    public void add(V value) throws IOException {
        Objects.requireNonNull(value, "You cannot add null to a ListState.");
        List<V> list = entry.heapState(namespace);
        PartitionedMap spilled = list == null ? entry.spilledHome(namespace) : null;
        if (spilled != null) {
            layout().add(spilled, value);
        } else {
            (list == null ? newHeapList() : list).add(value);
        }
    }

    private List<V> newHeapList() {
        List<V> list = new ArrayList<>();
        entry.put(namespace, list);
        return list;
    }

    @Override
    public void addAll(List<V> values) throws IOException {
        Objects.requireNonNull(values, "List of values to add cannot be null.");
        requireNoNulls(values);
        if (values.isEmpty()) {
            return;
        }
        List<V> list = entry.heapState(namespace);
        PartitionedMap spilled = list == null ? entry.spilledHome(namespace) : null;
        if (spilled != null) {
            layout().addAll(spilled, values);
        } else {
            (list == null ? newHeapList() : list).addAll(values);
        }
    }

    @Override
    public void update(List<V> values) {
        Objects.requireNonNull(values, "List of values to add cannot be null.");
        requireNoNulls(values);
        if (values.isEmpty()) {
            clear();
        } else {
            entry.put(namespace, new ArrayList<>(values));
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
