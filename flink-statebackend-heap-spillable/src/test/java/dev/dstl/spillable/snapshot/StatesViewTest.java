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

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.dstl.spillable.FakeStringSerializer;
import dev.dstl.spillable.overlay.PoolOnDisk;
import dev.dstl.spillable.table.CurrentKey;
import dev.dstl.spillable.table.StateRegistry;
import dev.dstl.spillable.table.StateTable;
import java.io.IOException;
import java.nio.file.Path;
import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.RegisteredKeyValueStateBackendMetaInfo;
import org.apache.flink.runtime.state.UncompressedStreamCompressionDecorator;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.apache.flink.runtime.state.heap.HeapPriorityQueueSetFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StatesViewTest {

    private static final KeyGroupRange RANGE = new KeyGroupRange(0, 3);

    @TempDir Path disk;

    @Test
    void aSnapshotThatCannotBePrepared_holdsNothing() throws IOException {
        StateRegistry<Integer> states =
                new StateRegistry<>(
                        new CurrentKey<>(RANGE, 4),
                        new HeapPriorityQueueSetFactory(RANGE, 4, 16),
                        PoolOnDisk.space(disk, 1 << 20));
        spill(add(states, "good", StringSerializer.INSTANCE));
        spill(add(states, "bad", new WithoutSnapshot()));

        assertThatThrownBy(
                        () ->
                                new StatesView<>(
                                        states,
                                        RANGE,
                                        4,
                                        IntSerializer.INSTANCE,
                                        UncompressedStreamCompressionDecorator.INSTANCE))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("no snapshot");
        states.close();

        assertThat(disk).as("files that nobody needs any more").isEmptyDirectory();
    }

    private static StateTable<Integer, VoidNamespace, String> add(
            StateRegistry<Integer> states, String name, TypeSerializer<String> serializer) {
        return states.addTable(
                new RegisteredKeyValueStateBackendMetaInfo<>(
                        StateDescriptor.Type.VALUE,
                        name,
                        VoidNamespaceSerializer.INSTANCE,
                        serializer),
                IntSerializer.INSTANCE);
    }

    private static void spill(StateTable<Integer, VoidNamespace, String> table) throws IOException {
        for (int keyGroup = 0; keyGroup < RANGE.getNumberOfKeyGroups(); keyGroup++) {
            table.placement().startSpill(keyGroup);
            table.entries().put(keyGroup, keyGroup, VoidNamespace.INSTANCE, "state");
        }
    }

    /** A serializer of a user's, of which no snapshot can be taken. */
    private static final class WithoutSnapshot extends FakeStringSerializer {

        private static final long serialVersionUID = 1L;

        @Override
        public TypeSerializerSnapshot<String> snapshotConfiguration() {
            throw new IllegalStateException("no snapshot");
        }
    }
}
