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

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.dstl.spillable.KeyedBackends;
import dev.dstl.spillable.PlacedBackends;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.BackendBuildingException;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyGroupRangeOffsets;
import org.apache.flink.runtime.state.KeyGroupsStateHandle;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.StateBackend;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.apache.flink.runtime.state.changelog.SequenceNumber;
import org.apache.flink.runtime.state.changelog.inmemory.InMemoryChangelogStateHandle;
import org.apache.flink.runtime.state.hashmap.HashMapStateBackend;
import org.apache.flink.runtime.state.memory.ByteStreamStateHandle;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Snapshots in the format of Flink's heap backend: intact, damaged, truncated and foreign. */
class HeapFormatRestoreTest {

    private static final int KEY_GROUPS = 4;
    private static final KeyGroupRange RANGE = new KeyGroupRange(0, KEY_GROUPS - 1);
    private static final int KEYS = 40;

    private byte[] bytes;
    private KeyGroupRangeOffsets offsets;

    static List<StateBackend> backends() {
        return Arrays.asList(
                PlacedBackends.onHeap(),
                PlacedBackends.spilled(new Configuration()),
                PlacedBackends.random(new Configuration(), 7));
    }

    private static AbstractKeyedStateBackend<Integer> open(
            StateBackend backend, Collection<KeyedStateHandle> handles) throws Exception {
        return KeyedBackends.create(backend, IntSerializer.INSTANCE, KEY_GROUPS, RANGE, handles);
    }

    private static ValueState<String> value(AbstractKeyedStateBackend<?> backend) throws Exception {
        return backend.getPartitionedState(
                VoidNamespace.INSTANCE,
                VoidNamespaceSerializer.INSTANCE,
                new ValueStateDescriptor<>("value", Types.STRING));
    }

    private static ListState<Long> list(AbstractKeyedStateBackend<?> backend) throws Exception {
        return backend.getPartitionedState(
                VoidNamespace.INSTANCE,
                VoidNamespaceSerializer.INSTANCE,
                new ListStateDescriptor<>("list", Types.LONG));
    }

    private static MapState<String, Long> map(AbstractKeyedStateBackend<?> backend)
            throws Exception {
        return backend.getPartitionedState(
                VoidNamespace.INSTANCE,
                VoidNamespaceSerializer.INSTANCE,
                new MapStateDescriptor<>("map", Types.STRING, Types.LONG));
    }

    /** Takes a checkpoint of Flink's own heap backend. */
    @BeforeEach
    void takeCheckpoint() throws Exception {
        AbstractKeyedStateBackend<Integer> backend =
                open(new HashMapStateBackend(), Collections.emptyList());
        ValueState<String> value = value(backend);
        ListState<Long> list = list(backend);
        MapState<String, Long> map = map(backend);
        for (int key = 0; key < KEYS; key++) {
            backend.setCurrentKey(key);
            value.update("value of " + key);
            for (long i = 0; i < key % 5; i++) {
                list.add(i);
                map.put("user key " + i, i);
            }
        }
        KeyGroupsStateHandle handle =
                (KeyGroupsStateHandle)
                        KeyedBackends.handles(KeyedBackends.checkpoint(backend, 1))
                                .iterator()
                                .next();
        offsets = handle.getGroupRangeOffsets();
        try (FSDataInputStream in = handle.openInputStream()) {
            bytes = in.readAllBytes();
        }
        backend.dispose();
    }

    private Collection<KeyedStateHandle> handle(byte[] content) {
        return Collections.singletonList(
                new KeyGroupsStateHandle(offsets, new ByteStreamStateHandle("a file", content)));
    }

    private static void verify(AbstractKeyedStateBackend<Integer> backend) throws Exception {
        ValueState<String> value = value(backend);
        ListState<Long> list = list(backend);
        MapState<String, Long> map = map(backend);
        for (int key = 0; key < KEYS; key++) {
            backend.setCurrentKey(key);
            assertThat(value.value()).isEqualTo("value of " + key);
            List<Long> expected =
                    Stream.iterate(0L, i -> i + 1).limit(key % 5).collect(Collectors.toList());
            assertThat(list.get()).isEqualTo(expected.isEmpty() ? null : expected);
            assertThat(map.values()).containsExactlyInAnyOrderElementsOf(expected);
        }
    }

    private static Throwable failure(StateBackend backend, Collection<KeyedStateHandle> handles) {
        try {
            open(backend, handles).dispose();
        } catch (Throwable e) {
            assertThat(e).isInstanceOf(BackendBuildingException.class);
            assertThat(e).hasMessage("Failed to restore the spillable backend");
            return e.getCause();
        }
        return null;
    }

    @ParameterizedTest
    @MethodSource("backends")
    void aCheckpointOfFlinksHeapBackend_isRestored(StateBackend stateBackend) throws Exception {
        AbstractKeyedStateBackend<Integer> backend = open(stateBackend, handle(bytes));
        verify(backend);
        assertThat(backend.numKeyValueStateEntries()).isEqualTo(KEYS + 2 * (KEYS * 4 / 5));
        backend.dispose();
    }

    @ParameterizedTest
    @MethodSource("backends")
    void aFileThatEndsTooEarly_isNeverTakenForWhole(StateBackend stateBackend) {
        for (int length = 0; length < bytes.length; length += length < 64 ? 1 : 13) {
            assertThat(failure(stateBackend, handle(Arrays.copyOf(bytes, length))))
                    .as("with %d of %d bytes", length, bytes.length)
                    .isNotNull();
        }
        assertThat(failure(stateBackend, handle(Arrays.copyOf(bytes, bytes.length - 1))))
                .isInstanceOf(IOException.class);
    }

    @Test
    void anotherKeyGroupThanTheHandleSays_isNamedWithItsOffset() {
        long offset = offsets.getKeyGroupOffset(2);
        byte[] damaged = bytes.clone();
        ByteBuffer.wrap(damaged).putInt((int) offset, 99);

        assertThat(failure(PlacedBackends.onHeap(), handle(damaged)))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("a file")
                .hasMessageContaining(
                        "is corrupt: expected key group 2 at offset " + offset + ", found 99.");
    }

    @Test
    void aStateThatTheHeaderDoesNotList_isNamedWithItsKeyGroup() {
        long offset = offsets.getKeyGroupOffset(1);
        for (short id : new short[] {3, -1, Short.MAX_VALUE}) {
            byte[] damaged = bytes.clone();
            ByteBuffer.wrap(damaged).putShort((int) offset + Integer.BYTES, id);

            assertThat(failure(PlacedBackends.onHeap(), handle(damaged)))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining(
                            "is corrupt: key group 1 at offset "
                                    + offset
                                    + " names state "
                                    + id
                                    + ", the header lists 3 states.");
        }
    }

    @Test
    void aHandleOfAnotherBackend_isRefusedWithTheWayToMove() {
        KeyedStateHandle foreign =
                new InMemoryChangelogStateHandle(
                        Collections.emptyList(), SequenceNumber.of(0), SequenceNumber.of(1), RANGE);

        assertThat(failure(PlacedBackends.onHeap(), Collections.singletonList(foreign)))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("cannot read a " + foreign.getClass().getName())
                .hasMessageContaining("take a canonical savepoint to move the job here");
    }

    @Test
    void aKeyTypeThatChanged_isRefusedWithBoth() throws Exception {
        assertThatThrownBy(
                        () ->
                                KeyedBackends.create(
                                        PlacedBackends.onHeap(),
                                        LongSerializer.INSTANCE,
                                        KEY_GROUPS,
                                        RANGE,
                                        handle(bytes)))
                .isInstanceOf(BackendBuildingException.class)
                .cause()
                .hasMessageContaining("LongSerializer")
                .hasMessageContaining("IntSerializer")
                .hasMessageContaining("keys cannot be migrated. Keep the key type.");
    }

    @Test
    void aTask_takesItsOwnKeyGroupsOnly() throws Exception {
        AbstractKeyedStateBackend<Integer> half =
                KeyedBackends.create(
                        PlacedBackends.spilled(new Configuration()),
                        IntSerializer.INSTANCE,
                        KEY_GROUPS,
                        new KeyGroupRange(2, 3),
                        handle(bytes));
        long keys = half.getKeys("value", VoidNamespace.INSTANCE).count();
        half.dispose();
        AbstractKeyedStateBackend<Integer> otherHalf =
                KeyedBackends.create(
                        PlacedBackends.onHeap(),
                        IntSerializer.INSTANCE,
                        KEY_GROUPS,
                        new KeyGroupRange(0, 1),
                        handle(bytes));
        keys += otherHalf.getKeys("value", VoidNamespace.INSTANCE).count();
        otherHalf.dispose();

        assertThat(keys).isEqualTo(KEYS);
    }

    @Test
    void aHandleThatIsNull_isEmpty() throws Exception {
        AbstractKeyedStateBackend<Integer> backend =
                open(PlacedBackends.onHeap(), Arrays.asList(null, handle(bytes).iterator().next()));
        verify(backend);
        backend.dispose();
    }
}
