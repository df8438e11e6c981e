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

import dev.dstl.spillable.config.SpillableOptions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RunnableFuture;
import org.apache.flink.api.common.functions.AggregateFunction;
import org.apache.flink.api.common.state.AggregatingStateDescriptor;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ReducingStateDescriptor;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.apache.flink.runtime.state.KeyGroupsStateHandle;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.StateBackend;
import org.apache.flink.runtime.state.hashmap.HashMapStateBackend;
import org.apache.flink.runtime.state.internal.InternalAggregatingState;
import org.apache.flink.runtime.state.internal.InternalListState;
import org.apache.flink.runtime.state.internal.InternalMapState;
import org.apache.flink.runtime.state.internal.InternalReducingState;
import org.apache.flink.runtime.state.internal.InternalValueState;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Random operations, moves, snapshots while operations go on, restores and rescales, against plain
 * maps. The seed is the test's parameter.
 */
class BackendModelTest {

    private static final int KEY_GROUPS = 8;
    private static final int KEYS = 20;
    private static final int NAMESPACES = 3;

    /** Expected contents: state name, key and namespace to a plain value. */
    private static final class Model {
        final Map<List<Object>, String> values = new HashMap<>();
        final Map<List<Object>, List<String>> lists = new HashMap<>();
        final Map<List<Object>, Map<String, String>> maps = new HashMap<>();
        final Map<List<Object>, Long> sums = new HashMap<>();
        final Map<List<Object>, Long> counts = new HashMap<>();

        Model copy() {
            Model copy = new Model();
            copy.values.putAll(values);
            lists.forEach((k, v) -> copy.lists.put(k, new ArrayList<>(v)));
            maps.forEach((k, v) -> copy.maps.put(k, new HashMap<>(v)));
            copy.sums.putAll(sums);
            copy.counts.putAll(counts);
            return copy;
        }
    }

    /** One backend and its states. */
    private static final class Subtask {
        final KeyGroupRange range;
        final AbstractKeyedStateBackend<Integer> backend;
        final InternalValueState<Integer, Long, String> value;
        final InternalListState<Integer, Long, String> list;
        final InternalMapState<Integer, Long, String, String> map;
        final InternalReducingState<Integer, Long, Long> sum;
        final InternalAggregatingState<Integer, Long, Long, Long, Long> count;

        Subtask(StateBackend stateBackend, KeyGroupRange range, Collection<KeyedStateHandle> from)
                throws Exception {
            this.range = range;
            this.backend =
                    KeyedBackends.create(
                            stateBackend, IntSerializer.INSTANCE, KEY_GROUPS, range, from);
            value = state(new ValueStateDescriptor<>("value", Types.STRING));
            list = state(new ListStateDescriptor<>("list", Types.STRING));
            map = state(new MapStateDescriptor<>("map", Types.STRING, Types.STRING));
            sum = state(new ReducingStateDescriptor<>("sum", Long::sum, Types.LONG));
            count = state(new AggregatingStateDescriptor<>("count", new Count(), Types.LONG));
        }

        @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
        private <S> S state(org.apache.flink.api.common.state.StateDescriptor<?, ?> descriptor)
                throws Exception {
            return (S) backend.getOrCreateKeyedState(LongSerializer.INSTANCE, descriptor);
        }
    }

    private static final class Count implements AggregateFunction<Long, Long, Long> {
        private static final long serialVersionUID = 1L;

        @Override
        public Long createAccumulator() {
            return 0L;
        }

        @Override
        public Long add(Long value, Long accumulator) {
            return accumulator + 1;
        }

        @Override
        public Long getResult(Long accumulator) {
            return accumulator;
        }

        @Override
        public Long merge(Long a, Long b) {
            return a + b;
        }
    }

    private final Model model = new Model();
    private Random random;
    private List<Subtask> subtasks;
    private long snapshotId;

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6})
    void randomOperations_leaveWhatPlainMapsHold(long seed) throws Exception {
        random = new Random(seed);
        subtasks = Collections.singletonList(subtask(new KeyGroupRange(0, KEY_GROUPS - 1)));
        for (int round = 0; round < 6; round++) {
            operate(300);
            verify(model);
            if (random.nextBoolean()) {
                restoreWhileWorking();
            }
        }
        dispose(subtasks);
    }

    /** Without {@code update()} a change may get lost, but no other element with it. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6})
    void aListThatTheJobChangesInPlace_isAsItWasOnceOrIsNow(long seed) throws Exception {
        random = new Random(seed);
        Configuration config = new Configuration();
        config.set(SpillableOptions.OFF_HEAP_SIZE, MemorySize.ofMebiBytes(1));
        KeyGroupRange range = new KeyGroupRange(0, KEY_GROUPS - 1);
        Subtask subtask =
                new Subtask(PlacedBackends.random(config, seed), range, Collections.emptyList());
        subtasks = Collections.singletonList(subtask);
        select(1).list.setCurrentNamespace(0L);
        List<String> initial = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            initial.add(numbered(i));
        }
        subtask.list.update(initial);
        for (int step = 0; step < 3000; step++) {
            List<String> list = select(1).list.getInternal();
            int first = Integer.parseInt(list.get(0).trim());
            assertThat(list).hasSize(initial.size());
            for (int i = 0; i < list.size(); i++) {
                assertThat(list.get(i)).isEqualTo(numbered(first + i));
            }
            list.remove(0);
            list.add(numbered(first + initial.size()));
        }
        dispose(subtasks);
    }

    private static String numbered(int number) {
        return String.format("%60d", number);
    }

    private StateBackend backend() {
        Configuration config = new Configuration();
        config.set(SpillableOptions.OFF_HEAP_SIZE, MemorySize.ofMebiBytes(1));
        config.set(SpillableOptions.CHUNK_SIZE, MemorySize.ofMebiBytes(1));
        switch (random.nextInt(6)) {
            case 0:
                return PlacedBackends.spilled(config);
            case 1:
                return PlacedBackends.onHeap();
            case 2:
                return new HashMapStateBackend();
            default:
                return PlacedBackends.random(config, random.nextLong());
        }
    }

    private Subtask subtask(KeyGroupRange range, KeyedStateHandle... handles) throws Exception {
        return new Subtask(backend(), range, Arrays.asList(handles));
    }

    private static void dispose(List<Subtask> subtasks) {
        subtasks.forEach(subtask -> subtask.backend.dispose());
    }

    private void operate(int operations) throws Exception {
        // One entry changes again and again, so that it does so while it moves.
        int busyKey = random.nextInt(KEYS);
        for (int i = 0; i < operations; i++) {
            boolean busy = random.nextInt(3) == 0;
            int key = busy ? busyKey : random.nextInt(KEYS);
            long namespace = busy ? 0 : random.nextInt(NAMESPACES);
            operate(select(key), key, namespace);
        }
    }

    private Subtask select(int key) {
        int keyGroup = KeyGroupRangeAssignment.assignToKeyGroup(key, KEY_GROUPS);
        for (Subtask subtask : subtasks) {
            if (subtask.range.contains(keyGroup)) {
                subtask.backend.setCurrentKey(key);
                return subtask;
            }
        }
        throw new IllegalStateException("No subtask for key group " + keyGroup);
    }

    private void operate(Subtask subtask, int key, long namespace) throws Exception {
        List<Object> identity = Arrays.asList(key, namespace);
        switch (random.nextInt(10)) {
            case 0:
                subtask.value.setCurrentNamespace(namespace);
                String text = text();
                subtask.value.update(text);
                model.values.put(identity, text);
                break;
            case 1:
                subtask.value.setCurrentNamespace(namespace);
                subtask.value.clear();
                model.values.remove(identity);
                break;
            case 2:
            case 3:
                operateOnList(subtask, identity, namespace);
                break;
            case 4:
            case 5:
            case 6:
                operateOnMap(subtask, identity, namespace);
                break;
            case 7:
                subtask.sum.setCurrentNamespace(namespace);
                long addend = random.nextInt(100);
                subtask.sum.add(addend);
                model.sums.merge(identity, addend, Long::sum);
                break;
            case 8:
                subtask.count.setCurrentNamespace(namespace);
                subtask.count.add(1L);
                model.counts.merge(identity, 1L, Long::sum);
                break;
            default:
                mergeNamespaces(subtask, key);
        }
    }

    private void operateOnList(Subtask subtask, List<Object> identity, long namespace)
            throws Exception {
        subtask.list.setCurrentNamespace(namespace);
        int kind = random.nextInt(20);
        if (kind == 0) {
            subtask.list.clear();
            model.lists.remove(identity);
        } else if (kind == 1) {
            List<String> many = new ArrayList<>();
            for (int i = random.nextInt(300); i >= 0; i--) {
                many.add(shortText());
            }
            subtask.list.addAll(many);
            model.lists.computeIfAbsent(identity, k -> new ArrayList<>()).addAll(many);
        } else if (kind == 2) {
            List<String> replacement = Arrays.asList(text(), text());
            subtask.list.update(replacement);
            model.lists.put(identity, new ArrayList<>(replacement));
        } else {
            String element = text();
            subtask.list.add(element);
            model.lists.computeIfAbsent(identity, k -> new ArrayList<>()).add(element);
        }
    }

    private void operateOnMap(Subtask subtask, List<Object> identity, long namespace)
            throws Exception {
        subtask.map.setCurrentNamespace(namespace);
        Map<String, String> expected = model.maps.computeIfAbsent(identity, k -> new HashMap<>());
        int kind = random.nextInt(30);
        String userKey = "user key " + random.nextInt(expected.size() > 60 ? 1000 : 60);
        if (kind == 0) {
            subtask.map.clear();
            expected.clear();
        } else if (kind < 4) {
            subtask.map.remove(userKey);
            expected.remove(userKey);
        } else if (kind == 4) {
            Iterator<Map.Entry<String, String>> entries = subtask.map.iterator();
            while (entries.hasNext()) {
                Map.Entry<String, String> entry = entries.next();
                if (random.nextInt(16) == 0) {
                    entries.remove();
                    expected.remove(entry.getKey());
                } else if (random.nextInt(4) == 0) {
                    String text = text();
                    entry.setValue(text);
                    expected.put(entry.getKey(), text);
                }
            }
        } else if (kind == 5) {
            // A few of them make a large map, which moves in slices.
            int userEntries = random.nextInt(4) == 0 ? 500 : 30;
            Map<String, String> many = new HashMap<>();
            for (int i = 0; i < userEntries; i++) {
                many.put("user key " + random.nextInt(2 * userEntries), shortText());
            }
            subtask.map.putAll(many);
            expected.putAll(many);
        } else {
            String text = text();
            subtask.map.put(userKey, text);
            expected.put(userKey, text);
            assertThat(subtask.map.get(userKey)).isEqualTo(text);
        }
        if (expected.isEmpty()) {
            model.maps.remove(identity);
        }
    }

    private void mergeNamespaces(Subtask subtask, int key) throws Exception {
        List<Long> sources = Arrays.asList(1L, 2L);
        subtask.list.mergeNamespaces(0L, sources);
        subtask.sum.mergeNamespaces(0L, sources);
        for (long source : sources) {
            List<String> list = model.lists.remove(Arrays.<Object>asList(key, source));
            if (list != null) {
                model.lists
                        .computeIfAbsent(Arrays.asList(key, 0L), k -> new ArrayList<>())
                        .addAll(list);
            }
            Long sum = model.sums.remove(Arrays.<Object>asList(key, source));
            if (sum != null) {
                model.sums.merge(Arrays.asList(key, 0L), sum, Long::sum);
            }
        }
    }

    private String shortText() {
        return "text " + random.nextInt();
    }

    private String text() {
        int kind = random.nextInt(1000);
        int length = kind == 0 ? 300_000 : kind < 40 ? 3_000 : random.nextInt(40);
        char[] chars = new char[length];
        Arrays.fill(chars, (char) ('a' + random.nextInt(26)));
        return new String(chars);
    }

    private void verify(Model expected) throws Exception {
        long entries = 0;
        for (int key = 0; key < KEYS; key++) {
            for (long namespace = 0; namespace < NAMESPACES; namespace++) {
                List<Object> identity = Arrays.asList(key, namespace);
                Subtask subtask = select(key);
                subtask.value.setCurrentNamespace(namespace);
                assertThat(subtask.value.value()).isEqualTo(expected.values.get(identity));
                subtask.list.setCurrentNamespace(namespace);
                assertThat(subtask.list.get()).isEqualTo(expected.lists.get(identity));
                subtask.map.setCurrentNamespace(namespace);
                Map<String, String> map = new HashMap<>();
                for (Map.Entry<String, String> entry : subtask.map.entries()) {
                    assertThat(map.put(entry.getKey(), entry.getValue())).isNull();
                }
                assertThat(map)
                        .isEqualTo(expected.maps.getOrDefault(identity, Collections.emptyMap()));
                assertThat(subtask.map.isEmpty()).isEqualTo(map.isEmpty());
                subtask.sum.setCurrentNamespace(namespace);
                assertThat(subtask.sum.get()).isEqualTo(expected.sums.get(identity));
                subtask.count.setCurrentNamespace(namespace);
                assertThat(subtask.count.get()).isEqualTo(expected.counts.get(identity));
            }
        }
        for (Subtask subtask : subtasks) {
            entries += subtask.backend.getKeysAndNamespaces("value").count();
        }
        assertThat(entries).isEqualTo(expected.values.size());
    }

    private void restoreWhileWorking() throws Exception {
        boolean canonical = random.nextInt(3) == 0;
        Model then = model.copy();
        List<RunnableFuture<SnapshotResult<KeyedStateHandle>>> snapshots = new ArrayList<>();
        for (Subtask subtask : subtasks) {
            snapshotId++;
            snapshots.add(
                    canonical
                            ? KeyedBackends.savepoint(subtask.backend, snapshotId)
                            : KeyedBackends.checkpoint(subtask.backend, snapshotId));
        }
        List<CompletableFuture<Void>> writing = new ArrayList<>();
        for (RunnableFuture<?> snapshot : snapshots) {
            writing.add(CompletableFuture.runAsync(snapshot));
        }
        operate(200);
        verify(model);
        List<KeyedStateHandle> handles = new ArrayList<>();
        for (int i = 0; i < snapshots.size(); i++) {
            writing.get(i).join();
            handles.add(snapshots.get(i).get().getJobManagerOwnedSnapshot());
        }
        List<Subtask> old = subtasks;
        subtasks = new ArrayList<>();
        int parallelism = 1 + random.nextInt(3);
        for (int i = 0; i < parallelism; i++) {
            KeyGroupRange range =
                    KeyGroupRangeAssignment.computeKeyGroupRangeForOperatorIndex(
                            KEY_GROUPS, parallelism, i);
            List<KeyedStateHandle> parts = new ArrayList<>();
            for (KeyedStateHandle handle : handles) {
                KeyGroupsStateHandle part = ((KeyGroupsStateHandle) handle).getIntersection(range);
                if (part != null) {
                    parts.add(part);
                }
            }
            subtasks.add(subtask(range, parts.toArray(new KeyedStateHandle[0])));
        }
        dispose(old);
        model.values.clear();
        model.values.putAll(then.values);
        model.lists.clear();
        model.lists.putAll(then.lists);
        model.maps.clear();
        model.maps.putAll(then.maps);
        model.sums.clear();
        model.sums.putAll(then.sums);
        model.counts.clear();
        model.counts.putAll(then.counts);
        verify(model);
    }
}
