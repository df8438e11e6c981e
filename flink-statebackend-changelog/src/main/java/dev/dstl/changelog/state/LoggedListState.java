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
import dev.dstl.changelog.record.StateRecordFormat;
import dev.dstl.log.api.RecordKind;
import java.io.IOException;
import java.util.Collection;
import java.util.List;
import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.base.ListSerializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.core.memory.DataOutputView;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.internal.InternalKvState;
import org.apache.flink.runtime.state.internal.InternalListState;

/**
 * List state that is also logged: appended elements alone, any other change as the whole list. Used
 * by the task thread.
 *
 * @param <K> type of the key
 * @param <N> type of the namespace
 * @param <V> type of the elements
 */
final class LoggedListState<K, N, V>
        extends LoggedMergingState<K, N, V, List<V>, Iterable<V>, InternalListState<K, N, V>>
        implements InternalListState<K, N, V> {

    private TypeSerializer<V> elementSerializer;

    LoggedListState(
            AbstractKeyedStateBackend<K> backend,
            StateLog log,
            InternalListState<K, N, V> list,
            RecordSerializers<K, N, List<V>> serializers) {
        super(backend, log, list, serializers);
        this.elementSerializer = elementSerializer(serializers);
    }

    private static <V> TypeSerializer<V> elementSerializer(
            RecordSerializers<?, ?, List<V>> serializers) {
        return ((ListSerializer<V>) serializers.values()).getElementSerializer();
    }

    @Override
    void rebind(
            InternalKvState<K, N, List<V>> delegate,
            RecordSerializers<K, N, List<V>> serializers,
            StateDescriptor<?, ?> descriptor) {
        setDelegate((InternalListState<K, N, V>) delegate, serializers);
        elementSerializer = elementSerializer(serializers);
    }

    @Override
    void writePayload(List<V> value, DataOutputView record) throws IOException {
        StateRecordFormat.writeElements(checkElements(value), elementSerializer, record);
    }

    /** Of immutable elements, the job can only have changed the list that the delegate keeps. */
    @Override
    void notWritten(List<V> values, Throwable cause) {
        notWritten(mayBeKept(values) ? getValueSerializer() : elementSerializer, cause);
    }

    private boolean mayBeKept(List<V> values) {
        try {
            Object kept = delegate().getInternal();
            return kept == values;
        } catch (Throwable unknown) {
            return true;
        }
    }

    @Override
    public void add(V value) throws Exception {
        checkElement(value);
        StateRecordFormat.writeElement(value, elementSerializer, beginRecord());
        try {
            delegate().add(value);
            append(RecordKind.APPEND);
        } catch (Throwable t) {
            log().markIncomplete(t);
            throw t;
        }
    }

    @Override
    public void addAll(List<V> values) throws Exception {
        List<V> elements = checkElements(readOnce(values));
        if (elements.isEmpty()) {
            return;
        }
        DataOutputSerializer record = beginRecord();
        StateRecordFormat.writeElements(elements, elementSerializer, record);
        try {
            delegate().addAll(elements);
            append(RecordKind.APPEND);
        } catch (Throwable t) {
            log().markIncomplete(t);
            throw t;
        }
    }

    @Override
    public void update(List<V> values) throws Exception {
        List<V> elements = readOnce(values);
        if (elements.isEmpty()) {
            clear();
            return;
        }
        beginPut(elements);
        try {
            // A delegate on the heap copies the list here, which is the job's, but would keep it in
            // updateInternal.
            delegate().update(elements);
            append(RecordKind.PUT);
        } catch (Throwable t) {
            log().markIncomplete(t);
            throw t;
        }
    }

    private static <V> List<V> readOnce(List<V> values) {
        if (values == null) {
            throw new NullPointerException("A list state does not accept a null list; use clear()");
        }
        return (List<V>) LoggedMergingState.readOnce((Collection<V>) values);
    }

    private static <V> List<V> checkElements(List<V> values) {
        for (V value : values) {
            checkElement(value);
        }
        return values;
    }

    private static void checkElement(Object value) {
        if (value == null) {
            throw new NullPointerException("A list state does not accept null elements");
        }
    }
}
