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
import org.apache.flink.api.common.functions.ReduceFunction;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.runtime.state.internal.InternalReducingState;

/** A value per key and namespace into which a user's function reduces every addition. */
final class TableReducingState<K, N, V> extends TableMergingState<K, N, V, V, V>
        implements InternalReducingState<K, N, V> {

    private ReduceFunction<V> function;

    TableReducingState(
            StateTable<K, N, V> table,
            TypeSerializer<K> keySerializer,
            V defaultValue,
            ReduceFunction<V> function) {
        super(table, keySerializer, defaultValue);
        this.function = function;
    }

    void setFunction(ReduceFunction<V> newFunction) {
        function = newFunction;
    }

    @Override
    public V get() {
        return getInternal();
    }

    @Override
    public void add(V value) throws Exception {
        if (value == null) {
            clear();
        } else {
            entry.transform(
                    namespace,
                    value,
                    (previous, added) -> previous == null ? added : merge(previous, added));
        }
    }

    @Override
    V merge(V first, V second) throws Exception {
        return function.reduce(first, second);
    }
}
