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

package dev.dstl.changelog.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.dstl.changelog.fixture.Delegate;
import dev.dstl.changelog.fixture.InMemoryChangelogWriter;
import dev.dstl.changelog.fixture.VersionedStringSerializer;
import dev.dstl.changelog.record.ChangelogAppender;
import dev.dstl.changelog.state.LoggedStateRegistry;
import dev.dstl.log.api.LogRecord;
import java.util.Arrays;
import java.util.List;
import org.apache.flink.api.common.functions.AggregateFunction;
import org.apache.flink.api.common.state.AggregatingStateDescriptor;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ReducingStateDescriptor;
import org.apache.flink.api.common.state.State;
import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.StateSnapshotTransformer.StateSnapshotTransformFactory;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.apache.flink.runtime.state.internal.InternalAggregatingState;
import org.apache.flink.runtime.state.internal.InternalKvState;
import org.apache.flink.runtime.state.internal.InternalListState;
import org.apache.flink.runtime.state.internal.InternalMapState;
import org.apache.flink.runtime.state.internal.InternalReducingState;
import org.apache.flink.runtime.state.internal.InternalValueState;
import org.apache.flink.util.StateMigrationException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * States are restored from the changelog with old serializers, and the job registers newer ones.
 */
class MigrationTest {

    private static final int KEY = 7;

    @ParameterizedTest
    @EnumSource(Delegate.Kind.class)
    void valueState_isMigratedWhenTheJobRegistersIt(Delegate.Kind kind) throws Exception {
        migrates(
                kind,
                MigrationTest::value,
                state -> value(state).update("before"),
                state -> assertThat(value(state).value()).isEqualTo("before"));
    }

    @ParameterizedTest
    @EnumSource(Delegate.Kind.class)
    void listState_isMigratedWhenTheJobRegistersIt(Delegate.Kind kind) throws Exception {
        migrates(
                kind,
                version ->
                        new ListStateDescriptor<>("state", new VersionedStringSerializer(version)),
                state -> list(state).addAll(List.of("a", "b")),
                state -> {
                    list(state).add("c");
                    assertThat(list(state).get()).containsExactly("a", "b", "c");
                });
    }

    @ParameterizedTest
    @EnumSource(Delegate.Kind.class)
    void mapState_isMigratedWhenTheJobRegistersIt(Delegate.Kind kind) throws Exception {
        migrates(
                kind,
                version ->
                        new MapStateDescriptor<>(
                                "state",
                                IntSerializer.INSTANCE,
                                new VersionedStringSerializer(version)),
                // no null: RocksDB's own migration of maps fails on it
                state -> map(state).put(1, "one"),
                state -> assertThat(map(state).get(1)).isEqualTo("one"));
    }

    @ParameterizedTest
    @EnumSource(Delegate.Kind.class)
    void reducingState_isMigratedWhenTheJobRegistersIt(Delegate.Kind kind) throws Exception {
        migrates(
                kind,
                version ->
                        new ReducingStateDescriptor<>(
                                "state", String::concat, new VersionedStringSerializer(version)),
                state -> reducing(state).add("a"),
                state -> {
                    reducing(state).add("b");
                    assertThat(reducing(state).get()).isEqualTo("ab");
                });
    }

    @ParameterizedTest
    @EnumSource(Delegate.Kind.class)
    void aggregatingState_isMigratedWhenTheJobRegistersIt(Delegate.Kind kind) throws Exception {
        migrates(
                kind,
                version ->
                        new AggregatingStateDescriptor<>(
                                "state",
                                new Concatenation(),
                                new VersionedStringSerializer(version)),
                state -> aggregate(state).add("a"),
                state -> {
                    aggregate(state).add("b");
                    assertThat(aggregate(state).get()).isEqualTo("ab");
                });
    }

    @ParameterizedTest
    @EnumSource(Delegate.Kind.class)
    void newerSerializersThanTheJobs_areRefusedByTheDelegate(Delegate.Kind kind) throws Exception {
        InMemoryChangelogWriter log = new InMemoryChangelogWriter();
        try (Delegate<Integer> delegate = kind.create(IntSerializer.INSTANCE)) {
            InternalValueState<Integer, ?, String> state =
                    (InternalValueState<Integer, ?, String>) register(delegate, log, value(2));
            state.update("newer");
        }
        try (Delegate<Integer> delegate = kind.create(IntSerializer.INSTANCE)) {
            replay(delegate, log);
            assertThatThrownBy(() -> register(delegate, new InMemoryChangelogWriter(), value(1)))
                    .isInstanceOf(StateMigrationException.class);
        }
    }

    @ParameterizedTest
    @EnumSource(Delegate.Kind.class)
    void keysOfAnotherSerializer_areRefusedWithoutABase(Delegate.Kind kind) throws Exception {
        InMemoryChangelogWriter log = new InMemoryChangelogWriter();
        try (Delegate<String> delegate = kind.create(new VersionedStringSerializer(1))) {
            InternalKvState<String, VoidNamespace, String> state =
                    registry(delegate, log)
                            .createOrUpdateState(
                                    VoidNamespaceSerializer.INSTANCE,
                                    value(1),
                                    StateSnapshotTransformFactory.noTransform(),
                                    false);
            state.setCurrentNamespace(VoidNamespace.INSTANCE);
            delegate.backend().setCurrentKey("key");
            ((InternalValueState<?, ?, String>) state).update("value");
        }
        try (Delegate<String> delegate = kind.create(new VersionedStringSerializer(2))) {
            assertThatThrownBy(
                            () ->
                                    new LogReplayer<>(
                                                    delegate.backend(), getClass().getClassLoader())
                                            .replay(
                                                    log.open(),
                                                    KeyGroupRange.of(0, Delegate.KEY_GROUPS - 1)))
                    .isInstanceOf(StateMigrationException.class)
                    .hasMessageContaining("key serializer");
        }
    }

    @ParameterizedTest
    @EnumSource(Delegate.Kind.class)
    void recordsOfAnOlderVersion_behindTheRegistrationOfANewerOne_areMigrated(Delegate.Kind kind)
            throws Exception {
        InMemoryChangelogWriter both = new InMemoryChangelogWriter();
        InMemoryChangelogWriter older = logOfOneValue(kind, 1, KEY, "older");
        InMemoryChangelogWriter newer = logOfOneValue(kind, 2, KEY + 1, "newer");
        copy(older.record(0), both, 0);
        copy(newer.record(0), both, 1);
        copy(older.record(1), both, 0);
        copy(newer.record(1), both, 1);

        try (Delegate<Integer> delegate = kind.create(IntSerializer.INSTANCE)) {
            replay(delegate, both);
            ValueState<String> state =
                    value(register(delegate, new InMemoryChangelogWriter(), value(2)));
            assertThat(state.value()).isEqualTo("older");
            delegate.backend().setCurrentKey(KEY + 1);
            assertThat(state.value()).isEqualTo("newer");
        }
    }

    private static InMemoryChangelogWriter logOfOneValue(
            Delegate.Kind kind, int version, int key, String written) throws Exception {
        InMemoryChangelogWriter log = new InMemoryChangelogWriter();
        try (Delegate<Integer> delegate = kind.create(IntSerializer.INSTANCE)) {
            ValueState<String> state = value(register(delegate, log, value(version)));
            delegate.backend().setCurrentKey(key);
            state.update(written);
        }
        return log;
    }

    private static void copy(LogRecord record, InMemoryChangelogWriter target, int stateId)
            throws Exception {
        int length = record.keyLength() + record.payloadLength();
        target.append(
                record.kind(),
                record.keyGroup(),
                stateId,
                Arrays.copyOfRange(
                        record.buffer(), record.keyOffset(), record.keyOffset() + length),
                record.keyPrefixLength(),
                record.keyLength(),
                length);
    }

    private interface DescriptorOfVersion {
        StateDescriptor<?, ?> create(int version);
    }

    private interface Use {
        void use(InternalKvState<Integer, VoidNamespace, ?> state) throws Exception;
    }

    /**
     * Three incarnations of a job: one writes with version 1; one restores that, registers version
     * 2 and writes; one restores both logs and registers version 3.
     */
    private static void migrates(
            Delegate.Kind kind, DescriptorOfVersion descriptor, Use write, Use check)
            throws Exception {
        InMemoryChangelogWriter first = new InMemoryChangelogWriter();
        try (Delegate<Integer> delegate = kind.create(IntSerializer.INSTANCE)) {
            write.use(register(delegate, first, descriptor.create(1)));
        }
        InMemoryChangelogWriter second = new InMemoryChangelogWriter();
        try (Delegate<Integer> delegate = kind.create(IntSerializer.INSTANCE)) {
            replay(delegate, first);
            InternalKvState<Integer, VoidNamespace, ?> state =
                    register(delegate, second, descriptor.create(2));
            check.use(state);
            state.clear();
            write.use(state);
        }
        try (Delegate<Integer> delegate = kind.create(IntSerializer.INSTANCE)) {
            replay(delegate, first);
            replay(delegate, second);
            check.use(register(delegate, new InMemoryChangelogWriter(), descriptor.create(3)));
        }
    }

    private static void replay(Delegate<Integer> delegate, InMemoryChangelogWriter log)
            throws Exception {
        try (LogReplayer<Integer> replayer =
                new LogReplayer<>(delegate.backend(), MigrationTest.class.getClassLoader())) {
            replayer.replay(log.open(), KeyGroupRange.of(0, Delegate.KEY_GROUPS - 1));
        }
    }

    private static <K> LoggedStateRegistry<K> registry(
            Delegate<K> delegate, InMemoryChangelogWriter log) {
        return new LoggedStateRegistry<>(delegate.backend(), new ChangelogAppender(log));
    }

    private static <S extends State, V> InternalKvState<Integer, VoidNamespace, V> register(
            Delegate<Integer> delegate,
            InMemoryChangelogWriter log,
            StateDescriptor<S, V> descriptor)
            throws Exception {
        InternalKvState<Integer, VoidNamespace, V> state =
                registry(delegate, log)
                        .createOrUpdateState(
                                VoidNamespaceSerializer.INSTANCE,
                                descriptor,
                                StateSnapshotTransformFactory.noTransform(),
                                false);
        delegate.backend().setCurrentKey(KEY);
        state.setCurrentNamespace(VoidNamespace.INSTANCE);
        return state;
    }

    private static ValueStateDescriptor<String> value(int version) {
        TypeSerializer<String> serializer = new VersionedStringSerializer(version);
        return new ValueStateDescriptor<>("state", serializer);
    }

    @SuppressWarnings("unchecked")
    private static InternalValueState<?, ?, String> value(InternalKvState<?, ?, ?> state) {
        return (InternalValueState<?, ?, String>) state;
    }

    @SuppressWarnings("unchecked")
    private static InternalReducingState<?, ?, String> reducing(InternalKvState<?, ?, ?> state) {
        return (InternalReducingState<?, ?, String>) state;
    }

    @SuppressWarnings("unchecked")
    private static InternalListState<?, ?, String> list(InternalKvState<?, ?, ?> state) {
        return (InternalListState<?, ?, String>) state;
    }

    @SuppressWarnings("unchecked")
    private static InternalMapState<?, ?, Integer, String> map(InternalKvState<?, ?, ?> state) {
        return (InternalMapState<?, ?, Integer, String>) state;
    }

    @SuppressWarnings("unchecked")
    private static InternalAggregatingState<?, ?, String, String, String> aggregate(
            InternalKvState<?, ?, ?> state) {
        return (InternalAggregatingState<?, ?, String, String, String>) state;
    }

    private static final class Concatenation implements AggregateFunction<String, String, String> {

        private static final long serialVersionUID = 1L;

        @Override
        public String createAccumulator() {
            return "";
        }

        @Override
        public String add(String value, String accumulator) {
            return accumulator + value;
        }

        @Override
        public String getResult(String accumulator) {
            return accumulator;
        }

        @Override
        public String merge(String left, String right) {
            return left + right;
        }
    }
}
