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

import static org.assertj.core.api.Assertions.assertThat;

import dev.dstl.spillable.overlay.PoolOnDisk;
import dev.dstl.spillable.overlay.SpillSpace;
import java.io.IOException;
import java.nio.file.Path;
import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.RegisteredKeyValueStateBackendMetaInfo;
import org.apache.flink.runtime.state.RegisteredPriorityQueueStateBackendMetaInfo;
import org.apache.flink.runtime.state.heap.HeapPriorityQueueSetFactory;
import org.apache.flink.runtime.state.metainfo.StateMetaInfoSnapshot;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StateRegistryTest {

    private static final KeyGroupRange RANGE = new KeyGroupRange(0, 3);

    @TempDir Path disk;
    private SpillSpace space;
    private StateRegistry<Integer> states;

    @BeforeEach
    void open() {
        space = PoolOnDisk.space(disk, 1 << 20);
        states =
                new StateRegistry<>(
                        new CurrentKey<>(RANGE, 4),
                        new HeapPriorityQueueSetFactory(RANGE, 4, 16),
                        space);
    }

    private static RegisteredKeyValueStateBackendMetaInfo<Long, String> value(String name) {
        return new RegisteredKeyValueStateBackendMetaInfo<>(
                StateDescriptor.Type.VALUE,
                name,
                LongSerializer.INSTANCE,
                StringSerializer.INSTANCE);
    }

    @Test
    void tables_areFoundByNameAndKeepTheirOrder() {
        StateTable<Integer, Long, String> second =
                states.addTable(value("second"), IntSerializer.INSTANCE);
        StateTable<Integer, Long, String> first =
                states.addTable(value("first"), IntSerializer.INSTANCE);

        assertThat(states.<Long, String>table("first")).isSameAs(first);
        assertThat(states.<Long, String>table("missing")).isNull();
        assertThat(states.tables()).hasSize(2);
        assertThat(states.tables().iterator().next()).isSameAs(second);
    }

    @Test
    void aRestoredState_isMadeOnce() {
        WrittenState<Integer, Long, String> written =
                new WrittenState<>(value("state").snapshot(), IntSerializer.INSTANCE);
        states.addRestored(written, IntSerializer.INSTANCE);
        StateTable<Integer, Long, String> table = states.table("state");
        states.addRestored(written, IntSerializer.INSTANCE);

        assertThat(table).isNotNull();
        assertThat(states.<Long, String>table("state")).isSameAs(table);
        assertThat(table.metaInfo().getStateType()).isEqualTo(StateDescriptor.Type.VALUE);
    }

    @Test
    void aRestoredQueue_isMadeOnce() {
        StateMetaInfoSnapshot snapshot =
                new RegisteredPriorityQueueStateBackendMetaInfo<>(
                                "timers", StringSerializer.INSTANCE)
                        .snapshot();
        states.addRestoredQueue(snapshot);
        Object queue = states.queues().get("timers");
        states.addRestoredQueue(snapshot);

        assertThat(queue).isNotNull();
        assertThat(states.queues().get("timers")).isSameAs(queue);
        assertThat(states.tables()).isEmpty();
    }

    @Test
    void close_givesSpilledStateAndDirectoriesBack() throws IOException {
        StateTable<Integer, Long, String> table =
                states.addTable(value("state"), IntSerializer.INSTANCE);
        for (int key = 0; key < 100; key++) {
            table.entries().put(key, key % 4, 0L, "state " + key);
        }
        for (int position = 0; position < 4; position++) {
            table.placement().startSpill(position);
            table.placement().spill(position, Integer.MAX_VALUE);
        }
        assertThat(disk).isNotEmptyDirectory();

        states.close();

        assertThat(disk).isEmptyDirectory();
        assertThat(space.pool()).isNull();
    }
}
