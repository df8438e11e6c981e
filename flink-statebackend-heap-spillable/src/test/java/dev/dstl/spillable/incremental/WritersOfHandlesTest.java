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
import dev.dstl.spillable.PlacedBackends;
import dev.dstl.spillable.SpillableStateBackend;
import dev.dstl.spillable.config.SpillableOptions;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.RunnableFuture;
import java.util.stream.Stream;
import org.apache.flink.api.common.serialization.SerializerConfigImpl;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.java.typeutils.runtime.kryo.KryoSerializer;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.runtime.checkpoint.CheckpointType;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.apache.flink.runtime.state.KeyGroupedInternalPriorityQueue;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.streaming.api.operators.TimerHeapInternalTimer;
import org.apache.flink.streaming.api.operators.TimerSerializer;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Two subtasks that number the classes of the job differently, as one does that has restored an
 * earlier version of the job and one that had nothing to restore; then a single one restores both.
 */
class WritersOfHandlesTest {

    private static final int KEY_GROUPS = 4;
    private static final int KEYS = 40;
    private static final int LARGE = 300;
    private static final long SEED = 1;

    @TempDir private Path directory;

    /** Holds a part, whose class Kryo writes as a number. */
    static final class Holder {
        private final Object part;

        @SuppressWarnings("unused") // Kryo
        Holder() {
            this(0);
        }

        Holder(int number) {
            part = number % 2 == 0 ? new Even(number) : new Odd(number);
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Holder && toString().equals(other.toString());
        }

        @Override
        public int hashCode() {
            return toString().hashCode();
        }

        @Override
        public String toString() {
            return part.toString();
        }
    }

    static final class Even {
        private final int number;

        @SuppressWarnings("unused") // Kryo
        Even() {
            this(0);
        }

        Even(int number) {
            this.number = number;
        }

        @Override
        public String toString() {
            return "even " + number;
        }
    }

    static final class Odd {
        private final int number;

        @SuppressWarnings("unused") // Kryo
        Odd() {
            this(0);
        }

        Odd(int number) {
            this.number = number;
        }

        @Override
        public String toString() {
            return "odd " + number;
        }
    }

    enum Form {
        FULL,
        INCREMENTAL,
        CANONICAL;

        RunnableFuture<SnapshotResult<KeyedStateHandle>> snapshot(
                AbstractKeyedStateBackend<Holder> backend, CheckpointStore store) throws Exception {
            return this == CANONICAL
                    ? KeyedBackends.savepoint(backend, 1)
                    : KeyedBackends.checkpoint(
                            backend, 1, store.streams(), CheckpointType.CHECKPOINT);
        }
    }

    enum Placement {
        HEAP,
        SPILLED,
        RANDOM;

        SpillableStateBackend backend(Form form) {
            Configuration config =
                    new Configuration()
                            .set(
                                    CheckpointingOptions.INCREMENTAL_CHECKPOINTS,
                                    form == Form.INCREMENTAL)
                            .set(SpillableOptions.OFF_HEAP_SIZE, MemorySize.ofMebiBytes(1));
            switch (this) {
                case HEAP:
                    return PlacedBackends.onHeap();
                case SPILLED:
                    return PlacedBackends.spilled(config);
                default:
                    return PlacedBackends.random(config, SEED);
            }
        }
    }

    static Stream<Arguments> combinations() {
        return Arrays.stream(Form.values())
                .flatMap(
                        form ->
                                Arrays.stream(Placement.values())
                                        .map(placement -> Arguments.of(form, placement)));
    }

    static TypeSerializer<Holder> serializer(boolean evenFirst) {
        SerializerConfigImpl config = new SerializerConfigImpl();
        config.registerKryoType(evenFirst ? Even.class : Odd.class);
        config.registerKryoType(evenFirst ? Odd.class : Even.class);
        return new KryoSerializer<>(Holder.class, config);
    }

    @ParameterizedTest(name = "{0} {1}")
    @MethodSource("combinations")
    void eachHandle_isReadByTheSerializersThatHaveWrittenIt(Form form, Placement placement)
            throws Exception {
        CheckpointStore store = new CheckpointStore(directory);
        List<KeyedStateHandle> handles = new ArrayList<>();
        for (int subtask = 0; subtask < 2; subtask++) {
            KeyGroupRange half = new KeyGroupRange(2 * subtask, 2 * subtask + 1);
            handles.addAll(life(form, placement, store, half, subtask == 0, List.of()));
        }
        for (int i = 0; i < 2; i++) {
            handles = life(form, placement, store, new KeyGroupRange(0, 3), true, handles);
        }
    }

    /** Restores what is there, checks it, and adds to it if there is nothing. */
    private List<KeyedStateHandle> life(
            Form form,
            Placement placement,
            CheckpointStore store,
            KeyGroupRange range,
            boolean evenFirst,
            List<KeyedStateHandle> handles)
            throws Exception {
        TypeSerializer<Holder> serializer = serializer(evenFirst);
        AbstractKeyedStateBackend<Holder> backend =
                KeyedBackends.create(
                        placement.backend(form), serializer, KEY_GROUPS, range, handles);
        try {
            int size = backend.numKeyValueStateEntries();
            KeyGroupedInternalPriorityQueue<TimerHeapInternalTimer<Holder, Holder>> timers =
                    backend.create("timers", new TimerSerializer<>(serializer, serializer));
            List<TimerHeapInternalTimer<Holder, Holder>> due = new ArrayList<>();
            int keys = 0;
            for (int number = 0; number < KEYS; number++) {
                Holder key = new Holder(number);
                if (range.contains(KeyGroupRangeAssignment.assignToKeyGroup(key, KEY_GROUPS))) {
                    keys++;
                    backend.setCurrentKey(key);
                    if (handles.isEmpty()) {
                        write(backend, serializer, number);
                        timers.add(new TimerHeapInternalTimer<>(number, key, new Holder(number)));
                    } else {
                        check(backend, serializer, number);
                        TimerHeapInternalTimer<Holder, Holder> timer = timers.poll();
                        assertThat(timer.getTimestamp()).isEqualTo(number);
                        assertThat(timer.getKey()).isEqualTo(key);
                        assertThat(timer.getNamespace()).isEqualTo(key);
                        due.add(timer);
                    }
                }
            }
            if (!handles.isEmpty()) {
                assertThat(size).isEqualTo(2 * keys);
                assertThat(timers.isEmpty()).isTrue();
                timers.addAll(due);
            }
            RunnableFuture<SnapshotResult<KeyedStateHandle>> snapshot =
                    form.snapshot(backend, store);
            snapshot.run();
            return List.of(snapshot.get().getJobManagerOwnedSnapshot());
        } finally {
            backend.dispose();
        }
    }

    private static void write(
            AbstractKeyedStateBackend<Holder> backend,
            TypeSerializer<Holder> serializer,
            int number)
            throws Exception {
        MapState<Holder, Holder> map = map(backend, serializer, number);
        for (int i = 0; i < elements(number); i++) {
            map.put(new Holder(i), new Holder(i + 1));
            list(backend, serializer, number).add(new Holder(i));
        }
    }

    private static void check(
            AbstractKeyedStateBackend<Holder> backend,
            TypeSerializer<Holder> serializer,
            int number)
            throws Exception {
        MapState<Holder, Holder> map = map(backend, serializer, number);
        List<Holder> elements = new ArrayList<>();
        for (int i = 0; i < elements(number); i++) {
            assertThat(map.get(new Holder(i))).isEqualTo(new Holder(i + 1));
            elements.add(new Holder(i));
        }
        assertThat(list(backend, serializer, number).get()).containsExactlyElementsOf(elements);
        assertThat(map.keys()).containsExactlyInAnyOrderElementsOf(elements);
    }

    private static int elements(int number) {
        return number % 5 == 0 ? LARGE : 3;
    }

    static MapState<Holder, Holder> map(
            AbstractKeyedStateBackend<Holder> backend,
            TypeSerializer<Holder> serializer,
            int namespace)
            throws Exception {
        return backend.getPartitionedState(
                new Holder(namespace),
                serializer,
                new MapStateDescriptor<>("map", serializer, serializer));
    }

    static ListState<Holder> list(
            AbstractKeyedStateBackend<Holder> backend,
            TypeSerializer<Holder> serializer,
            int namespace)
            throws Exception {
        return backend.getPartitionedState(
                new Holder(namespace), serializer, new ListStateDescriptor<>("list", serializer));
    }
}
