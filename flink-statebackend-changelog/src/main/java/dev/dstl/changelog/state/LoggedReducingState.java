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

package dev.dstl.changelog.state;

import dev.dstl.changelog.record.RecordSerializers;
import dev.dstl.changelog.record.StateLog;
import java.io.IOException;
import org.apache.flink.api.common.functions.ReduceFunction;
import org.apache.flink.api.common.state.ReducingStateDescriptor;
import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.core.memory.DataOutputView;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.internal.InternalKvState;
import org.apache.flink.runtime.state.internal.InternalReducingState;

/**
 * Reducing state whose results are also logged. It reduces itself and writes the result to the
 * delegate, so that the delegate is not read again for the changelog. Used by the task thread.
 *
 * @param <K> type of the key
 * @param <N> type of the namespace
 * @param <V> type of the value
 */
final class LoggedReducingState<K, N, V>
        extends LoggedMergingState<K, N, V, V, V, InternalReducingState<K, N, V>>
        implements InternalReducingState<K, N, V> {

    private TypeSerializer<V> valueSerializer;
    private ReduceFunction<V> function;

    LoggedReducingState(
            AbstractKeyedStateBackend<K> backend,
            StateLog log,
            InternalReducingState<K, N, V> delegate,
            RecordSerializers<K, N, V> serializers,
            ReduceFunction<V> function) {
        super(backend, log, delegate, serializers);
        this.valueSerializer = serializers.values();
        this.function = function;
    }

    @Override
    @SuppressWarnings("unchecked") // a delegate's state keeps its types under its name
    void rebind(
            InternalKvState<K, N, V> delegate,
            RecordSerializers<K, N, V> serializers,
            StateDescriptor<?, ?> descriptor) {
        setDelegate((InternalReducingState<K, N, V>) delegate, serializers);
        valueSerializer = serializers.values();
        function = ((ReducingStateDescriptor<V>) descriptor).getReduceFunction();
    }

    @Override
    void writePayload(V value, DataOutputView record) throws IOException {
        valueSerializer.serialize(value, record);
    }

    @Override
    public void add(V value) throws Exception {
        if (value == null) {
            addNull();
            return;
        }
        V current = delegate().getInternal();
        try {
            replace(current == null ? value : function.reduce(current, value));
        } catch (Throwable t) {
            if (current != null && !valueSerializer.isImmutableType()) {
                // the function may have changed what the delegate holds
                logStoredAfter(t);
            }
            throw t;
        }
    }
}
