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

package dev.dstl.spillable.spill;

import dev.dstl.spillable.overlay.PoolOnDisk;
import dev.dstl.spillable.overlay.SpillSpace;
import dev.dstl.spillable.table.CurrentKey;
import dev.dstl.spillable.table.StateRegistry;
import dev.dstl.spillable.table.StateTable;
import java.io.IOException;
import java.nio.file.Path;
import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.runtime.state.HeapPriorityQueuesManager;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyGroupedInternalPriorityQueue;
import org.apache.flink.runtime.state.RegisteredKeyValueStateBackendMetaInfo;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.apache.flink.runtime.state.heap.HeapPriorityQueueSetFactory;
import org.apache.flink.streaming.api.operators.TimerHeapInternalTimer;
import org.apache.flink.streaming.api.operators.TimerSerializer;

/** Tables of four key groups each, key k in group k mod 4. */
final class PlacedTables implements AutoCloseable {

    static final int GROUPS = 4;

    private static final KeyGroupRange RANGE = new KeyGroupRange(0, GROUPS - 1);

    private static final HeapPriorityQueueSetFactory QUEUES =
            new HeapPriorityQueueSetFactory(RANGE, GROUPS, 16);

    private final CurrentKey<Integer> currentKey = new CurrentKey<>(RANGE, GROUPS);
    final SpillSpace space;
    final StateRegistry<Integer> states;

    PlacedTables(Path disk, long budgetBytes) {
        space = PoolOnDisk.space(disk, budgetBytes);
        states = new StateRegistry<>(currentKey, QUEUES, space);
    }

    StateTable<Integer, VoidNamespace, String> add(String name, int entriesPerGroup) {
        return add(name, entriesPerGroup, StringSerializer.INSTANCE);
    }

    StateTable<Integer, VoidNamespace, String> add(
            String name, int entriesPerGroup, TypeSerializer<String> serializer) {
        StateTable<Integer, VoidNamespace, String> table =
                states.addTable(
                        new RegisteredKeyValueStateBackendMetaInfo<>(
                                StateDescriptor.Type.VALUE,
                                name,
                                VoidNamespaceSerializer.INSTANCE,
                                serializer),
                        IntSerializer.INSTANCE);
        for (int key = 0; key < GROUPS * entriesPerGroup; key++) {
            put(table, key, "value of " + key);
        }
        return table;
    }

    /** Makes an empty queue for timers of the tables' keys. */
    KeyGroupedInternalPriorityQueue<TimerHeapInternalTimer<Integer, VoidNamespace>> addTimers(
            String name) {
        return new HeapPriorityQueuesManager(states.queues(), QUEUES, RANGE, GROUPS)
                .createOrUpdate(
                        name,
                        new TimerSerializer<>(
                                IntSerializer.INSTANCE, VoidNamespaceSerializer.INSTANCE));
    }

    static void put(StateTable<Integer, VoidNamespace, String> table, int key, String value) {
        table.entries().put(key, key % GROUPS, VoidNamespace.INSTANCE, value);
    }

    static String get(StateTable<Integer, VoidNamespace, String> table, int key) {
        return table.entries().get(key, key % GROUPS, VoidNamespace.INSTANCE);
    }

    void remove(StateTable<Integer, VoidNamespace, String> table, int key) {
        currentKey.setCurrentKey(key);
        currentKey.setCurrentKeyGroupIndex(key % GROUPS);
        table.current().remove(VoidNamespace.INSTANCE);
    }

    @Override
    public void close() throws IOException {
        states.close();
    }
}
