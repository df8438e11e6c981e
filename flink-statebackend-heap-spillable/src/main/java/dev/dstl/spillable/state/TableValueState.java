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
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.runtime.state.internal.InternalValueState;

/** A single value per key and namespace. */
final class TableValueState<K, N, V> extends TableState<K, N, V>
        implements InternalValueState<K, N, V> {

    TableValueState(StateTable<K, N, V> table, TypeSerializer<K> keySerializer, V defaultValue) {
        super(table, keySerializer, defaultValue);
    }

    @Override
    public V value() {
        V value = entry.get(namespace);
        return value == null ? defaultValue() : value;
    }

    @Override
    public void update(V value) {
        if (value == null) {
            clear();
        } else {
            entry.put(namespace, value);
        }
    }
}
