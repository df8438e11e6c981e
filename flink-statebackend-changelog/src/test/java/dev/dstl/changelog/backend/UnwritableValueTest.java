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
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.ConcurrentModificationException;
import java.util.Iterator;
import java.util.List;
import java.util.stream.Stream;
import org.apache.flink.api.common.functions.AggregateFunction;
import org.apache.flink.api.common.serialization.SerializerConfigImpl;
import org.apache.flink.api.common.state.AggregatingStateDescriptor;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ReducingStateDescriptor;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
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
                task.state(KEY, new AggregatingStateDescriptor<>("a", new Latest(), READINGS))
                        .add(readings);
            }

            @Override
            Object read(TestTask task) throws Exception {
                return task.state(
                                KEY, new AggregatingStateDescriptor<>("a", new Latest(), READINGS))
                        .get();
            }
        };

        abstract void write(TestTask task, Readings readings) throws Exception;

        abstract Object read(TestTask task) throws Exception;
    }

    static Stream<Arguments> everyAccessOverEveryDelegate() {
        return Stream.of(
                        Delegate.HASHMAP,
                        Delegate.SPILLABLE_INCREMENTAL,
                        Delegate.ROCKSDB_INCREMENTAL)
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

    private static final class Latest implements AggregateFunction<Readings, Readings, Readings> {
        private static final long serialVersionUID = 1L;

        @Override
        public Readings createAccumulator() {
            return new Readings();
        }

        @Override
        public Readings add(Readings value, Readings accumulator) {
            return value;
        }

        @Override
        public Readings getResult(Readings accumulator) {
            return accumulator;
        }

        @Override
        public Readings merge(Readings left, Readings right) {
            return right;
        }
    }
}
