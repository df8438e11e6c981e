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

package dev.dstl.spillable.incremental;

import static org.assertj.core.api.Assertions.assertThat;

import dev.dstl.spillable.KeyedBackends;
import dev.dstl.spillable.incremental.WritersOfHandlesTest.Even;
import dev.dstl.spillable.incremental.WritersOfHandlesTest.Form;
import dev.dstl.spillable.incremental.WritersOfHandlesTest.Holder;
import dev.dstl.spillable.incremental.WritersOfHandlesTest.Odd;
import dev.dstl.spillable.incremental.WritersOfHandlesTest.Placement;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.RunnableFuture;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.apache.flink.api.common.serialization.SerializerConfigImpl;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.java.typeutils.runtime.kryo.KryoSerializer;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.SnapshotResult;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Random lives of an operator: in each, its parallelism and the kind of snapshot are others, and
 * each subtask registers other classes with Kryo, in another order, spills what it likes and may
 * not ask for its states.
 */
class RandomWritersTest {

    private static final int SEEDS = Integer.getInteger("writers.count", 15);
    private static final int LIVES = 5;
    private static final int KEY_GROUPS = 8;
    private static final int KEYS = 40;
    private static final int MOST_ELEMENTS = 150;

    /** Some lists and maps have so many that partitions are merged and split while they move. */
    private static final int MANY_ELEMENTS = 3000;

    @TempDir private Path directory;

    static LongStream seeds() {
        return LongStream.range(0, SEEDS);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void stateIsFound_whoeverHasWrittenIt(long seed) throws Exception {
        Random random = new Random(seed);
        CheckpointStore store = new CheckpointStore(directory);
        Map<Integer, Integer> model = new TreeMap<>();
        List<KeyedStateHandle> handles = Collections.emptyList();
        for (int life = 0; life < LIVES; life++) {
            Form form = Form.values()[random.nextInt(Form.values().length)];
            int parallelism = 1 + random.nextInt(4);
            List<KeyedStateHandle> next = new ArrayList<>();
            for (int subtask = 0; subtask < parallelism; subtask++) {
                KeyGroupRange range =
                        KeyGroupRangeAssignment.computeKeyGroupRangeForOperatorIndex(
                                KEY_GROUPS, parallelism, subtask);
                KeyedStateHandle handle = life(random, store, form, range, handles, model);
                if (handle != null) {
                    next.add(handle);
                }
            }
            handles = next;
        }
    }

    private static KeyedStateHandle life(
            Random random,
            CheckpointStore store,
            Form form,
            KeyGroupRange range,
            List<KeyedStateHandle> handles,
            Map<Integer, Integer> model)
            throws Exception {
        TypeSerializer<Holder> serializer = serializer(random);
        Placement placement = Placement.values()[random.nextInt(Placement.values().length)];
        List<KeyedStateHandle> restored =
                handles.stream()
                        .map(handle -> handle.getIntersection(range))
                        .filter(Objects::nonNull)
                        .collect(Collectors.toList());
        AbstractKeyedStateBackend<Holder> backend =
                KeyedBackends.create(
                        placement.backend(form), serializer, KEY_GROUPS, range, restored);
        try {
            List<Integer> own = new ArrayList<>();
            for (int number = 0; number < KEYS; number++) {
                if (range.contains(
                        KeyGroupRangeAssignment.assignToKeyGroup(new Holder(number), KEY_GROUPS))) {
                    own.add(number);
                }
            }
            if (random.nextInt(4) > 0) {
                work(random, backend, serializer, own, model);
            }
            int states = 0;
            for (int number : own) {
                states += model.containsKey(number) ? 2 : 0;
            }
            assertThat(backend.numKeyValueStateEntries()).isEqualTo(states);
            RunnableFuture<SnapshotResult<KeyedStateHandle>> snapshot =
                    form.snapshot(backend, store);
            snapshot.run();
            return snapshot.get().getJobManagerOwnedSnapshot();
        } finally {
            backend.dispose();
        }
    }

    private static TypeSerializer<Holder> serializer(Random random) {
        List<Class<?>> classes =
                new ArrayList<>(Arrays.asList(Even.class, Odd.class, Thread.class));
        Collections.shuffle(classes, random);
        SerializerConfigImpl config = new SerializerConfigImpl();
        classes.subList(0, random.nextInt(classes.size() + 1)).forEach(config::registerKryoType);
        return new KryoSerializer<>(Holder.class, config);
    }

    private static void work(
            Random random,
            AbstractKeyedStateBackend<Holder> backend,
            TypeSerializer<Holder> serializer,
            List<Integer> own,
            Map<Integer, Integer> model)
            throws Exception {
        for (int number : own) {
            backend.setCurrentKey(new Holder(number));
            check(backend, serializer, number, model.getOrDefault(number, 0));
            switch (random.nextInt(4)) {
                case 0:
                    map(backend, serializer, number).clear();
                    list(backend, serializer, number).clear();
                    model.remove(number);
                    break;
                case 1:
                    int elements = 1 + random.nextInt(most(random));
                    map(backend, serializer, number).clear();
                    map(backend, serializer, number).putAll(entries(elements));
                    list(backend, serializer, number)
                            .update(new ArrayList<>(entries(elements).keySet()));
                    model.put(number, elements);
                    break;
                default:
                    // stays as it is
            }
        }
    }

    private static int most(Random random) {
        int kind = random.nextInt(16);
        return kind == 0 ? MANY_ELEMENTS : kind < 8 ? 3 : MOST_ELEMENTS;
    }

    private static Map<Holder, Holder> entries(int elements) {
        Map<Holder, Holder> entries = new HashMap<>();
        for (int i = 0; i < elements; i++) {
            entries.put(new Holder(i), new Holder(i + 1));
        }
        return entries;
    }

    private static void check(
            AbstractKeyedStateBackend<Holder> backend,
            TypeSerializer<Holder> serializer,
            int number,
            int elements)
            throws Exception {
        MapState<Holder, Holder> map = map(backend, serializer, number);
        for (int i = 0; i < elements; i++) {
            assertThat(map.get(new Holder(i))).isEqualTo(new Holder(i + 1));
        }
        assertThat(map.get(new Holder(elements))).isNull();
        assertThat(map.keys()).containsExactlyInAnyOrderElementsOf(entries(elements).keySet());
        Iterable<Holder> list = list(backend, serializer, number).get();
        assertThat(list == null ? Collections.emptyList() : list)
                .containsExactlyInAnyOrderElementsOf(entries(elements).keySet());
    }

    private static MapState<Holder, Holder> map(
            AbstractKeyedStateBackend<Holder> backend,
            TypeSerializer<Holder> serializer,
            int number)
            throws Exception {
        return WritersOfHandlesTest.map(backend, serializer, number % 3);
    }

    private static ListState<Holder> list(
            AbstractKeyedStateBackend<Holder> backend,
            TypeSerializer<Holder> serializer,
            int number)
            throws Exception {
        return WritersOfHandlesTest.list(backend, serializer, number % 3);
    }
}
