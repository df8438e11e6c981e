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
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.runtime.checkpoint.CheckpointType;
import org.apache.flink.runtime.checkpoint.SavepointType;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.changelog.ChangelogStateBackendHandle;
import org.apache.flink.runtime.state.changelog.ChangelogStateBackendHandle.ChangelogStateBackendHandleImpl;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandle;
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

    @TempDir private Path directory;

    static Stream<Arguments> changesOfParallelism() {
        return Stream.of(
                        Delegate.HASHMAP,
                        Delegate.ROCKSDB_FULL,
                        Delegate.ROCKSDB_INCREMENTAL,
                        Delegate.ROCKSDB_WITH_TIMERS_ON_HEAP)
                .flatMap(
                        delegate ->
                                Stream.of(
                                        Arguments.of(
                                                delegate,
                                                AccountJob.TWO_SUBTASKS,
                                                AccountJob.ONE_SUBTASK),
                                        Arguments.of(
                                                delegate,
                                                AccountJob.ONE_SUBTASK,
                                                AccountJob.TWO_SUBTASKS),
                                        Arguments.of(
                                                delegate,
                                                AccountJob.TWO_SUBTASKS,
                                                AccountJob.THREE_SUBTASKS)));
    }

    @ParameterizedTest(name = "{0} from {1} to {2}")
    @MethodSource("changesOfParallelism")
    void rescaleBeforeAllHaveMaterialized_keepsTheNewField(
            Delegate used, List<KeyGroupRange> before, List<KeyGroupRange> after) throws Exception {
        AccountJob job = new AccountJob(directory, used);
        List<KeyedStateHandle> handles =
                job.run(AccountJob.OLD_FIELDS, before, List.of(), AccountJob::createBase);
        handles =
                job.run(
                        AccountJob.NEW_FIELDS,
                        before,
                        handles,
                        (subtask, states) -> {
                            states.assertContents(0, 0);
                            states.write(1);
                            if (subtask == 0) {
                                states.task.materialize();
                            }
                        });
        handles =
                job.run(
                        AccountJob.NEW_FIELDS,
                        after,
                        handles,
                        (subtask, states) -> {
                            states.assertContents(1, 1);
                            states.write(2);
                        });
        job.run(
                AccountJob.NEW_FIELDS,
                before,
                handles,
                (subtask, states) -> states.assertContents(2, 2));
    }

    static Stream<Arguments> halfUpgraded() {
        return changesOfParallelism()
                .filter(arguments -> arguments.get()[1] == AccountJob.TWO_SUBTASKS)
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
        AccountJob job = new AccountJob(directory, used);
        List<KeyedStateHandle> handles =
                job.run(
                        AccountJob.OLD_FIELDS,
                        AccountJob.TWO_SUBTASKS,
                        List.of(),
                        AccountJob::createBase);
        if (savepoint) {
            job.snapshotType = SavepointType.savepoint(SavepointFormatType.NATIVE);
        }
        handles =
                job.run(
                        AccountJob.NEW_FIELDS,
                        AccountJob.TWO_SUBTASKS,
                        handles,
                        (subtask, states) -> {
                            if (subtask == upgraded) {
                                states.write(1);
                            }
                        });
        job.snapshotType = CheckpointType.CHECKPOINT;
        handles =
                job.run(
                        AccountJob.NEW_FIELDS,
                        after,
                        handles,
                        (subtask, states) ->
                                states.assertContents(
                                        upgraded == 0 ? 1 : 0, upgraded == 0 ? 0 : 1));
        // Nobody has changed anything; the second checkpoint comes from the first restore.
        handles =
                job.run(
                        AccountJob.NEW_FIELDS,
                        AccountJob.TWO_SUBTASKS,
                        handles,
                        (subtask, states) -> {
                            states.assertContents(upgraded == 0 ? 1 : 0, upgraded == 0 ? 0 : 1);
                            states.write(3);
                        });
        job.run(
                AccountJob.NEW_FIELDS,
                AccountJob.ONE_SUBTASK,
                handles,
                (subtask, states) -> states.assertContents(3, 3));
    }

    @ParameterizedTest
    @EnumSource(Delegate.class)
    void logsOfBothVersions_areReadInAnyOrder(Delegate used) throws Exception {
        AccountJob job = new AccountJob(directory, used);
        List<KeyedStateHandle> old =
                job.run(
                        AccountJob.OLD_FIELDS,
                        AccountJob.TWO_SUBTASKS,
                        List.of(),
                        (subtask, states) -> states.write(0));
        List<KeyedStateHandle> upgraded =
                job.run(
                        AccountJob.NEW_FIELDS,
                        AccountJob.TWO_SUBTASKS,
                        List.of(),
                        (subtask, states) -> {
                            if (subtask == 0) {
                                states.write(1);
                            }
                        });
        List<KeyedStateHandle> both = List.of(appended(old.get(0), upgraded.get(0)), old.get(1));
        job.run(
                AccountJob.NEW_FIELDS,
                AccountJob.ONE_SUBTASK,
                both,
                (subtask, states) -> states.assertContents(1, 0));
        job.run(
                AccountJob.NEW_FIELDS,
                AccountJob.ONE_SUBTASK,
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
    void changedSchema_makesTheNextCheckpointFullAndNoOther(Delegate used) throws Exception {
        AccountJob job = new AccountJob(directory, used);
        List<KeyedStateHandle> handles =
                job.run(
                        AccountJob.OLD_FIELDS,
                        AccountJob.ONE_SUBTASK,
                        List.of(),
                        AccountJob::createBase);
        long old = base(handles.get(0));
        List<Long> bases = new ArrayList<>();
        handles =
                job.run(
                        AccountJob.NEW_FIELDS,
                        AccountJob.ONE_SUBTASK,
                        handles,
                        (subtask, states) -> {
                            bases.add(base(states.task.checkpoint(1)));
                            states.write(1);
                            bases.add(base(states.task.checkpoint(2)));
                            states.write(2);
                            bases.add(base(states.task.checkpoint(3)));
                        });
        assertThat(bases.get(0)).isEqualTo(old);
        assertThat(bases.get(1)).isGreaterThan(old);
        assertThat(bases.get(2)).isEqualTo(bases.get(1));
        job.run(
                AccountJob.NEW_FIELDS,
                AccountJob.ONE_SUBTASK,
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
}
