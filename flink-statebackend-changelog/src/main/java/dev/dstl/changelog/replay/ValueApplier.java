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

package dev.dstl.changelog.replay;

import dev.dstl.changelog.record.RestoredRegistration;
import dev.dstl.log.api.LogRecord;
import dev.dstl.log.api.RecordKind;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.runtime.state.internal.InternalValueState;

/** Applies the records of a value state. */
final class ValueApplier<K, N, V> extends KeyedStateApplier<K, N, V, InternalValueState<K, N, V>> {

    private final TypeSerializer<V> valueSerializer;

    @SuppressWarnings("unchecked") // the registration's kind determines the type
    ValueApplier(
            RestoredRegistration registration,
            RestoredState<K, N, V, InternalValueState<K, N, V>> restored,
            TypeSerializer<K> keySerializer,
            boolean open) {
        super(registration, restored, keySerializer, open);
        this.valueSerializer = (TypeSerializer<V>) registration.valueSerializer();
    }

    @Override
    void apply(LogRecord record, InternalValueState<K, N, V> state) throws Exception {
        switch (record.kind()) {
            case PUT:
                V value = value(record);
                makeRoomFor(value).update(value);
                return;
            case DELETE:
                state.clear();
                return;
            default:
                throw unexpectedKind(record);
        }
    }

    @Override
    void checkValue(LogRecord record) throws CorruptLogException {
        if (record.kind() == RecordKind.PUT) {
            value(record);
        }
    }

    private V value(LogRecord record) throws CorruptLogException {
        payload(record);
        V value = read(valueSerializer, record);
        expectEnd(record);
        return value;
    }

    @Override
    void copy(InternalValueState<K, N, V> source) throws Exception {
        V value = source.value();
        makeRoomFor(value).update(value);
    }

    @Override
    void apply(BuiltInChange change, InternalValueState<K, N, V> state) throws Exception {
        switch (change.operation()) {
            case SET:
                V set = change.read(valueSerializer, registration());
                makeRoomFor(set).update(set);
                return;
            case CLEAR:
                state.clear();
                return;
            default:
                throw change.unexpected(registration());
        }
    }
}
