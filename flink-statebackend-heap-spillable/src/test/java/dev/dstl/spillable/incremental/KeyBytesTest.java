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
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.stream.Stream;
import org.apache.flink.api.common.serialization.SerializerConfigImpl;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.api.java.typeutils.runtime.kryo.KryoSerializer;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.checkpoint.CheckpointType;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Compatible serializers that write keys with other bytes than before; all state is spilled. */
class KeyBytesTest {

    private static final int KEY_GROUPS = 4;
    private static final int KEYS = 50;
    private static final int USER_KEYS = 300;

    @TempDir private Path directory;

    /** Kryo writes the class of its part by name, and by number once it is registered. */
    static final class Holder {
        private final Object part;

        @SuppressWarnings("unused") // Kryo
        Holder() {
            this(0);
        }

        Holder(int number) {
            part = new Part(number);
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Holder && part.equals(((Holder) other).part);
        }

        @Override
        public int hashCode() {
            return part.hashCode();
        }
    }

    static final class Part {
        private final int number;

        @SuppressWarnings("unused") // Kryo
        Part() {
            this(0);
        }

        Part(int number) {
            this.number = number;
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Part && number == ((Part) other).number;
        }

        @Override
        public int hashCode() {
            return number;
        }
    }

    private static TypeSerializer<Holder> serializer(boolean registered) {
        SerializerConfigImpl config = new SerializerConfigImpl();
        if (registered) {
            config.registerKryoType(Part.class);
        }
        return new KryoSerializer<>(Holder.class, config);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void keysNamespacesAndUserKeys_areFound_afterAClassInThemWasRegistered(boolean incremental)
            throws Exception {
        CheckpointStore store = new CheckpointStore(directory);
        Collection<KeyedStateHandle> handles = Collections.emptyList();
        for (int life = 0; life < 3; life++) {
            boolean registered = life > 0;
            AbstractKeyedStateBackend<Holder> backend = spilled(incremental, registered, handles);
            for (int number = 0; number < KEYS; number++) {
                if (life > 0) {
                    check(backend, number, life - 1);
                }
                write(backend, number, life);
            }
            assertThat(backend.numKeyValueStateEntries()).isEqualTo(3 * KEYS);
            handles = List.of(checkpoint(backend, store, life));
            backend.dispose();
        }
    }

    /** Whether the job asks for its state at once, as it uses keys, or not at all for one life. */
    private enum Asks {
        AT_ONCE,
        LATE,
        IN_NEXT_LIFE
    }

    static Stream<Arguments> evolving() {
        return Arrays.stream(Asks.values())
                .flatMap(
                        asks ->
                                Stream.of(true, false)
                                        .flatMap(
                                                incremental ->
                                                        Stream.of(
                                                                Arguments.of(
                                                                        asks, incremental, true),
                                                                Arguments.of(
                                                                        asks,
                                                                        incremental,
                                                                        false))));
    }

    @ParameterizedTest(name = "asks {0}, incremental: {1}, keys change: {2}")
    @MethodSource("evolving")
    void valuesWhoseSchemaHasChanged_areRead(Asks asks, boolean incremental, boolean keysChange)
            throws Exception {
        CheckpointStore store = new CheckpointStore(directory);
        Collection<KeyedStateHandle> handles = Collections.emptyList();
        for (int life = 0; life < 4; life++) {
            int version = life < 1 ? 1 : 2;
            EvolvingStringSerializer.latest = version;
            TypeSerializer<String> values = new EvolvingStringSerializer(version);
            boolean registered = keysChange && life > 0;
            AbstractKeyedStateBackend<Holder> backend = spilled(incremental, registered, handles);
            boolean asksForState = life != 1 || asks != Asks.IN_NEXT_LIFE;
            if (life > 0 && asks == Asks.LATE) {
                // What is on the heap is spilled.
                backend.setCurrentKey(new Holder(0));
                backend.setCurrentKey(new Holder(1));
            }
            for (int number = 0; asksForState && number < KEYS; number++) {
                backend.setCurrentKey(new Holder(number));
                ListState<String> list =
                        backend.getPartitionedState(
                                VoidNamespace.INSTANCE,
                                VoidNamespaceSerializer.INSTANCE,
                                new ListStateDescriptor<>("evolving", values));
                if (life == 0) {
                    list.update(List.of("a", "b" + number));
                } else {
                    assertThat(list.get()).containsExactly("a", "b" + number);
                }
            }
            handles = List.of(checkpoint(backend, store, life));
            backend.dispose();
        }
    }

    private static AbstractKeyedStateBackend<Holder> spilled(
            boolean incremental, boolean registered, Collection<KeyedStateHandle> handles)
            throws Exception {
        return KeyedBackends.create(
                PlacedBackends.spilled(
                        new Configuration()
                                .set(CheckpointingOptions.INCREMENTAL_CHECKPOINTS, incremental)),
                serializer(registered),
                KEY_GROUPS,
                new KeyGroupRange(0, KEY_GROUPS - 1),
                handles);
    }

    private static KeyedStateHandle checkpoint(
            AbstractKeyedStateBackend<Holder> backend, CheckpointStore store, int life)
            throws Exception {
        KeyedStateHandle handle = null;
        for (int id = 10 * life + 1; id < 10 * life + 3; id++) {
            var checkpoint =
                    KeyedBackends.checkpoint(
                            backend, id, store.streams(), CheckpointType.CHECKPOINT);
            checkpoint.run();
            handle = checkpoint.get().getJobManagerOwnedSnapshot();
            backend.notifyCheckpointComplete(id);
        }
        return handle;
    }

    private static void write(AbstractKeyedStateBackend<Holder> backend, int number, int life)
            throws Exception {
        boolean registered = life > 0;
        backend.setCurrentKey(new Holder(number));
        value(backend, number, registered).update("value " + number + " of " + life);
        list(backend, number, registered).update(List.of("a", "b" + life));
        MapState<Holder, String> map = map(backend, number, registered);
        for (int userKey = 0; userKey < userKeys(number); userKey++) {
            map.put(new Holder(userKey), userKey + " of " + life);
        }
    }

    private static void check(AbstractKeyedStateBackend<Holder> backend, int number, int life)
            throws Exception {
        backend.setCurrentKey(new Holder(number));
        assertThat(value(backend, number, true).value())
                .isEqualTo("value " + number + " of " + life);
        assertThat(list(backend, number, true).get()).containsExactly("a", "b" + life);
        MapState<Holder, String> map = map(backend, number, true);
        List<Holder> met = new ArrayList<>();
        map.keys().forEach(met::add);
        assertThat(met).hasSize(userKeys(number));
        for (int userKey = 0; userKey < userKeys(number); userKey++) {
            assertThat(map.get(new Holder(userKey))).isEqualTo(userKey + " of " + life);
        }
    }

    /** Small maps lie in one entry, large ones in several. */
    private static int userKeys(int number) {
        return number % 5 == 0 ? USER_KEYS : 3;
    }

    private static ValueState<String> value(
            AbstractKeyedStateBackend<Holder> backend, int number, boolean registered)
            throws Exception {
        return backend.getPartitionedState(
                new Holder(number),
                serializer(registered),
                new ValueStateDescriptor<>("value", StringSerializer.INSTANCE));
    }

    private static ListState<String> list(
            AbstractKeyedStateBackend<Holder> backend, int number, boolean registered)
            throws Exception {
        return backend.getPartitionedState(
                new Holder(number),
                serializer(registered),
                new ListStateDescriptor<>("list", StringSerializer.INSTANCE));
    }

    private static MapState<Holder, String> map(
            AbstractKeyedStateBackend<Holder> backend, int number, boolean registered)
            throws Exception {
        return backend.getPartitionedState(
                number,
                IntSerializer.INSTANCE,
                new MapStateDescriptor<>("map", serializer(registered), StringSerializer.INSTANCE));
    }
}
