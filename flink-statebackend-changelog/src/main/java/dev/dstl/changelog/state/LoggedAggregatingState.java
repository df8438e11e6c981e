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
import org.apache.flink.api.common.functions.AggregateFunction;
import org.apache.flink.api.common.state.AggregatingStateDescriptor;
import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.core.memory.DataOutputView;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.internal.InternalAggregatingState;
import org.apache.flink.runtime.state.internal.InternalKvState;

/**
 * Aggregating state whose accumulators are also logged. It aggregates itself and writes the result
 * to the delegate, so that the delegate is not read again for the changelog. Used by the task
 * thread.
 *
 * @param <K> type of the key
 * @param <N> type of the namespace
 * @param <IN> type of what is added
 * @param <ACC> type of the accumulator
 * @param <OUT> type of the result
 */
final class LoggedAggregatingState<K, N, IN, ACC, OUT>
        extends LoggedMergingState<K, N, IN, ACC, OUT, InternalAggregatingState<K, N, IN, ACC, OUT>>
        implements InternalAggregatingState<K, N, IN, ACC, OUT> {

    private TypeSerializer<ACC> accumulatorSerializer;
    private AggregateFunction<IN, ACC, OUT> function;

    LoggedAggregatingState(
            AbstractKeyedStateBackend<K> backend,
            StateLog log,
            InternalAggregatingState<K, N, IN, ACC, OUT> delegate,
            RecordSerializers<K, N, ACC> serializers,
            AggregateFunction<IN, ACC, OUT> function) {
        super(backend, log, delegate, serializers);
        this.accumulatorSerializer = serializers.values();
        this.function = function;
    }

    @Override
    @SuppressWarnings("unchecked") // a delegate's state keeps its types under its name
    void rebind(
            InternalKvState<K, N, ACC> delegate,
            RecordSerializers<K, N, ACC> serializers,
            StateDescriptor<?, ?> descriptor) {
        setDelegate((InternalAggregatingState<K, N, IN, ACC, OUT>) delegate, serializers);
        accumulatorSerializer = serializers.values();
        function = ((AggregatingStateDescriptor<IN, ACC, OUT>) descriptor).getAggregateFunction();
    }

    @Override
    void writePayload(ACC value, DataOutputView record) throws IOException {
        accumulatorSerializer.serialize(value, record);
    }

    @Override
    public void add(IN value) throws Exception {
        if (value == null) {
            addNull();
            return;
        }
        ACC current = delegate().getInternal();
        try {
            replace(function.add(value, current == null ? function.createAccumulator() : current));
        } catch (Throwable t) {
            if (current != null && !accumulatorSerializer.isImmutableType()) {
                // the function may have changed what the delegate holds
                logStoredAfter(t);
            }
            throw t;
        }
    }
}
