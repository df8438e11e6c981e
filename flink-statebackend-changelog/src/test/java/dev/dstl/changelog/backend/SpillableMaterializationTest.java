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
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.runtime.state.IncrementalRemoteKeyedStateHandle;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.changelog.ChangelogStateBackendHandle;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Materializations of the spillable heap share files, as those of RocksDB do. */
class SpillableMaterializationTest {

    private static final int KEYS = 6_000;
    private static final String TEXT = "x".repeat(400);

    @TempDir private Path directory;
    private long checkpointId;

    private static void fill(TestTask task, int from, int step, String text) throws Exception {
        for (int key = from; key < KEYS; key += step) {
            task.value(key).update(text + key);
        }
    }

    private IncrementalRemoteKeyedStateHandle materialize(TestTask task) throws Exception {
        assertThat(task.materialize()).isTrue();
        long id = ++checkpointId;
        ChangelogStateBackendHandle handle = task.acknowledge(id);
        task.jobManager.complete(id);
        task.changelog().notifyCheckpointComplete(id);
        assertThat(handle.getMaterializedStateHandles()).hasSize(1);
        return (IncrementalRemoteKeyedStateHandle) handle.getMaterializedStateHandles().get(0);
    }

    @Test
    void materializationAfterFewChanges_sharesFilesWithTheOneBefore() throws Exception {
        FakeJobManager jobManager;
        try (TestTask task =
                TestTask.start(directory, Delegate.SPILLABLE_INCREMENTAL, LogStorage.DSTL)) {
            jobManager = task.jobManager;
            fill(task, 0, 1, TEXT);
            materialize(task);
            task.value(1).update("changed");
            materialize(task);
            task.value(2).update("changed");
            IncrementalRemoteKeyedStateHandle third = materialize(task);
            assertThat(third.getSharedState()).isNotEmpty();
            assertThat(third.getCheckpointedSize()).isLessThan(third.getStateSize() / 2);
        }
        try (TestTask task =
                TestTask.start(
                        directory, Delegate.SPILLABLE_INCREMENTAL, LogStorage.DSTL, jobManager)) {
            task.value(3).update("changed");
            IncrementalRemoteKeyedStateHandle restored = materialize(task);
            assertThat(restored.getCheckpointedSize()).isLessThan(restored.getStateSize() / 2);
        }
        try (TestTask task =
                TestTask.start(
                        directory, Delegate.SPILLABLE_INCREMENTAL, LogStorage.DSTL, jobManager)) {
            for (int key = 0; key < KEYS; key++) {
                assertThat(task.value(key).value())
                        .isEqualTo(key >= 1 && key <= 3 ? "changed" : TEXT + key);
            }
        }
    }

    @Test
    void materialization_canBeRestoredAtAnotherParallelism() throws Exception {
        List<KeyedStateHandle> handles = new ArrayList<>();
        try (TestTask task =
                TestTask.start(directory, Delegate.SPILLABLE_INCREMENTAL, LogStorage.DSTL)) {
            fill(task, 0, 1, TEXT);
            materialize(task);
            fill(task, 0, 3, "changed");
            materialize(task);
            fill(task, 1, 3, "changed");
            handles.add(task.acknowledge(++checkpointId));
        }
        handles = rescale(handles, KeyGroupRange.of(0, 3), KeyGroupRange.of(4, 7));
        rescale(handles, KeyGroupRange.of(0, 7));
    }

    private List<KeyedStateHandle> rescale(List<KeyedStateHandle> handles, KeyGroupRange... ranges)
            throws Exception {
        List<KeyedStateHandle> next = new ArrayList<>();
        for (KeyGroupRange range : ranges) {
            List<KeyedStateHandle> parts = new ArrayList<>();
            FakeJobManager jobManager = new FakeJobManager();
            for (KeyedStateHandle handle : handles) {
                KeyedStateHandle part = handle.getIntersection(range);
                if (part != null) {
                    parts.add(part);
                    jobManager.acknowledge(0, part);
                }
            }
            try (TestTask task =
                    TestTask.startSubtask(
                            directory,
                            Delegate.SPILLABLE_INCREMENTAL,
                            LogStorage.DSTL,
                            jobManager,
                            range,
                            parts)) {
                for (int key = 0; key < KEYS; key++) {
                    int group = KeyGroupRangeAssignment.assignToKeyGroup(key, TestTask.KEY_GROUPS);
                    if (range.contains(group)) {
                        String expected = (key % 3 < 2 ? "changed" : TEXT) + key;
                        assertThat(task.value(key).value()).isEqualTo(expected);
                        if (key % 10 == 0) {
                            // Without a change there is nothing to materialize.
                            task.value(key).update(expected);
                        }
                    }
                }
                assertThat(task.materialize()).isTrue();
                next.add(task.acknowledge(++checkpointId));
            }
        }
        return next;
    }
}
