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

package dev.dstl.spillable.snapshot;

import dev.dstl.spillable.table.TableView;
import java.io.IOException;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.base.ListSerializer;
import org.apache.flink.api.common.typeutils.base.MapSerializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.runtime.state.CompositeKeySerializationUtils;
import org.apache.flink.runtime.state.KeyValueStateIterator;
import org.apache.flink.runtime.state.ListDelimitedSerializer;
import org.apache.flink.runtime.state.RegisteredPriorityQueueStateBackendMetaInfo;
import org.apache.flink.runtime.state.SerializedCompositeKeyBuilder;
import org.apache.flink.runtime.state.StateEntry;
import org.apache.flink.runtime.state.heap.HeapPriorityQueueStateSnapshot;

/**
 * The pairs of a canonical savepoint, ordered by key group, then state: composite key and value of
 * an entry, one pair per user key of a map, the bare element of a timer. Empty lists and maps have
 * no pair. Used by one thread.
 */
final class CanonicalIterator<K> implements KeyValueStateIterator {

    private static final byte[] NO_VALUE = new byte[0];

    /** Produces the pairs of one state in one key group. */
    private interface Pairs {
        /** Sets {@link #key} and {@link #value} to the next pair; false if there is none. */
        boolean advance() throws IOException;
    }

    private final StatesView<K> view;
    private final int keyGroupPrefixBytes;
    private final SerializedCompositeKeyBuilder<K> keyBuilder;
    private final DataOutputSerializer valueOut = new DataOutputSerializer(64);
    private final ListDelimitedSerializer listSerializer = new ListDelimitedSerializer();

    private int keyGroupPosition;
    private int stateId = -1;
    private Pairs pairs = () -> false;
    private byte[] key;
    private byte[] value;
    private boolean valid = true;
    private boolean newKeyGroup = true;
    private boolean newState = true;

    CanonicalIterator(StatesView<K> view) throws IOException {
        this.view = view;
        this.keyGroupPrefixBytes =
                CompositeKeySerializationUtils.computeRequiredBytesInKeyGroupPrefix(
                        view.numberOfKeyGroups());
        this.keyBuilder =
                new SerializedCompositeKeyBuilder<>(
                        view.getKeySerializer(), keyGroupPrefixBytes, 32);
        if (view.getMetaInfoSnapshots().isEmpty()) {
            valid = false;
        } else {
            next();
            newKeyGroup = valid;
        }
    }

    @Override
    public void next() throws IOException {
        newKeyGroup = false;
        newState = false;
        while (!pairs.advance()) {
            stateId++;
            newState = true;
            if (stateId == view.getMetaInfoSnapshots().size()) {
                stateId = 0;
                keyGroupPosition++;
                newKeyGroup = true;
            }
            if (keyGroupPosition == view.getKeyGroupRange().getNumberOfKeyGroups()) {
                valid = false;
                return;
            }
            pairs = pairsOf(stateId);
        }
    }

    private Pairs pairsOf(int id) throws IOException {
        int tableCount = view.tables().size();
        return id < tableCount
                ? tablePairs(view.tables().get(id))
                : queuePairs(view.queues().get(id - tableCount));
    }

    private <N, S> Pairs tablePairs(TableView<K, N, S> table) {
        Iterator<? extends StateEntry<K, N, S>> entries = table.entries(keyGroup());
        TypeSerializer<S> stateSerializer = table.stateSerializer();
        TypeSerializer<N> namespaceSerializer = table.namespaceSerializer();
        switch (table.stateType()) {
            case LIST:
                return listPairs(entries, namespaceSerializer, stateSerializer);
            case MAP:
                return mapPairs(entries, namespaceSerializer, stateSerializer);
            default:
                return () -> {
                    if (!entries.hasNext()) {
                        return false;
                    }
                    StateEntry<K, N, S> entry = entries.next();
                    setKey(entry, namespaceSerializer);
                    key = keyBuilder.build();
                    valueOut.clear();
                    stateSerializer.serialize(entry.getState(), valueOut);
                    value = valueOut.getCopyOfBuffer();
                    return true;
                };
        }
    }

    @SuppressWarnings("unchecked") // the state of a list state is a list
    private <N, S> Pairs listPairs(
            Iterator<? extends StateEntry<K, N, S>> entries,
            TypeSerializer<N> namespaceSerializer,
            TypeSerializer<S> stateSerializer) {
        TypeSerializer<Object> elementSerializer =
                ((ListSerializer<Object>) (TypeSerializer<?>) stateSerializer)
                        .getElementSerializer();
        return () -> {
            while (entries.hasNext()) {
                StateEntry<K, N, S> entry = entries.next();
                List<Object> list = (List<Object>) entry.getState();
                if (!list.isEmpty()) {
                    setKey(entry, namespaceSerializer);
                    key = keyBuilder.build();
                    value = listSerializer.serializeList(list, elementSerializer);
                    return true;
                }
            }
            return false;
        };
    }

    @SuppressWarnings("unchecked") // the state of a map state is a map
    private <N, S> Pairs mapPairs(
            Iterator<? extends StateEntry<K, N, S>> entries,
            TypeSerializer<N> namespaceSerializer,
            TypeSerializer<S> stateSerializer) {
        MapSerializer<Object, Object> mapSerializer =
                (MapSerializer<Object, Object>) (TypeSerializer<?>) stateSerializer;
        return new Pairs() {
            private Iterator<Map.Entry<Object, Object>> userEntries = Collections.emptyIterator();

            @Override
            public boolean advance() throws IOException {
                while (!userEntries.hasNext()) {
                    if (!entries.hasNext()) {
                        return false;
                    }
                    StateEntry<K, N, S> entry = entries.next();
                    setKey(entry, namespaceSerializer);
                    userEntries = ((Map<Object, Object>) entry.getState()).entrySet().iterator();
                }
                Map.Entry<Object, Object> userEntry = userEntries.next();
                key =
                        keyBuilder.buildCompositeKeyUserKey(
                                userEntry.getKey(), mapSerializer.getKeySerializer());
                valueOut.clear();
                valueOut.writeBoolean(userEntry.getValue() == null);
                if (userEntry.getValue() != null) {
                    mapSerializer.getValueSerializer().serialize(userEntry.getValue(), valueOut);
                }
                value = valueOut.getCopyOfBuffer();
                return true;
            }
        };
    }

    private <T> Pairs queuePairs(HeapPriorityQueueStateSnapshot<T> queue) throws IOException {
        Iterator<T> elements = queue.getIteratorForKeyGroup(keyGroup());
        TypeSerializer<T> elementSerializer =
                new RegisteredPriorityQueueStateBackendMetaInfo<T>(queue.getMetaInfoSnapshot())
                        .getElementSerializer();
        DataOutputSerializer out = new DataOutputSerializer(128);
        CompositeKeySerializationUtils.writeKeyGroup(keyGroup(), keyGroupPrefixBytes, out);
        int afterKeyGroup = out.length();
        return () -> {
            if (!elements.hasNext()) {
                return false;
            }
            out.setPosition(afterKeyGroup);
            elementSerializer.serialize(elements.next(), out);
            key = out.getCopyOfBuffer();
            value = NO_VALUE;
            return true;
        };
    }

    private <N> void setKey(StateEntry<K, N, ?> entry, TypeSerializer<N> namespaceSerializer) {
        keyBuilder.setKeyAndKeyGroup(entry.getKey(), keyGroup());
        keyBuilder.setNamespace(entry.getNamespace(), namespaceSerializer);
    }

    @Override
    public int keyGroup() {
        return view.getKeyGroupRange().getKeyGroupId(keyGroupPosition);
    }

    @Override
    public byte[] key() {
        return key;
    }

    @Override
    public byte[] value() {
        return value;
    }

    @Override
    public int kvStateId() {
        return stateId;
    }

    @Override
    public boolean isNewKeyValueState() {
        return newState;
    }

    @Override
    public boolean isNewKeyGroup() {
        return newKeyGroup;
    }

    @Override
    public boolean isValid() {
        return valid;
    }

    @Override
    public void close() {}
}
