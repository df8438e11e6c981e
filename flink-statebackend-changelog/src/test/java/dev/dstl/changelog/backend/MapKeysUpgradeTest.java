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
import dev.dstl.changelog.fixture.JobClasses;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.apache.flink.api.common.serialization.SerializerConfigImpl;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.runtime.checkpoint.CheckpointType;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.changelog.ChangelogStateBackendHandle;
import org.apache.flink.util.TemporaryClassLoaderContext;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Flink reconfigures the serializer of a map's keys at each restore, and the job or the parallelism
 * changes. From 2.1 on, Flink then leaves the serializer of the values in a wrapper.
 */
class MapKeysUpgradeTest {

    private static final List<KeyGroupRange> ONE = List.of(KeyGroupRange.of(0, 7));
    private static final List<KeyGroupRange> TWO =
            List.of(KeyGroupRange.of(0, 3), KeyGroupRange.of(4, 7));
    private static final int KEYS = 40;

    private static final String OLD_COLORS = "RED, GREEN";
    private static final String NEW_COLORS = "BLACK, RED, GREEN";
    private static final String SHORT = "public long cents;";
    private static final String LONG = "public long cents; public int since;";

    @TempDir private Path directory;
    private Delegate delegate;
    private int run;

    static Stream<Arguments> ordersOfHandles() {
        return Stream.of(Delegate.values())
                .flatMap(
                        delegate ->
                                Stream.of(false, true)
                                        .flatMap(
                                                materialized ->
                                                        Stream.of(false, true)
                                                                .map(
                                                                        reversed ->
                                                                                Arguments.of(
                                                                                        delegate,
                                                                                        materialized,
                                                                                        reversed))));
    }

    /** Flink's RocksDB refuses to migrate a map whose keys it has reconfigured. */
    static Stream<Arguments> ordersOfHandlesOnHeap() {
        return ordersOfHandles()
                .filter(
                        arguments ->
                                arguments.get()[0] == Delegate.HASHMAP
                                        || arguments.get()[0] == Delegate.SPILLABLE_INCREMENTAL);
    }

    @ParameterizedTest(name = "{0}, materialized: {1}, the other way round: {2}")
    @MethodSource("ordersOfHandles")
    void constantsInOneOrderPerSubtask_areReadInTheirOwn(
            Delegate used, boolean materialized, boolean reversed) throws Exception {
        delegate = used;
        List<KeyedStateHandle> handles =
                run(
                        OLD_COLORS,
                        SHORT,
                        TWO,
                        List.of(),
                        (subtask, job) -> {
                            if (subtask == 1) {
                                job.writeColors();
                            }
                        });
        handles =
                run(
                        NEW_COLORS,
                        SHORT,
                        TWO,
                        handles,
                        (subtask, job) -> {
                            job.writeColors();
                            if (materialized) {
                                assertThat(job.task.materialize()).isTrue();
                            }
                        });
        if (reversed) {
            Collections.reverse(handles);
        }
        handles = run(NEW_COLORS, SHORT, ONE, handles, (subtask, job) -> job.assertColors());
        run(NEW_COLORS, SHORT, TWO, handles, (subtask, job) -> job.assertColors());
    }

    @ParameterizedTest
    @EnumSource(Delegate.class)
    void fieldThatTheValuesLost_isNotNeeded(Delegate used) throws Exception {
        delegate = used;
        List<KeyedStateHandle> handles =
                run(OLD_COLORS, LONG, ONE, List.of(), (subtask, job) -> job.writeShapes(1));
        handles =
                run(
                        OLD_COLORS,
                        LONG,
                        ONE,
                        handles,
                        (subtask, job) -> {
                            job.assertShapes(1, 1);
                            job.writeShapes(2);
                        });
        if (delegate != Delegate.HASHMAP && delegate != Delegate.SPILLABLE_INCREMENTAL) {
            // Flink's RocksDB refuses to migrate a map whose keys it has reconfigured.
            return;
        }
        run(OLD_COLORS, SHORT, ONE, handles, (subtask, job) -> job.assertShapes(0, 0));
    }

    @ParameterizedTest(name = "{0}, materialized: {1}, the other way round: {2}")
    @MethodSource("ordersOfHandlesOnHeap")
    void fieldThatTheValuesGained_isKeptWhileNotAllSubtasksHaveIt(
            Delegate used, boolean materialized, boolean reversed) throws Exception {
        delegate = used;
        List<KeyedStateHandle> handles =
                run(OLD_COLORS, SHORT, TWO, List.of(), (subtask, job) -> job.writeShapes(0));
        handles = run(OLD_COLORS, SHORT, TWO, handles, (subtask, job) -> job.writeShapes(0));
        handles =
                run(
                        OLD_COLORS,
                        LONG,
                        TWO,
                        handles,
                        (subtask, job) -> {
                            if (subtask == 0) {
                                job.writeShapes(1);
                                if (materialized) {
                                    assertThat(job.task.materialize()).isTrue();
                                }
                            }
                        });
        if (reversed) {
            Collections.reverse(handles);
        }
        handles = run(OLD_COLORS, LONG, ONE, handles, (subtask, job) -> job.assertShapes(1, 0));
        run(OLD_COLORS, LONG, TWO, handles, (subtask, job) -> job.assertShapes(1, 0));
    }

    @ParameterizedTest
    @EnumSource(Delegate.class)
    void restartOfAnUnchangedJob_causesNoFullCheckpoint(Delegate used) throws Exception {
        delegate = used;
        List<KeyedStateHandle> handles =
                run(
                        OLD_COLORS,
                        SHORT,
                        ONE,
                        List.of(),
                        (subtask, job) -> {
                            job.writeShapes(0);
                            assertThat(job.task.materialize()).isTrue();
                        });
        long base = base(handles);
        for (int restart = 1; restart <= 2; restart++) {
            handles =
                    run(OLD_COLORS, SHORT, ONE, handles, (subtask, job) -> job.assertShapes(0, 0));
            assertThat(base(handles)).as("restart %d", restart).isEqualTo(base);
        }
    }

    private static long base(List<KeyedStateHandle> handles) {
        return ((ChangelogStateBackendHandle) handles.get(0)).getMaterializationID();
    }

    /** Runs the job once and takes a checkpoint of all subtasks. */
    @SuppressWarnings("try") // the class loader's scope is a resource that nobody names
    private List<KeyedStateHandle> run(
            String colors,
            String fields,
            List<KeyGroupRange> subtasks,
            List<KeyedStateHandle> restored,
            Use use)
            throws Exception {
        List<KeyedStateHandle> checkpoint = new ArrayList<>();
        run++;
        Map<String, String> sources =
                Map.of(
                        "Color",
                        "public enum Color { " + colors + " }",
                        "Shape",
                        "public class Shape { public int sides; public Shape() {}"
                                + " @Override public int hashCode() { return sides; }"
                                + " @Override public boolean equals(Object o) {"
                                + " return o.getClass() == getClass()"
                                + " && ((Shape) o).sides == sides; } }",
                        "Circle",
                        "public class Circle extends Shape { public Circle() {} }",
                        "Account",
                        "public class Account { public Account() {} " + fields + " }");
        try (URLClassLoader classes = JobClasses.compile(directory.resolve("job-" + run), sources);
                TemporaryClassLoaderContext asInATask = TemporaryClassLoaderContext.of(classes)) {
            for (KeyGroupRange keyGroups : subtasks) {
                try (KeyedTask<Integer> task =
                        KeyedTask.startSubtask(
                                directory,
                                delegate,
                                IntSerializer.INSTANCE,
                                classes,
                                keyGroups,
                                restored)) {
                    use.with(subtasks.indexOf(keyGroups), new Job(task, classes, keyGroups));
                    KeyedStateHandle handle =
                            task.checkpoint(100L + run, CheckpointType.CHECKPOINT);
                    if (handle != null) {
                        checkpoint.add(handle);
                    }
                }
            }
        }
        return checkpoint;
    }

    /** The behavior of the job. */
    private interface Use {
        void with(int subtask, Job job) throws Exception;
    }

    /** The states of a subtask, registered on first access. */
    private static final class Job {

        private final KeyedTask<Integer> task;
        private final ClassLoader classes;
        private final KeyGroupRange keyGroups;
        private final Class<Object> account;
        private final MapStateDescriptor<Object, Integer> colors;
        private final MapStateDescriptor<Object, Object> shapes;

        @SuppressWarnings("unchecked") // the class is known at run time only
        Job(KeyedTask<Integer> task, ClassLoader classes, KeyGroupRange keyGroups)
                throws ReflectiveOperationException {
            this.task = task;
            this.classes = classes;
            this.keyGroups = keyGroups;
            account = (Class<Object>) classes.loadClass("Account");
            colors =
                    new MapStateDescriptor<>("colors", serializer("Color"), IntSerializer.INSTANCE);
            shapes = new MapStateDescriptor<>("shapes", serializer("Shape"), serializer("Account"));
        }

        @SuppressWarnings("unchecked") // the class is known at run time only
        private TypeSerializer<Object> serializer(String name) throws ReflectiveOperationException {
            return (TypeSerializer<Object>)
                    TypeInformation.of(classes.loadClass(name))
                            .createSerializer(new SerializerConfigImpl());
        }

        /** Maps each color to its name's length. */
        void writeColors() throws Exception {
            for (int key : keys()) {
                MapState<Object, Integer> state = task.state(key, colors);
                for (Object color : classes.loadClass("Color").getEnumConstants()) {
                    state.put(color, color.toString().length());
                }
            }
        }

        void assertColors() throws Exception {
            for (int key : keys()) {
                Map<String, Integer> found = new TreeMap<>();
                for (Map.Entry<Object, Integer> entry : task.state(key, colors).entries()) {
                    found.put(entry.getKey().toString(), entry.getValue());
                }
                assertThat(found)
                        .as("key %s", key)
                        .isEqualTo(Map.of("BLACK", 5, "RED", 3, "GREEN", 5));
            }
        }

        /** Maps a shape and a subclass of shapes to accounts. */
        void writeShapes(int since) throws Exception {
            for (int key : keys()) {
                MapState<Object, Object> state = task.state(key, shapes);
                state.put(shape("Shape", key), account(key, since));
                state.put(shape("Circle", key), account(-key, since));
            }
        }

        /** Asserts what subtasks 0 and 1 of two had written. */
        void assertShapes(int sinceOfFirst, int sinceOfSecond) throws Exception {
            for (int key : keys()) {
                int since = keyGroup(key) < 4 ? sinceOfFirst : sinceOfSecond;
                MapState<Object, Object> state = task.state(key, shapes);
                assertThat(string(state.get(shape("Shape", key))))
                        .isEqualTo(string(account(key, since)));
                assertThat(string(state.get(shape("Circle", key))))
                        .isEqualTo(string(account(-key, since)));
            }
        }

        private Object shape(String name, int sides) throws ReflectiveOperationException {
            Object shape = classes.loadClass(name).getConstructor().newInstance();
            classes.loadClass("Shape").getField("sides").setInt(shape, sides);
            return shape;
        }

        private Object account(long cents, int since) throws ReflectiveOperationException {
            Object created = account.getConstructor().newInstance();
            account.getField("cents").setLong(created, cents);
            if (since > 0) {
                account.getField("since").setInt(created, since);
            }
            return created;
        }

        private String string(Object found) throws ReflectiveOperationException {
            if (found == null) {
                return "none";
            }
            long cents = account.getField("cents").getLong(found);
            return account.getFields().length == 1
                    ? cents + "/0"
                    : cents + "/" + account.getField("since").getInt(found);
        }

        private List<Integer> keys() {
            List<Integer> keys = new ArrayList<>();
            for (int key = 0; key < KEYS; key++) {
                if (keyGroups.contains(keyGroup(key))) {
                    keys.add(key);
                }
            }
            return keys;
        }

        private static int keyGroup(int key) {
            return KeyGroupRangeAssignment.assignToKeyGroup(key, TestTask.KEY_GROUPS);
        }
    }
}
