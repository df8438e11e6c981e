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
import java.util.Collections;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.base.MapSerializer;
import org.apache.flink.queryablestate.client.state.serialization.KvStateSerializer;
import org.apache.flink.runtime.state.internal.InternalMapState;

/** A map per key and namespace. */
final class TableMapState<K, N, UK, UV> extends TableState<K, N, Map<UK, UV>>
        implements InternalMapState<K, N, UK, UV> {

    TableMapState(
            StateTable<K, N, Map<UK, UV>> table,
            TypeSerializer<K> keySerializer,
            Map<UK, UV> defaultValue) {
        super(table, keySerializer, defaultValue);
    }

    @Override
    public UV get(UK userKey) {
        Map<UK, UV> map = table.get(namespace);
        return map == null ? null : map.get(userKey);
    }

    @Override
    public void put(UK userKey, UV userValue) {
        mapToChange().put(userKey, userValue);
    }

    @Override
    public void putAll(Map<UK, UV> values) {
        mapToChange().putAll(values);
    }

    private Map<UK, UV> mapToChange() {
        Map<UK, UV> map = table.get(namespace);
        if (map == null) {
            map = new HashMap<>();
            table.put(namespace, map);
        }
        return map;
    }

    @Override
    public void remove(UK userKey) {
        Map<UK, UV> map = table.get(namespace);
        if (map != null) {
            map.remove(userKey);
            if (map.isEmpty()) {
                clear();
            }
        }
    }

    @Override
    public boolean contains(UK userKey) {
        Map<UK, UV> map = table.get(namespace);
        return map != null && map.containsKey(userKey);
    }

    @Override
    public Iterable<Map.Entry<UK, UV>> entries() {
        return map().entrySet();
    }

    @Override
    public Iterable<UK> keys() {
        return map().keySet();
    }

    @Override
    public Iterable<UV> values() {
        return map().values();
    }

    @Override
    public Iterator<Map.Entry<UK, UV>> iterator() {
        return map().entrySet().iterator();
    }

    @Override
    public boolean isEmpty() {
        return map().isEmpty();
    }

    private Map<UK, UV> map() {
        Map<UK, UV> map = table.get(namespace);
        return map == null ? Collections.emptyMap() : map;
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
