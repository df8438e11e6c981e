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
import java.io.File;
import java.net.URISyntaxException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import javax.tools.ToolProvider;
import org.apache.avro.reflect.AvroDefault;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.formats.avro.typeutils.AvroSerializer;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A job comes back with types that have grown, and all that it had is in the log. */
class SchemaEvolutionTest {

    @TempDir private Path directory;

    @ParameterizedTest
    @EnumSource(names = {"HASHMAP", "ROCKSDB_INCREMENTAL"})
    void pojoThatLostOneFieldAndGainedAnother_keepsTheRest(Delegate delegate) throws Exception {
        FakeJobManager jobManager = new FakeJobManager();
        try (URLClassLoader before = job("before", "public long cents; public String gone;")) {
            Class<?> type = before.loadClass("Account");
            run(
                    delegate,
                    before,
                    jobManager,
                    task -> {
                        for (int key = 0; key < 10; key++) {
                            Object account = type.getConstructor().newInstance();
                            type.getField("cents").setLong(account, 100 + key);
                            type.getField("gone").set(account, "gone");
                            task.state(key, value(type)).update(account);
                            task.state(key, list(type)).add(account);
                            task.state(key, map(type)).put("a", account);
                        }
                    });
        }
        try (URLClassLoader after = job("after", "public long cents; public int since;")) {
            Class<?> type = after.loadClass("Account");
            for (int attempt = 0; attempt < 2; attempt++) {
                run(
                        delegate,
                        after,
                        jobManager,
                        task -> {
                            for (int key = 0; key < 10; key++) {
                                Object account = task.state(key, value(type)).value();
                                assertThat(account).isInstanceOf(type);
                                assertThat(type.getField("cents").getLong(account))
                                        .isEqualTo(100 + key);
                                assertThat(task.state(key, list(type)).get())
                                        .allMatch(type::isInstance)
                                        .hasSize(1);
                                Object inMap = task.state(key, map(type)).get("a");
                                assertThat(type.getField("cents").getLong(inMap))
                                        .isEqualTo(100 + key);
                                task.state(key, map(type)).put("a", inMap);
                            }
                        });
            }
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"HASHMAP", "ROCKSDB_INCREMENTAL"})
    void avroRecordThatGainedAField_hasItsDefault(Delegate delegate) throws Exception {
        FakeJobManager jobManager = new FakeJobManager();
        try (URLClassLoader before = job("before", "public long cents;")) {
            Class<?> type = before.loadClass("Account");
            run(
                    delegate,
                    before,
                    jobManager,
                    task -> {
                        for (int key = 0; key < 10; key++) {
                            Object account = type.getConstructor().newInstance();
                            type.getField("cents").setLong(account, 100 + key);
                            task.state(key, avro(type)).update(account);
                        }
                    });
        }
        String grown =
                "public long cents; @org.apache.avro.reflect.AvroDefault(\"2026\") public int since;";
        try (URLClassLoader after = job("after", grown)) {
            Class<?> type = after.loadClass("Account");
            for (int attempt = 0; attempt < 2; attempt++) {
                run(
                        delegate,
                        after,
                        jobManager,
                        task -> {
                            for (int key = 0; key < 10; key++) {
                                Object account = task.state(key, avro(type)).value();
                                assertThat(account).isInstanceOf(type);
                                assertThat(type.getField("cents").getLong(account))
                                        .isEqualTo(100 + key);
                                assertThat(type.getField("since").getInt(account)).isEqualTo(2026);
                                task.state(key, avro(type)).update(account);
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

    /** The classes of a job, compiled as it was at some time. */
    private URLClassLoader job(String name, String fields) throws Exception {
        Path classes = Files.createDirectory(directory.resolve(name));
        Path source = classes.resolve("Account.java");
        Files.writeString(source, "public class Account { public Account() {} " + fields + " }");
        assertThat(
                        ToolProvider.getSystemJavaCompiler()
                                .run(
                                        null,
                                        null,
                                        null,
                                        "-classpath",
                                        avro(),
                                        "-d",
                                        classes.toString(),
                                        source.toString()))
                .isZero();
        return new URLClassLoader(new URL[] {classes.toUri().toURL()}, getClass().getClassLoader());
    }

    private static String avro() throws URISyntaxException {
        return new File(
                        AvroDefault.class
                                .getProtectionDomain()
                                .getCodeSource()
                                .getLocation()
                                .toURI())
                .toString();
    }

    @SuppressWarnings("unchecked") // The class is known at run time only.
    private static TypeInformation<Object> type(Class<?> type) {
        return (TypeInformation<Object>) Types.POJO(type);
    }

    private static ValueStateDescriptor<Object> value(Class<?> type) {
        return new ValueStateDescriptor<>("value", type(type));
    }

    private static ListStateDescriptor<Object> list(Class<?> type) {
        return new ListStateDescriptor<>("list", type(type));
    }

    private static MapStateDescriptor<String, Object> map(Class<?> type) {
        return new MapStateDescriptor<>("map", Types.STRING, type(type));
    }

    @SuppressWarnings("unchecked") // The class is known at run time only.
    private static ValueStateDescriptor<Object> avro(Class<?> type) {
        return new ValueStateDescriptor<>("avro", new AvroSerializer<>((Class<Object>) type));
    }

    /** What the job does. */
    private interface Use {
        void with(KeyedTask<Integer> task) throws Exception;
    }
}
