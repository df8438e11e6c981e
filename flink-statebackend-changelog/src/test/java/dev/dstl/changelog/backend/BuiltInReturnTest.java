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
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.runtime.checkpoint.SavepointType;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.changelog.ChangelogStateBackendHandle;
import org.apache.flink.streaming.api.operators.StreamOperatorStateHandler;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Jobs move from DSTL back to Flink's built-in changelog. */
class BuiltInReturnTest {

    private static final KeyGroupRange ALL = KeyGroupRange.of(0, TestTask.KEY_GROUPS - 1);

    @TempDir private Path directory;

    @ParameterizedTest
    @EnumSource(
            value = Delegate.class,
            names = {"HASHMAP", "ROCKSDB_INCREMENTAL"})
    void canonicalSavepoint_isTheWayBackToFlinksOwnChangelog(Delegate delegate) throws Exception {
        KeyedStateHandle savepoint;
        Map<String, Object> contents;
        try (TestTask task = TestTask.start(directory, delegate, LogStorage.DSTL)) {
            EveryState states = new EveryState(task);
            states.change(1, ALL);
            task.materialize();
            states.change(2, ALL);
            savepoint = canonicalSavepoint(task, 7);
            contents = states.contents(ALL);
        }
        continueWithBuiltInChangelog(delegate, savepoint, contents);
    }

    @ParameterizedTest
    @EnumSource(
            value = Delegate.class,
            names = {"HASHMAP", "ROCKSDB_INCREMENTAL"})
    void nativeSavepoint_isAWayBackToFlinksOwnChangelogAsWell(Delegate delegate) throws Exception {
        KeyedStateHandle savepoint;
        Map<String, Object> contents;
        try (TestTask task = TestTask.start(directory, delegate, LogStorage.DSTL)) {
            EveryState states = new EveryState(task);
            states.change(1, ALL);
            savepoint =
                    task.jobManager.acknowledge(
                            7,
                            TestTask.finish(
                                    task.trigger(
                                            7,
                                            SavepointType.savepoint(SavepointFormatType.NATIVE))));
            contents = states.contents(ALL);
        }
        continueWithBuiltInChangelog(delegate, savepoint, contents);
    }

    @Test
    void ourCheckpoint_isRefusedByFlinksOwnChangelog_notMisread() throws Exception {
        FakeJobManager jobManager;
        try (TestTask task = TestTask.start(directory, Delegate.HASHMAP, LogStorage.DSTL)) {
            jobManager = task.jobManager;
            task.value(1).update("one");
            assertThat(BuiltInLog.storagesOf(task.checkpoint(1))).containsExactly("dstl");
        }
        assertThat(
                        jobManager.latest().stream()
                                .map(ChangelogStateBackendHandle.class::cast)
                                .flatMap(handle -> BuiltInLog.storagesOf(handle).stream()))
                .as("the name by which Flink looks for a storage that reads it")
                .doesNotContain("filesystem", "memory");
    }

    private static KeyedStateHandle canonicalSavepoint(TestTask task, long id) throws Exception {
        return task.jobManager.acknowledge(
                id,
                TestTask.finish(
                        StreamOperatorStateHandler.prepareCanonicalSavepoint(
                                        task.backend(), new CloseableRegistry())
                                .snapshot(
                                        id,
                                        0,
                                        task.streams(id),
                                        TestTask.options(
                                                SavepointType.savepoint(
                                                        SavepointFormatType.CANONICAL)))));
    }

    /**
     * Continues as after a restore with {@code CLAIM}: checkpoints may share with the savepoint.
     */
    private void continueWithBuiltInChangelog(
            Delegate delegate, KeyedStateHandle savepoint, Map<String, Object> contents)
            throws Exception {
        FakeJobManager flink = new FakeJobManager();
        Map<String, Object> changed;
        try (TestTask task =
                BuiltInLog.FILES.start(directory, delegate, flink, List.of(savepoint))) {
            EveryState states = new EveryState(task);
            assertThat(states.contents(ALL)).isEqualTo(contents);
            states.change(3, ALL);
            changed = states.contents(ALL);
            task.checkpoint(8);
        }
        assertThat(changed).isNotEqualTo(contents);
        try (TestTask task = BuiltInLog.FILES.start(directory, delegate, flink, flink.latest())) {
            assertThat(new EveryState(task).contents(ALL)).isEqualTo(changed);
        }
    }
}
