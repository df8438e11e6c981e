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
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.flink.api.common.serialization.SerializerConfigImpl;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.formats.avro.typeutils.AvroSerializer;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** A job is restored with evolved types, and all its state is in the changelog. */
class SchemaEvolutionTest {

    private static final String BEFORE = "public long cents; public String gone;";
    private static final String AFTER =
            "public long cents; @org.apache.avro.reflect.AvroDefault(\"2026\") public int since;";

    @TempDir private Path directory;

    /** Serializer of the class, and the value of a field that was added. */
    enum Family {
        POJO(0) {
            @Override
            TypeSerializer<Object> serializer(Class<Object> type) {
                return Types.POJO(type).createSerializer(new SerializerConfigImpl());
            }
        },
        AVRO(2026) {
            @Override
            TypeSerializer<Object> serializer(Class<Object> type) {
                return new AvroSerializer<>(type);
            }
        };

        private final int newField;

        Family(int newField) {
            this.newField = newField;
        }

        abstract TypeSerializer<Object> serializer(Class<Object> type);
    }

    static Stream<Arguments> combinations() {
        return Stream.of(Delegate.HASHMAP, Delegate.ROCKSDB_INCREMENTAL)
                .flatMap(
                        delegate ->
                                Arrays.stream(Family.values())
                                        .map(family -> Arguments.of(delegate, family)));
    }

    @ParameterizedTest
    @MethodSource("combinations")
    void typeThatLostOneFieldAndGainedAnother_keepsTheRest(Delegate delegate, Family family)
            throws Exception {
        FakeJobManager jobManager = new FakeJobManager();
        try (URLClassLoader before = job("before", BEFORE)) {
            Account account = new Account(before, family);
            run(
                    delegate,
                    before,
                    jobManager,
                    task -> {
                        for (int key = 0; key < 10; key++) {
                            Object had = account.of(100 + key);
                            task.state(key, account.value).update(had);
                            task.state(key, account.list).add(had);
                            task.state(key, account.map).put("a", had);
                        }
                    });
        }
        try (URLClassLoader after = job("after", AFTER)) {
            Account account = new Account(after, family);
            // The second time from what the first one wrote.
            for (int attempt = 0; attempt < 2; attempt++) {
                run(
                        delegate,
                        after,
                        jobManager,
                        task -> {
                            for (int key = 0; key < 10; key++) {
                                Object has = task.state(key, account.value).value();
                                account.assertGrown(has, 100 + key, family.newField);
                                for (Object listed : task.state(key, account.list).get()) {
                                    account.assertGrown(listed, 100 + key, family.newField);
                                }
                                Object mapped = task.state(key, account.map).get("a");
                                account.assertGrown(mapped, 100 + key, family.newField);
                                task.state(key, account.map).put("a", mapped);
                            }
                        });
            }
        }
    }

    private void run(Delegate delegate, ClassLoader classLoader, FakeJobManager jobManager, Use use)
            throws Exception {
        // As in a task thread, where Avro looks for classes.
        Thread.currentThread().setContextClassLoader(classLoader);
        try (KeyedTask<Integer> task =
                KeyedTask.start(
                        directory, delegate, IntSerializer.INSTANCE, classLoader, jobManager)) {
            use.with(task);
            task.checkpoint(System.nanoTime());
        } finally {
            Thread.currentThread().setContextClassLoader(getClass().getClassLoader());
        }
    }

    private URLClassLoader job(String name, String fields) throws Exception {
        return JobClasses.compile(
                directory.resolve(name),
                Map.of("Account", "public class Account { public Account() {} " + fields + " }"));
    }

    /** The class of one version of the job, and the states that hold it. */
    private static final class Account {
        private final Class<Object> type;
        private final ValueStateDescriptor<Object> value;
        private final ListStateDescriptor<Object> list;
        private final MapStateDescriptor<String, Object> map;

        @SuppressWarnings("unchecked") // The class is known at run time only.
        private Account(ClassLoader job, Family family) throws ReflectiveOperationException {
            type = (Class<Object>) job.loadClass("Account");
            TypeSerializer<Object> serializer = family.serializer(type);
            value = new ValueStateDescriptor<>("value", serializer);
            list = new ListStateDescriptor<>("list", serializer);
            map = new MapStateDescriptor<>("map", StringSerializer.INSTANCE, serializer);
        }

        private Object of(long cents) throws ReflectiveOperationException {
            Object account = type.getConstructor().newInstance();
            type.getField("cents").setLong(account, cents);
            type.getField("gone").set(account, "gone");
            return account;
        }

        private void assertGrown(Object account, long cents, int since)
                throws ReflectiveOperationException {
            assertThat(account).isInstanceOf(type);
            assertThat(type.getField("cents").getLong(account)).isEqualTo(cents);
            assertThat(type.getField("since").getInt(account)).isEqualTo(since);
        }
    }

    /** The behavior of the job. */
    private interface Use {
        void with(KeyedTask<Integer> task) throws Exception;
    }
}
