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

import dev.dstl.changelog.contract.Delegate;
import dev.dstl.changelog.fixture.FakeJobManager;
import dev.dstl.changelog.fixture.JobClasses;
import dev.dstl.changelog.fixture.LastValue;
import dev.dstl.spillable.PlacedBackends;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.stream.Stream;
import javax.annotation.Nullable;
import org.apache.flink.api.common.serialization.SerializerConfigImpl;
import org.apache.flink.api.common.state.AggregatingStateDescriptor;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ReducingStateDescriptor;
import org.apache.flink.api.common.state.StateTtlConfig;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.java.typeutils.GenericTypeInfo;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.state.KeyGroupedInternalPriorityQueue;
import org.apache.flink.runtime.state.StateBackend;
import org.apache.flink.runtime.util.EnvironmentInformation;
import org.apache.flink.streaming.api.operators.TimerHeapInternalTimer;
import org.apache.flink.util.CloseableIterator;
import org.apache.flink.util.TemporaryClassLoaderContext;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A job is restored whose serializers Flink must reconfigure before they can read the state:
 * nothing is migrated, and often the job has not changed.
 */
class SerializerReconfigurationTest {

    private static final int KEYS = 6;
    private static final long SEED = 1;

    @TempDir private Path directory;

    /** Reasons for a reconfiguration. */
    enum Reason {
        /** The job is the same; the POJO serializer encountered an unregistered class. */
        UNREGISTERED_SUBCLASS("Circle") {
            @Override
            Map<String, String> classes(boolean later) {
                return Map.of(
                        "Shape",
                        "public class Shape { public int size; public Shape() {}"
                                + " public boolean equals(Object o) { return o != null"
                                + " && getClass() == o.getClass() && size == ((Shape) o).size; }"
                                + " public int hashCode() { return size; }"
                                + " public String toString() { return getClass() + \" \" + size; } }",
                        "Circle",
                        "public class Circle extends Shape { public String colour = \"red\";"
                                + " public Circle() {} public Circle(int size) {"
                                + " this.size = size; } }");
            }

            @Override
            TypeInformation<?> type(ClassLoader job) throws ClassNotFoundException {
                return Types.POJO(job.loadClass("Shape"));
            }
        },
        ENUM_CONSTANT_ADDED("Colour") {
            @Override
            Map<String, String> classes(boolean later) {
                return Map.of(
                        "Colour",
                        "public enum Colour { A, B, C, D, E, F" + (later ? ", G" : "") + " }");
            }

            @Override
            Object value(ClassLoader job, int number) throws ReflectiveOperationException {
                return job.loadClass("Colour").getEnumConstants()[number % KEYS];
            }

            @Override
            @SuppressWarnings({"unchecked", "rawtypes"}) // The class is known at run time only.
            TypeInformation<?> type(ClassLoader job) throws ClassNotFoundException {
                return Types.ENUM((Class) job.loadClass("Colour"));
            }
        },
        KRYO_REGISTRATION_ADDED("Opaque") {
            @Override
            Map<String, String> classes(boolean later) {
                return Map.of(
                        "Opaque",
                        "public class Opaque { private final int size; Opaque() { this(0); }"
                                + " public Opaque(int size) { this.size = size; }"
                                + " public boolean equals(Object o) { return o instanceof Opaque"
                                + " && size == ((Opaque) o).size; }"
                                + " public int hashCode() { return size; } }");
            }

            @Override
            TypeInformation<?> type(ClassLoader job) throws ClassNotFoundException {
                return new GenericTypeInfo<>(job.loadClass("Opaque"));
            }

            @Override
            void configure(SerializerConfigImpl config, ClassLoader job) throws Exception {
                config.registerKryoType(job.loadClass("Opaque"));
            }
        };

        private final String valueClass;

        Reason(String valueClass) {
            this.valueClass = valueClass;
        }

        abstract Map<String, String> classes(boolean later);

        abstract TypeInformation<?> type(ClassLoader job) throws ClassNotFoundException;

        void configure(SerializerConfigImpl config, ClassLoader job) throws Exception {}

        Object value(ClassLoader job, int number) throws ReflectiveOperationException {
            return job.loadClass(valueClass).getConstructor(int.class).newInstance(number % KEYS);
        }

        @SuppressWarnings("unchecked") // The class is known at run time only.
        TypeSerializer<Object> serializer(ClassLoader job, boolean later) throws Exception {
            SerializerConfigImpl config = new SerializerConfigImpl();
            if (later) {
                configure(config, job);
            }
            return (TypeSerializer<Object>) type(job).createSerializer(config);
        }
    }

    /** The delegate. */
    enum Storage {
        HASHMAP(Delegate.HASHMAP),
        ROCKSDB_FULL(Delegate.ROCKSDB_FULL),
        ROCKSDB_INCREMENTAL(Delegate.ROCKSDB_INCREMENTAL),
        ROCKSDB_WITH_TIMERS_ON_HEAP(Delegate.ROCKSDB_WITH_TIMERS_ON_HEAP),
        /** Entries lie on the heap and in files, at random. */
        SPILLABLE(null);

        @Nullable private final Delegate delegate;

        Storage(@Nullable Delegate delegate) {
            this.delegate = delegate;
        }

        /**
         * Flink takes such a map for one that never expires over RocksDB from 2.1 on, and over
         * HashMap on 2.1, with or without DSTL.
         */
        boolean restoresExpiringMaps() {
            String flink = EnvironmentInformation.getVersion();
            return this == SPILLABLE
                    || flink.startsWith("1.")
                    || flink.startsWith("2.0.")
                    || (delegate == Delegate.HASHMAP && !flink.startsWith("2.1."));
        }

        StateBackend create(Path directory) {
            return delegate == null
                    ? PlacedBackends.random(new Configuration(), SEED)
                    : TestTask.delegate(directory, delegate);
        }
    }

    static Stream<Arguments> combinations() {
        return Arrays.stream(Storage.values())
                .flatMap(
                        storage ->
                                Arrays.stream(Reason.values())
                                        .flatMap(
                                                reason ->
                                                        Stream.of(
                                                                Arguments.of(
                                                                        storage, reason, false),
                                                                Arguments.of(
                                                                        storage, reason, true))));
    }

    @ParameterizedTest(name = "{0} {1}, materialized: {2}")
    @MethodSource("combinations")
    @SuppressWarnings("try") // the class loader's scope is a resource that nobody names
    void stateOfEveryKind_isTheSameAfterEveryRestore(
            Storage storage, Reason reason, boolean materialize) throws Exception {
        FakeJobManager jobManager = new FakeJobManager();
        for (int life = 0; life < 4; life++) {
            boolean later = life > 0;
            try (URLClassLoader job =
                            JobClasses.compile(
                                    directory.resolve("job-" + life), reason.classes(later));
                    TemporaryClassLoaderContext asInATask = TemporaryClassLoaderContext.of(job);
                    KeyedTask<Integer> task =
                            KeyedTask.start(
                                    directory,
                                    storage.create(directory),
                                    IntSerializer.INSTANCE,
                                    job,
                                    jobManager)) {
                States states = new States(task, storage, reason, job, later);
                if (life > 0) {
                    states.assertContents(life - 1);
                }
                states.write(life);
                if (materialize) {
                    assertThat(task.materialize()).isTrue();
                    states.write(life);
                }
                task.checkpoint(10L * life + 1);
                states.assertContents(life);
                task.checkpoint(10L * life + 2);
            }
        }
    }

    /** One state of each kind and timers; the type under test is value, map key and namespace. */
    private static final class States {

        private final KeyedTask<Integer> task;
        private final Reason reason;
        private final ClassLoader job;
        private final TypeSerializer<Object> serializer;
        private final ValueStateDescriptor<Object> value;
        private final ListStateDescriptor<Object> list;
        private final MapStateDescriptor<Object, Object> map;
        private final MapStateDescriptor<Object, Integer> expiring;
        private final ReducingStateDescriptor<Object> reducing;
        private final AggregatingStateDescriptor<Object, Object, Object> aggregating;
        private final KeyGroupedInternalPriorityQueue<TimerHeapInternalTimer<Integer, Object>>
                timers;

        States(
                KeyedTask<Integer> task,
                Storage storage,
                Reason reason,
                ClassLoader job,
                boolean later)
                throws Exception {
            this.task = task;
            this.reason = reason;
            this.job = job;
            serializer = reason.serializer(job, later);
            value = new ValueStateDescriptor<>("value", serializer.duplicate());
            list = new ListStateDescriptor<>("list", serializer.duplicate());
            map = new MapStateDescriptor<>("map", serializer.duplicate(), serializer.duplicate());
            expiring =
                    new MapStateDescriptor<>(
                            "expiring", serializer.duplicate(), IntSerializer.INSTANCE);
            if (storage.restoresExpiringMaps()) {
                expiring.enableTimeToLive(StateTtlConfig.newBuilder(Duration.ofDays(1)).build());
            }
            reducing =
                    new ReducingStateDescriptor<>(
                            "reducing", (before, added) -> added, serializer.duplicate());
            aggregating =
                    new AggregatingStateDescriptor<>(
                            "aggregating", new LastValue<>(), serializer.duplicate());
            timers = task.timers("timers", serializer);
        }

        void write(int life) throws Exception {
            for (int key = 0; key < KEYS; key++) {
                Object namespace = reason.value(job, key + 1);
                Object now = reason.value(job, key + life);
                task.state(key, namespace, serializer, value).update(now);
                task.state(key, namespace, serializer, list).update(List.of(now, now));
                task.state(key, namespace, serializer, map).clear();
                task.state(key, namespace, serializer, map).put(now, now);
                task.state(key, namespace, serializer, expiring).clear();
                task.state(key, namespace, serializer, expiring).put(now, key);
                task.state(key, namespace, serializer, reducing).add(now);
                task.state(key, namespace, serializer, aggregating).add(now);
                timers.add(new TimerHeapInternalTimer<>(100L * life + key, key, namespace));
            }
        }

        @SuppressWarnings("try") // close() is declared with Exception by Flink's interface
        void assertContents(int life) throws Exception {
            for (int key = 0; key < KEYS; key++) {
                Object namespace = reason.value(job, key + 1);
                Object written = reason.value(job, key + life);
                assertThat(task.state(key, namespace, serializer, value).value())
                        .isEqualTo(written);
                assertThat(task.state(key, namespace, serializer, list).get())
                        .containsExactly(written, written);
                assertThat(task.state(key, namespace, serializer, map).get(written))
                        .isEqualTo(written);
                assertThat(task.state(key, namespace, serializer, map).keys())
                        .containsExactly(written);
                assertThat(task.state(key, namespace, serializer, expiring).get(written))
                        .isEqualTo(key);
                assertThat(task.state(key, namespace, serializer, reducing).get())
                        .isEqualTo(written);
                assertThat(task.state(key, namespace, serializer, aggregating).get())
                        .isEqualTo(written);
            }
            TreeSet<Long> times = new TreeSet<>();
            try (CloseableIterator<TimerHeapInternalTimer<Integer, Object>> all =
                    timers.iterator()) {
                while (all.hasNext()) {
                    TimerHeapInternalTimer<Integer, Object> timer = all.next();
                    assertThat(timer.getNamespace())
                            .isEqualTo(reason.value(job, timer.getKey() + 1));
                    times.add(timer.getTimestamp());
                }
            }
            assertThat(times).hasSize(KEYS * (life + 1));
        }
    }
}
