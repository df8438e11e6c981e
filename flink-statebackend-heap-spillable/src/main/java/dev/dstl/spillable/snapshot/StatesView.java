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

import dev.dstl.spillable.table.StateRegistry;
import dev.dstl.spillable.table.StateTable;
import dev.dstl.spillable.table.TableView;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.runtime.state.FullSnapshotResources;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyValueStateIterator;
import org.apache.flink.runtime.state.StreamCompressionDecorator;
import org.apache.flink.runtime.state.heap.HeapPriorityQueueSnapshotRestoreWrapper;
import org.apache.flink.runtime.state.heap.HeapPriorityQueueStateSnapshot;
import org.apache.flink.runtime.state.metainfo.StateMetaInfoSnapshot;

/**
 * All states and timers of a backend at one moment. Opened on the task thread, read by the thread
 * that writes the snapshot. A state's id in the snapshot is its position: tables first, then timer
 * queues.
 */
public final class StatesView<K> implements FullSnapshotResources<K> {

    private final KeyGroupRange keyGroupRange;
    private final int numberOfKeyGroups;
    private final TypeSerializer<K> keySerializer;
    private final StreamCompressionDecorator compression;
    private final List<StateMetaInfoSnapshot> metaInfos = new ArrayList<>();
    private final List<TableView<K, ?, ?>> tables = new ArrayList<>();
    private final List<HeapPriorityQueueStateSnapshot<?>> queues = new ArrayList<>();

    /**
     * Opens the view, which {@link #release()} closes.
     *
     * @param keySerializer of the thread that writes the snapshot
     * @throws IllegalStateException if there are more states than a snapshot can hold
     */
    public StatesView(
            StateRegistry<K> states,
            KeyGroupRange keyGroupRange,
            int numberOfKeyGroups,
            TypeSerializer<K> keySerializer,
            StreamCompressionDecorator compression) {
        int stateCount = states.tables().size() + states.queues().size();
        if (stateCount > Short.MAX_VALUE) {
            throw new IllegalStateException(
                    String.format(
                            "The operator has %d states, a snapshot can hold at most %d; use fewer"
                                    + " state descriptors, for example one map state.",
                            stateCount, Short.MAX_VALUE));
        }
        this.keyGroupRange = keyGroupRange;
        this.numberOfKeyGroups = numberOfKeyGroups;
        this.keySerializer = keySerializer;
        this.compression = compression;
        try {
            open(states);
        } catch (RuntimeException | Error e) {
            release();
            throw e;
        }
    }

    private void open(StateRegistry<K> states) {
        for (StateTable<K, ?, ?> table : states.tables()) {
            TableView<K, ?, ?> view = table.view();
            tables.add(view);
            metaInfos.add(view.metaInfoSnapshot());
        }
        for (HeapPriorityQueueSnapshotRestoreWrapper<?> queue : states.queues().values()) {
            HeapPriorityQueueStateSnapshot<?> snapshot = queue.stateSnapshot();
            queues.add(snapshot);
            metaInfos.add(snapshot.getMetaInfoSnapshot());
        }
    }

    /** Whether anything is spilled. */
    public boolean hasSpilled() {
        for (TableView<K, ?, ?> table : tables) {
            for (int keyGroup : keyGroupRange) {
                if (table.spilled(keyGroup) != null) {
                    return true;
                }
            }
        }
        return false;
    }

    /** The tables, in the order of their ids in the snapshot. */
    public List<TableView<K, ?, ?>> tables() {
        return tables;
    }

    List<HeapPriorityQueueStateSnapshot<?>> queues() {
        return queues;
    }

    int numberOfKeyGroups() {
        return numberOfKeyGroups;
    }

    @Override
    public List<StateMetaInfoSnapshot> getMetaInfoSnapshots() {
        return metaInfos;
    }

    @Override
    public KeyValueStateIterator createKVStateIterator() throws IOException {
        return new CanonicalIterator<>(this);
    }

    @Override
    public KeyGroupRange getKeyGroupRange() {
        return keyGroupRange;
    }

    @Override
    public TypeSerializer<K> getKeySerializer() {
        return keySerializer;
    }

    @Override
    public StreamCompressionDecorator getStreamCompressionDecorator() {
        return compression;
    }

    @Override
    public void release() {
        tables.forEach(TableView::close);
        queues.forEach(HeapPriorityQueueStateSnapshot::release);
    }
}
