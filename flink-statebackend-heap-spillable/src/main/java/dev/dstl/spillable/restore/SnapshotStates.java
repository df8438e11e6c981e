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

package dev.dstl.spillable.restore;

import dev.dstl.spillable.table.StateRegistry;
import dev.dstl.spillable.table.WrittenState;
import java.io.IOException;
import java.util.List;
import javax.annotation.Nullable;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.runtime.state.RegisteredPriorityQueueStateBackendMetaInfo;
import org.apache.flink.runtime.state.heap.HeapPriorityQueueElement;
import org.apache.flink.runtime.state.heap.HeapPriorityQueueSnapshotRestoreWrapper;
import org.apache.flink.runtime.state.metainfo.StateMetaInfoSnapshot;

/**
 * The states and timer queues of one handle, by the numbers that its entries name, each with what
 * reads it. Task thread only.
 */
public final class SnapshotStates<K> {

    private final WrittenState<K, ?, ?>[] states;
    private final RegisteredPriorityQueueStateBackendMetaInfo<?>[] timers;
    private final HeapPriorityQueueSnapshotRestoreWrapper<?>[] queues;

    /**
     * Makes sure that all of them are registered.
     *
     * @param keySerializer reads the keys
     * @param current the job's serializer of keys
     * @throws IllegalStateException if one is neither keyed state nor a timer queue
     */
    @SuppressWarnings({"unchecked", "rawtypes"}) // an array of a generic type
    SnapshotStates(
            StateRegistry<K> registry,
            List<StateMetaInfoSnapshot> snapshots,
            TypeSerializer<K> keySerializer,
            TypeSerializer<K> current) {
        this.states = new WrittenState[snapshots.size()];
        this.timers = new RegisteredPriorityQueueStateBackendMetaInfo<?>[snapshots.size()];
        this.queues = new HeapPriorityQueueSnapshotRestoreWrapper<?>[snapshots.size()];
        for (int i = 0; i < states.length; i++) {
            StateMetaInfoSnapshot snapshot = snapshots.get(i);
            switch (snapshot.getBackendStateType()) {
                case KEY_VALUE:
                    states[i] = new WrittenState<>(snapshot, keySerializer);
                    registry.addRestored(states[i], current);
                    break;
                case PRIORITY_QUEUE:
                    timers[i] = new RegisteredPriorityQueueStateBackendMetaInfo(snapshot);
                    queues[i] = registry.addRestoredQueue(snapshot);
                    break;
                default:
                    throw new IllegalStateException(
                            String.format(
                                    "State '%s' of the snapshot is of type %s; a keyed backend"
                                            + " restores only keyed state and timers.",
                                    snapshot.getName(), snapshot.getBackendStateType()));
            }
        }
    }

    int count() {
        return states.length;
    }

    /** A state, or null for a queue. */
    @Nullable
    WrittenState<K, ?, ?> state(int number) {
        return states[number];
    }

    /** The state of that name, or null. */
    @Nullable
    public WrittenState<K, ?, ?> state(String name) {
        for (WrittenState<K, ?, ?> state : states) {
            if (state != null && state.name().equals(name)) {
                return state;
            }
        }
        return null;
    }

    /**
     * Reads a timer into its queue.
     *
     * @param number of a queue
     * @throws IOException if it cannot be read
     */
    @SuppressWarnings("unchecked") // elements of a queue have the type of its serializer
    void readTimer(int number, DataInputView in) throws IOException {
        ((HeapPriorityQueueSnapshotRestoreWrapper<HeapPriorityQueueElement>) queues[number])
                .getPriorityQueue()
                .add(
                        (HeapPriorityQueueElement)
                                timers[number].getElementSerializer().deserialize(in));
    }
}
