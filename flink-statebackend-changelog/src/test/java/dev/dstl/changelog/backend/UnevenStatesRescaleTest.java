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
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.flink.api.common.serialization.SerializerConfigImpl;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.runtime.checkpoint.CheckpointType;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.util.TemporaryClassLoaderContext;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A subtask registers a state that others have not used yet, some write in another schema version
 * than others, and then one subtask restores all of them.
 */
class UnevenStatesRescaleTest {

    private static final KeyGroupRange ALL = KeyGroupRange.of(0, 7);
    private static final KeyGroupRange FIRST = KeyGroupRange.of(0, 2);
    private static final KeyGroupRange SECOND = KeyGroupRange.of(3, 5);
    private static final KeyGroupRange THIRD = KeyGroupRange.of(6, 7);
    private static final int KEYS = 40;

    private static final String OLD = "public long cents;";
    private static final String NEW = "public long cents; public int since;";

    @TempDir private Path directory;
    private Delegate delegate;
    private int run;

    @ParameterizedTest
    @EnumSource(Delegate.class)
    void stateThatNotAllSnapshotsOfAVersionHold_isRestored(Delegate used) throws Exception {
        delegate = used;
        List<KeyedStateHandle> handles =
                List.of(
                        run(NEW, FIRST, List.of(), this::writeMost),
                        run(OLD, SECOND, List.of(), this::write),
                        run(OLD, THIRD, List.of(), this::writeWithExtra));
        run(
                NEW,
                ALL,
                handles,
                states -> {
                    assertThat(states.keysOf("account")).isEqualTo(keys(ALL));
                    assertThat(states.keysOf("extra")).isEqualTo(keys(THIRD));
                });
    }

    @ParameterizedTest
    @EnumSource(Delegate.class)
    void stateThatNotAllSnapshotsOfAVersionHold_keepsItsNewField(Delegate used) throws Exception {
        delegate = used;
        List<KeyedStateHandle> handles =
                List.of(
                        run(OLD, FIRST, List.of(), this::writeWithExtra),
                        run(NEW, SECOND, List.of(), this::writeMost),
                        run(NEW, THIRD, List.of(), this::writeWithExtra));
        run(
                NEW,
                ALL,
                handles,
                states -> {
                    List<Integer> both = new ArrayList<>(keys(FIRST));
                    both.addAll(keys(THIRD));
                    both.sort(null);
                    assertThat(states.keysOf("extra")).isEqualTo(both);
                    for (int key : keys(THIRD)) {
                        assertThat(states.since("extra", key)).as("key %s", key).isEqualTo(1);
                    }
                });
    }

    @ParameterizedTest
    @EnumSource(Delegate.class)
    void stateOfSeveralVersionsThatTheFirstSnapshotLacks_isReadInEach(Delegate used)
            throws Exception {
        delegate = used;
        List<KeyedStateHandle> handles =
                List.of(
                        run(NEW, FIRST, List.of(), States::writePadding),
                        run(OLD, SECOND, List.of(), this::write),
                        run(NEW, THIRD, List.of(), this::write));
        run(
                NEW,
                ALL,
                handles,
                states -> {
                    List<Integer> both = new ArrayList<>(keys(SECOND));
                    both.addAll(keys(THIRD));
                    both.sort(null);
                    assertThat(states.keysOf("account")).isEqualTo(both);
                    for (int key : both) {
                        assertThat(states.since("account", key))
                                .as("key %s", key)
                                .isEqualTo(keys(THIRD).contains(key) ? 1 : 0);
                    }
                });
    }

    private void write(States states) throws Exception {
        states.write("account");
    }

    private void writeWithExtra(States states) throws Exception {
        states.write("account");
        states.write("extra");
    }

    /** Writes more bytes than all other subtasks together. */
    private void writeMost(States states) throws Exception {
        states.write("account");
        states.writePadding();
    }

    private static List<Integer> keys(KeyGroupRange keyGroups) {
        return IntStream.range(0, KEYS)
                .filter(
                        key ->
                                keyGroups.contains(
                                        KeyGroupRangeAssignment.assignToKeyGroup(
                                                key, TestTask.KEY_GROUPS)))
                .boxed()
                .collect(Collectors.toList());
    }

    /** Runs a subtask and takes a checkpoint that consists of a base only. */
    @SuppressWarnings("try") // the class loader's scope is a resource that nobody names
    private KeyedStateHandle run(
            String fields, KeyGroupRange keyGroups, List<KeyedStateHandle> restored, Use use)
            throws Exception {
        run++;
        try (URLClassLoader job =
                        JobClasses.compile(
                                directory.resolve("job-" + run),
                                Map.of(
                                        "Account",
                                        "public class Account { public Account() {} "
                                                + fields
                                                + " }"));
                TemporaryClassLoaderContext asInATask = TemporaryClassLoaderContext.of(job);
                KeyedTask<Integer> task =
                        KeyedTask.startSubtask(
                                directory,
                                delegate,
                                IntSerializer.INSTANCE,
                                job,
                                keyGroups,
                                restored)) {
            use.with(new States(task, job, keyGroups));
            task.materialize();
            return task.checkpoint(100L + run, CheckpointType.CHECKPOINT);
        }
    }

    /** The behavior of the job. */
    private interface Use {
        void with(States states) throws Exception;
    }

    /** The states of a subtask, registered on first access. */
    private static final class States {

        private final KeyedTask<Integer> task;
        private final KeyGroupRange keyGroups;
        private final Class<Object> type;
        private final TypeSerializer<Object> serializer;

        @SuppressWarnings("unchecked") // The class is known at run time only.
        States(KeyedTask<Integer> task, ClassLoader job, KeyGroupRange keyGroups)
                throws ReflectiveOperationException {
            this.task = task;
            this.keyGroups = keyGroups;
            this.type = (Class<Object>) job.loadClass("Account");
            this.serializer = Types.POJO(type).createSerializer(new SerializerConfigImpl());
        }

        private ValueStateDescriptor<Object> accounts(String name) {
            return new ValueStateDescriptor<>(name, serializer.duplicate());
        }

        void write(String name) throws Exception {
            for (int key : keys(keyGroups)) {
                Object account = type.getConstructor().newInstance();
                type.getField("cents").setLong(account, 100 + key);
                if (type.getFields().length > 1) {
                    type.getField("since").setInt(account, 1);
                }
                task.state(key, accounts(name)).update(account);
            }
        }

        void writePadding() throws Exception {
            StringBuilder padding = new StringBuilder();
            new Random(1).ints(1 << 17, 'a', 'z').forEach(c -> padding.append((char) c));
            task.state(
                            keys(keyGroups).get(0),
                            new ValueStateDescriptor<>("padding", StringSerializer.INSTANCE))
                    .update(padding.toString());
        }

        /** Keys whose account is as written. */
        List<Integer> keysOf(String name) throws Exception {
            List<Integer> found = new ArrayList<>();
            for (int key : keys(keyGroups)) {
                Object account = task.state(key, accounts(name)).value();
                if (account != null && type.getField("cents").getLong(account) == 100 + key) {
                    found.add(key);
                }
            }
            return found;
        }

        int since(String name, int key) throws Exception {
            return type.getField("since").getInt(task.state(key, accounts(name)).value());
        }
    }
}
