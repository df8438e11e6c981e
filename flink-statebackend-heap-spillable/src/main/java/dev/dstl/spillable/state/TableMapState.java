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

import dev.dstl.spillable.layout.MapLayout;
import dev.dstl.spillable.layout.SerializerException;
import dev.dstl.spillable.layout.UserEntryIterator;
import dev.dstl.spillable.overlay.PartitionedMap;
import dev.dstl.spillable.table.StateTable;
import java.io.IOException;
import java.util.AbstractMap;
import java.util.Collections;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.function.Function;
import javax.annotation.Nullable;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.base.MapSerializer;
import org.apache.flink.queryablestate.client.state.serialization.KvStateSerializer;
import org.apache.flink.runtime.state.internal.InternalMapState;

/** A map per key and namespace. A spilled map is changed one user key at a time. */
final class TableMapState<K, N, UK, UV> extends TableState<K, N, Map<UK, UV>>
        implements InternalMapState<K, N, UK, UV> {

    TableMapState(
            StateTable<K, N, Map<UK, UV>> table,
            TypeSerializer<K> keySerializer,
            Map<UK, UV> defaultValue) {
        super(table, keySerializer, defaultValue);
    }

    private MapLayout<K, N, UK, UV> layout() {
        return (MapLayout<K, N, UK, UV>) entry.layout();
    }

    @Override
    public UV get(UK userKey) throws IOException {
        Map<UK, UV> map = entry.heapState(namespace);
        if (map != null) {
            return map.get(userKey);
        }
        PartitionedMap spilled = entry.spilledHome(namespace);
        return spilled == null ? null : layout().get(spilled.entries(), userKey);
    }

    @Override
    public boolean contains(UK userKey) throws IOException {
        Map<UK, UV> map = entry.heapState(namespace);
        if (map != null) {
            return map.containsKey(userKey);
        }
        PartitionedMap spilled = entry.spilledHome(namespace);
        return spilled != null && layout().contains(spilled.entries(), userKey);
    }

    @Override
    public void put(UK userKey, UV userValue) throws IOException {
        // Before the change, which may be done even if it fails.
        entry.userKeyChanged(namespace, userKey);
        PartitionedMap spilled = null;
        Map<UK, UV> map = entry.heapState(namespace);
        if (map == null) {
            spilled = entry.spilledHome(namespace);
            map = spilled == null ? newHeapMap() : null;
        }
        if (map != null) {
            map.put(userKey, userValue);
        } else {
            layout().put(spilled, userKey, userValue);
        }
    }

    @Override
    public void putAll(Map<UK, UV> values) throws IOException {
        for (Map.Entry<UK, UV> entry : values.entrySet()) {
            put(entry.getKey(), entry.getValue());
        }
    }

    private Map<UK, UV> newHeapMap() {
        Map<UK, UV> map = new HashMap<>();
        entry.put(namespace, map);
        return map;
    }

    @Override
    public void remove(UK userKey) throws IOException {
        entry.userKeyChanged(namespace, userKey);
        Map<UK, UV> map = entry.heapState(namespace);
        if (map != null) {
            map.remove(userKey);
            if (map.isEmpty()) {
                clear();
            }
        } else {
            PartitionedMap spilled = entry.spilledHome(namespace);
            if (spilled != null) {
                layout().remove(spilled, userKey);
            }
        }
    }

    @Override
    public boolean isEmpty() throws IOException {
        Map<UK, UV> map = entry.heapState(namespace);
        if (map != null) {
            return map.isEmpty();
        }
        PartitionedMap spilled = entry.spilledHome(namespace);
        return spilled == null || layout().isEmpty(spilled.entries());
    }

    @Override
    public Iterator<Map.Entry<UK, UV>> iterator() throws IOException {
        return entries().iterator();
    }

    @Override
    public Iterable<Map.Entry<UK, UV>> entries() throws IOException {
        Map<UK, UV> map = entry.heapState(namespace);
        if (map != null) {
            return entry.isLeaving(namespace)
                    ? new LeavingUserEntries(map, entry.key(), entry.keyGroup(), namespace)
                    : map.entrySet();
        }
        return entry.spilledHome(namespace) == null
                ? Collections.emptySet()
                : new SpilledUserEntries(entry.key(), entry.keyGroup(), namespace);
    }

    @Override
    public Iterable<UK> keys() throws IOException {
        return mapped(entries(), Map.Entry::getKey);
    }

    @Override
    public Iterable<UV> values() throws IOException {
        return mapped(entries(), Map.Entry::getValue);
    }

    private static <A, B> Iterable<B> mapped(Iterable<A> original, Function<A, B> mapping) {
        return () -> {
            Iterator<A> iterator = original.iterator();
            return new Iterator<B>() {
                @Override
                public boolean hasNext() {
                    return iterator.hasNext();
                }

                @Override
                public B next() {
                    return mapping.apply(iterator.next());
                }

                @Override
                public void remove() {
                    iterator.remove();
                }
            };
        };
    }

    /** The user entries of a map that is being copied off-heap; tells of changes. */
    private final class LeavingUserEntries implements Iterable<Map.Entry<UK, UV>> {

        private final Map<UK, UV> map;
        private final K key;
        private final int keyGroup;
        private final N itsNamespace;

        LeavingUserEntries(Map<UK, UV> map, K key, int keyGroup, N itsNamespace) {
            this.map = map;
            this.key = key;
            this.keyGroup = keyGroup;
            this.itsNamespace = itsNamespace;
        }

        private void changed(UK userKey) {
            table.entries().userKeyChanged(key, keyGroup, itsNamespace, userKey);
        }

        @Override
        public Iterator<Map.Entry<UK, UV>> iterator() {
            Iterator<Map.Entry<UK, UV>> entries = map.entrySet().iterator();
            return new Iterator<Map.Entry<UK, UV>>() {
                private Map.Entry<UK, UV> current;

                @Override
                public boolean hasNext() {
                    return entries.hasNext();
                }

                @Override
                public Map.Entry<UK, UV> next() {
                    current = entries.next();
                    return new LeavingUserEntry(current);
                }

                @Override
                public void remove() {
                    entries.remove();
                    changed(current.getKey());
                }
            };
        }

        private final class LeavingUserEntry extends AbstractMap.SimpleEntry<UK, UV> {

            private static final long serialVersionUID = 1L;

            private final transient Map.Entry<UK, UV> original;

            LeavingUserEntry(Map.Entry<UK, UV> original) {
                super(original);
                this.original = original;
            }

            @Override
            public UV setValue(UV value) {
                super.setValue(value);
                UV before = original.setValue(value);
                changed(getKey());
                return before;
            }
        }
    }

    /** The user entries of one key and namespace, which both may have changed when it is used. */
    private final class SpilledUserEntries
            implements Iterable<Map.Entry<UK, UV>>, UserEntryIterator.Source<K, N, UK, UV> {

        private final K key;
        private final int keyGroup;
        private final N itsNamespace;

        SpilledUserEntries(K key, int keyGroup, N itsNamespace) {
            this.key = key;
            this.keyGroup = keyGroup;
            this.itsNamespace = itsNamespace;
        }

        @Override
        public Iterator<Map.Entry<UK, UV>> iterator() {
            try {
                return new UserEntryIterator<>(layout(), this);
            } catch (IOException e) {
                throw unreadable(e);
            }
        }

        @Override
        @Nullable
        public PartitionedMap select() throws IOException {
            return table.entries().spilled(key, keyGroup, itsNamespace);
        }

        @Override
        public Map<UK, UV> onHeap() {
            Map<UK, UV> map = table.entries().get(key, keyGroup, itsNamespace);
            return map == null ? Collections.emptyMap() : map;
        }

        @Override
        public void put(UK userKey, UV userValue) {
            table.entries().userKeyChanged(key, keyGroup, itsNamespace, userKey);
            try {
                PartitionedMap spilled = select();
                if (spilled != null) {
                    layout().put(spilled, userKey, userValue);
                } else {
                    onHeap().put(userKey, userValue);
                }
            } catch (IOException e) {
                throw unreadable(e);
            }
        }

        @Override
        public void remove(UK userKey) {
            table.entries().userKeyChanged(key, keyGroup, itsNamespace, userKey);
            try {
                PartitionedMap spilled = select();
                if (spilled != null) {
                    layout().remove(spilled, userKey);
                } else {
                    onHeap().remove(userKey);
                }
            } catch (IOException e) {
                throw unreadable(e);
            }
        }

        private RuntimeException unreadable(IOException cause) {
            return SerializerException.unchecked("Cannot iterate over a spilled map", cause);
        }
    }

    @Override
    byte[] serialize(Map<UK, UV> state, TypeSerializer<Map<UK, UV>> serializer) throws Exception {
        MapSerializer<UK, UV> mapSerializer = (MapSerializer<UK, UV>) serializer;
        return KvStateSerializer.serializeMap(
                state.entrySet(),
                mapSerializer.getKeySerializer(),
                mapSerializer.getValueSerializer());
    }
}
