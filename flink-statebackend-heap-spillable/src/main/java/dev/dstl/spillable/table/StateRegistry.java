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

import dev.dstl.spillable.overlay.SpillSpace;
import java.io.IOException;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import javax.annotation.Nullable;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.runtime.state.KeyExtractorFunction;
import org.apache.flink.runtime.state.Keyed;
import org.apache.flink.runtime.state.PriorityComparable;
import org.apache.flink.runtime.state.RegisteredKeyValueStateBackendMetaInfo;
import org.apache.flink.runtime.state.RegisteredPriorityQueueStateBackendMetaInfo;
import org.apache.flink.runtime.state.heap.HeapPriorityQueueElement;
import org.apache.flink.runtime.state.heap.HeapPriorityQueueSetFactory;
import org.apache.flink.runtime.state.heap.HeapPriorityQueueSnapshotRestoreWrapper;
import org.apache.flink.runtime.state.metainfo.StateMetaInfoSnapshot;
import org.apache.flink.util.StateMigrationException;

/**
 * The states and timer queues of one backend by name, filled by restore and by registration. Task
 * thread only.
 */
public final class StateRegistry<K> {

    private final CurrentKey<K> currentKey;
    private final HeapPriorityQueueSetFactory queueFactory;
    private final SpillSpace space;
    private final Map<String, StateTable<K, ?, ?>> tables = new LinkedHashMap<>();
    private final Map<String, HeapPriorityQueueSnapshotRestoreWrapper<?>> queues =
            new LinkedHashMap<>();

    /**
     * @param currentKey shared with the backend, which selects keys
     * @param space where the states spill; closed by {@link #close()}
     */
    public StateRegistry(
            CurrentKey<K> currentKey, HeapPriorityQueueSetFactory queueFactory, SpillSpace space) {
        this.currentKey = currentKey;
        this.space = space;
        this.queueFactory = queueFactory;
    }

    /** The table of that name, or null. The caller knows the types it was registered with. */
    @Nullable
    @SuppressWarnings("unchecked") // as the caller says
    public <N, S> StateTable<K, N, S> table(String name) {
        return (StateTable<K, N, S>) tables.get(name);
    }

    /** All tables, in the order of their registration; follows what is registered later. */
    public Collection<StateTable<K, ?, ?>> tables() {
        return tables.values();
    }

    /** Makes an empty table for a state whose name is not registered yet. */
    public <N, S> StateTable<K, N, S> addTable(
            RegisteredKeyValueStateBackendMetaInfo<N, S> metaInfo,
            TypeSerializer<K> keySerializer) {
        StateTable<K, N, S> table = new StateTable<>(currentKey, metaInfo, keySerializer, space);
        tables.put(metaInfo.getName(), table);
        return table;
    }

    /**
     * Gives back everything that is spilled, as soon as no view needs it. The states must not be
     * used afterwards.
     *
     * @throws IOException if a spill directory cannot be deleted
     */
    public void close() throws IOException {
        try {
            tables.values().forEach(StateTable::close);
        } finally {
            space.close();
        }
    }

    /** The timer queues, in a map to which Flink's own registration of queues adds. */
    public Map<String, HeapPriorityQueueSnapshotRestoreWrapper<?>> queues() {
        return queues;
    }

    /** Makes sure that a state of a snapshot exists, with the snapshot's serializers if new. */
    public <N, S> void addRestored(WrittenState<K, N, S> state, TypeSerializer<K> keySerializer) {
        if (!tables.containsKey(state.name())) {
            addTable(state.register(), keySerializer);
        }
    }

    /**
     * Returns the table for a state, of which a snapshot has entries. It takes its serializers if
     * it has no entries of another version.
     *
     * @throws StateMigrationException if it has some, as one serializer cannot write both
     */
    public <N, S> StateTable<K, N, S> tableOf(WrittenState<K, N, S> state)
            throws StateMigrationException {
        StateTable<K, N, S> table = table(state.name());
        if (state.isOtherVersionThan(table.metaInfo())) {
            if (table.size() > 0) {
                throw new StateMigrationException(
                        String.format(
                                "State '%s' is in two versions in what is restored: some subtasks"
                                        + " had converted it after an upgrade of the job, others"
                                        + " had not asked for it. The spillable heap alone cannot"
                                        + " restore both in one task. Restore at the parallelism"
                                        + " that the job had, ask for the state in open(), and"
                                        + " change the parallelism after the next checkpoint; or"
                                        + " set state.changelog.enabled: true.",
                                state.name()));
            }
            table.setMetaInfo(state.register(), false);
        }
        return table;
    }

    /** Returns the queue for the timers of a snapshot; made with its serializer if new. */
    public HeapPriorityQueueSnapshotRestoreWrapper<?> addRestoredQueue(
            StateMetaInfoSnapshot snapshot) {
        return queues.computeIfAbsent(snapshot.getName(), name -> newQueue(snapshot));
    }

    @SuppressWarnings({"unchecked", "rawtypes"}) // element types are known to the serializer only
    private <T extends HeapPriorityQueueElement & PriorityComparable<? super T> & Keyed<?>>
            HeapPriorityQueueSnapshotRestoreWrapper<T> newQueue(StateMetaInfoSnapshot snapshot) {
        RegisteredPriorityQueueStateBackendMetaInfo<T> metaInfo =
                new RegisteredPriorityQueueStateBackendMetaInfo<>(snapshot);
        return new HeapPriorityQueueSnapshotRestoreWrapper<>(
                queueFactory.create(snapshot.getName(), metaInfo.getElementSerializer()),
                metaInfo,
                (KeyExtractorFunction<T>)
                        (KeyExtractorFunction) KeyExtractorFunction.forKeyedObjects(),
                currentKey.getKeyGroupRange(),
                currentKey.getNumberOfKeyGroups());
    }
}
