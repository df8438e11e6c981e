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

import static java.util.stream.Collectors.toList;
import static org.assertj.core.api.Assertions.assertThat;

import dev.dstl.spillable.pressure.SpillArbiter;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
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
    private static final int LARGE_MAPS = 40;
    private static final int USER_ENTRIES = 1000;
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

    @ParameterizedTest
    @EnumSource
    void mapsOfManyUserEntries_countByTheirUserEntries(Format format) throws Exception {
        Collection<KeyedStateHandle> snapshot =
                snapshot(format, backend -> fillMaps(backend, LARGE_MAPS, USER_ENTRIES));
        giveHeap(LARGE_MAPS * USER_ENTRIES * 60L);

        AbstractKeyedStateBackend<String> restored = restore(snapshot);

        restored.setCurrentKey("key 0");
        long onHeap = gauge("heapEntries");
        assertThat(onHeap).as("maps on the heap").isBetween(1L, LARGE_MAPS / 2L);
        assertThat(gauge("heapStateBytesEstimate"))
                .isBetween(onHeap * USER_ENTRIES * 60, (onHeap + 2) * USER_ENTRIES * 200);
        verifyMaps(restored, LARGE_MAPS, USER_ENTRIES);
        restored.dispose();
    }

    @ParameterizedTest
    @EnumSource
    void aMapThatIsLargerThanTheHeap_isRestoredUserEntryByUserEntry(Format format)
            throws Exception {
        Collection<KeyedStateHandle> snapshot =
                snapshot(format, backend -> fillMaps(backend, 1, 50_000));
        giveHeap(1 << 20);

        AbstractKeyedStateBackend<String> restored = restore(snapshot);

        restored.setCurrentKey("key 0");
        assertThat(gauge("heapEntries")).isZero();
        assertThat(gauge("spilledEntries")).isOne();
        assertThat(gauge("heapStateBytesEstimate")).isLessThan(1 << 20);
        verifyMaps(restored, 1, 50_000);
        restored.dispose();
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "CANONICAL")
    void aListThatIsLargerThanTheHeap_isRestoredElementByElement(Format format) throws Exception {
        List<String> elements =
                IntStream.range(0, 50_000).mapToObj(i -> "element " + i).collect(toList());
        Collection<KeyedStateHandle> snapshot =
                snapshot(
                        format,
                        backend -> {
                            ListState<String> list = NamedStates.list(backend);
                            backend.setCurrentKey("key 0");
                            list.addAll(elements);
                        });
        giveHeap(1 << 20);

        AbstractKeyedStateBackend<String> restored = restore(snapshot);

        restored.setCurrentKey("key 0");
        assertThat(gauge("heapEntries")).isZero();
        assertThat(NamedStates.list(restored).get()).containsExactlyElementsOf(elements);
        restored.dispose();
    }

    private static void fillMaps(AbstractKeyedStateBackend<String> backend, int maps, int size)
            throws Exception {
        MapState<String, Long> map = NamedStates.map(backend);
        for (int i = 0; i < maps; i++) {
            backend.setCurrentKey("key " + i);
            for (long j = 0; j < size; j++) {
                map.put("user key " + j, i + j);
            }
        }
    }

    private static void verifyMaps(AbstractKeyedStateBackend<String> backend, int maps, int size)
            throws Exception {
        MapState<String, Long> map = NamedStates.map(backend);
        for (int i = 0; i < maps; i++) {
            backend.setCurrentKey("key " + i);
            int found = 0;
            for (Map.Entry<String, Long> entry : map.entries()) {
                assertThat(entry.getKey()).isEqualTo("user key " + (entry.getValue() - i));
                found++;
            }
            assertThat(found).isEqualTo(size);
            assertThat(map.get("user key " + (size - 1))).isEqualTo(i + size - 1L);
        }
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

    /** Gives a backend its state. */
    private interface Filling {
        void fill(AbstractKeyedStateBackend<String> backend) throws Exception;
    }

    private static Collection<KeyedStateHandle> snapshot(Format format) throws Exception {
        return snapshot(format, RestoreLargerThanHeapTest::fill);
    }

    private static Collection<KeyedStateHandle> snapshot(Format format, Filling filling)
            throws Exception {
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
        filling.fill(backend);
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

    private static void fill(AbstractKeyedStateBackend<String> backend) throws Exception {
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
