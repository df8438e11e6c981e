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
import java.io.InterruptedIOException;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.stream.Stream;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.runtime.state.internal.InternalKvState;

/**
 * Sets the current key and namespace from the record; subclasses apply the value of their kind of
 * state.
 *
 * @param <K> type of the key
 * @param <N> type of the namespace
 * @param <V> type of the whole value
 * @param <S> type of the delegate's state
 */
abstract class KeyedStateApplier<K, N, V, S extends InternalKvState<K, N, V>> extends StateApplier {

    private final RestoredState<K, N, V, S> restored;
    private final TypeSerializer<K> keySerializer;
    private final TypeSerializer<N> namespaceSerializer;
    private final boolean open;

    /**
     * Creates an applier.
     *
     * @param restored the delegate's state
     * @param keySerializer reads the keys
     * @param open whether {@link #makeRoomFor} must be called before each value is written
     */
    @SuppressWarnings("unchecked") // the delegate refuses a name with other types
    KeyedStateApplier(
            RestoredRegistration registration,
            RestoredState<K, N, V, S> restored,
            TypeSerializer<K> keySerializer,
            boolean open) {
        super(registration);
        this.restored = restored;
        this.keySerializer = keySerializer;
        this.namespaceSerializer = (TypeSerializer<N>) registration.namespaceSerializer();
        this.open = open;
    }

    /** Returns whether {@link #makeRoomFor} must be called before each value is written. */
    final boolean isOpen() {
        return open;
    }

    final S state() {
        return restored.state();
    }

    /** Returns the state, in a schema version that loses nothing of {@code value}. */
    final S makeRoomFor(V value) throws Exception {
        if (open) {
            restored.makeRoomFor(registration(), value);
        }
        return restored.state();
    }

    @Override
    void apply(LogRecord record) throws Exception {
        select(record);
        apply(record, restored.state());
    }

    @Override
    final void check(LogRecord record) throws Exception {
        select(record);
        checkValue(record);
    }

    private void select(LogRecord record) throws CorruptLogException {
        DataInputDeserializer recordKey = recordKey(record);
        K key = read(keySerializer, record);
        N namespace = read(namespaceSerializer, record);
        if (record.keyLength() - recordKey.available() != record.keyPrefixLength()) {
            throw corrupt(
                    record,
                    String.format(
                            "expected a key and namespace of %d bytes, found %d",
                            record.keyPrefixLength(), record.keyLength() - recordKey.available()),
                    null);
        }
        restored.select(key, namespace);
        if (restored.currentKeyGroup() != record.keyGroup()) {
            throw corrupt(record, moved(key), null);
        }
    }

    @Override
    final void apply(BuiltInChange change) throws Exception {
        if (!change.wantedKeyGroups().contains(change.keyGroup())) {
            return;
        }
        K key = change.read(keySerializer, registration());
        N namespace = change.read(namespaceSerializer, registration());
        restored.select(key, namespace);
        if (restored.currentKeyGroup() != change.keyGroup()) {
            throw change.corrupt(registration(), moved(key), null);
        }
        apply(change, restored.state());
        change.expectEnd(registration());
    }

    @Override
    @SuppressWarnings("unchecked") // both are restored under the key serializer of the job
    final void copyAll(RestoredStates<?> source) throws Exception {
        copyAllOf((RestoredStates<K>) source);
    }

    private void copyAllOf(RestoredStates<K> source) throws Exception {
        String name = registration().name();
        RestoredState<K, N, V, S> from = source.state(name);
        try (Stream<Tuple2<K, N>> all = source.delegate().getKeysAndNamespaces(name)) {
            Iterator<Tuple2<K, N>> entries = all.iterator();
            while (entries.hasNext()) {
                if (Thread.currentThread().isInterrupted()) {
                    throw new InterruptedIOException("The task was cancelled during restore");
                }
                Tuple2<K, N> entry = entries.next();
                from.select(entry.f0, entry.f1);
                restored.select(entry.f0, entry.f1);
                copy(from.state());
            }
        }
    }

    private String moved(K key) {
        return String.format(
                "its key %s (%s) now belongs to key group %d. The hash code of a key must be the"
                        + " same in every process; enums, arrays and classes without hashCode()"
                        + " cannot be keys",
                key, key.getClass().getName(), restored.currentKeyGroup());
    }

    /** Reads the namespaces that a change merges into its own, which comes first. */
    final List<N> mergedNamespaces(BuiltInChange change) throws CorruptLogException {
        List<N> namespaces = new ArrayList<>();
        namespaces.add(change.read(namespaceSerializer, registration()));
        int sources = change.readCount(registration());
        for (int i = 0; i < sources; i++) {
            namespaces.add(change.read(namespaceSerializer, registration()));
        }
        return namespaces;
    }

    /** Copies the content of the current key and namespace from the state of another delegate. */
    abstract void copy(S source) throws Exception;

    /** Applies a record whose key and namespace have been read and set. */
    abstract void apply(LogRecord record, S state) throws Exception;

    /** Checks the rest of a record whose key and namespace have been read. */
    abstract void checkValue(LogRecord record) throws CorruptLogException;

    /** Applies a change whose key and namespace have been read and set. */
    abstract void apply(BuiltInChange change, S state) throws Exception;
}
