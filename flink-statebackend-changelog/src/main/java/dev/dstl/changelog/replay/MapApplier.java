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
import dev.dstl.changelog.record.StateRecordFormat;
import dev.dstl.log.api.LogRecord;
import dev.dstl.log.api.RecordKind;
import java.io.IOException;
import java.util.Collections;
import java.util.Map;
import javax.annotation.Nullable;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.base.MapSerializer;
import org.apache.flink.runtime.state.internal.InternalMapState;

/** Applies the records of a map state. */
final class MapApplier<K, N, UK, UV>
        extends KeyedStateApplier<K, N, Map<UK, UV>, InternalMapState<K, N, UK, UV>> {

    private final MapSerializer<UK, UV> serializer;
    private final TypeSerializer<UK> mapKeySerializer;
    private final TypeSerializer<UV> mapValueSerializer;

    @SuppressWarnings("unchecked") // the registration's kind determines the type
    MapApplier(
            RestoredRegistration registration,
            RestoredState<K, N, Map<UK, UV>, InternalMapState<K, N, UK, UV>> restored,
            TypeSerializer<K> keySerializer,
            boolean open) {
        super(registration, restored, keySerializer, open);
        this.serializer = (MapSerializer<UK, UV>) registration.valueSerializer();
        this.mapKeySerializer = serializer.getKeySerializer();
        this.mapValueSerializer = serializer.getValueSerializer();
    }

    @Override
    void apply(LogRecord record, InternalMapState<K, N, UK, UV> state) throws Exception {
        switch (record.kind()) {
            case PUT:
                UK put = mapKey(record);
                put(put, mapValue(record));
                return;
            case DELETE:
                state.remove(mapKey(record));
                return;
            case DELETE_PREFIX:
                state.clear();
                return;
            default:
                throw unexpectedKind(record);
        }
    }

    @Override
    void checkValue(LogRecord record) throws CorruptLogException {
        if (record.kind() != RecordKind.DELETE_PREFIX) {
            mapKey(record);
        }
        if (record.kind() == RecordKind.PUT) {
            mapValue(record);
        }
    }

    @Override
    void copy(InternalMapState<K, N, UK, UV> source) throws Exception {
        for (Map.Entry<UK, UV> entry : source.entries()) {
            put(entry.getKey(), entry.getValue());
        }
    }

    @Override
    void apply(BuiltInChange change, InternalMapState<K, N, UK, UV> state) throws Exception {
        switch (change.operation()) {
            case ADD:
                Map<UK, UV> all = change.read(serializer, registration());
                makeRoomFor(all).putAll(all);
                return;
            case ADD_ELEMENT:
            case ADD_OR_UPDATE_ELEMENT:
                UK put = change.read(mapKeySerializer, registration());
                put(put, change.read(mapValueSerializer, registration()));
                return;
            case REMOVE_ELEMENT:
                state.remove(change.read(mapKeySerializer, registration()));
                return;
            case CLEAR:
                state.clear();
                return;
            default:
                throw change.unexpected(registration());
        }
    }

    private void put(UK key, @Nullable UV value) throws Exception {
        (isOpen() ? makeRoomFor(Collections.singletonMap(key, value)) : state()).put(key, value);
    }

    private UK mapKey(LogRecord record) throws CorruptLogException {
        UK mapKey = read(mapKeySerializer, record);
        expectEnd(record);
        return mapKey;
    }

    @Nullable
    private UV mapValue(LogRecord record) throws CorruptLogException {
        UV value;
        try {
            value = StateRecordFormat.readMapValue(mapValueSerializer, payload(record));
        } catch (IOException | RuntimeException e) {
            throw unreadable(record, e);
        }
        expectEnd(record);
        return value;
    }
}
