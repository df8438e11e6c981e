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

import dev.dstl.changelog.mutation.RestoredRegistration;
import dev.dstl.log.record.LogRecord;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.internal.InternalKvState;

/**
 * Makes a record's key and namespace the current ones and leaves the rest to the kinds of state.
 *
 * @param <K> type of the key
 * @param <N> type of the namespace
 * @param <S> type of the delegate's state
 */
abstract class KeyedStateApplier<K, N, S extends InternalKvState<K, N, ?>> extends StateApplier {

    private final AbstractKeyedStateBackend<K> delegate;
    private final S state;
    private final TypeSerializer<K> keySerializer;
    private final TypeSerializer<N> namespaceSerializer;

    KeyedStateApplier(RestoredRegistration registration, RestoredState<K, N, S> restored) {
        super(registration);
        this.delegate = restored.delegate();
        this.state = restored.state();
        this.keySerializer = restored.keySerializer();
        this.namespaceSerializer = restored.namespaceSerializer();
    }

    @Override
    final void apply(LogRecord record) throws Exception {
        DataInputDeserializer identity = identity(record);
        K key = read(keySerializer, record);
        N namespace = read(namespaceSerializer, record);
        if (record.identityLength() - identity.available() != record.prefixLength()) {
            throw corrupt(
                    record,
                    String.format(
                            "expected a key and namespace of %d bytes, found %d",
                            record.prefixLength(), record.identityLength() - identity.available()),
                    null);
        }
        delegate.setCurrentKey(key);
        if (delegate.getCurrentKeyGroupIndex() != record.keyGroup()) {
            throw corrupt(record, moved(key), null);
        }
        state.setCurrentNamespace(namespace);
        apply(record, state);
    }

    @Override
    final void apply(StockChange change) throws Exception {
        if (!change.wantedKeyGroups().contains(change.keyGroup())) {
            return;
        }
        K key = change.read(keySerializer, registration());
        N namespace = change.read(namespaceSerializer, registration());
        delegate.setCurrentKey(key);
        if (delegate.getCurrentKeyGroupIndex() != change.keyGroup()) {
            throw change.corrupt(registration(), moved(key), null);
        }
        state.setCurrentNamespace(namespace);
        apply(change, state);
        change.expectEnd(registration());
    }

    private String moved(K key) {
        return String.format(
                "its key %s (%s) now belongs to key group %d. The hash code of a key must be the"
                        + " same in every process; enums, arrays and classes without hashCode()"
                        + " cannot be keys",
                key, key.getClass().getName(), delegate.getCurrentKeyGroupIndex());
    }

    /** Reads what a change merges into its namespace, which stands first. */
    final List<N> mergedNamespaces(StockChange change) throws CorruptLogException {
        List<N> namespaces = new ArrayList<>();
        namespaces.add(change.read(namespaceSerializer, registration()));
        int sources = change.readCount(registration());
        for (int i = 0; i < sources; i++) {
            namespaces.add(change.read(namespaceSerializer, registration()));
        }
        return namespaces;
    }

    /** The identity is read as far as key and namespace go, which are current. */
    abstract void apply(LogRecord record, S state) throws Exception;

    /** The change is read as far as key and namespace go, which are current. */
    abstract void apply(StockChange change, S state) throws Exception;
}
