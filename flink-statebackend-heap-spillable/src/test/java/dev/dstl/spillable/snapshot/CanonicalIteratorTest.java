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

import dev.dstl.spillable.overlay.PoolOnDisk;
import dev.dstl.spillable.table.CurrentKey;
import dev.dstl.spillable.table.StateRegistry;
import dev.dstl.spillable.table.StateTable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.common.typeutils.base.ListSerializer;
import org.apache.flink.api.common.typeutils.base.MapSerializer;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.apache.flink.runtime.state.KeyValueStateIterator;
import org.apache.flink.runtime.state.RegisteredKeyValueStateBackendMetaInfo;
import org.apache.flink.runtime.state.UncompressedStreamCompressionDecorator;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.apache.flink.runtime.state.heap.HeapPriorityQueueSetFactory;
import org.apache.flink.runtime.testutils.statemigration.TestType;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The order and the marks by which Flink writes a canonical savepoint. */
class CanonicalIteratorTest {

    private static final KeyGroupRange RANGE = new KeyGroupRange(2, 6);
    private static final int KEY_GROUPS = 8;

    @TempDir Path disk;
    private StateRegistry<Integer> states;

    @BeforeEach
    void open() {
        states =
                new StateRegistry<>(
                        new CurrentKey<>(RANGE, KEY_GROUPS),
                        new HeapPriorityQueueSetFactory(RANGE, KEY_GROUPS, 16),
                        PoolOnDisk.space(disk, 1 << 20));
    }

    @AfterEach
    void close() throws IOException {
        states.close();
    }

    private <S> StateTable<Integer, VoidNamespace, S> add(
            String name, StateDescriptor.Type type, TypeSerializer<S> serializer) {
        return states.addTable(
                new RegisteredKeyValueStateBackendMetaInfo<>(
                        type, name, VoidNamespaceSerializer.INSTANCE, serializer),
                IntSerializer.INSTANCE);
    }

    private static List<Integer> keys() {
        List<Integer> keys = new ArrayList<>();
        for (int key = 0; key < 100; key++) {
            if (RANGE.contains(keyGroup(key))) {
                keys.add(key);
            }
        }
        return keys;
    }

    private static int keyGroup(int key) {
        return KeyGroupRangeAssignment.assignToKeyGroup(key, KEY_GROUPS);
    }

    private static <S> void put(StateTable<Integer, VoidNamespace, S> table, int key, S state) {
        table.entries().put(key, keyGroup(key), VoidNamespace.INSTANCE, state);
    }

    private StatesView<Integer> view() {
        return new StatesView<>(
                states,
                RANGE,
                KEY_GROUPS,
                IntSerializer.INSTANCE,
                UncompressedStreamCompressionDecorator.INSTANCE);
    }

    private static void spill(StateTable<Integer, VoidNamespace, ?> table) throws IOException {
        for (int position = 0; position < table.placement().groupCount(); position++) {
            table.placement().startSpill(position);
            table.placement().spill(position, position % 2 == 0 ? Integer.MAX_VALUE : 3);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void pairs_comeByKeyGroupThenState_withAMarkAtEachChange(boolean spilled) throws IOException {
        StateTable<Integer, VoidNamespace, String> first =
                add("first", StateDescriptor.Type.VALUE, StringSerializer.INSTANCE);
        StateTable<Integer, VoidNamespace, String> second =
                add("second", StateDescriptor.Type.VALUE, StringSerializer.INSTANCE);
        for (int key : keys()) {
            put(first, key, "first " + key);
            put(second, key, "second " + key);
        }
        if (spilled) {
            spill(first);
            spill(second);
        }
        StatesView<Integer> view = view();
        KeyValueStateIterator pairs = view.createKVStateIterator();
        Set<String> met = new HashSet<>();
        int lastGroup = -1;
        int lastState = -1;
        while (pairs.isValid()) {
            assertThat(pairs.isNewKeyGroup()).isEqualTo(pairs.keyGroup() != lastGroup);
            assertThat(pairs.isNewKeyValueState())
                    .isEqualTo(pairs.kvStateId() != lastState || pairs.keyGroup() != lastGroup);
            assertThat(pairs.keyGroup()).isGreaterThanOrEqualTo(lastGroup);
            assertThat(RANGE.contains(pairs.keyGroup())).isTrue();
            assertThat(pairs.key()[0]).as("prefix").isEqualTo((byte) pairs.keyGroup());
            assertThat(met.add(pairs.kvStateId() + Arrays.toString(pairs.key()))).isTrue();
            lastGroup = pairs.keyGroup();
            lastState = pairs.kvStateId();
            pairs.next();
        }
        view.release();
        view.release();

        assertThat(met).hasSize(2 * keys().size());
    }

    @Test
    void aMap_isAPairPerUserKey_andEmptyOnesHaveNone() throws IOException {
        StateTable<Integer, VoidNamespace, Map<String, Integer>> maps =
                add(
                        "map",
                        StateDescriptor.Type.MAP,
                        new MapSerializer<>(StringSerializer.INSTANCE, IntSerializer.INSTANCE));
        StateTable<Integer, VoidNamespace, List<String>> lists =
                add(
                        "list",
                        StateDescriptor.Type.LIST,
                        new ListSerializer<>(StringSerializer.INSTANCE));
        int pairsExpected = 0;
        for (int key : keys()) {
            Map<String, Integer> map = new HashMap<>();
            for (int i = 0; i < key % 4; i++) {
                map.put("user key " + i, i == 2 ? null : i);
            }
            put(maps, key, map);
            put(lists, key, new ArrayList<>(Collections.nCopies(key % 3, "element")));
            pairsExpected += key % 4 + (key % 3 == 0 ? 0 : 1);
        }
        spill(maps);
        StatesView<Integer> view = view();
        KeyValueStateIterator pairs = view.createKVStateIterator();
        int met = 0;
        for (; pairs.isValid(); pairs.next()) {
            met++;
        }
        view.release();

        assertThat(met).isEqualTo(pairsExpected);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aStateThatIsRegisteredAnewMeanwhile_isWrittenInTheFormatThatTheHeaderNames(boolean spilled)
            throws Exception {
        TypeSerializer<TestType> restored = new TestType.V1TestTypeSerializer();
        StateTable<Integer, VoidNamespace, TestType> table =
                states.addTable(
                        new RegisteredKeyValueStateBackendMetaInfo<>(
                                new RegisteredKeyValueStateBackendMetaInfo<>(
                                                StateDescriptor.Type.VALUE,
                                                "state",
                                                VoidNamespaceSerializer.INSTANCE,
                                                restored)
                                        .snapshot()),
                        IntSerializer.INSTANCE);
        for (int key : keys()) {
            put(table, key, new TestType("a state", key));
        }
        if (spilled) {
            spill(table);
        }
        StatesView<Integer> view = view();
        KeyValueStateIterator pairs = view.createKVStateIterator();
        assertThat(
                        table.metaInfo()
                                .updateStateSerializer(new TestType.V2TestTypeSerializer())
                                .isCompatibleAfterMigration())
                .isTrue();
        Set<Integer> met = new HashSet<>();
        for (; pairs.isValid(); pairs.next()) {
            TestType read = restored.deserialize(new DataInputDeserializer(pairs.value()));
            assertThat(read.getKey()).isEqualTo("a state");
            met.add(read.getValue());
        }
        view.release();

        assertThat(met).containsExactlyInAnyOrderElementsOf(keys());
    }

    @Test
    void withoutStateOrEntries_nothingIsValid() throws IOException {
        StatesView<Integer> none = view();
        assertThat(none.createKVStateIterator().isValid()).isFalse();
        none.release();

        add("empty", StateDescriptor.Type.VALUE, StringSerializer.INSTANCE);
        StatesView<Integer> empty = view();
        KeyValueStateIterator pairs = empty.createKVStateIterator();
        assertThat(pairs.isValid()).isFalse();
        assertThat(empty.getMetaInfoSnapshots()).hasSize(1);
        empty.release();
    }

    @Test
    void aView_isOfTheMomentItWasOpened() throws IOException {
        StateTable<Integer, VoidNamespace, String> table =
                add("state", StateDescriptor.Type.VALUE, StringSerializer.INSTANCE);
        for (int key : keys()) {
            put(table, key, "then");
        }
        spill(table);
        StatesView<Integer> view = view();
        for (int key : keys()) {
            put(table, key, "now, and longer");
        }
        KeyValueStateIterator pairs = view.createKVStateIterator();
        int valueBytes = pairs.value().length;
        for (; pairs.isValid(); pairs.next()) {
            assertThat(pairs.value()).hasSize(valueBytes);
        }
        view.release();

        assertThat(valueBytes).as("of 'then'").isEqualTo(5);
    }

    @Test
    void moreStatesThanASnapshotCanHold_areRefusedWithBothNumbers() {
        for (int i = 0; i <= Short.MAX_VALUE; i++) {
            states.queues().put("queue " + i, null);
        }

        assertThatThrownBy(this::view)
                .isInstanceOf(IllegalStateException.class)
                .hasMessage(
                        "The operator has 32768 states, a snapshot can hold at most 32767; use"
                                + " fewer state descriptors, for example one map state.");
        states.queues().clear();
    }
}
