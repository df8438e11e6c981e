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
import dev.dstl.changelog.contract.LogStorage;
import dev.dstl.changelog.fixture.FakeJobManager;
import dev.dstl.log.testing.RetryingTempDirFactory;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.flink.api.common.state.CheckpointListener;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.runtime.checkpoint.SavepointType;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.StateBackend;
import org.apache.flink.runtime.state.changelog.ChangelogStateBackendHandle;
import org.apache.flink.state.changelog.DeactivatedChangelogStateBackend;
import org.apache.flink.streaming.api.operators.StreamOperatorStateHandler;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** The changelog of a job is enabled and disabled, and the job moves between state backends. */
class SwitchTest {

    private static final KeyGroupRange ALL = KeyGroupRange.of(0, TestTask.KEY_GROUPS - 1);

    @TempDir private Path directory;

    @ParameterizedTest
    @EnumSource(
            value = Delegate.class,
            names = {"HASHMAP", "ROCKSDB_FULL", "ROCKSDB_INCREMENTAL"})
    void plainCheckpoint_isTheFirstBase_andTheJobGoesOffAndOnAgain(Delegate delegate)
            throws Exception {
        FakeJobManager jobManager = new FakeJobManager();
        Map<String, Object> contents;
        try (TestTask task = plain(delegate, jobManager)) {
            EveryState states = new EveryState(task);
            states.change(1, ALL);
            plainCheckpoint(task, 41);
            states.change(2, ALL);
            plainCheckpoint(task, 42);
            contents = states.contents(ALL);
        }
        try (TestTask task = TestTask.start(directory, delegate, LogStorage.DSTL, jobManager)) {
            EveryState states = new EveryState(task);
            assertThat(states.contents(ALL)).isEqualTo(contents);
            states.change(3, ALL);
            ChangelogStateBackendHandle first = task.checkpoint(43);
            assertThat(first.getMaterializedStateHandles()).hasSize(1);
            assertThat(first.getNonMaterializedStateHandles()).hasSize(1);
            for (int round = 4; round < 7; round++) {
                assertThat(task.materialize()).isTrue();
                states.change(round, ALL);
                task.checkpoint(40L + round);
            }
            contents = states.contents(ALL);
        }
        try (TestTask task = switchedOff(delegate, jobManager)) {
            EveryState states = new EveryState(task);
            assertThat(states.contents(ALL)).isEqualTo(contents);
            states.change(7, ALL);
            plainCheckpoint(task, 47);
            states.change(8, ALL);
            plainCheckpoint(task, 48);
            contents = states.contents(ALL);
        }
        try (TestTask task = plain(delegate, jobManager)) {
            assertThat(new EveryState(task).contents(ALL)).isEqualTo(contents);
        }
        try (TestTask task = TestTask.start(directory, delegate, LogStorage.DSTL, jobManager)) {
            assertThat(new EveryState(task).contents(ALL)).isEqualTo(contents);
        }
    }

    static Stream<Arguments> moves() {
        return Stream.of(
                Arguments.of(Delegate.HASHMAP, Delegate.ROCKSDB_INCREMENTAL),
                Arguments.of(Delegate.ROCKSDB_INCREMENTAL, Delegate.HASHMAP),
                Arguments.of(Delegate.ROCKSDB_INCREMENTAL, Delegate.ROCKSDB_WITH_TIMERS_ON_HEAP),
                Arguments.of(Delegate.ROCKSDB_WITH_TIMERS_ON_HEAP, Delegate.ROCKSDB_INCREMENTAL));
    }

    @ParameterizedTest
    @MethodSource("moves")
    void canonicalSavepoint_movesTheJobToAnotherDelegate_withAndWithoutAChangelog(
            Delegate from, Delegate to) throws Exception {
        KeyedStateHandle savepoint;
        Map<String, Object> contents;
        Path origin = directory.resolve("origin");
        try (TestTask task = TestTask.start(origin, from, LogStorage.DSTL)) {
            EveryState states = new EveryState(task);
            states.change(1, ALL);
            task.materialize();
            task.checkpoint(1);
            states.change(2, ALL);
            savepoint = canonicalSavepoint(task, 2);
            contents = states.contents(ALL);
            states.change(3, ALL);
            assertThat(task.materialize()).as("an intermediate savepoint changes nothing").isTrue();
        }
        FakeJobManager plainJob = new FakeJobManager();
        try (TestTask task =
                start(TestTask.delegate(directory, to), plainJob, List.of(savepoint))) {
            assertThat(new EveryState(task).contents(ALL)).isEqualTo(contents);
        }
        FakeJobManager jobManager = new FakeJobManager();
        try (TestTask task =
                TestTask.start(
                        directory.resolve("copy"),
                        to,
                        LogStorage.DSTL,
                        jobManager,
                        List.of(savepoint))) {
            EveryState states = new EveryState(task);
            assertThat(states.contents(ALL)).isEqualTo(contents);
            states.change(4, ALL);
            task.checkpoint(5);
            contents = states.contents(ALL);
        }
        RetryingTempDirFactory.delete(origin);
        try (TestTask task =
                TestTask.start(directory.resolve("copy"), to, LogStorage.DSTL, jobManager)) {
            assertThat(new EveryState(task).contents(ALL)).isEqualTo(contents);
        }
    }

    private static void plainCheckpoint(TestTask task, long id) throws Exception {
        task.jobManager.acknowledge(id, TestTask.finish(task.trigger(id)));
        task.jobManager.complete(id);
        ((CheckpointListener) task.backend()).notifyCheckpointComplete(id);
    }

    private static KeyedStateHandle canonicalSavepoint(TestTask task, long id) throws Exception {
        return TestTask.finish(
                StreamOperatorStateHandler.prepareCanonicalSavepoint(
                                task.backend(), new CloseableRegistry())
                        .snapshot(
                                id,
                                0,
                                task.streams(id),
                                TestTask.options(
                                        SavepointType.savepoint(SavepointFormatType.CANONICAL))));
    }

    private TestTask plain(Delegate delegate, FakeJobManager jobManager) throws Exception {
        return start(TestTask.delegate(directory, delegate), jobManager, jobManager.latest());
    }

    private TestTask switchedOff(Delegate delegate, FakeJobManager jobManager) throws Exception {
        return start(
                new DeactivatedChangelogStateBackend(TestTask.delegate(directory, delegate)),
                jobManager,
                jobManager.latest());
    }

    private TestTask start(
            StateBackend backend, FakeJobManager jobManager, List<KeyedStateHandle> restored)
            throws Exception {
        return TestTask.start(
                directory,
                backend,
                LogStorage.DSTL.taskStateManager(directory.resolve("log")),
                TestTask.checkpoints(directory),
                jobManager,
                restored);
    }
}
