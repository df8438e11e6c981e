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

import dev.dstl.spillable.KeyedBackends;
import dev.dstl.spillable.PlacedBackends;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.BackendBuildingException;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.apache.flink.runtime.state.KeyGroupedInternalPriorityQueue;
import org.apache.flink.runtime.state.KeyGroupsSavepointStateHandle;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.StateBackend;
import org.apache.flink.runtime.state.hashmap.HashMapStateBackend;
import org.apache.flink.runtime.state.internal.InternalListState;
import org.apache.flink.runtime.state.internal.InternalMapState;
import org.apache.flink.runtime.state.internal.InternalValueState;
import org.apache.flink.runtime.state.memory.ByteStreamStateHandle;
import org.apache.flink.streaming.api.operators.TimerHeapInternalTimer;
import org.apache.flink.streaming.api.operators.TimerSerializer;
import org.apache.flink.util.CloseableIterator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Canonical savepoints: all kinds of state with namespaces and timers, rescaled, and truncated. */
class CanonicalRestoreTest {

    private static final int KEY_GROUPS = 8;
    private static final int KEYS = 30;

    /** One backend with every kind of state under keys and namespaces of any length. */
    private static final class Subtask implements AutoCloseable {
        final KeyGroupRange range;
        final AbstractKeyedStateBackend<String> backend;
        final InternalValueState<String, String, Long> value;
        final InternalListState<String, String, String> list;
        final InternalMapState<String, String, String, Long> map;
        final KeyGroupedInternalPriorityQueue<TimerHeapInternalTimer<String, String>> timers;

        Subtask(StateBackend stateBackend, KeyGroupRange range, Collection<KeyedStateHandle> from)
                throws Exception {
            this.range = range;
            List<KeyedStateHandle> own = new ArrayList<>();
            for (KeyedStateHandle handle : from) {
                // As the JobManager hands them out.
                KeyedStateHandle part = handle.getIntersection(range);
                if (part != null) {
                    own.add(part);
                }
            }
            backend =
                    KeyedBackends.create(
                            stateBackend, StringSerializer.INSTANCE, KEY_GROUPS, range, own);
            value = state(new ValueStateDescriptor<>("value", Types.LONG));
            list = state(new ListStateDescriptor<>("list", Types.STRING));
            map = state(new MapStateDescriptor<>("map", Types.STRING, Types.LONG));
            timers =
                    backend.create(
                            "timers",
                            new TimerSerializer<>(
                                    StringSerializer.INSTANCE, StringSerializer.INSTANCE));
        }

        @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
        private <S> S state(StateDescriptor<?, ?> descriptor) throws Exception {
            return (S) backend.getOrCreateKeyedState(StringSerializer.INSTANCE, descriptor);
        }

        boolean has(String key) {
            return range.contains(KeyGroupRangeAssignment.assignToKeyGroup(key, KEY_GROUPS));
        }

        @Override
        public void close() {
            backend.dispose();
        }
    }

    private static final KeyGroupRange ALL = new KeyGroupRange(0, KEY_GROUPS - 1);

    private final Map<List<String>, Long> values = new HashMap<>();
    private final Map<List<String>, List<String>> lists = new HashMap<>();
    private final Map<List<String>, Map<String, Long>> maps = new HashMap<>();
    private int timers;

    private static StateBackend backend(Random random) {
        switch (random.nextInt(4)) {
            case 0:
                return new HashMapStateBackend();
            case 1:
                return PlacedBackends.onHeap();
            case 2:
                return PlacedBackends.spilled(new Configuration());
            default:
                return PlacedBackends.random(new Configuration(), random.nextLong());
        }
    }

    private void fill(Subtask subtask, Random random) throws Exception {
        for (int i = 0; i < 600; i++) {
            String key = "k".repeat(random.nextInt(KEYS));
            String namespace = "n".repeat(random.nextInt(3));
            subtask.backend.setCurrentKey(key);
            subtask.value.setCurrentNamespace(namespace);
            subtask.list.setCurrentNamespace(namespace);
            subtask.map.setCurrentNamespace(namespace);
            List<String> identity = Arrays.asList(key, namespace);
            switch (random.nextInt(4)) {
                case 0:
                    subtask.value.update((long) i);
                    values.put(identity, (long) i);
                    break;
                case 1:
                    subtask.list.add("element " + i);
                    lists.computeIfAbsent(identity, k -> new ArrayList<>()).add("element " + i);
                    break;
                case 2:
                    String userKey = "user key " + random.nextInt(50);
                    subtask.map.put(userKey, (long) i);
                    maps.computeIfAbsent(identity, k -> new HashMap<>()).put(userKey, (long) i);
                    break;
                default:
                    // Of its own time each, so none is added twice.
                    subtask.timers.add(new TimerHeapInternalTimer<>(i, key, namespace));
                    timers++;
            }
        }
    }

    private void verify(List<Subtask> subtasks) throws Exception {
        for (int length = 0; length < KEYS; length++) {
            String key = "k".repeat(length);
            for (int namespaceLength = 0; namespaceLength < 3; namespaceLength++) {
                String namespace = "n".repeat(namespaceLength);
                List<String> identity = Arrays.asList(key, namespace);
                Subtask subtask =
                        subtasks.stream()
                                .filter(candidate -> candidate.has(key))
                                .findFirst()
                                .orElseThrow(AssertionError::new);
                subtask.backend.setCurrentKey(key);
                subtask.value.setCurrentNamespace(namespace);
                assertThat(subtask.value.value()).isEqualTo(values.get(identity));
                subtask.list.setCurrentNamespace(namespace);
                assertThat(subtask.list.get()).isEqualTo(lists.get(identity));
                subtask.map.setCurrentNamespace(namespace);
                Map<String, Long> map = new HashMap<>();
                subtask.map.entries().forEach(e -> map.put(e.getKey(), e.getValue()));
                assertThat(map).isEqualTo(maps.getOrDefault(identity, Collections.emptyMap()));
            }
        }
        int restoredTimers = 0;
        for (Subtask subtask : subtasks) {
            CloseableIterator<TimerHeapInternalTimer<String, String>> all =
                    subtask.timers.iterator();
            while (all.hasNext()) {
                assertThat(subtask.has(all.next().getKey())).isTrue();
                restoredTimers++;
            }
            all.close();
        }
        assertThat(restoredTimers).isEqualTo(timers);
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6})
    void everyKindOfState_movesBetweenBackendsAndParallelisms(long seed) throws Exception {
        Random random = new Random(seed);
        Collection<KeyedStateHandle> savepoint;
        try (Subtask one = new Subtask(backend(random), ALL, Collections.emptyList())) {
            fill(one, random);
            verify(Collections.singletonList(one));
            savepoint = KeyedBackends.handles(KeyedBackends.savepoint(one.backend, 1));
        }
        Collection<KeyedStateHandle> second = new ArrayList<>();
        int split = 1 + random.nextInt(KEY_GROUPS - 2);
        try (Subtask low =
                        new Subtask(backend(random), new KeyGroupRange(0, split - 1), savepoint);
                Subtask high =
                        new Subtask(
                                backend(random),
                                new KeyGroupRange(split, KEY_GROUPS - 1),
                                savepoint)) {
            verify(Arrays.asList(low, high));
            second.addAll(KeyedBackends.handles(KeyedBackends.savepoint(low.backend, 2)));
            second.addAll(KeyedBackends.handles(KeyedBackends.savepoint(high.backend, 2)));
        }
        try (Subtask one = new Subtask(PlacedBackends.spilled(new Configuration()), ALL, second)) {
            verify(Collections.singletonList(one));
        }
    }

    @Test
    void aSavepointThatEndsTooEarly_isNeverTakenForWhole() throws Exception {
        KeyGroupsSavepointStateHandle handle;
        try (Subtask one =
                new Subtask(
                        PlacedBackends.spilled(new Configuration()),
                        ALL,
                        Collections.emptyList())) {
            fill(one, new Random(3));
            handle =
                    (KeyGroupsSavepointStateHandle)
                            KeyedBackends.handles(KeyedBackends.savepoint(one.backend, 1))
                                    .iterator()
                                    .next();
        }
        byte[] bytes;
        try (FSDataInputStream in = handle.openInputStream()) {
            bytes = in.readAllBytes();
        }
        for (int length = 0; length < bytes.length; length += 211) {
            KeyedStateHandle cut =
                    new KeyGroupsSavepointStateHandle(
                            handle.getGroupRangeOffsets(),
                            new ByteStreamStateHandle("cut", Arrays.copyOf(bytes, length)));
            assertThat(failure(cut)).as("with %d of %d bytes", length, bytes.length).isNotNull();
        }
    }

    private static Throwable failure(KeyedStateHandle handle) {
        try {
            new Subtask(PlacedBackends.onHeap(), ALL, Collections.singletonList(handle)).close();
        } catch (Throwable e) {
            assertThat(e).isInstanceOf(BackendBuildingException.class);
            return e;
        }
        return null;
    }

    @Test
    void aKeyTypeThatChanged_isRefused() throws Exception {
        Collection<KeyedStateHandle> savepoint;
        try (Subtask one = new Subtask(PlacedBackends.onHeap(), ALL, Collections.emptyList())) {
            fill(one, new Random(5));
            savepoint = KeyedBackends.handles(KeyedBackends.savepoint(one.backend, 1));
        }

        Throwable failure = null;
        try {
            KeyedBackends.create(
                            PlacedBackends.onHeap(),
                            LongSerializer.INSTANCE,
                            KEY_GROUPS,
                            ALL,
                            savepoint)
                    .dispose();
        } catch (BackendBuildingException e) {
            failure = e.getCause();
        }

        assertThat(failure).isNotNull().isNotInstanceOf(IOException.class);
        assertThat(failure.getMessage()).contains("key serializer");
    }
}
