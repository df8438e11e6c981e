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
import dev.dstl.changelog.record.ValueWriter;
import dev.dstl.log.api.RecordKind;
import java.io.IOException;
import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.internal.InternalKvState;
import org.apache.flink.runtime.state.internal.InternalValueState;

/**
 * Value state that is also logged. Used by the task thread.
 *
 * @param <K> type of the key
 * @param <N> type of the namespace
 * @param <V> type of the value
 */
final class LoggedValueState<K, N, V> extends LoggedState<K, N, V, InternalValueState<K, N, V>>
        implements InternalValueState<K, N, V> {

    private ValueWriter<V> values;

    LoggedValueState(
            AbstractKeyedStateBackend<K> backend,
            StateLog log,
            InternalValueState<K, N, V> delegate,
            RecordSerializers<K, N, V> serializers) {
        super(backend, log, delegate, serializers);
        this.values = new ValueWriter<>(serializers.values());
    }

    @Override
    void rebind(
            InternalKvState<K, N, V> delegate,
            RecordSerializers<K, N, V> serializers,
            StateDescriptor<?, ?> descriptor) {
        setDelegate((InternalValueState<K, N, V>) delegate, serializers);
        values = new ValueWriter<>(serializers.values());
    }

    @Override
    public V value() throws IOException {
        return delegate().value();
    }

    @Override
    public void update(V value) throws IOException {
        if (value == null) {
            clear();
            return;
        }
        DataOutputSerializer record = beginRecord();
        try {
            values.write(value, record);
        } catch (Throwable t) {
            notWritten(values.serializer(), t);
            throw t;
        }
        try {
            delegate().update(value);
            append(RecordKind.PUT);
        } catch (Throwable t) {
            log().markIncomplete(t);
            throw t;
        }
    }
}
