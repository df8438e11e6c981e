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
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.dstl.spillable.KeyedBackends;
import dev.dstl.spillable.PlacedBackends;
import dev.dstl.spillable.SpillableStateBackend;
import java.io.IOException;
import java.nio.file.Files;
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
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.base.EnumSerializer;
import org.apache.flink.api.java.typeutils.runtime.kryo.KryoSerializer;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.runtime.checkpoint.CheckpointType;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.apache.flink.runtime.state.KeyGroupedInternalPriorityQueue;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.apache.flink.streaming.api.operators.TimerHeapInternalTimer;
import org.apache.flink.streaming.api.operators.TimerSerializer;
import org.apache.flink.util.StateMigrationException;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
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
                                    form == Form.INCREMENTAL);
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

    private static TypeSerializer<Holder> serializer(boolean evenFirst) {
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

    @ParameterizedTest
    @EnumSource(Form.class)
    void aStateInTwoVersions_isRefusedByName(Form form) {
        assertThatThrownBy(() -> restoreTwoVersions(form, 2, EvolvingStringSerializer.AS_READ))
                .rootCause()
                .isInstanceOf(StateMigrationException.class)
                .hasMessageContaining("State 'evolving' is in two versions")
                .hasMessageContaining("Set state.changelog.enabled: true");
    }

    @ParameterizedTest
    @EnumSource(Form.class)
    void aStateInTwoVersionsOfWhichOneHasNoEntries_isRestored(Form form) throws Exception {
        assertThat(restoreTwoVersions(form, 1, EvolvingStringSerializer.AS_READ)).isEqualTo(1);
    }

    @ParameterizedTest
    @EnumSource(Form.class)
    void aStateInTwoVersions_isRestored_ifItsSerializerWritesTheLaterOne(Form form)
            throws Exception {
        assertThat(restoreTwoVersions(form, 2, 2)).isEqualTo(2);
    }

    /**
     * Restores a state that the first subtask has in another version than the second, and reads it.
     */
    private int restoreTwoVersions(Form form, int subtasksWithEntries, int restoredWrite)
            throws Exception {
        CheckpointStore store = new CheckpointStore(directory);
        EvolvingStringSerializer.latest = restoredWrite;
        List<KeyedStateHandle> handles = new ArrayList<>();
        for (int subtask = 0; subtask < 2; subtask++) {
            KeyGroupRange half = new KeyGroupRange(2 * subtask, 2 * subtask + 1);
            AbstractKeyedStateBackend<Holder> backend = evolving(form, half, List.of());
            ValueState<String> state = evolving(backend, 1 + subtask);
            if (subtask < subtasksWithEntries) {
                backend.setCurrentKey(keyIn(half));
                state.update("value of " + half);
                // So that it is spilled.
                backend.setCurrentKey(backend.getCurrentKey());
            }
            RunnableFuture<SnapshotResult<KeyedStateHandle>> snapshot =
                    form.snapshot(backend, store);
            snapshot.run();
            handles.add(snapshot.get().getJobManagerOwnedSnapshot());
            backend.dispose();
        }
        AbstractKeyedStateBackend<Holder> backend =
                evolving(form, new KeyGroupRange(0, 3), handles);
        try {
            ValueState<String> state = evolving(backend, 2);
            for (int subtask = 0; subtask < subtasksWithEntries; subtask++) {
                KeyGroupRange half = new KeyGroupRange(2 * subtask, 2 * subtask + 1);
                backend.setCurrentKey(keyIn(half));
                assertThat(state.value()).isEqualTo("value of " + half);
            }
            return backend.numKeyValueStateEntries();
        } finally {
            backend.dispose();
        }
    }

    @ParameterizedTest
    @EnumSource(Form.class)
    void aStateOfWhichTheFirstHandleHasNoEntries_isRestoredInTheVersionOfTheSecond(Form form)
            throws Exception {
        EvolvingStringSerializer.latest = EvolvingStringSerializer.AS_READ;
        assertThat(
                        restored(
                                form,
                                List.of(
                                        new EvolvingStringSerializer(1),
                                        new EvolvingStringSerializer(2),
                                        new EvolvingStringSerializer(2)),
                                Arrays.asList(null, "value")))
                .containsExactly(null, "value");
    }

    /** Has a subclass that no job registers. */
    public static class Shape {
        public int size;

        public static Shape of(Shape shape, int size) {
            shape.size = size;
            return shape;
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Shape && toString().equals(other.toString());
        }

        @Override
        public int hashCode() {
            return size;
        }

        @Override
        public String toString() {
            return getClass().getSimpleName() + size;
        }
    }

    public static class Circle extends Shape {}

    public static class Square extends Shape {}

    private static TypeSerializer<Shape> shapes(Class<?>... registered) {
        SerializerConfigImpl config = new SerializerConfigImpl();
        for (Class<?> one : registered) {
            config.registerPojoType(one);
        }
        return TypeInformation.of(Shape.class).createSerializer(config);
    }

    @ParameterizedTest
    @EnumSource(Form.class)
    void subclassesThatSubtasksHaveMetOrRegisteredDifferently_areRead(Form form) throws Exception {
        List<Shape> values =
                List.of(
                        Shape.of(new Shape(), 1),
                        Shape.of(new Square(), 2),
                        Shape.of(new Circle(), 3));

        for (List<TypeSerializer<Shape>> serializers :
                List.of(
                        List.of(shapes(), shapes(), shapes(), shapes()),
                        List.of(
                                shapes(Circle.class, Square.class),
                                shapes(Square.class, Circle.class),
                                shapes(),
                                shapes(Circle.class)))) {
            assertThat(restored(form, serializers, values)).isEqualTo(values);
        }
    }

    /** Its constants in another order, and a value of it that others lack. */
    enum Color {
        RED,
        GREEN
    }

    private static TypeSerializer<Color> colors(String... names) throws IOException {
        DataOutputSerializer out = new DataOutputSerializer(64);
        out.writeUTF(Color.class.getName());
        out.writeInt(names.length);
        for (String name : names) {
            out.writeUTF(name);
        }
        EnumSerializer.EnumSerializerSnapshot<Color> snapshot =
                new EnumSerializer.EnumSerializerSnapshot<>();
        snapshot.readSnapshot(
                snapshot.getCurrentVersion(),
                new DataInputDeserializer(out.getCopyOfBuffer()),
                Color.class.getClassLoader());
        return snapshot.restoreSerializer();
    }

    @ParameterizedTest
    @EnumSource(Form.class)
    void constantsThatSubtasksHaveInOtherOrders_orOnlySomeOfThem_areRead(Form form)
            throws Exception {
        List<Color> values = List.of(Color.RED, Color.GREEN, Color.RED);

        assertThat(
                        restored(
                                form,
                                List.of(
                                        colors("RED"),
                                        colors("GREEN", "RED"),
                                        colors("RED", "GREEN"),
                                        new EnumSerializer<>(Color.class)),
                                values))
                .isEqualTo(values);
    }

    /**
     * Writes a value in each of several subtasks and reads all of them in one.
     *
     * @param serializers of the subtasks and, behind them, of the job that restores them
     * @param values null for no entry
     */
    private <V> List<V> restored(
            Form form, List<? extends TypeSerializer<V>> serializers, List<V> values)
            throws Exception {
        CheckpointStore store = new CheckpointStore(Files.createTempDirectory(directory, "store"));
        List<KeyedStateHandle> handles = new ArrayList<>();
        for (int subtask = 0; subtask < values.size(); subtask++) {
            KeyGroupRange range = new KeyGroupRange(subtask, subtask);
            AbstractKeyedStateBackend<Holder> backend = evolving(form, range, List.of());
            ValueState<V> state = value(backend, serializers.get(subtask));
            if (values.get(subtask) != null) {
                backend.setCurrentKey(keyIn(range));
                state.update(values.get(subtask));
                // So that it is spilled.
                backend.setCurrentKey(backend.getCurrentKey());
            }
            RunnableFuture<SnapshotResult<KeyedStateHandle>> snapshot =
                    form.snapshot(backend, store);
            snapshot.run();
            handles.add(snapshot.get().getJobManagerOwnedSnapshot());
            backend.dispose();
        }
        AbstractKeyedStateBackend<Holder> backend =
                evolving(form, new KeyGroupRange(0, 3), handles);
        try {
            // So that it is spilled before the job asks for it.
            backend.setCurrentKey(keyIn(new KeyGroupRange(3, 3)));
            ValueState<V> state = value(backend, serializers.get(values.size()));
            List<V> read = new ArrayList<>();
            for (int subtask = 0; subtask < values.size(); subtask++) {
                backend.setCurrentKey(keyIn(new KeyGroupRange(subtask, subtask)));
                read.add(state.value());
            }
            return read;
        } finally {
            backend.dispose();
        }
    }

    private static <V> ValueState<V> value(
            AbstractKeyedStateBackend<Holder> backend, TypeSerializer<V> serializer)
            throws Exception {
        return backend.getPartitionedState(
                VoidNamespace.INSTANCE,
                VoidNamespaceSerializer.INSTANCE,
                new ValueStateDescriptor<>("value", serializer));
    }

    private static Holder keyIn(KeyGroupRange range) {
        int number = 0;
        while (!range.contains(
                KeyGroupRangeAssignment.assignToKeyGroup(new Holder(number), KEY_GROUPS))) {
            number++;
        }
        return new Holder(number);
    }

    private static AbstractKeyedStateBackend<Holder> evolving(
            Form form, KeyGroupRange range, List<KeyedStateHandle> handles) throws Exception {
        return KeyedBackends.create(
                Placement.SPILLED.backend(form), serializer(true), KEY_GROUPS, range, handles);
    }

    private static ValueState<String> evolving(
            AbstractKeyedStateBackend<Holder> backend, int version) throws Exception {
        return backend.getPartitionedState(
                VoidNamespace.INSTANCE,
                VoidNamespaceSerializer.INSTANCE,
                new ValueStateDescriptor<>("evolving", new EvolvingStringSerializer(version)));
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

    private static MapState<Holder, Holder> map(
            AbstractKeyedStateBackend<Holder> backend,
            TypeSerializer<Holder> serializer,
            int number)
            throws Exception {
        return backend.getPartitionedState(
                new Holder(number),
                serializer,
                new MapStateDescriptor<>("map", serializer, serializer));
    }

    private static ListState<Holder> list(
            AbstractKeyedStateBackend<Holder> backend,
            TypeSerializer<Holder> serializer,
            int number)
            throws Exception {
        return backend.getPartitionedState(
                new Holder(number), serializer, new ListStateDescriptor<>("list", serializer));
    }
}
