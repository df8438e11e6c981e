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
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Objects;
import java.util.function.IntFunction;
import java.util.stream.Stream;
import org.apache.avro.Schema;
import org.apache.avro.SchemaBuilder;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.generic.GenericRecordBuilder;
import org.apache.flink.api.common.serialization.SerializerConfigImpl;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.api.java.typeutils.GenericTypeInfo;
import org.apache.flink.formats.avro.typeutils.GenericRecordAvroTypeInfo;
import org.apache.flink.types.Row;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Keys, namespaces, values and elements of every family of serializers are restored from the
 * changelog.
 */
class SerializerFamilyTest {

    private static final int KEYS = 20;

    private static final Schema SCHEMA =
            SchemaBuilder.record("Account")
                    .fields()
                    .requiredInt("number")
                    .requiredString("name")
                    .endRecord();

    @TempDir private Path directory;

    static Stream<Arguments> families() {
        return Stream.of(Delegate.HASHMAP, Delegate.ROCKSDB_INCREMENTAL)
                .flatMap(
                        delegate ->
                                Stream.of(
                                        family(delegate, "string", Types.STRING, i -> "key " + i),
                                        family(
                                                delegate,
                                                "tuple",
                                                Types.TUPLE(Types.INT, Types.STRING),
                                                i -> Tuple2.of(i, "key " + i)),
                                        family(
                                                delegate,
                                                "row",
                                                Types.ROW(Types.INT, Types.STRING),
                                                i -> Row.of(i, "key " + i)),
                                        family(
                                                delegate,
                                                "POJO",
                                                Types.POJO(Account.class),
                                                Account::new),
                                        family(
                                                delegate,
                                                "Kryo",
                                                new GenericTypeInfo<>(Opaque.class),
                                                Opaque::new),
                                        family(
                                                delegate,
                                                "Avro",
                                                new GenericRecordAvroTypeInfo(SCHEMA),
                                                SerializerFamilyTest::record)));
    }

    private static <T> Arguments family(
            Delegate delegate, String name, TypeInformation<T> type, IntFunction<T> values) {
        return Arguments.of(delegate, name, type, values);
    }

    @ParameterizedTest(name = "{0} {1}")
    @MethodSource("families")
    <T> void whatIsWritten_isRestoredFromTheLog(
            Delegate delegate, String name, TypeInformation<T> type, IntFunction<T> values)
            throws Exception {
        TypeSerializer<T> serializer = type.createSerializer(new SerializerConfigImpl());
        FakeJobManager jobManager = new FakeJobManager();
        try (KeyedTask<T> task = KeyedTask.start(directory, delegate, serializer, jobManager)) {
            forEach(
                    task,
                    serializer,
                    values,
                    (states, number) -> {
                        T some = values.apply(number);
                        states.value.update(some);
                        states.map.put(some, values.apply(number + 1));
                        states.map.put(values.apply(number + 2), values.apply(number + 3));
                        states.map.remove(some);
                        states.list.addAll(Arrays.asList(some, values.apply(number + 1)));
                    });
            task.checkpoint(1);
        }
        try (KeyedTask<T> task = KeyedTask.start(directory, delegate, serializer, jobManager)) {
            forEach(
                    task,
                    serializer,
                    values,
                    (states, number) -> {
                        T some = values.apply(number);
                        assertThat(states.value.value()).isEqualTo(some);
                        assertThat(states.map.get(values.apply(number + 2)))
                                .isEqualTo(values.apply(number + 3));
                        assertThat(states.map.keys()).containsExactly(values.apply(number + 2));
                        assertThat(states.list.get())
                                .containsExactly(some, values.apply(number + 1));
                    });
        }
    }

    /** Visits some keys with two namespaces each, and a number per pair. */
    private static <T> void forEach(
            KeyedTask<T> task, TypeSerializer<T> serializer, IntFunction<T> values, Use<T> use)
            throws Exception {
        for (int key = 0; key < KEYS; key++) {
            for (int namespace = 0; namespace < 2; namespace++) {
                States<T> states =
                        new States<>(task, values.apply(key), values.apply(namespace), serializer);
                use.with(states, 100 * key + namespace);
            }
        }
    }

    private static GenericRecord record(int number) {
        return new GenericRecordBuilder(SCHEMA)
                .set("number", number)
                .set("name", new org.apache.avro.util.Utf8("account " + number))
                .build();
    }

    /** An operation on the states of a key and namespace. */
    private interface Use<T> {
        void with(States<T> states, int number) throws Exception;
    }

    /** States of every kind and the same type. */
    private static final class States<T> {
        private final ValueState<T> value;
        private final MapState<T, T> map;
        private final ListState<T> list;

        private States(KeyedTask<T> task, T key, T namespace, TypeSerializer<T> serializer)
                throws Exception {
            value =
                    task.state(
                            key,
                            namespace,
                            serializer,
                            new ValueStateDescriptor<>("value", serializer));
            map =
                    task.state(
                            key,
                            namespace,
                            serializer,
                            new MapStateDescriptor<>("map", serializer, serializer));
            list =
                    task.state(
                            key,
                            namespace,
                            serializer,
                            new ListStateDescriptor<>("list", serializer));
        }
    }

    /** A POJO. */
    public static final class Account {
        public int number;
        public String name;

        public Account() {}

        Account(int number) {
            this.number = number;
            this.name = "account " + number;
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Account && ((Account) other).number == number;
        }

        @Override
        public int hashCode() {
            return Objects.hash(number);
        }
    }

    /** A class that Flink serializes with Kryo. */
    public static final class Opaque {
        private final int number;

        private Opaque() {
            this(0);
        }

        Opaque(int number) {
            this.number = number;
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Opaque && ((Opaque) other).number == number;
        }

        @Override
        public int hashCode() {
            return number;
        }
    }
}
