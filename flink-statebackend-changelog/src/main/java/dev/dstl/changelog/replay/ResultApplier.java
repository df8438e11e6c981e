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
import java.util.List;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.runtime.state.internal.InternalAppendingState;

/**
 * Applies the records of a reducing or aggregating state, which contain results, never added
 * values.
 */
final class ResultApplier<K, N, SV>
        extends KeyedStateApplier<K, N, SV, InternalAppendingState<K, N, ?, SV, ?>> {

    private final TypeSerializer<SV> valueSerializer;

    @SuppressWarnings("unchecked") // the registration's kind determines the type
    ResultApplier(
            RestoredRegistration registration,
            RestoredState<K, N, SV, InternalAppendingState<K, N, ?, SV, ?>> restored,
            TypeSerializer<K> keySerializer,
            boolean open) {
        super(registration, restored, keySerializer, open);
        this.valueSerializer = (TypeSerializer<SV>) registration.valueSerializer();
    }

    @Override
    void apply(LogRecord record, InternalAppendingState<K, N, ?, SV, ?> state) throws Exception {
        switch (record.kind()) {
            case PUT:
                SV value = value(record);
                makeRoomFor(value).updateInternal(value);
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

    private SV value(LogRecord record) throws CorruptLogException {
        payload(record);
        SV value = read(valueSerializer, record);
        expectEnd(record);
        return value;
    }

    @Override
    void copy(InternalAppendingState<K, N, ?, SV, ?> source) throws Exception {
        SV value = source.getInternal();
        makeRoomFor(value).updateInternal(value);
    }

    @Override
    void apply(BuiltInChange change, InternalAppendingState<K, N, ?, SV, ?> state)
            throws Exception {
        switch (change.operation()) {
            case SET:
            case SET_INTERNAL:
                SV set = change.read(valueSerializer, registration());
                makeRoomFor(set).updateInternal(set);
                return;
            case MERGE_NS:
                merge(change, state);
                return;
            case CLEAR:
                state.clear();
                return;
            default:
                throw change.unexpected(registration());
        }
    }

    /**
     * Moves the result of one merged namespace. Fails for several results: merging them needs the
     * function of the job, which the changelog does not contain.
     */
    private void merge(BuiltInChange change, InternalAppendingState<K, N, ?, SV, ?> state)
            throws Exception {
        List<N> namespaces = mergedNamespaces(change);
        SV only = null;
        for (N namespace : namespaces) {
            state.setCurrentNamespace(namespace);
            SV result = state.getInternal();
            if (result != null && only != null) {
                throw change.corrupt(
                        registration(),
                        "it merges results, which needs the job's function, and the changelog does"
                                + " not contain the outcome. Flink's built-in changelog cannot"
                                + " restore it either. Take a canonical savepoint of the job"
                                + " while it still runs there, and restore from that",
                        null);
            }
            if (result != null) {
                only = result;
                state.clear();
            }
        }
        if (only != null) {
            state.setCurrentNamespace(namespaces.get(0));
            state.updateInternal(only);
        }
    }
}
