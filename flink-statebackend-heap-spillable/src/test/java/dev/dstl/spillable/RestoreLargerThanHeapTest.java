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

package dev.dstl.spillable;

import static org.assertj.core.api.Assertions.assertThat;

import dev.dstl.spillable.pressure.SpillArbiter;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.operators.testutils.MockEnvironment;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.StateBackend;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.apache.flink.runtime.state.hashmap.HashMapStateBackend;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Restores go by what state will take, not by collections, none of which is reported here: what the
 * heap has no room for is written to chunks at once, and nothing is moved afterwards.
 */
class RestoreLargerThanHeapTest {

    private static final int KEYS = 20_000;
    private static final KeyGroupRange RANGE = new KeyGroupRange(0, 3);

    @TempDir Path disk;

    private final MockEnvironment environment = MockEnvironment.builder().build();
    private final Gauges gauges = new Gauges();
    private final Configuration config = new Configuration();

    @BeforeEach
    void spillHere() {
        config.setString("state.backend.spillable.directories", disk.toString());
    }

    @AfterEach
    void close() throws Exception {
        environment.close();
        assertThat(disk).isEmptyDirectory();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void stateThatTheHeapHasNoRoomFor_goesToChunksDirectly_andStaysExact(boolean canonical)
            throws Exception {
        Collection<KeyedStateHandle> snapshot = snapshot(canonical);
        giveHeap(1 << 20);

        AbstractKeyedStateBackend<String> restored = restore(snapshot);

        verify(restored);
        restored.setCurrentKey("key 0");
        assertThat(gauge("spilledEntriesTotal")).as("moved after they were placed").isZero();
        assertThat(gauge("spilledEntries")).isBetween(2L * KEYS, 3L * KEYS - 1);
        restored.dispose();
    }

    @Test
    void stateThatTheHeapHasRoomFor_isRestoredAsObjects() throws Exception {
        Collection<KeyedStateHandle> snapshot = snapshot(false);
        giveHeap(1 << 30);

        AbstractKeyedStateBackend<String> restored = restore(snapshot);

        verify(restored);
        assertThat(disk).isEmptyDirectory();
        restored.dispose();
    }

    /** The heap that decisions go by. */
    private void giveHeap(long bytes) throws Exception {
        environment
                .getSharedResources()
                .getOrAllocateSharedResource(
                        TaskManagerArbiter.NAME,
                        this,
                        size -> new SpillArbiter(() -> 0, bytes, arbiter -> () -> {}),
                        0);
    }

    private AbstractKeyedStateBackend<String> restore(Collection<KeyedStateHandle> snapshot)
            throws Exception {
        return KeyedBackends.create(
                new SpillableStateBackend().configure(config, getClass().getClassLoader()),
                StringSerializer.INSTANCE,
                4,
                RANGE,
                snapshot,
                gauges,
                environment);
    }

    private static Collection<KeyedStateHandle> snapshot(boolean canonical) throws Exception {
        StateBackend heap = new HashMapStateBackend();
        AbstractKeyedStateBackend<String> backend =
                KeyedBackends.create(
                        heap, StringSerializer.INSTANCE, 4, RANGE, Collections.emptyList());
        ValueState<Long> value = value(backend);
        ListState<String> list = list(backend);
        MapState<String, Long> map = map(backend);
        for (int i = 0; i < KEYS; i++) {
            backend.setCurrentKey("key " + i);
            value.update((long) i);
            list.update(elements(i));
            map.put("first", (long) i);
            map.put("second", -(long) i);
        }
        try {
            return KeyedBackends.handles(
                    canonical
                            ? KeyedBackends.savepoint(backend, 1)
                            : KeyedBackends.checkpoint(backend, 1));
        } finally {
            backend.dispose();
        }
    }

    private static void verify(AbstractKeyedStateBackend<String> backend) throws Exception {
        assertThat(backend.numKeyValueStateEntries()).isEqualTo(3 * KEYS);
        ValueState<Long> value = value(backend);
        ListState<String> list = list(backend);
        MapState<String, Long> map = map(backend);
        for (int i = 0; i < KEYS; i++) {
            backend.setCurrentKey("key " + i);
            assertThat(value.value()).isEqualTo(i);
            assertThat(list.get()).containsExactlyElementsOf(elements(i));
            assertThat(map.entries()).hasSize(2);
            assertThat(map.get("first")).isEqualTo(i);
            assertThat(map.get("second")).isEqualTo(-i);
        }
    }

    private static List<String> elements(int key) {
        return IntStream.rangeClosed(0, key % 3)
                .mapToObj(i -> "element " + i + " of " + key)
                .collect(Collectors.toList());
    }

    private static ValueState<Long> value(AbstractKeyedStateBackend<String> backend)
            throws Exception {
        return backend.getPartitionedState(
                VoidNamespace.INSTANCE,
                VoidNamespaceSerializer.INSTANCE,
                new ValueStateDescriptor<>("value", Types.LONG));
    }

    private static ListState<String> list(AbstractKeyedStateBackend<String> backend)
            throws Exception {
        return backend.getPartitionedState(
                VoidNamespace.INSTANCE,
                VoidNamespaceSerializer.INSTANCE,
                new ListStateDescriptor<>("list", Types.STRING));
    }

    private static MapState<String, Long> map(AbstractKeyedStateBackend<String> backend)
            throws Exception {
        return backend.getPartitionedState(
                VoidNamespace.INSTANCE,
                VoidNamespaceSerializer.INSTANCE,
                new MapStateDescriptor<>("map", Types.STRING, Types.LONG));
    }

    private long gauge(String name) {
        return ((Number) gauges.value(name)).longValue();
    }
}
