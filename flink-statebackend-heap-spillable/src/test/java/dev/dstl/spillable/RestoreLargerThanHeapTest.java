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
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.metrics.groups.UnregisteredMetricsGroup;
import org.apache.flink.runtime.operators.testutils.MockEnvironment;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.hashmap.HashMapStateBackend;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Restores go by what state will take, not by collections, none of which is reported here: what the
 * heap has no room for is written to chunks at once, and nothing is moved afterwards.
 */
class RestoreLargerThanHeapTest {

    private static final int KEYS = 20_000;
    private static final KeyGroupRange RANGE = new KeyGroupRange(0, 3);

    private enum Format {
        HEAP,
        COMPRESSED,
        CANONICAL
    }

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
    @EnumSource
    void stateThatTheHeapHasNoRoomFor_goesToChunksDirectly_andStaysExact(Format format)
            throws Exception {
        Collection<KeyedStateHandle> snapshot = snapshot(format);
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
        Collection<KeyedStateHandle> snapshot = snapshot(Format.HEAP);
        giveHeap(1 << 30);

        AbstractKeyedStateBackend<String> restored = restore(snapshot);

        verify(restored);
        assertThat(disk).isEmptyDirectory();
        restored.dispose();
    }

    /** Sets the heap size on which decisions are based. */
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

    private static Collection<KeyedStateHandle> snapshot(Format format) throws Exception {
        MockEnvironment writer = MockEnvironment.builder().build();
        writer.getExecutionConfig().setUseSnapshotCompression(format == Format.COMPRESSED);
        AbstractKeyedStateBackend<String> backend =
                KeyedBackends.create(
                        new HashMapStateBackend(),
                        StringSerializer.INSTANCE,
                        4,
                        RANGE,
                        Collections.emptyList(),
                        new UnregisteredMetricsGroup(),
                        writer);
        ValueState<Long> value = NamedStates.value(backend);
        ListState<String> list = NamedStates.list(backend);
        MapState<String, Long> map = NamedStates.map(backend);
        for (int i = 0; i < KEYS; i++) {
            backend.setCurrentKey("key " + i);
            value.update((long) i);
            list.update(elements(i));
            map.put("first", (long) i);
            map.put("second", -(long) i);
        }
        try {
            return KeyedBackends.handles(
                    format == Format.CANONICAL
                            ? KeyedBackends.savepoint(backend, 1)
                            : KeyedBackends.checkpoint(backend, 1));
        } finally {
            backend.dispose();
            writer.close();
        }
    }

    private static void verify(AbstractKeyedStateBackend<String> backend) throws Exception {
        assertThat(backend.numKeyValueStateEntries()).isEqualTo(3 * KEYS);
        ValueState<Long> value = NamedStates.value(backend);
        ListState<String> list = NamedStates.list(backend);
        MapState<String, Long> map = NamedStates.map(backend);
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

    private long gauge(String name) {
        return ((Number) gauges.value(name)).longValue();
    }
}
