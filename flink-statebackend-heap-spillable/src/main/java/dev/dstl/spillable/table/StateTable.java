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

package dev.dstl.spillable.table;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import javax.annotation.Nullable;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.apache.flink.runtime.state.KeyGroupRangeOffsets;
import org.apache.flink.runtime.state.RegisteredKeyValueStateBackendMetaInfo;
import org.apache.flink.runtime.state.StateEntry;
import org.apache.flink.runtime.state.StateTransformationFunction;
import org.apache.flink.runtime.state.internal.InternalKvState.StateIncrementalVisitor;

/**
 * One registered state: a {@link KeyGroupMap} for every key group of the task. Task thread only.
 */
public final class StateTable<K, N, S> {

    private final CurrentKey<K> currentKey;
    private final TypeSerializer<K> keySerializer;
    private final KeyGroupRange keyGroupRange;
    private final KeyGroupMap<K, N, S>[] groups;
    private RegisteredKeyValueStateBackendMetaInfo<N, S> metaInfo;

    public StateTable(
            CurrentKey<K> currentKey,
            RegisteredKeyValueStateBackendMetaInfo<N, S> metaInfo,
            TypeSerializer<K> keySerializer) {
        this.currentKey = currentKey;
        this.metaInfo = metaInfo;
        this.keySerializer = keySerializer;
        this.keyGroupRange = currentKey.getKeyGroupRange();
        this.groups = groupArray(keyGroupRange.getNumberOfKeyGroups());
        for (int i = 0; i < groups.length; i++) {
            groups[i] = new KeyGroupMap<>(metaInfo.getStateSerializer());
        }
    }

    // ------------------------------------------------ the entry of the current key

    @Nullable
    public S get(N namespace) {
        return currentGroup(namespace).get(currentKey.getCurrentKey(), namespace);
    }

    public void put(N namespace, S state) {
        currentGroup(namespace).put(currentKey.getCurrentKey(), namespace, state);
    }

    public void remove(N namespace) {
        currentGroup(namespace).remove(currentKey.getCurrentKey(), namespace);
    }

    @Nullable
    public S removeAndGet(N namespace) {
        return currentGroup(namespace).remove(currentKey.getCurrentKey(), namespace);
    }

    public <T> void transform(
            N namespace, T value, StateTransformationFunction<S, T> transformation)
            throws Exception {
        KeyGroupMap<K, N, S> group = currentGroup(namespace);
        K key = currentKey.getCurrentKey();
        group.put(key, namespace, transformation.apply(group.get(key, namespace), value));
    }

    private KeyGroupMap<K, N, S> currentGroup(N namespace) {
        Objects.requireNonNull(
                currentKey.getCurrentKey(),
                "No key set. This method should not be called outside of a keyed context.");
        Objects.requireNonNull(namespace, "Provided namespace is null.");
        return group(currentKey.getCurrentKeyGroupIndex());
    }

    // ------------------------------------------------ any entry

    /** Safe state of any key, for a reader who has no current key. */
    @Nullable
    public S get(K key, N namespace) {
        return group(
                        KeyGroupRangeAssignment.assignToKeyGroup(
                                key, currentKey.getNumberOfKeyGroups()))
                .get(key, namespace);
    }

    @Nullable
    public S get(K key, int keyGroup, N namespace) {
        return group(keyGroup).get(key, namespace);
    }

    public void put(K key, int keyGroup, N namespace, S state) {
        group(keyGroup).put(key, namespace, state);
    }

    public int size() {
        int size = 0;
        for (KeyGroupMap<K, N, S> group : groups) {
            size += group.size();
        }
        return size;
    }

    public int sizeOfNamespace(Object namespace) {
        return (int) entries().filter(e -> e.getNamespace().equals(namespace)).count();
    }

    /**
     * Entries, one key group's list at a time: an entry of a key group not yet reached may come or
     * go meanwhile, those of the key group being read may change freely.
     */
    public Stream<StateEntry<K, N, S>> entries() {
        return IntStream.range(0, groups.length).boxed().flatMap(i -> groups[i].entries().stream());
    }

    public Stream<K> keys(N namespace) {
        return entries().filter(e -> e.getNamespace().equals(namespace)).map(StateEntry::getKey);
    }

    public Stream<Tuple2<K, N>> keysAndNamespaces() {
        return entries().map(e -> Tuple2.of(e.getKey(), e.getNamespace()));
    }

    public StateIncrementalVisitor<K, N, S> visitor(int recommendedEntries) {
        return new TableVisitor<>(this, recommendedEntries);
    }

    // ------------------------------------------------ registration

    public RegisteredKeyValueStateBackendMetaInfo<N, S> metaInfo() {
        return metaInfo;
    }

    /** Takes over serializers registered anew. */
    public void setMetaInfo(RegisteredKeyValueStateBackendMetaInfo<N, S> newMetaInfo) {
        metaInfo = newMetaInfo;
        for (KeyGroupMap<K, N, S> group : groups) {
            group.setStateSerializer(newMetaInfo.getStateSerializer());
        }
    }

    public TypeSerializer<S> stateSerializer() {
        return metaInfo.getStateSerializer();
    }

    public TypeSerializer<N> namespaceSerializer() {
        return metaInfo.getNamespaceSerializer();
    }

    // ------------------------------------------------ views

    /** Opens a consistent view of all key groups. Costs nothing per entry. */
    public TableView<K, N, S> view() {
        List<KeyGroupView<K, N, S>> views = new ArrayList<>(groups.length);
        for (KeyGroupMap<K, N, S> group : groups) {
            views.add(group.view());
        }
        return new TableView<>(metaInfo, keySerializer, keyGroupRange.getStartKeyGroup(), views);
    }

    int groupCount() {
        return groups.length;
    }

    KeyGroupMap<K, N, S> groupAt(int position) {
        return groups[position];
    }

    private KeyGroupMap<K, N, S> group(int keyGroup) {
        int position = keyGroup - keyGroupRange.getStartKeyGroup();
        if (position < 0 || position >= groups.length) {
            throw KeyGroupRangeOffsets.newIllegalKeyGroupException(keyGroup, keyGroupRange);
        }
        return groups[position];
    }

    @SuppressWarnings("unchecked") // an array of a generic type
    private static <K, N, S> KeyGroupMap<K, N, S>[] groupArray(int length) {
        return (KeyGroupMap<K, N, S>[]) new KeyGroupMap<?, ?, ?>[length];
    }
}
