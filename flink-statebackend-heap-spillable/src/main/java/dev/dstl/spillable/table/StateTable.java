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

import dev.dstl.spillable.layout.SpilledLayout;
import dev.dstl.spillable.layout.SpilledLayouts;
import dev.dstl.spillable.overlay.SpillSpace;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import javax.annotation.Nullable;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.apache.flink.runtime.state.RegisteredKeyValueStateBackendMetaInfo;
import org.apache.flink.runtime.state.internal.InternalKvState.StateIncrementalVisitor;

/**
 * One registered state, with a {@link KeyGroupMap} for every key group of the task. Task thread
 * only, except {@link #query}.
 *
 * <pre>
 *   {@link #current()}     the entry of the current key       state objects
 *   {@link #entries()}     the entry of any key               restore, iterators
 *   {@link #placement()}   moving between heap and disk       scheduler
 *   {@link #view()}        everything as it is now            snapshots
 * </pre>
 */
public final class StateTable<K, N, S> {

    private final CurrentKey<K> currentKey;
    private final TypeSerializer<K> keySerializer;
    private final SpillSpace space;
    private final KeyGroups<K, N, S> groups;
    private final CurrentEntry<K, N, S> current;
    private final TableEntries<K, N, S> entries;
    private final TablePlacement placement;
    private RegisteredKeyValueStateBackendMetaInfo<N, S> metaInfo;

    /**
     * @param currentKey shared with the backend, which selects keys
     * @param space shared with the other tables of the backend and closed by their registry
     */
    public StateTable(
            CurrentKey<K> currentKey,
            RegisteredKeyValueStateBackendMetaInfo<N, S> metaInfo,
            TypeSerializer<K> keySerializer,
            SpillSpace space) {
        this.currentKey = currentKey;
        this.metaInfo = metaInfo;
        this.keySerializer = keySerializer;
        this.space = space;
        this.groups =
                new KeyGroups<>(
                        space.stateId(metaInfo.getName()),
                        metaInfo.getName(),
                        currentKey.getKeyGroupRange(),
                        metaInfo.getStateSerializer(),
                        newLayout());
        this.current = new CurrentEntry<>(currentKey, groups);
        this.entries = new TableEntries<>(groups);
        this.placement = new TablePlacement(groups, space);
    }

    private SpilledLayout<K, N, S> newLayout() {
        return SpilledLayouts.of(
                metaInfo.getStateType(), keySerializer, namespaceSerializer(), stateSerializer());
    }

    /** The entry of the current key; always the same object. */
    public CurrentEntry<K, N, S> current() {
        return current;
    }

    /** The entries of any key; always the same object. */
    public TableEntries<K, N, S> entries() {
        return entries;
    }

    /** Where the key groups are; always the same object. */
    public TablePlacement placement() {
        return placement;
    }

    /**
     * Reads the state of any key on another thread than the task's, which may be changing it.
     *
     * @param safeKeys serializers that belong to the calling thread
     * @param reading what to make of the state; called again where that fails
     * @return null if there is no state
     * @throws IllegalStateException if the task changes it all the time
     */
    @Nullable
    public <R> R query(
            K key,
            N namespace,
            TypeSerializer<K> safeKeys,
            TypeSerializer<N> safeNamespaces,
            TypeSerializer<S> safeStates,
            StateQuery.Reading<S, R> reading) {
        int keyGroup =
                KeyGroupRangeAssignment.assignToKeyGroup(key, currentKey.getNumberOfKeyGroups());
        return new StateQuery<>(
                        metaInfo.getName(),
                        groups.group(keyGroup),
                        SpilledLayouts.of(
                                metaInfo.getStateType(), safeKeys, safeNamespaces, safeStates))
                .read(key, namespace, reading);
    }

    /** Number of entries on both sides. */
    public int size() {
        int size = 0;
        for (int i = 0; i < groups.count(); i++) {
            size += groups.at(i).size();
        }
        return size;
    }

    /**
     * Keys and namespaces, one key group's list at a time: a key of a key group not yet reached may
     * come or go meanwhile, those of the key group being read may change freely.
     */
    public Stream<Tuple2<K, N>> keysAndNamespaces() {
        return byKeyGroup(
                groups.count(),
                i -> {
                    List<Tuple2<K, N>> all = new ArrayList<>();
                    forEachKey(i, (key, namespace) -> all.add(Tuple2.of(key, namespace)));
                    return all;
                });
    }

    /** The keys of one namespace, as {@link #keysAndNamespaces()} gives them. */
    public Stream<K> keys(N namespace) {
        return byKeyGroup(
                groups.count(),
                i -> {
                    List<K> keys = new ArrayList<>();
                    addKeys(i, namespace, keys);
                    return keys;
                });
    }

    /**
     * The keys that several tables of one backend have in a namespace, each once, one key group's
     * at a time as {@link #keysAndNamespaces()} gives them.
     */
    public static <K, N> Stream<K> keys(List<StateTable<K, N, ?>> tables, N namespace) {
        int count = tables.isEmpty() ? 0 : tables.get(0).groups.count();
        return byKeyGroup(
                count,
                i -> {
                    Set<K> keys = new LinkedHashSet<>();
                    tables.forEach(table -> table.addKeys(i, namespace, keys));
                    return keys;
                });
    }

    /** One collection after the other, each made when the one before has been gone through. */
    private static <T> Stream<T> byKeyGroup(int count, IntFunction<Collection<T>> elements) {
        return IntStream.range(0, count).boxed().flatMap(i -> elements.apply(i).stream());
    }

    private void addKeys(int position, N namespace, Collection<K> keys) {
        forEachKey(
                position,
                (key, other) -> {
                    if (other.equals(namespace)) {
                        keys.add(key);
                    }
                });
    }

    private void forEachKey(int position, KeyGroupMap.KeyConsumer<K, N> consumer) {
        try {
            groups.at(position).forEachKey(groups.layout(), consumer);
        } catch (IOException e) {
            throw groups.unreadable(e);
        }
    }

    /**
     * A walk over all entries in small steps, while they change.
     *
     * @param recommendedEntries number of entries per step, about
     */
    public StateIncrementalVisitor<K, N, S> visitor(int recommendedEntries) {
        return new TableVisitor<>(groups, currentKey, recommendedEntries);
    }

    /** As what the state is registered. */
    public RegisteredKeyValueStateBackendMetaInfo<N, S> metaInfo() {
        return metaInfo;
    }

    /**
     * Takes over serializers registered anew.
     *
     * @param migrated whether what is spilled cannot be read, or not be found, with them; it is
     *     rewritten then
     * @throws java.io.UncheckedIOException if an entry cannot be rewritten
     */
    public void setMetaInfo(
            RegisteredKeyValueStateBackendMetaInfo<N, S> newMetaInfo, boolean migrated) {
        metaInfo = newMetaInfo;
        SpilledLayout<K, N, S> newLayout = newLayout();
        boolean rewrite = migrated || groups.layout().getClass() != newLayout.getClass();
        groups.setLayout(newLayout, stateSerializer(), rewrite, space);
    }

    /** Whether spilled entries of a snapshot have to be rewritten to be those of this table. */
    public boolean writesUnlike(WrittenState<K, N, S> written) {
        return written.isWrittenUnlike(keySerializer, metaInfo);
    }

    /**
     * Rewrites what is spilled of a key group.
     *
     * @param written as what a snapshot has written it
     * @throws IOException if an entry cannot be rewritten
     */
    public void rewrite(int keyGroup, WrittenState<K, N, S> written) throws IOException {
        groups.group(keyGroup).reencode(space.open(), written.newLayout(), groups.layout());
    }

    /** Serializer of whole states, as last registered. */
    public TypeSerializer<S> stateSerializer() {
        return metaInfo.getStateSerializer();
    }

    /** Serializer of namespaces, as last registered. */
    public TypeSerializer<N> namespaceSerializer() {
        return metaInfo.getNamespaceSerializer();
    }

    /** Opens a consistent view of all key groups. Costs nothing per entry; the caller closes it. */
    public TableView<K, N, S> view() {
        List<KeyGroupView<K, N, S>> views = new ArrayList<>(groups.count());
        try {
            for (int i = 0; i < groups.count(); i++) {
                views.add(groups.at(i).view());
            }
            return new TableView<>(
                    metaInfo,
                    keySerializer,
                    groups.layout(),
                    groups.range().getStartKeyGroup(),
                    views);
        } catch (RuntimeException | Error e) {
            views.forEach(KeyGroupView::close);
            throw e;
        }
    }

    /** Gives back what is spilled and no view needs. The table must not be used afterwards. */
    public void close() {
        groups.close();
    }
}
