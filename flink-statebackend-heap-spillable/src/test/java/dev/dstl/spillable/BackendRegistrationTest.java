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
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.stream.Collectors;
import org.apache.flink.api.common.ExecutionConfig;
import org.apache.flink.api.common.functions.AggregateFunction;
import org.apache.flink.api.common.state.AggregatingState;
import org.apache.flink.api.common.state.AggregatingStateDescriptor;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ReducingState;
import org.apache.flink.api.common.state.ReducingStateDescriptor;
import org.apache.flink.api.common.state.State;
import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.queryablestate.client.state.serialization.KvStateSerializer;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.StateSnapshotTransformer.StateSnapshotTransformFactory;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.apache.flink.runtime.state.internal.InternalKvState;
import org.apache.flink.util.StateMigrationException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** States as an operator registers and uses them: defaults, functions, null, queries, all keys. */
class BackendRegistrationTest {

    @TempDir Path disk;
    private AbstractKeyedStateBackend<Integer> backend;

    @BeforeEach
    void open() throws Exception {
        start(true, Collections.emptyList());
    }

    @AfterEach
    void close() {
        backend.dispose();
        assertThat(disk).isEmptyDirectory();
    }

    private void start(boolean spilled, Collection<KeyedStateHandle> handles) throws Exception {
        Configuration config = new Configuration();
        config.setString("state.backend.spillable.directories", disk.toString());
        backend =
                KeyedBackends.create(
                        spilled ? PlacedBackends.spilled(config) : PlacedBackends.onHeap(),
                        IntSerializer.INSTANCE,
                        4,
                        new KeyGroupRange(0, 3),
                        handles);
        backend.setCurrentKey(1);
    }

    private <S extends State> S state(StateDescriptor<S, ?> descriptor) throws Exception {
        return backend.getPartitionedState(
                VoidNamespace.INSTANCE, VoidNamespaceSerializer.INSTANCE, descriptor);
    }

    /** Registers a state as a replayed changelog does, possibly again. */
    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
    private <S> S register(StateDescriptor<?, ?> descriptor) throws Exception {
        descriptor.initializeSerializerUnlessSet(new ExecutionConfig());
        InternalKvState<?, VoidNamespace, ?> state =
                backend.createOrUpdateInternalState(
                        VoidNamespaceSerializer.INSTANCE,
                        descriptor,
                        StateSnapshotTransformFactory.noTransform(),
                        true);
        state.setCurrentNamespace(VoidNamespace.INSTANCE);
        return (S) state;
    }

    @SuppressWarnings("deprecation") // the only way to a default value
    private static ValueStateDescriptor<String> valueWithDefault(String defaultValue) {
        return new ValueStateDescriptor<>("value", StringSerializer.INSTANCE, defaultValue);
    }

    @Test
    void aStateRegisteredAgain_isTheSameWithTheNewDefault() throws Exception {
        ValueState<String> first = register(valueWithDefault("first default"));
        assertThat(first.value()).isEqualTo("first default");

        ValueState<String> second = register(valueWithDefault("second default"));

        assertThat(second).isSameAs(first);
        assertThat(first.value()).isEqualTo("second default");
        first.update("set");
        assertThat(second.value()).isEqualTo("set");
    }

    @Test
    void aFunctionRegisteredAgain_isUsedFromThenOn() throws Exception {
        ReducingState<Long> state =
                register(new ReducingStateDescriptor<>("sum", Long::sum, Types.LONG));
        state.add(3L);
        state.add(4L);
        assertThat(state.get()).isEqualTo(7);
        ReducingState<Long> same =
                register(new ReducingStateDescriptor<>("sum", Math::max, Types.LONG));

        assertThat(same).isSameAs(state);
        state.add(100L);
        state.add(5L);
        assertThat(state.get()).isEqualTo(100);
    }

    private static final class Longest implements AggregateFunction<String, String, Integer> {
        private static final long serialVersionUID = 1L;

        @Override
        public String createAccumulator() {
            return "";
        }

        @Override
        public String add(String value, String accumulator) {
            return merge(value, accumulator);
        }

        @Override
        public Integer getResult(String accumulator) {
            return accumulator.length();
        }

        @Override
        public String merge(String a, String b) {
            return a.length() > b.length() ? a : b;
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void nullAndClear_leaveNothing(boolean spilled) throws Exception {
        backend.dispose();
        start(spilled, Collections.emptyList());
        ValueState<String> value = state(new ValueStateDescriptor<>("value", Types.STRING));
        ReducingState<Long> sum =
                state(new ReducingStateDescriptor<>("sum", Long::sum, Types.LONG));
        AggregatingState<String, Integer> longest =
                state(new AggregatingStateDescriptor<>("longest", new Longest(), Types.STRING));
        value.update("value");
        sum.add(1L);
        longest.add("three");
        assertThat(longest.get()).isEqualTo(5);

        value.update(null);
        sum.add(null);
        longest.add(null);

        assertThat(value.value()).isNull();
        assertThat(sum.get()).isNull();
        assertThat(longest.get()).isNull();
        assertThat(backend.numKeyValueStateEntries()).isZero();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aListThatTakesNull_saysThatItDoesNot(boolean spilled) throws Exception {
        backend.dispose();
        start(spilled, Collections.emptyList());
        ListState<String> list = state(new ListStateDescriptor<>("list", Types.STRING));
        list.add("kept");

        assertThatThrownBy(() -> list.add(null))
                .isInstanceOf(NullPointerException.class)
                .hasMessage("You cannot add null to a ListState.");
        assertThatThrownBy(() -> list.addAll(Arrays.asList("lost", null)))
                .isInstanceOf(NullPointerException.class);
        assertThatThrownBy(() -> list.update(Arrays.asList("lost", null)))
                .isInstanceOf(NullPointerException.class);

        assertThat(list.get()).containsExactly("kept");
        list.update(Collections.emptyList());
        assertThat(list.get()).isNull();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void queries_getTheBytesThatFlinksClientReads(boolean spilled) throws Exception {
        backend.dispose();
        start(spilled, Collections.emptyList());
        ListState<String> list = state(new ListStateDescriptor<>("list", Types.STRING));
        MapState<String, Long> map =
                state(new MapStateDescriptor<>("map", Types.STRING, Types.LONG));
        list.addAll(Arrays.asList("a", "b", "c"));
        map.put("x", 1L);
        map.put("y", null);
        backend.setCurrentKey(2);

        assertThat(
                        KvStateSerializer.deserializeList(
                                query((InternalKvState<?, ?, ?>) list), StringSerializer.INSTANCE))
                .containsExactly("a", "b", "c");
        assertThat(
                        KvStateSerializer.deserializeMap(
                                query((InternalKvState<?, ?, ?>) map),
                                StringSerializer.INSTANCE,
                                LongSerializer.INSTANCE))
                .hasSize(2)
                .containsEntry("x", 1L)
                .containsEntry("y", null);
    }

    @SuppressWarnings("unchecked") // keys are integers, namespaces void
    private static byte[] query(InternalKvState<?, ?, ?> state) throws Exception {
        InternalKvState<Integer, VoidNamespace, Object> typed =
                (InternalKvState<Integer, VoidNamespace, Object>) state;
        return typed.getSerializedValue(
                KvStateSerializer.serializeKeyAndNamespace(
                        1,
                        IntSerializer.INSTANCE,
                        VoidNamespace.INSTANCE,
                        VoidNamespaceSerializer.INSTANCE),
                IntSerializer.INSTANCE,
                VoidNamespaceSerializer.INSTANCE,
                typed.getValueSerializer());
    }

    @Test
    void everyKey_canBeVisitedAndCleared() throws Exception {
        ValueStateDescriptor<String> descriptor = new ValueStateDescriptor<>("value", Types.STRING);
        ValueState<String> value = state(descriptor);
        for (int key = 0; key < 300; key++) {
            backend.setCurrentKey(key);
            value.update("value of " + key);
        }
        backend.applyToAllKeys(
                VoidNamespace.INSTANCE,
                VoidNamespaceSerializer.INSTANCE,
                descriptor,
                (key, state) -> {
                    assertThat(state.value()).isEqualTo("value of " + key);
                    if (key % 3 == 0) {
                        state.clear();
                    } else {
                        state.update("visited");
                    }
                });

        List<Integer> left =
                backend.getKeys("value", VoidNamespace.INSTANCE).collect(Collectors.toList());
        assertThat(left).hasSize(200).noneMatch(key -> key % 3 == 0);
        assertThat(backend.getKeys("missing", VoidNamespace.INSTANCE)).isEmpty();
        assertThat(backend.getKeysAndNamespaces("missing")).isEmpty();
        assertThat(
                        backend.getKeys(
                                Arrays.asList("value", "missing", "value"), VoidNamespace.INSTANCE))
                .hasSize(200);
    }

    @Test
    void aStateOfAnotherType_isRefusedByNameWithBothSerializers() throws Exception {
        state(new ValueStateDescriptor<>("value", Types.STRING)).update("value");
        Collection<KeyedStateHandle> checkpoint =
                KeyedBackends.handles(KeyedBackends.checkpoint(backend, 1));
        backend.dispose();
        start(true, checkpoint);

        assertThatThrownBy(() -> register(new ValueStateDescriptor<>("value", Types.LONG)))
                .isInstanceOf(StateMigrationException.class)
                .hasMessageContaining("of state 'value' must not be incompatible")
                .hasMessageContaining("LongSerializer")
                .hasMessageContaining("StringSerializer");
    }

    @Test
    void anotherNamespace_isRefusedByName() throws Exception {
        ValueStateDescriptor<String> descriptor = new ValueStateDescriptor<>("value", Types.STRING);
        ValueState<String> value = register(descriptor);
        value.update("value");

        assertThatThrownBy(
                        () ->
                                backend.createOrUpdateInternalState(
                                        LongSerializer.INSTANCE,
                                        descriptor,
                                        StateSnapshotTransformFactory.noTransform(),
                                        true))
                .isInstanceOf(StateMigrationException.class)
                .hasMessageContaining("of state 'value'")
                .hasMessageContaining("namespaces cannot be migrated");
    }

    @Test
    void aBackend_isNamedWithItsKeyGroups() {
        assertThat(backend)
                .hasToString(
                        "SpillableKeyedStateBackendKeyGroupRange{startKeyGroup=0, endKeyGroup=3}");
    }
}
