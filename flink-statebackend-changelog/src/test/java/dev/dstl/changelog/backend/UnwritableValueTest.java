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

package dev.dstl.changelog.backend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.dstl.changelog.contract.Delegate;
import dev.dstl.changelog.contract.LogStorage;
import dev.dstl.changelog.fixture.FakeJobManager;
import dev.dstl.changelog.fixture.LastValue;
import dev.dstl.changelog.fixture.VersionedStringSerializer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.ConcurrentModificationException;
import java.util.Iterator;
import java.util.List;
import java.util.StringJoiner;
import java.util.stream.Stream;
import org.apache.flink.api.common.serialization.SerializerConfigImpl;
import org.apache.flink.api.common.state.AggregatingStateDescriptor;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ReducingStateDescriptor;
import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.api.common.state.StateTtlConfig;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.api.java.typeutils.GenericTypeInfo;
import org.apache.flink.runtime.state.KeyGroupedInternalPriorityQueue;
import org.apache.flink.streaming.api.operators.TimerHeapInternalTimer;
import org.apache.flink.streaming.api.operators.TimerSerializer;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Writes of values that cannot be serialized, whose exceptions the job catches. */
class UnwritableValueTest {

    private static final int KEY = 1;

    private static final TypeInformation<Readings> READINGS = new GenericTypeInfo<>(Readings.class);

    private static final List<Delegate> DELEGATES =
            List.of(Delegate.HASHMAP, Delegate.SPILLABLE_INCREMENTAL, Delegate.ROCKSDB_INCREMENTAL);

    @TempDir private Path directory;

    /** A value that Kryo writes halfway, and then throws another exception than its own. */
    public static final class Readings extends ArrayList<String> {
        private static final long serialVersionUID = 1L;

        static final String BAD = "changed meanwhile";

        /** For Kryo. */
        public Readings() {}

        Readings(String... readings) {
            super(List.of(readings));
        }

        @Override
        public Iterator<String> iterator() {
            if (contains(BAD)) {
                throw new ConcurrentModificationException(BAD);
            }
            return super.iterator();
        }
    }

    /** Writes of one value, and reads of all. */
    enum Access {
        VALUE {
            @Override
            void write(TestTask task, Readings readings) throws Exception {
                task.state(KEY, new ValueStateDescriptor<>("v", READINGS)).update(readings);
            }

            @Override
            Object read(TestTask task) throws Exception {
                return task.state(KEY, new ValueStateDescriptor<>("v", READINGS)).value();
            }
        },
        LIST_ELEMENT {
            @Override
            void write(TestTask task, Readings readings) throws Exception {
                task.state(KEY, new ListStateDescriptor<>("l", READINGS)).add(readings);
            }

            @Override
            Object read(TestTask task) throws Exception {
                return task.state(KEY, new ListStateDescriptor<>("l", READINGS))
                        .get()
                        .iterator()
                        .next();
            }
        },
        WHOLE_LIST {
            @Override
            void write(TestTask task, Readings readings) throws Exception {
                task.state(KEY, new ListStateDescriptor<>("l", READINGS)).update(List.of(readings));
            }

            @Override
            Object read(TestTask task) throws Exception {
                return LIST_ELEMENT.read(task);
            }
        },
        MAP_VALUE {
            @Override
            void write(TestTask task, Readings readings) throws Exception {
                task.state(KEY, new MapStateDescriptor<>("m", Types.STRING, READINGS))
                        .put("k", readings);
            }

            @Override
            Object read(TestTask task) throws Exception {
                return task.state(KEY, new MapStateDescriptor<>("m", Types.STRING, READINGS))
                        .get("k");
            }
        },
        MAP_KEY {
            @Override
            void write(TestTask task, Readings readings) throws Exception {
                task.state(KEY, new MapStateDescriptor<>("mk", READINGS, Types.STRING))
                        .put(readings, "v");
            }

            @Override
            Object read(TestTask task) throws Exception {
                return task.state(KEY, new MapStateDescriptor<>("mk", READINGS, Types.STRING))
                        .keys()
                        .iterator()
                        .next();
            }
        },
        REDUCED_VALUE {
            @Override
            void write(TestTask task, Readings readings) throws Exception {
                task.state(
                                KEY,
                                new ReducingStateDescriptor<>(
                                        "r", (before, added) -> added, READINGS))
                        .add(readings);
            }

            @Override
            Object read(TestTask task) throws Exception {
                return task.state(
                                KEY,
                                new ReducingStateDescriptor<>(
                                        "r", (before, added) -> added, READINGS))
                        .get();
            }
        },
        ACCUMULATOR {
            @Override
            void write(TestTask task, Readings readings) throws Exception {
                task.state(KEY, new AggregatingStateDescriptor<>("a", new LastValue<>(), READINGS))
                        .add(readings);
            }

            @Override
            Object read(TestTask task) throws Exception {
                return task.state(
                                KEY,
                                new AggregatingStateDescriptor<>("a", new LastValue<>(), READINGS))
                        .get();
            }
        };

        abstract void write(TestTask task, Readings readings) throws Exception;

        abstract Object read(TestTask task) throws Exception;
    }

    static Stream<Arguments> everyAccessOverEveryDelegate() {
        return DELEGATES.stream()
                .flatMap(
                        delegate ->
                                Stream.of(Access.values())
                                        .map(access -> Arguments.of(delegate, access)));
    }

    @ParameterizedTest
    @MethodSource("everyAccessOverEveryDelegate")
    void valueThatKryoCanWrite_isWrittenAfterOneThatItCannot(Delegate delegate, Access access)
            throws Exception {
        FakeJobManager jobManager = new FakeJobManager();
        try (TestTask task = TestTask.start(directory, delegate, LogStorage.DSTL, jobManager)) {
            assertThatThrownBy(() -> access.write(task, new Readings("1", Readings.BAD)))
                    .isInstanceOf(ConcurrentModificationException.class);
            access.write(task, new Readings("1", "2"));
            task.checkpoint(1);
        }
        try (TestTask task = TestTask.start(directory, delegate, LogStorage.DSTL, jobManager)) {
            assertThat(access.read(task)).isEqualTo(List.of("1", "2"));
        }
    }

    /** Writes that fail after the job has changed a part of what it has read. */
    enum PartlyChanged {
        TUPLE {
            private ValueState<Tuple2<List<String>, Integer>> state(TestTask task, boolean expires)
                    throws Exception {
                return task.state(
                        KEY,
                        expiring(
                                new ValueStateDescriptor<>(
                                        "t", Types.TUPLE(Types.LIST(Types.STRING), Types.INT)),
                                expires));
            }

            @Override
            void write(TestTask task, boolean expires) throws Exception {
                state(task, expires).update(Tuple2.of(listOf("one"), 1));
            }

            @Override
            void changeAndFail(TestTask task, boolean expires) throws Exception {
                List<String> part = state(task, expires).value().f0;
                part.add("two");
                state(task, expires).update(Tuple2.of(part, null));
            }

            @Override
            Object read(TestTask task, boolean expires) throws Exception {
                return state(task, expires).value().toString();
            }
        },
        ELEMENTS {
            private ListState<List<Integer>> state(TestTask task, boolean expires)
                    throws Exception {
                return task.state(
                        KEY,
                        expiring(new ListStateDescriptor<>("e", Types.LIST(Types.INT)), expires));
            }

            @Override
            void write(TestTask task, boolean expires) throws Exception {
                state(task, expires).add(new ArrayList<>(List.of(1)));
            }

            @Override
            void changeAndFail(TestTask task, boolean expires) throws Exception {
                List<List<Integer>> copy = new ArrayList<>();
                for (List<Integer> element : state(task, expires).get()) {
                    element.add(2);
                    copy.add(element);
                }
                copy.add(Collections.singletonList(null));
                state(task, expires).update(copy);
            }

            @Override
            Object read(TestTask task, boolean expires) throws Exception {
                StringJoiner elements = new StringJoiner(", ");
                state(task, expires).get().forEach(element -> elements.add(element.toString()));
                return elements.toString();
            }
        },
        MAP_VALUE {
            private MapState<String, Tuple2<List<String>, Integer>> state(
                    TestTask task, boolean expires) throws Exception {
                return task.state(
                        KEY,
                        expiring(
                                new MapStateDescriptor<>(
                                        "m",
                                        Types.STRING,
                                        Types.TUPLE(Types.LIST(Types.STRING), Types.INT)),
                                expires));
            }

            @Override
            void write(TestTask task, boolean expires) throws Exception {
                state(task, expires).put("k", Tuple2.of(listOf("one"), 1));
            }

            @Override
            void changeAndFail(TestTask task, boolean expires) throws Exception {
                List<String> part = state(task, expires).get("k").f0;
                part.add("two");
                state(task, expires).put("k", Tuple2.of(part, null));
            }

            @Override
            Object read(TestTask task, boolean expires) throws Exception {
                return state(task, expires).get("k").toString();
            }
        };

        abstract void write(TestTask task, boolean expires) throws Exception;

        abstract void changeAndFail(TestTask task, boolean expires) throws Exception;

        abstract Object read(TestTask task, boolean expires) throws Exception;

        private static List<String> listOf(String element) {
            return new ArrayList<>(List.of(element));
        }

        private static <D extends StateDescriptor<?, ?>> D expiring(D descriptor, boolean expires) {
            if (expires) {
                descriptor.enableTimeToLive(StateTtlConfig.newBuilder(Duration.ofDays(1)).build());
            }
            return descriptor;
        }
    }

    static Stream<Arguments> everyPartlyChangedValueOverEveryDelegate() {
        return DELEGATES.stream()
                .flatMap(
                        delegate ->
                                Stream.of(PartlyChanged.values())
                                        .flatMap(
                                                value ->
                                                        Stream.of(false, true)
                                                                .map(
                                                                        expires ->
                                                                                Arguments.of(
                                                                                        delegate,
                                                                                        value,
                                                                                        expires))));
    }

    @ParameterizedTest
    @MethodSource("everyPartlyChangedValueOverEveryDelegate")
    void partThatWasChangedInPlace_isInTheNextCheckpointAsInTheDelegate(
            Delegate delegate, PartlyChanged value, boolean expires) throws Exception {
        FakeJobManager jobManager = new FakeJobManager();
        Object held;
        try (TestTask task = TestTask.start(directory, delegate, LogStorage.DSTL, jobManager)) {
            value.write(task, expires);
            task.checkpoint(1);
            assertThatThrownBy(() -> value.changeAndFail(task, expires))
                    .isInstanceOf(RuntimeException.class);
            held = value.read(task, expires);
            task.checkpoint(2);
        }
        try (TestTask task = TestTask.start(directory, delegate, LogStorage.DSTL, jobManager)) {
            assertThat(value.read(task, expires)).isEqualTo(held);
        }
    }

    @ParameterizedTest
    @MethodSource("everyPartlyChangedValueOverEveryDelegate")
    void checkpointsStayIncremental_onlyIfTheDelegateKeepsNoObjects(
            Delegate delegate, PartlyChanged value, boolean expires) throws Exception {
        try (TestTask task = TestTask.start(directory, delegate, LogStorage.DSTL)) {
            value.write(task, expires);
            long base = task.checkpoint(1).getMaterializationID();
            assertThatThrownBy(() -> value.changeAndFail(task, expires))
                    .isInstanceOf(RuntimeException.class);

            assertThat(task.checkpoint(2).getMaterializationID() == base)
                    .isEqualTo(delegate == Delegate.ROCKSDB_INCREMENTAL);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"HASHMAP", "SPILLABLE_INCREMENTAL", "ROCKSDB_INCREMENTAL"})
    void checkpointsStayIncremental_ifAnImmutableValueCannotBeWritten(Delegate delegate)
            throws Exception {
        try (TestTask task = TestTask.start(directory, delegate, LogStorage.DSTL)) {
            task.versioned(KEY, 1).update("a");
            long base = task.checkpoint(1).getMaterializationID();
            assertThatThrownBy(() -> task.versioned(KEY, 1).update(VersionedStringSerializer.BAD))
                    .hasMessageContaining("cannot be written");

            assertThat(task.checkpoint(2).getMaterializationID()).isEqualTo(base);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"HASHMAP", "SPILLABLE_INCREMENTAL", "ROCKSDB_INCREMENTAL"})
    void timerThatKryoCanWrite_isWrittenAfterOneThatItCannot(Delegate delegate) throws Exception {
        FakeJobManager jobManager = new FakeJobManager();
        try (TestTask task = TestTask.start(directory, delegate, LogStorage.DSTL, jobManager)) {
            KeyGroupedInternalPriorityQueue<TimerHeapInternalTimer<Integer, Readings>> timers =
                    timers(task);
            assertThatThrownBy(() -> timers.add(timer(new Readings("1", Readings.BAD))))
                    .isInstanceOf(ConcurrentModificationException.class);
            timers.add(timer(new Readings("1", "2")));
            task.checkpoint(1);
        }
        try (TestTask task = TestTask.start(directory, delegate, LogStorage.DSTL, jobManager)) {
            assertThat(timers(task).peek().getNamespace()).isEqualTo(List.of("1", "2"));
        }
    }

    private static TimerHeapInternalTimer<Integer, Readings> timer(Readings namespace) {
        return new TimerHeapInternalTimer<>(7, KEY, namespace);
    }

    private static KeyGroupedInternalPriorityQueue<TimerHeapInternalTimer<Integer, Readings>>
            timers(TestTask task) {
        return task.backend()
                .create(
                        "timers of readings",
                        new TimerSerializer<>(
                                IntSerializer.INSTANCE,
                                READINGS.createSerializer(new SerializerConfigImpl())));
    }
}
