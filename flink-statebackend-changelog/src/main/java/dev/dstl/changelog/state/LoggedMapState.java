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
import dev.dstl.changelog.record.ValueWriter;
import dev.dstl.log.api.RecordKind;
import java.io.IOException;
import java.util.Collection;
import java.util.Iterator;
import java.util.Map;
import java.util.function.Function;
import javax.annotation.Nullable;
import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.api.common.typeutils.base.MapSerializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.StateEntry;
import org.apache.flink.runtime.state.internal.InternalKvState;
import org.apache.flink.runtime.state.internal.InternalMapState;
import org.apache.flink.util.function.SupplierWithException;

/**
 * Map state that is also logged, entry by entry, including changes through its iterators and
 * entries. An iterator stays bound to the key and namespace under which it was created. Used by the
 * task thread.
 *
 * @param <K> type of the key
 * @param <N> type of the namespace
 * @param <UK> type of the map's keys
 * @param <UV> type of the map's values
 */
final class LoggedMapState<K, N, UK, UV>
        extends LoggedState<K, N, Map<UK, UV>, InternalMapState<K, N, UK, UV>>
        implements InternalMapState<K, N, UK, UV> {

    private ValueWriter<UK> mapKeys;
    private ValueWriter<UV> mapValues;

    private long removals;

    LoggedMapState(
            AbstractKeyedStateBackend<K> backend,
            StateLog log,
            InternalMapState<K, N, UK, UV> map,
            RecordSerializers<K, N, Map<UK, UV>> serializers) {
        super(backend, log, map, serializers);
        bindSerializers(serializers);
    }

    private void bindSerializers(RecordSerializers<K, N, Map<UK, UV>> serializers) {
        MapSerializer<UK, UV> serializer = (MapSerializer<UK, UV>) serializers.values();
        mapKeys = new ValueWriter<>(serializer.getKeySerializer());
        mapValues = new ValueWriter<>(serializer.getValueSerializer());
    }

    @Override
    void rebind(
            InternalKvState<K, N, Map<UK, UV>> delegate,
            RecordSerializers<K, N, Map<UK, UV>> serializers,
            StateDescriptor<?, ?> descriptor) {
        setDelegate((InternalMapState<K, N, UK, UV>) delegate, serializers);
        bindSerializers(serializers);
    }

    @Override
    RecordKind clearing() {
        return RecordKind.DELETE_PREFIX;
    }

    @Override
    void cleared() {
        removals++;
    }

    /**
     * Returns a number that grows with each removal and snapshot: an entry or iterator from before
     * may no longer belong to the map.
     */
    long invalidations() {
        return removals + log().snapshots();
    }

    @Override
    public UV get(UK key) throws Exception {
        return delegate().get(key);
    }

    @Override
    public boolean contains(UK key) throws Exception {
        return delegate().contains(key);
    }

    @Override
    public boolean isEmpty() throws Exception {
        return delegate().isEmpty();
    }

    @Override
    public void put(UK key, UV value) throws Exception {
        beginPut(backend().getCurrentKey(), namespace(), key, value);
        try {
            delegate().put(key, value);
            append(RecordKind.PUT);
        } catch (Throwable t) {
            log().markIncomplete(t);
            throw t;
        }
    }

    /**
     * Writes entry by entry, so that delegate and changelog contain the same entries after a
     * failure.
     */
    @Override
    public void putAll(Map<UK, UV> entries) throws Exception {
        if (entries == null) {
            delegate().putAll(null);
            return;
        }
        for (Map.Entry<UK, UV> entry : entries.entrySet()) {
            put(entry.getKey(), entry.getValue());
        }
    }

    @Override
    public void remove(UK key) throws Exception {
        beginEntry(backend().getCurrentKey(), namespace(), key);
        try {
            delegate().remove(key);
            removals++;
            append(RecordKind.DELETE);
        } catch (Throwable t) {
            log().markIncomplete(t);
            throw t;
        }
    }

    /** Counts a removed entry. */
    void removed() {
        removals++;
    }

    @Override
    public Iterator<Map.Entry<UK, UV>> iterator() throws Exception {
        return entries().iterator();
    }

    @Override
    public Iterable<Map.Entry<UK, UV>> entries() throws Exception {
        return iterate(entry -> entry);
    }

    @Override
    public Iterable<UK> keys() throws Exception {
        return iterate(Map.Entry::getKey);
    }

    @Override
    public Iterable<UV> values() throws Exception {
        return iterate(Map.Entry::getValue);
    }

    private <T> Iterable<T> iterate(Function<Map.Entry<UK, UV>, T> view) throws Exception {
        K key = backend().getCurrentKey();
        int keyGroup = backend().getCurrentKeyGroupIndex();
        N namespace = namespace();
        // Before the delegate says which map it is, which it may do only once.
        long invalidationsBefore = invalidations();
        Iterable<Map.Entry<UK, UV>> entries = delegate().entries();
        return () ->
                new LoggedMapIterator<>(
                        this,
                        key,
                        keyGroup,
                        namespace,
                        open(entries, key, namespace),
                        invalidationsBefore,
                        view);
    }

    /**
     * Creates the iterator under the given key and namespace, which delegates may read only now.
     */
    private Iterator<Map.Entry<UK, UV>> open(
            Iterable<Map.Entry<UK, UV>> entries, @Nullable K key, @Nullable N namespace) {
        return at(key, namespace, entries::iterator);
    }

    /** Runs an action under a key and namespace that may not be the current ones. */
    private <T, E extends Throwable> T at(
            @Nullable K key, @Nullable N namespace, SupplierWithException<T, E> action) throws E {
        K currentKey = backend().getCurrentKey();
        N currentNamespace = namespace();
        boolean otherKey = key != null && currentKey != key && !key.equals(currentKey);
        boolean otherNamespace = namespace != null && currentNamespace != namespace;
        if (otherKey) {
            backend().setCurrentKey(key);
        }
        if (otherNamespace) {
            delegate().setCurrentNamespace(namespace);
        }
        try {
            return action.get();
        } finally {
            if (otherKey) {
                backend().setCurrentKey(currentKey);
            }
            if (otherNamespace) {
                delegate().setCurrentNamespace(currentNamespace);
            }
        }
    }

    /**
     * Logs what the delegate contains for a map key instead of the record that was built. If that
     * fails, the changelog is marked incomplete.
     */
    void logStored(@Nullable K key, int keyGroup, @Nullable N namespace, UK mapKey) {
        log().dropRecord();
        try {
            RecordKind kind =
                    at(
                            key,
                            namespace,
                            () -> {
                                if (delegate().contains(mapKey)) {
                                    beginPut(key, namespace, mapKey, delegate().get(mapKey));
                                    return RecordKind.PUT;
                                }
                                beginEntry(key, namespace, mapKey);
                                return RecordKind.DELETE;
                            });
            log().append(kind, keyGroup);
        } catch (Throwable t) {
            log().markIncomplete(t);
        }
    }

    /** Starts a record that removes an entry. */
    void beginEntry(@Nullable K key, @Nullable N namespace, UK mapKey) throws IOException {
        DataOutputSerializer record = beginRecord(key, namespace);
        mapKeys.write(mapKey, record);
        log().endRecordKey();
    }

    /** Starts a record that sets an entry. */
    void beginPut(@Nullable K key, @Nullable N namespace, UK mapKey, UV value) throws IOException {
        DataOutputSerializer record = beginRecord(key, namespace);
        mapKeys.write(mapKey, record);
        log().endRecordKey();
        try {
            StateRecordFormat.writeMapValue(value, mapValues, record);
        } catch (Throwable t) {
            notWritten(mapValues.serializer(), t);
            throw t;
        }
    }

    /** Counts what the visitor removes or replaces: an open iterator may be at such an entry. */
    @Override
    public StateIncrementalVisitor<K, N, Map<UK, UV>> getStateIncrementalVisitor(
            int recommendedMaxNumberOfReturnedRecords) {
        StateIncrementalVisitor<K, N, Map<UK, UV>> entries =
                super.getStateIncrementalVisitor(recommendedMaxNumberOfReturnedRecords);
        return new StateIncrementalVisitor<>() {
            @Override
            public boolean hasNext() {
                return entries.hasNext();
            }

            @Override
            public Collection<StateEntry<K, N, Map<UK, UV>>> nextEntries() {
                return entries.nextEntries();
            }

            @Override
            public void remove(StateEntry<K, N, Map<UK, UV>> expired) {
                entries.remove(expired);
                removed();
            }

            @Override
            public void update(StateEntry<K, N, Map<UK, UV>> partlyExpired, Map<UK, UV> remaining) {
                entries.update(partlyExpired, remaining);
                removed();
            }
        };
    }
}
