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

import dev.dstl.spillable.entry.SpillSpace;
import dev.dstl.spillable.entry.SpilledMap;
import dev.dstl.spillable.layout.ListLayout;
import dev.dstl.spillable.layout.MapLayout;
import dev.dstl.spillable.layout.PlainLayout;
import dev.dstl.spillable.layout.SpilledLayout;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import javax.annotation.Nullable;
import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.base.ListSerializer;
import org.apache.flink.api.common.typeutils.base.MapSerializer;
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

    /** An entry on its way from one side to the other may be missed once. */
    private static final int QUERY_LOOKS = 3;

    private static final int QUERY_ATTEMPTS = 100;

    private final CurrentKey<K> currentKey;
    private final TypeSerializer<K> keySerializer;
    private final KeyGroupRange keyGroupRange;
    private final KeyGroupMap<K, N, S>[] groups;
    private final SpillSpace space;
    private RegisteredKeyValueStateBackendMetaInfo<N, S> metaInfo;
    private SpilledLayout<K, N, S> layout;

    public StateTable(
            CurrentKey<K> currentKey,
            RegisteredKeyValueStateBackendMetaInfo<N, S> metaInfo,
            TypeSerializer<K> keySerializer,
            SpillSpace space) {
        this.currentKey = currentKey;
        this.metaInfo = metaInfo;
        this.keySerializer = keySerializer;
        this.space = space;
        this.keyGroupRange = currentKey.getKeyGroupRange();
        this.groups = groupArray(keyGroupRange.getNumberOfKeyGroups());
        for (int i = 0; i < groups.length; i++) {
            groups[i] = new KeyGroupMap<>(metaInfo.getStateSerializer());
        }
        this.layout =
                newLayout(keySerializer, namespaceSerializer(), metaInfo.getStateSerializer());
    }

    @SuppressWarnings("unchecked") // the kind of state decides the type of its serializer
    private SpilledLayout<K, N, S> newLayout(
            TypeSerializer<K> keys, TypeSerializer<N> namespaces, TypeSerializer<S> states) {
        StateDescriptor.Type type = metaInfo.getStateType();
        if (type == StateDescriptor.Type.LIST && states instanceof ListSerializer) {
            return (SpilledLayout<K, N, S>)
                    new ListLayout<>(keys, namespaces, (ListSerializer<Object>) states);
        }
        if (type == StateDescriptor.Type.MAP && states instanceof MapSerializer) {
            return (SpilledLayout<K, N, S>)
                    new MapLayout<>(keys, namespaces, (MapSerializer<Object, Object>) states);
        }
        return new PlainLayout<>(keys, namespaces, states);
    }

    // ------------------------------------------------ the entry of the current key

    @Nullable
    public S get(N namespace) {
        KeyGroupMap<K, N, S> group = currentGroup(namespace);
        try {
            select(group, namespace);
            return group.get(currentKey.getCurrentKey(), namespace, layout);
        } catch (IOException e) {
            throw unreadable(e);
        }
    }

    /** The state if it is on the heap, where it may be changed in place. */
    @Nullable
    public S heapState(N namespace) {
        return currentGroup(namespace).heapState(currentKey.getCurrentKey(), namespace);
    }

    /**
     * Selects the current key's entry, which is not on the heap, in the {@link #layout()}.
     *
     * @return the spilled map it is in or belongs to, null if it is nowhere and belongs on the heap
     */
    @Nullable
    public SpilledMap spilledHome(N namespace) throws IOException {
        KeyGroupMap<K, N, S> group = currentGroup(namespace);
        select(group, namespace);
        return group.spilledHome(layout);
    }

    /**
     * Selects an entry in the {@link #layout()}.
     *
     * @return the spilled map it is in, or null if it is not spilled
     */
    @Nullable
    public SpilledMap selectSpilled(K key, int keyGroup, N namespace) throws IOException {
        KeyGroupMap<K, N, S> group = group(keyGroup);
        layout.select(key, namespace);
        return group.spilled(layout);
    }

    public K currentKey() {
        return currentKey.getCurrentKey();
    }

    public int currentKeyGroup() {
        return currentKey.getCurrentKeyGroupIndex();
    }

    public SpilledLayout<K, N, S> layout() {
        return layout;
    }

    public void put(N namespace, S state) {
        KeyGroupMap<K, N, S> group = currentGroup(namespace);
        try {
            select(group, namespace);
            group.put(currentKey.getCurrentKey(), namespace, state, layout);
        } catch (IOException e) {
            throw unwritable(e);
        }
    }

    public void remove(N namespace) {
        KeyGroupMap<K, N, S> group = currentGroup(namespace);
        try {
            select(group, namespace);
            group.remove(currentKey.getCurrentKey(), namespace, layout);
        } catch (IOException e) {
            throw unwritable(e);
        }
    }

    @Nullable
    public S removeAndGet(N namespace) {
        KeyGroupMap<K, N, S> group = currentGroup(namespace);
        try {
            select(group, namespace);
            return group.removeAndGet(currentKey.getCurrentKey(), namespace, layout);
        } catch (IOException e) {
            throw unreadable(e);
        }
    }

    public <T> void transform(
            N namespace, T value, StateTransformationFunction<S, T> transformation)
            throws Exception {
        put(namespace, transformation.apply(get(namespace), value));
    }

    private void select(KeyGroupMap<K, N, S> group, N namespace) throws IOException {
        if (group.hasSpilled()) {
            layout.select(currentKey.getCurrentKey(), namespace, currentKey.epoch());
        }
    }

    private KeyGroupMap<K, N, S> currentGroup(N namespace) {
        Objects.requireNonNull(
                currentKey.getCurrentKey(),
                "No key set. This method should not be called outside of a keyed context.");
        Objects.requireNonNull(namespace, "Provided namespace is null.");
        return group(currentKey.getCurrentKeyGroupIndex());
    }

    // ------------------------------------------------ any entry

    /**
     * State of any key, for another thread than the task's. It may be one that is being changed.
     *
     * @param safeKeys serializers that belong to the calling thread
     */
    @Nullable
    public S query(
            K key,
            N namespace,
            TypeSerializer<K> safeKeys,
            TypeSerializer<N> safeNamespaces,
            TypeSerializer<S> safeStates) {
        KeyGroupMap<K, N, S> group =
                group(
                        KeyGroupRangeAssignment.assignToKeyGroup(
                                key, currentKey.getNumberOfKeyGroups()));
        SpilledLayout<K, N, S> ownLayout = newLayout(safeKeys, safeNamespaces, safeStates);
        for (int attempt = 1; ; attempt++) {
            try {
                S state = group.peek(key, namespace, ownLayout);
                if (state != null || attempt >= QUERY_LOOKS || !group.hasSpilled()) {
                    return state;
                }
            } catch (IOException | RuntimeException e) {
                // The task changed what was being read.
                if (attempt >= QUERY_ATTEMPTS) {
                    throw new IllegalStateException(
                            String.format(
                                    "State '%s' changed under each of %d attempts to query it; try"
                                            + " again.",
                                    metaInfo.getName(), attempt),
                            e);
                }
            }
            Thread.onSpinWait();
        }
    }

    /** The state of any key if it is on the heap, where it may be changed in place. */
    @Nullable
    public S heapState(K key, int keyGroup, N namespace) {
        return group(keyGroup).heapState(key, namespace);
    }

    /** As {@link #spilledHome(Object)}, for any key. */
    @Nullable
    public SpilledMap spilledHome(K key, int keyGroup, N namespace) throws IOException {
        KeyGroupMap<K, N, S> group = group(keyGroup);
        if (!group.hasSpilled()) {
            return null;
        }
        layout.select(key, namespace);
        return group.spilledHome(layout);
    }

    @Nullable
    public S get(K key, int keyGroup, N namespace) {
        return get(group(keyGroup), key, namespace);
    }

    @Nullable
    S get(KeyGroupMap<K, N, S> group, K key, N namespace) {
        try {
            if (group.hasSpilled()) {
                layout.select(key, namespace);
            }
            return group.get(key, namespace, layout);
        } catch (IOException e) {
            throw unreadable(e);
        }
    }

    public void put(K key, int keyGroup, N namespace, S state) {
        put(group(keyGroup), key, namespace, state);
    }

    void put(KeyGroupMap<K, N, S> group, K key, N namespace, S state) {
        try {
            if (group.hasSpilled()) {
                layout.select(key, namespace);
            }
            group.put(key, namespace, state, layout);
        } catch (IOException e) {
            throw unwritable(e);
        }
    }

    void remove(KeyGroupMap<K, N, S> group, K key, N namespace) {
        try {
            if (group.hasSpilled()) {
                layout.select(key, namespace);
            }
            group.remove(key, namespace, layout);
        } catch (IOException e) {
            throw unwritable(e);
        }
    }

    public int size() {
        int size = 0;
        for (KeyGroupMap<K, N, S> group : groups) {
            size += group.size();
        }
        return size;
    }

    /**
     * Keys and namespaces, one key group's list at a time: a key of a key group not yet reached may
     * come or go meanwhile, those of the key group being read may change freely.
     */
    public Stream<Tuple2<K, N>> keysAndNamespaces() {
        return IntStream.range(0, groups.length)
                .boxed()
                .flatMap(i -> keysOf(groups[i]).stream())
                .map(e -> Tuple2.of(e.getKey(), e.getNamespace()));
    }

    public Stream<K> keys(N namespace) {
        return keysAndNamespaces().filter(kn -> kn.f1.equals(namespace)).map(kn -> kn.f0);
    }

    private List<StateEntry<K, N, Void>> keysOf(KeyGroupMap<K, N, S> group) {
        try {
            return group.keys(layout);
        } catch (IOException e) {
            throw unreadable(e);
        }
    }

    public StateIncrementalVisitor<K, N, S> visitor(int recommendedEntries) {
        return new TableVisitor<>(this, recommendedEntries);
    }

    // ------------------------------------------------ registration

    public RegisteredKeyValueStateBackendMetaInfo<N, S> metaInfo() {
        return metaInfo;
    }

    /**
     * Takes over serializers registered anew.
     *
     * @param migrated whether they write other bytes; what is spilled is rewritten then
     */
    public void setMetaInfo(
            RegisteredKeyValueStateBackendMetaInfo<N, S> newMetaInfo, boolean migrated) {
        metaInfo = newMetaInfo;
        SpilledLayout<K, N, S> oldLayout = layout;
        layout = newLayout(keySerializer, namespaceSerializer(), stateSerializer());
        boolean rewrite = migrated || oldLayout.getClass() != layout.getClass();
        for (KeyGroupMap<K, N, S> group : groups) {
            group.setStateSerializer(newMetaInfo.getStateSerializer());
            if (rewrite && group.hasSpilled()) {
                try {
                    group.reencode(space.open(), oldLayout, layout);
                } catch (IOException e) {
                    throw new UncheckedIOException(
                            "Cannot migrate spilled state '" + metaInfo.getName() + "'", e);
                }
            }
        }
    }

    public TypeSerializer<S> stateSerializer() {
        return metaInfo.getStateSerializer();
    }

    public TypeSerializer<N> namespaceSerializer() {
        return metaInfo.getNamespaceSerializer();
    }

    // ------------------------------------------------ moving

    /** Number of key groups; the methods below take positions {@code [0, groupCount())}. */
    public int groupCount() {
        return groups.length;
    }

    public Residency residency(int position) {
        return groups[position].residency();
    }

    public int heapEntries(int position) {
        return groups[position].heapSize();
    }

    public int spilledEntries(int position) {
        return groups[position].spilledSize();
    }

    /** Accesses to a key group, older ones counting less; see {@link #coolDown}. */
    public double heat(int position) {
        return groups[position].heat();
    }

    /** Lets past accesses count half. */
    public void coolDown() {
        for (KeyGroupMap<K, N, S> group : groups) {
            group.coolDown();
        }
    }

    public void startSpill(int position) throws IOException {
        groups[position].startSpill(space.open());
    }

    /** Entries new to a key group go off the heap from now on; those on the heap stay there. */
    public void spillFromNowOn(int keyGroup) throws IOException {
        KeyGroupMap<K, N, S> group = group(keyGroup);
        if (!group.residency().spillsNewEntries()) {
            group.startSpill(space.open());
        }
    }

    /** Moves about that many entries off the heap; returns how many it moved. */
    public int spill(int position, int entries) throws IOException {
        return groups[position].spill(entries, layout);
    }

    public void startLoad(int position) {
        groups[position].startLoad();
    }

    /** Moves about that many entries onto the heap; returns how many it moved. */
    public int load(int position, int entries) throws IOException {
        return groups[position].load(entries, layout);
    }

    // ------------------------------------------------ views and end

    /** Opens a consistent view of all key groups. Costs nothing per entry. */
    public TableView<K, N, S> view() {
        List<KeyGroupView<K, N, S>> views = new ArrayList<>(groups.length);
        for (KeyGroupMap<K, N, S> group : groups) {
            views.add(group.view());
        }
        return new TableView<>(
                metaInfo, keySerializer, layout, keyGroupRange.getStartKeyGroup(), views);
    }

    /** Lets go of what is spilled. */
    public void close() {
        for (KeyGroupMap<K, N, S> group : groups) {
            group.close();
        }
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

    private UncheckedIOException unreadable(IOException cause) {
        return new UncheckedIOException(
                "Cannot read spilled state '" + metaInfo.getName() + "'", cause);
    }

    private UncheckedIOException unwritable(IOException cause) {
        return new UncheckedIOException(
                "Cannot write spilled state '" + metaInfo.getName() + "'", cause);
    }

    @SuppressWarnings("unchecked") // an array of a generic type
    private static <K, N, S> KeyGroupMap<K, N, S>[] groupArray(int length) {
        return (KeyGroupMap<K, N, S>[]) new KeyGroupMap<?, ?, ?>[length];
    }
}
