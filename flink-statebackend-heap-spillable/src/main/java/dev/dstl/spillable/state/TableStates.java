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
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.functions.AggregateFunction;
import org.apache.flink.api.common.state.AggregatingStateDescriptor;
import org.apache.flink.api.common.state.ReducingStateDescriptor;
import org.apache.flink.api.common.state.State;
import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.util.FlinkRuntimeException;

/** The state objects of one keyed backend, by name. Task thread only. */
public final class TableStates<K> {

    private final TypeSerializer<K> keySerializer;
    private final Map<String, TableState<K, ?, ?>> created = new HashMap<>();

    /**
     * @param keySerializer of the backend, handed to every state object
     */
    public TableStates(TypeSerializer<K> keySerializer) {
        this.keySerializer = keySerializer;
    }

    /**
     * The state object of a descriptor: created the first time, afterwards the same object with the
     * descriptor's functions and default value.
     *
     * @param table of the same name, always the same one
     * @throws FlinkRuntimeException if the kind of state is unknown
     */
    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"}) // as Flink's factory method
    public <N, SV, S extends State, IS extends S> IS createOrUpdate(
            StateDescriptor<S, SV> descriptor, StateTable<K, N, SV> table) {
        TableState<K, N, SV> state = (TableState<K, N, SV>) created.get(descriptor.getName());
        if (state == null) {
            state = create(descriptor, table);
            created.put(descriptor.getName(), state);
        } else {
            update(state, descriptor);
        }
        return (IS) state;
    }

    @SuppressWarnings("unchecked") // the descriptor's type decides the types of the state
    private <N, SV> TableState<K, N, SV> create(
            StateDescriptor<?, SV> descriptor, StateTable<K, N, SV> table) {
        SV defaultValue = descriptor.getDefaultValue();
        switch (descriptor.getType()) {
            case VALUE:
                return new TableValueState<>(table, keySerializer, defaultValue);
            case LIST:
                return (TableState<K, N, SV>)
                        new TableListState<>(
                                (StateTable<K, N, List<Object>>) table,
                                keySerializer,
                                (List<Object>) defaultValue);
            case MAP:
                return (TableState<K, N, SV>)
                        new TableMapState<>(
                                (StateTable<K, N, Map<Object, Object>>) table,
                                keySerializer,
                                (Map<Object, Object>) defaultValue);
            case REDUCING:
                return new TableReducingState<>(
                        table,
                        keySerializer,
                        defaultValue,
                        ((ReducingStateDescriptor<SV>) descriptor).getReduceFunction());
            case AGGREGATING:
                return new TableAggregatingState<>(
                        table, keySerializer, defaultValue, aggregateFunction(descriptor));
            default:
                throw new FlinkRuntimeException(
                        String.format(
                                "State '%s' has type %s, which the spillable backend does not"
                                        + " know; use value, list, map, reducing or aggregating"
                                        + " state.",
                                descriptor.getName(), descriptor.getType()));
        }
    }

    @SuppressWarnings("unchecked") // the descriptor's type decides the types of the state
    private static <K, N, SV> void update(
            TableState<K, N, SV> state, StateDescriptor<?, SV> descriptor) {
        state.setDefaultValue(descriptor.getDefaultValue());
        if (state instanceof TableReducingState) {
            ((TableReducingState<K, N, SV>) state)
                    .setFunction(((ReducingStateDescriptor<SV>) descriptor).getReduceFunction());
        } else if (state instanceof TableAggregatingState) {
            ((TableAggregatingState<K, N, Object, SV, Object>) state)
                    .setFunction(aggregateFunction(descriptor));
        }
    }

    @SuppressWarnings("unchecked") // an aggregating descriptor with accumulators of this type
    private static <SV> AggregateFunction<Object, SV, Object> aggregateFunction(
            StateDescriptor<?, SV> descriptor) {
        return ((AggregatingStateDescriptor<Object, SV, Object>) (StateDescriptor<?, ?>) descriptor)
                .getAggregateFunction();
    }
}
