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
import dev.dstl.spillable.incremental.WritersOfHandlesTest.Form;
import dev.dstl.spillable.incremental.WritersOfHandlesTest.Holder;
import dev.dstl.spillable.incremental.WritersOfHandlesTest.Placement;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.RunnableFuture;
import org.apache.flink.api.common.serialization.SerializerConfigImpl;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.base.EnumSerializer;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.apache.flink.util.StateMigrationException;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * States that subtasks have written with serializers that differ, all of it spilled, and one
 * subtask that restores all of them.
 */
class StatesOfSubtasksTest {

    private static final int KEY_GROUPS = 4;

    /** Of two subtasks and of the job that restores them. */
    private static final List<EvolvingStringSerializer> TWO_VERSIONS =
            List.of(
                    new EvolvingStringSerializer(1),
                    new EvolvingStringSerializer(2),
                    new EvolvingStringSerializer(2));

    @TempDir private Path directory;

    @ParameterizedTest
    @EnumSource(Form.class)
    void aStateInTwoVersions_isRefusedByName(Form form) {
        EvolvingStringSerializer.latest = EvolvingStringSerializer.AS_READ;

        assertThatThrownBy(() -> restored(form, TWO_VERSIONS, List.of("a", "b")))
                .rootCause()
                .isInstanceOf(StateMigrationException.class)
                .hasMessageContaining("State 'value' is in two versions")
                .hasMessageContaining("set state.changelog.enabled: true");
    }

    @ParameterizedTest
    @EnumSource(Form.class)
    void aStateWhoseVersionsCannotBeCompared_isRefused(Form form) {
        EvolvingStringSerializer.latest = EvolvingStringSerializer.AS_READ;
        List<EvolvingStringSerializer> serializers =
                List.of(
                        new EvolvingStringSerializer(1),
                        new EvolvingStringSerializer(EvolvingStringSerializer.NOT_COMPARABLE),
                        new EvolvingStringSerializer(2));

        assertThatThrownBy(() -> restored(form, serializers, List.of("a", "b")))
                .rootCause()
                .hasMessageContaining("State 'value' is in two versions");
    }

    @ParameterizedTest
    @EnumSource(Form.class)
    void aStateInTwoVersionsOfWhichOneHasNoEntries_isRestored(Form form) throws Exception {
        EvolvingStringSerializer.latest = EvolvingStringSerializer.AS_READ;

        assertThat(restored(form, TWO_VERSIONS, Arrays.asList("a", null)))
                .containsExactly("a", null);
    }

    @ParameterizedTest
    @EnumSource(Form.class)
    void aStateOfWhichTheFirstHandleHasNoEntries_isRestoredInTheVersionOfTheSecond(Form form)
            throws Exception {
        EvolvingStringSerializer.latest = EvolvingStringSerializer.AS_READ;

        assertThat(restored(form, TWO_VERSIONS, Arrays.asList(null, "value")))
                .containsExactly(null, "value");
    }

    @ParameterizedTest
    @EnumSource(Form.class)
    void aStateInTwoVersions_isRestored_ifItsSerializerWritesTheLaterOne(Form form)
            throws Exception {
        EvolvingStringSerializer.latest = 2;

        assertThat(restored(form, TWO_VERSIONS, List.of("a", "b"))).containsExactly("a", "b");
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

    /** From Flink 2.1 on, the values of a map stay wrapped once its keys were reconfigured. */
    @ParameterizedTest
    @EnumSource(Form.class)
    void mapsWhoseKeysOneSubtaskHasReconfigured_areRead(Form form) throws Exception {
        CheckpointStore store = new CheckpointStore(directory);
        KeyGroupRange first = new KeyGroupRange(0, 1);
        KeyGroupRange second = new KeyGroupRange(2, 3);
        EnumSerializer<Color> all = new EnumSerializer<>(Color.class);
        KeyedStateHandle old = putColors(form, store, first, List.of(), colors("RED"), Color.RED);

        KeyedStateHandle reconfigured =
                putColors(form, store, first, List.of(old), all, Color.GREEN);
        KeyedStateHandle fresh = putColors(form, store, second, List.of(), all, Color.GREEN);

        AbstractKeyedStateBackend<Holder> backend =
                spilled(form, new KeyGroupRange(0, 3), List.of(reconfigured, fresh));
        backend.setCurrentKey(keyIn(first));
        assertThat(colorMap(backend, all).keys()).containsExactlyInAnyOrder(Color.RED, Color.GREEN);
        backend.setCurrentKey(keyIn(second));
        assertThat(colorMap(backend, all).get(Color.GREEN)).isEqualTo("of GREEN");
        backend.dispose();
    }

    private static KeyedStateHandle putColors(
            Form form,
            CheckpointStore store,
            KeyGroupRange range,
            List<KeyedStateHandle> handles,
            TypeSerializer<Color> serializer,
            Color added)
            throws Exception {
        AbstractKeyedStateBackend<Holder> backend = spilled(form, range, handles);
        backend.setCurrentKey(keyIn(range));
        colorMap(backend, serializer).put(added, "of " + added);
        // So that it is spilled.
        backend.setCurrentKey(backend.getCurrentKey());
        RunnableFuture<SnapshotResult<KeyedStateHandle>> snapshot = form.snapshot(backend, store);
        snapshot.run();
        backend.dispose();
        return snapshot.get().getJobManagerOwnedSnapshot();
    }

    private static MapState<Color, String> colorMap(
            AbstractKeyedStateBackend<Holder> backend, TypeSerializer<Color> serializer)
            throws Exception {
        return backend.getPartitionedState(
                VoidNamespace.INSTANCE,
                VoidNamespaceSerializer.INSTANCE,
                new MapStateDescriptor<>("colors", serializer, StringSerializer.INSTANCE));
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
            AbstractKeyedStateBackend<Holder> backend = spilled(form, range, List.of());
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
        AbstractKeyedStateBackend<Holder> backend = spilled(form, new KeyGroupRange(0, 3), handles);
        try {
            // So that it is spilled before the job asks for it.
            backend.setCurrentKey(keyIn(new KeyGroupRange(3, 3)));
            ValueState<V> state = value(backend, serializers.get(values.size()));
            assertThat(backend.numKeyValueStateEntries())
                    .isEqualTo((int) values.stream().filter(Objects::nonNull).count());
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

    private static AbstractKeyedStateBackend<Holder> spilled(
            Form form, KeyGroupRange range, List<KeyedStateHandle> handles) throws Exception {
        return KeyedBackends.create(
                Placement.SPILLED.backend(form),
                WritersOfHandlesTest.serializer(true),
                KEY_GROUPS,
                range,
                handles);
    }
}
