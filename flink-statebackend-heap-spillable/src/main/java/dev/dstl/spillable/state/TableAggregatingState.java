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
import org.apache.flink.api.common.functions.AggregateFunction;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.runtime.state.internal.InternalAggregatingState;

/** An accumulator per key and namespace, kept by a user's function. */
final class TableAggregatingState<K, N, IN, ACC, OUT> extends TableMergingState<K, N, IN, ACC, OUT>
        implements InternalAggregatingState<K, N, IN, ACC, OUT> {

    private AggregateFunction<IN, ACC, OUT> function;

    TableAggregatingState(
            StateTable<K, N, ACC> table,
            TypeSerializer<K> keySerializer,
            ACC defaultValue,
            AggregateFunction<IN, ACC, OUT> function) {
        super(table, keySerializer, defaultValue);
        this.function = function;
    }

    void setFunction(AggregateFunction<IN, ACC, OUT> newFunction) {
        function = newFunction;
    }

    @Override
    public OUT get() {
        ACC accumulator = getInternal();
        return accumulator == null ? null : function.getResult(accumulator);
    }

    @Override
    public void add(IN value) throws Exception {
        if (value == null) {
            clear();
        } else {
            entry.transform(
                    namespace,
                    value,
                    (previous, added) ->
                            function.add(
                                    added,
                                    previous == null ? function.createAccumulator() : previous));
        }
    }

    @Override
    ACC merge(ACC first, ACC second) {
        return function.merge(first, second);
    }
}
