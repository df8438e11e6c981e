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
import java.util.Arrays;
import java.util.List;
import javax.annotation.Nullable;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.base.ListSerializer;
import org.apache.flink.runtime.state.internal.InternalListState;

/**
 * Applies the records of a list state. Consecutive appends to one list, as in a sorted changelog,
 * are written to the delegate in one call, since RocksDB stores each append separately until the
 * list is read or compacted.
 */
final class ListApplier<K, N, V>
        extends KeyedStateApplier<K, N, List<V>, InternalListState<K, N, V>> {

    private final ListSerializer<V> serializer;
    private final TypeSerializer<V> elementSerializer;

    /** Buffered elements of the current list; null if there are none. */
    @Nullable private List<V> pending;

    private boolean pendingIsWhole;
    private byte[] pendingKey = new byte[64];
    private int pendingKeyLength;
    private int pendingKeyGroup;

    @SuppressWarnings("unchecked") // the registration's kind determines the type
    ListApplier(
            RestoredRegistration registration,
            RestoredState<K, N, List<V>, InternalListState<K, N, V>> restored,
            TypeSerializer<K> keySerializer,
            boolean open) {
        super(registration, restored, keySerializer, open);
        this.serializer = (ListSerializer<V>) registration.valueSerializer();
        this.elementSerializer = serializer.getElementSerializer();
    }

    @Override
    void apply(LogRecord record) throws Exception {
        if (pending != null && record.kind() == RecordKind.APPEND && isOfPendingList(record)) {
            pending.addAll(elements(record));
            return;
        }
        finish();
        super.apply(record);
    }

    private boolean isOfPendingList(LogRecord record) {
        return record.keyGroup() == pendingKeyGroup
                && record.keyPrefixLength() == record.keyLength()
                && record.keyLength() == pendingKeyLength
                && Arrays.equals(
                        record.buffer(),
                        record.keyOffset(),
                        record.payloadOffset(),
                        pendingKey,
                        0,
                        pendingKeyLength);
    }

    /** Called with key and namespace of the list set. */
    @Override
    void apply(LogRecord record, InternalListState<K, N, V> state) throws Exception {
        switch (record.kind()) {
            case PUT:
            case APPEND:
                putOff(record, elements(record));
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
        if (record.kind() != RecordKind.DELETE) {
            elements(record);
        }
    }

    private void putOff(LogRecord record, List<V> elements) {
        pending = elements;
        pendingIsWhole = record.kind() == RecordKind.PUT;
        pendingKeyGroup = record.keyGroup();
        pendingKeyLength = record.keyLength();
        if (pendingKey.length < pendingKeyLength) {
            pendingKey = new byte[2 * pendingKeyLength];
        }
        System.arraycopy(record.buffer(), record.keyOffset(), pendingKey, 0, pendingKeyLength);
    }

    @Override
    void finish() throws Exception {
        if (pending == null) {
            return;
        }
        List<V> elements = pending;
        pending = null;
        if (pendingIsWhole) {
            makeRoomFor(elements).updateInternal(elements);
        } else {
            makeRoomFor(elements).addAll(elements);
        }
    }

    @Override
    void copy(InternalListState<K, N, V> source) throws Exception {
        List<V> all = source.getInternal();
        makeRoomFor(all).updateInternal(all);
    }

    @Override
    void apply(BuiltInChange change, InternalListState<K, N, V> state) throws Exception {
        switch (change.operation()) {
            case SET:
            case SET_INTERNAL:
                List<V> all = change.read(serializer, registration());
                makeRoomFor(all).updateInternal(all);
                return;
            case ADD:
                List<V> added = change.read(serializer, registration());
                makeRoomFor(added).addAll(added);
                return;
            case ADD_ELEMENT:
                V one = change.read(elementSerializer, registration());
                makeRoomFor(List.of(one)).add(one);
                return;
            case MERGE_NS:
                List<N> namespaces = mergedNamespaces(change);
                state.mergeNamespaces(namespaces.get(0), namespaces.subList(1, namespaces.size()));
                return;
            case CLEAR:
                state.clear();
                return;
            default:
                throw change.unexpected(registration());
        }
    }

    private List<V> elements(LogRecord record) throws CorruptLogException {
        List<V> elements;
        try {
            elements = StateRecordFormat.readElements(elementSerializer, payload(record));
        } catch (IOException | RuntimeException e) {
            throw unreadable(record, e);
        }
        expectEnd(record);
        return elements;
    }
}
