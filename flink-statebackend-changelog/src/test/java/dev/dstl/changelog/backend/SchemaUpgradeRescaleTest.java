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
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.apache.flink.api.common.serialization.SerializerConfigImpl;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ReducingStateDescriptor;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.runtime.checkpoint.CheckpointType;
import org.apache.flink.runtime.checkpoint.SavepointType;
import org.apache.flink.runtime.checkpoint.SnapshotType;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.apache.flink.runtime.state.KeyGroupedInternalPriorityQueue;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.apache.flink.runtime.state.changelog.ChangelogStateBackendHandle;
import org.apache.flink.runtime.state.changelog.ChangelogStateBackendHandle.ChangelogStateBackendHandleImpl;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandle;
import org.apache.flink.streaming.api.operators.TimerHeapInternalTimer;
import org.apache.flink.util.TemporaryClassLoaderContext;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A class of the job gets a field, and then the parallelism changes while only some subtasks have
 * written their state in the new version.
 */
class SchemaUpgradeRescaleTest {

    private static final List<KeyGroupRange> ONE = List.of(KeyGroupRange.of(0, 7));
    private static final List<KeyGroupRange> TWO =
            List.of(KeyGroupRange.of(0, 3), KeyGroupRange.of(4, 7));
    private static final List<KeyGroupRange> THREE =
            List.of(KeyGroupRange.of(0, 2), KeyGroupRange.of(3, 5), KeyGroupRange.of(6, 7));
    private static final int KEYS = 40;

    private static final String OLD = "public long cents;";
    private static final String NEW = "public long cents; public int since;";

    @TempDir private Path directory;
    private Delegate delegate;
    private SnapshotType type = CheckpointType.CHECKPOINT;
    private int run;

    static Stream<Arguments> changesOfParallelism() {
        return Stream.of(
                        Delegate.HASHMAP,
                        Delegate.ROCKSDB_FULL,
                        Delegate.ROCKSDB_INCREMENTAL,
                        Delegate.ROCKSDB_WITH_TIMERS_ON_HEAP)
                .flatMap(
                        delegate ->
                                Stream.of(
                                        Arguments.of(delegate, TWO, ONE),
                                        Arguments.of(delegate, ONE, TWO),
                                        Arguments.of(delegate, TWO, THREE)));
    }

    @ParameterizedTest(name = "{0} from {1} to {2}")
    @MethodSource("changesOfParallelism")
    void rescaleBeforeAllHaveMaterialized_keepsTheNewField(
            Delegate used, List<KeyGroupRange> before, List<KeyGroupRange> after) throws Exception {
        delegate = used;
        List<KeyedStateHandle> handles = run(OLD, before, List.of(), this::create);
        handles =
                run(
                        NEW,
                        before,
                        handles,
                        (subtask, states) -> {
                            states.assertContents(0, 0);
                            states.upgrade(1);
                            if (subtask == 0) {
                                states.task.materialize();
                            }
                        });
        handles =
                run(
                        NEW,
                        after,
                        handles,
                        (subtask, states) -> {
                            states.assertContents(1, 1);
                            states.upgrade(2);
                        });
        run(NEW, before, handles, (subtask, states) -> states.assertContents(2, 2));
    }

    static Stream<Arguments> halfUpgraded() {
        return changesOfParallelism()
                .filter(arguments -> arguments.get()[1] == TWO)
                .flatMap(
                        arguments ->
                                Stream.of(0, 1)
                                        .flatMap(
                                                upgraded ->
                                                        Stream.of(
                                                                Arguments.of(
                                                                        arguments.get()[0],
                                                                        arguments.get()[2],
                                                                        upgraded,
                                                                        false),
                                                                Arguments.of(
                                                                        arguments.get()[0],
                                                                        arguments.get()[2],
                                                                        upgraded,
                                                                        true))));
    }

    @ParameterizedTest(name = "{0} to {1}, subtask {2} upgraded, native savepoint: {3}")
    @MethodSource("halfUpgraded")
    void basesOfBothVersions_areReadEachWithItsOwnSerializers(
            Delegate used, List<KeyGroupRange> after, int upgraded, boolean savepoint)
            throws Exception {
        delegate = used;
        List<KeyedStateHandle> handles = run(OLD, TWO, List.of(), this::create);
        if (savepoint) {
            type = SavepointType.savepoint(SavepointFormatType.NATIVE);
        }
        handles =
                run(
                        NEW,
                        TWO,
                        handles,
                        (subtask, states) -> {
                            if (subtask == upgraded) {
                                states.upgrade(1);
                            }
                        });
        type = CheckpointType.CHECKPOINT;
        handles =
                run(
                        NEW,
                        after,
                        handles,
                        (subtask, states) ->
                                states.assertContents(
                                        upgraded == 0 ? 1 : 0, upgraded == 0 ? 0 : 1));
        // Nobody has changed anything; the second checkpoint comes from the first restore.
        handles =
                run(
                        NEW,
                        TWO,
                        handles,
                        (subtask, states) -> {
                            states.assertContents(upgraded == 0 ? 1 : 0, upgraded == 0 ? 0 : 1);
                            states.upgrade(3);
                        });
        run(NEW, ONE, handles, (subtask, states) -> states.assertContents(3, 3));
    }

    @ParameterizedTest
    @EnumSource(Delegate.class)
    void logsOfBothVersions_areReadInAnyOrder(Delegate used) throws Exception {
        delegate = used;
        List<KeyedStateHandle> old = run(OLD, TWO, List.of(), (subtask, states) -> states.create());
        List<KeyedStateHandle> upgraded =
                run(
                        NEW,
                        TWO,
                        List.of(),
                        (subtask, states) -> {
                            if (subtask == 0) {
                                states.upgrade(1);
                            }
                        });
        List<KeyedStateHandle> both = List.of(appended(old.get(0), upgraded.get(0)), old.get(1));
        run(NEW, ONE, both, (subtask, states) -> states.assertContents(1, 0));
        run(
                NEW,
                ONE,
                List.of(both.get(1), both.get(0)),
                (subtask, states) -> states.assertContents(1, 0));
    }

    /** Handle of a subtask that did not materialize between two versions of the job. */
    private static KeyedStateHandle appended(KeyedStateHandle first, KeyedStateHandle second) {
        ChangelogStateBackendHandle before = (ChangelogStateBackendHandle) first;
        List<ChangelogStateHandle> logs = new ArrayList<>(before.getNonMaterializedStateHandles());
        logs.addAll(((ChangelogStateBackendHandle) second).getNonMaterializedStateHandles());
        return new ChangelogStateBackendHandleImpl(
                before.getMaterializedStateHandles(),
                logs,
                before.getKeyGroupRange(),
                before.getCheckpointId(),
                before.getMaterializationID(),
                0);
    }

    @ParameterizedTest
    @EnumSource(Delegate.class)
    void fieldThatIsRemoved_isNotNeededToReadTheChangelog(Delegate used) throws Exception {
        delegate = used;
        List<KeyedStateHandle> handles =
                run(NEW, TWO, List.of(), (subtask, states) -> states.upgrade(1));
        handles = run(OLD, ONE, handles, (subtask, states) -> states.assertContents(0, 0));
        run(OLD, TWO, handles, (subtask, states) -> states.assertContents(0, 0));
    }

    /** The subclass was unknown when the states were registered in the changelog. */
    @ParameterizedTest
    @EnumSource(Delegate.class)
    void subclassThatIsWrittenLater_isDescribedInTheChangelog(Delegate used) throws Exception {
        delegate = used;
        List<KeyedStateHandle> handles =
                run(
                        NEW,
                        TWO,
                        List.of(),
                        (subtask, states) -> {
                            states.upgrade(1);
                            states.useSubclass();
                            states.upgrade(2);
                        });
        handles = run(OLD, ONE, handles, (subtask, states) -> states.assertContents(0, 0));
        run(OLD, TWO, handles, (subtask, states) -> states.assertContents(0, 0));
    }

    /** Their schemas differ, since a POJO's serializer names the subclasses that it has written. */
    @ParameterizedTest
    @EnumSource(Delegate.class)
    void fieldThatIsRemoved_isNotNeededToReadBasesOfDifferentSchemas(Delegate used)
            throws Exception {
        delegate = used;
        List<KeyedStateHandle> handles =
                run(
                        NEW,
                        TWO,
                        List.of(),
                        (subtask, states) -> {
                            if (subtask == 0) {
                                states.writeSubclass();
                            }
                            create(subtask, states);
                        });
        handles = run(OLD, ONE, handles, (subtask, states) -> states.assertContents(0, 0));
        run(OLD, TWO, handles, (subtask, states) -> states.assertContents(0, 0));
    }

    @ParameterizedTest
    @EnumSource(Delegate.class)
    void changedSchema_makesTheNextCheckpointFullAndNoOther(Delegate used) throws Exception {
        delegate = used;
        List<KeyedStateHandle> handles = run(OLD, ONE, List.of(), this::create);
        long old = base(handles.get(0));
        List<Long> bases = new ArrayList<>();
        handles =
                run(
                        NEW,
                        ONE,
                        handles,
                        (subtask, states) -> {
                            bases.add(base(states.task.checkpoint(1)));
                            states.upgrade(1);
                            bases.add(base(states.task.checkpoint(2)));
                            states.upgrade(2);
                            bases.add(base(states.task.checkpoint(3)));
                        });
        assertThat(bases.get(0)).isEqualTo(old);
        assertThat(bases.get(1)).isGreaterThan(old);
        assertThat(bases.get(2)).isEqualTo(bases.get(1));
        run(
                NEW,
                ONE,
                handles,
                (subtask, states) -> {
                    states.assertContents(2, 2);
                    bases.add(base(states.task.checkpoint(1)));
                });
        assertThat(bases.get(3)).as("nothing has changed since").isEqualTo(bases.get(2));
    }

    private static long base(KeyedStateHandle handle) {
        return ((ChangelogStateBackendHandle) handle).getMaterializationID();
    }

    private void create(int subtask, States states) throws Exception {
        states.create();
        assertThat(states.task.materialize()).isTrue();
    }

    /** Runs the job once and takes a checkpoint of all subtasks. */
    @SuppressWarnings("try") // the class loader's scope is a resource that nobody names
    private List<KeyedStateHandle> run(
            String fields, List<KeyGroupRange> subtasks, List<KeyedStateHandle> restored, Use use)
            throws Exception {
        List<KeyedStateHandle> checkpoint = new ArrayList<>();
        run++;
        try (URLClassLoader job =
                        JobClasses.compile(
                                directory.resolve("job-" + run),
                                Map.of(
                                        "Account",
                                        "public class Account { public Account() {} "
                                                + fields
                                                + " }",
                                        "Special",
                                        "public class Special extends Account {"
                                                + " public Special() {} }"));
                TemporaryClassLoaderContext asInATask = TemporaryClassLoaderContext.of(job)) {
            for (KeyGroupRange keyGroups : subtasks) {
                try (KeyedTask<Integer> task =
                        KeyedTask.startSubtask(
                                directory,
                                delegate,
                                IntSerializer.INSTANCE,
                                job,
                                keyGroups,
                                restored)) {
                    use.with(subtasks.indexOf(keyGroups), new States(task, job, keyGroups));
                    checkpoint.add(task.checkpoint(100L + run, type));
                }
            }
        }
        return checkpoint;
    }

    /** The behavior of the job. */
    private interface Use {
        void with(int subtask, States states) throws Exception;
    }

    /** The states of a subtask, registered on first access. */
    private static final class States {

        private final KeyedTask<Integer> task;
        private final Class<Object> type;
        private final KeyGroupRange keyGroups;
        private Class<?> written;
        private final ValueStateDescriptor<Object> value;
        private final ListStateDescriptor<Object> list;
        private final MapStateDescriptor<String, Object> map;
        private final ReducingStateDescriptor<Object> reducing;
        private KeyGroupedInternalPriorityQueue<TimerHeapInternalTimer<Integer, VoidNamespace>>
                timers;

        @SuppressWarnings("unchecked") // The class is known at run time only.
        States(KeyedTask<Integer> task, ClassLoader job, KeyGroupRange keyGroups)
                throws ReflectiveOperationException {
            this.task = task;
            this.keyGroups = keyGroups;
            type = (Class<Object>) job.loadClass("Account");
            written = type;
            TypeSerializer<Object> serializer =
                    Types.POJO(type).createSerializer(new SerializerConfigImpl());
            value = new ValueStateDescriptor<>("value", serializer);
            list = new ListStateDescriptor<>("list", serializer.duplicate());
            map =
                    new MapStateDescriptor<>(
                            "map", StringSerializer.INSTANCE, serializer.duplicate());
            reducing =
                    new ReducingStateDescriptor<>(
                            "reducing", (before, added) -> added, serializer.duplicate());
        }

        /** Writes all accounts without the new field. */
        void create() throws Exception {
            write(0);
        }

        /** Writes all accounts again. */
        void upgrade(int since) throws Exception {
            write(since);
        }

        /** Uses the subclass from now on. */
        void useSubclass() throws ReflectiveOperationException {
            written = type.getClassLoader().loadClass("Special");
        }

        /** Writes an instance of the subclass, which makes it known to the serializers. */
        void writeSubclass() throws Exception {
            Object special =
                    type.getClassLoader().loadClass("Special").getConstructor().newInstance();
            for (int key : keys()) {
                task.state(key, value).update(special);
                task.state(key, list).update(List.of(special));
                task.state(key, map).put("special", special);
                task.state(key, map).remove("special");
                task.state(key, reducing).add(special);
                task.state(key, reducing).clear();
            }
        }

        private void write(int since) throws Exception {
            for (int key : keys()) {
                Object account = account(key, since);
                task.state(key, value).update(account);
                task.state(key, list).update(List.of(account, account(1, since)));
                task.state(key, map).put("a", account);
                task.state(key, reducing).add(account);
                timers().add(new TimerHeapInternalTimer<>(key, key, VoidNamespace.INSTANCE));
            }
        }

        /** Asserts the state that subtasks 0 and 1 of two had written. */
        void assertContents(int sinceOfFirst, int sinceOfSecond) throws Exception {
            for (int key : keys()) {
                int since = keyGroup(key) < 4 ? sinceOfFirst : sinceOfSecond;
                Map<String, String> found = new TreeMap<>();
                found.put("value", string(task.state(key, value).value()));
                StringBuilder elements = new StringBuilder();
                for (Object element : task.state(key, list).get()) {
                    elements.append(string(element)).append(';');
                }
                found.put("list", elements.toString());
                found.put("map", string(task.state(key, map).get("a")));
                found.put("reducing", string(task.state(key, reducing).get()));
                String expected = string(account(key, since));
                assertThat(found)
                        .as("key %s", key)
                        .isEqualTo(
                                Map.of(
                                        "value",
                                        expected,
                                        "list",
                                        expected + ";" + string(account(1, since)) + ";",
                                        "map",
                                        expected,
                                        "reducing",
                                        expected));
            }
            assertThat(timers().size()).isEqualTo(keys().size());
        }

        private KeyGroupedInternalPriorityQueue<TimerHeapInternalTimer<Integer, VoidNamespace>>
                timers() {
            if (timers == null) {
                timers = task.timers("timers", VoidNamespaceSerializer.INSTANCE);
            }
            return timers;
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

        private Object account(int key, int since) throws ReflectiveOperationException {
            Object account = written.getConstructor().newInstance();
            type.getField("cents").setLong(account, 100 + key);
            if (since > 0) {
                type.getField("since").setInt(account, since);
            }
            return account;
        }

        private String string(Object account) throws ReflectiveOperationException {
            if (account == null) {
                return "none";
            }
            long cents = type.getField("cents").getLong(account);
            return type.getFields().length == 1
                    ? cents + "/0"
                    : cents + "/" + type.getField("since").getInt(account);
        }
    }
}
