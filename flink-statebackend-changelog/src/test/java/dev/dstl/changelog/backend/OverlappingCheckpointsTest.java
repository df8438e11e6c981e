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
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.dstl.changelog.contract.Delegate;
import dev.dstl.changelog.contract.LogStorage;
import dev.dstl.changelog.fixture.FakeJobManager;
import dev.dstl.changelog.fixture.VersionedStringSerializer;
import dev.dstl.log.testing.FileTree;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.RunnableFuture;
import java.util.stream.Collectors;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeutils.base.ListSerializer;
import org.apache.flink.runtime.checkpoint.CheckpointType;
import org.apache.flink.runtime.checkpoint.SnapshotType;
import org.apache.flink.runtime.state.IncrementalRemoteKeyedStateHandle;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.changelog.ChangelogStateBackendHandle;
import org.apache.flink.runtime.state.filesystem.FileStateHandle;
import org.apache.flink.runtime.testutils.CommonTestUtils;
import org.apache.flink.util.InstantiationUtil;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Checkpoints that start while a full one is still being uploaded, as with large state. */
@Timeout(60)
class OverlappingCheckpointsTest {

    private static final SnapshotType FULL = CheckpointType.FULL_CHECKPOINT;
    private static final SnapshotType ANY = CheckpointType.CHECKPOINT;
    private static final int CHECKPOINTS = 12;

    @TempDir private Path directory;

    @ParameterizedTest
    @EnumSource(Delegate.class)
    void checkpointsThatAlwaysOverlap_areFullOnce_andMaterializationGoesOn(Delegate delegate)
            throws Exception {
        FakeJobManager jobManager = new FakeJobManager();
        Set<Long> bases = new HashSet<>();
        boolean materialized = false;
        try (TestTask task = TestTask.start(directory, delegate, LogStorage.DSTL, jobManager)) {
            task.value(1).update("v0");
            // without claim, the JobManager asks for full ones until one is complete
            RunnableFuture<SnapshotResult<KeyedStateHandle>> previous = task.trigger(1, FULL);
            for (long id = 2; id <= CHECKPOINTS; id++) {
                task.value(1).update("v" + id);
                RunnableFuture<SnapshotResult<KeyedStateHandle>> next =
                        task.trigger(id, id == 2 ? FULL : ANY);
                bases.add(acknowledge(task, id - 1, previous));
                task.complete(id - 1);
                previous = next;
            }
            assertThat(bases).as("bases of checkpoints without a materialization").hasSize(1);
            materialized = task.materialize();
            task.value(1).update("last");
            RunnableFuture<SnapshotResult<KeyedStateHandle>> last =
                    task.trigger(CHECKPOINTS + 1, ANY);
            acknowledge(task, CHECKPOINTS, previous);
            task.complete(CHECKPOINTS);
            acknowledge(task, CHECKPOINTS + 1, last);
            task.complete(CHECKPOINTS + 1);
        }
        assertThat(materialized).isTrue();
        try (TestTask task = TestTask.start(directory, delegate, LogStorage.DSTL, jobManager)) {
            assertThat(task.values(2)).containsExactly(null, "last");
        }
    }

    @ParameterizedTest
    @EnumSource(Delegate.class)
    void laterCheckpointOvertakesTheFullOne_andNothingItNeedsIsDeleted(Delegate delegate)
            throws Exception {
        FakeJobManager jobManager = new FakeJobManager();
        try (TestTask task = TestTask.start(directory, delegate, LogStorage.DSTL, jobManager)) {
            task.value(1).update("one");
            RunnableFuture<SnapshotResult<KeyedStateHandle>> first = task.trigger(1, FULL);
            task.value(2).update("two");
            RunnableFuture<SnapshotResult<KeyedStateHandle>> second = task.trigger(2, ANY);
            task.value(3).update("three");
            RunnableFuture<SnapshotResult<KeyedStateHandle>> third = task.trigger(3, ANY);

            acknowledge(task, 3, third);
            task.complete(3);
            jobManager.acknowledgeLate(1, TestTask.finish(first));
            jobManager.acknowledgeLate(2, TestTask.finish(second));
            task.changelog().notifyCheckpointAborted(1);
            task.changelog().notifyCheckpointAborted(2);
        }
        try (TestTask task = TestTask.start(directory, delegate, LogStorage.DSTL, jobManager)) {
            assertThat(task.values(4)).containsExactly(null, "one", "two", "three");
        }
    }

    /** Otherwise only the first checkpoint would contain files that later ones name again. */
    @ParameterizedTest
    @EnumSource(Delegate.class)
    void materializationThatEndsAsTheFirstFullCheckpointBegins_isNotTheBaseOfTheNext(
            Delegate delegate) throws Exception {
        FakeJobManager jobManager = new FakeJobManager();
        String large = "x".repeat(60_000);
        try (TestTask task = TestTask.start(directory, delegate, LogStorage.DSTL, jobManager)) {
            task.versioned(0, 1).update(large);
            task.checkpoint(1);
        }
        try (TestTask task = TestTask.start(directory, delegate, LogStorage.DSTL, jobManager)) {
            // A migration makes the next checkpoint a full one.
            task.versioned(1, 2).update("one");
            assertThat(task.beginMaterialization()).isTrue();
            CommonTestUtils.waitUntilCondition(() -> task.mailbox.size() > 0);
            task.versioned(2, 2).update("two");
            RunnableFuture<SnapshotResult<KeyedStateHandle>> first = task.trigger(2, ANY);
            task.mailbox.runNext();
            task.versioned(3, 2).update("three");
            RunnableFuture<SnapshotResult<KeyedStateHandle>> second = task.trigger(3, ANY);
            long base = acknowledge(task, 2, first);
            task.complete(2);
            assertThat(acknowledge(task, 3, second)).isEqualTo(base);
            task.complete(3);
            task.checkpoint(4);
        }
        try (TestTask task = TestTask.start(directory, delegate, LogStorage.DSTL, jobManager)) {
            assertThat(task.versioned(0, 2).value()).isEqualTo(large);
            assertThat(task.versioned(1, 2).value()).isEqualTo("one");
            assertThat(task.versioned(2, 2).value()).isEqualTo("two");
            assertThat(task.versioned(3, 2).value()).isEqualTo("three");
        }
    }

    /** Flink's JobManager fails if a late acknowledgement has a placeholder for such a file. */
    @ParameterizedTest
    @EnumSource(Uploaded.class)
    void lateAcknowledgement_leavesNoFile_ifFilesOfItsBaseWereDeletedMeanwhile(Uploaded uploaded)
            throws Exception {
        Set<String> needed;
        try (TestTask task =
                TestTask.start(directory, Delegate.ROCKSDB_INCREMENTAL, LogStorage.DSTL)) {
            long id = 1;
            Set<String> shared = change(task, id);
            shared.retainAll(change(task, ++id));
            assertThat(shared).isNotEmpty();
            long overtaken = ++id;
            task.value(1).update("overtaken");
            RunnableFuture<SnapshotResult<KeyedStateHandle>> late = task.trigger(overtaken, ANY);
            KeyedStateHandle sent =
                    uploaded == Uploaded.BEFORE_THE_NEXT_BEGAN ? TestTask.finish(late) : null;
            RunnableFuture<SnapshotResult<KeyedStateHandle>> next = task.trigger(++id, ANY);
            sent = uploaded == Uploaded.BEFORE_THE_NEXT_COMPLETED ? TestTask.finish(late) : sent;
            acknowledge(task, id, next);
            task.complete(id);
            while (!Collections.disjoint(change(task, ++id), shared)) {
                assertThat(id).as("nothing is compacted").isLessThan(100);
            }

            task.jobManager.acknowledgeLate(overtaken, sent == null ? TestTask.finish(late) : sent);

            needed = change(task, ++id);
        }
        CommonTestUtils.waitUntilCondition(
                () -> FileTree.files(directory.resolve("log")).isEmpty());
        CommonTestUtils.waitUntilCondition(() -> names(snapshots()).equals(needed));
    }

    /** When the keyed state of the overtaken checkpoint is uploaded; all of it arrives late. */
    private enum Uploaded {
        BEFORE_THE_NEXT_BEGAN,
        BEFORE_THE_NEXT_COMPLETED,
        AFTERWARDS
    }

    /** A checkpoint that a job restores without claiming it keeps its files. */
    @Test
    void overtakenCheckpoint_tellsTheJobManagerOfNoRestoredFile() throws Exception {
        FakeJobManager jobManager;
        Set<String> restored;
        try (TestTask task =
                TestTask.start(directory, Delegate.ROCKSDB_INCREMENTAL, LogStorage.DSTL)) {
            jobManager = task.jobManager;
            restored = change(task, 1);
        }
        try (TestTask task =
                TestTask.start(
                        directory, Delegate.ROCKSDB_INCREMENTAL, LogStorage.DSTL, jobManager)) {
            Set<String> uploaded = change(task, 2);
            assertThat(uploaded).containsAnyElementsOf(restored);
            uploaded.removeAll(restored);
            task.value(3).update("overtaken");
            assertThat(task.materialize()).isTrue();
            RunnableFuture<SnapshotResult<KeyedStateHandle>> late = task.trigger(3, ANY);
            RunnableFuture<?> unused = task.trigger(4, ANY);

            ChangelogStateBackendHandle sent =
                    InstantiationUtil.clone((ChangelogStateBackendHandle) TestTask.finish(late));

            assertThat(files(sent)).doesNotContainAnyElementsOf(restored);
            assertThat(files(sent)).containsAnyElementsOf(uploaded);
        }
    }

    /** Takes a checkpoint of a new base; returns the names of its files. */
    private static Set<String> change(TestTask task, long id) throws Exception {
        task.value((int) id % 8).update(id + "x".repeat(1 << 16));
        assertThat(task.materialize()).isTrue();
        return files(task.checkpoint(id));
    }

    private static Set<String> files(ChangelogStateBackendHandle checkpoint) {
        return ((IncrementalRemoteKeyedStateHandle) checkpoint.getMaterializedStateHandles().get(0))
                .streamSubHandles()
                .filter(FileStateHandle.class::isInstance)
                .map(file -> ((FileStateHandle) file).getFilePath().getName())
                .collect(Collectors.toSet());
    }

    private static Set<String> names(List<Path> files) {
        return files.stream()
                .map(file -> file.getFileName().toString())
                .collect(Collectors.toSet());
    }

    @Test
    void fullCheckpointThatIsGivenUp_leavesItsSnapshotToThoseThatJoinedIt() throws Exception {
        FakeJobManager jobManager = new FakeJobManager();
        try (TestTask task =
                TestTask.start(directory, Delegate.HASHMAP, LogStorage.DSTL, jobManager)) {
            task.value(1).update("one");
            RunnableFuture<SnapshotResult<KeyedStateHandle>> first = task.trigger(1, FULL);
            task.value(2).update("two");
            RunnableFuture<SnapshotResult<KeyedStateHandle>> joined = task.trigger(2, ANY);
            first.cancel(true);
            task.changelog().notifyCheckpointAborted(1);

            task.value(3).update("three");
            RunnableFuture<SnapshotResult<KeyedStateHandle>> third = task.trigger(3, ANY);
            long base = acknowledge(task, 2, joined);
            task.complete(2);
            assertThat(acknowledge(task, 3, third))
                    .as("nobody joins a snapshot whose checkpoint was given up")
                    .isNotEqualTo(base);
            task.complete(3);
            assertThat(task.checkpoint(4).getMaterializedStateHandles()).hasSize(1);
        }
        try (TestTask task =
                TestTask.start(directory, Delegate.HASHMAP, LogStorage.DSTL, jobManager)) {
            assertThat(task.values(4)).containsExactly(null, "one", "two", "three");
        }
    }

    @Test
    void fullCheckpointThatIsDroppedAfterItsUpload_leavesNoFile() throws Exception {
        try (TestTask task = TestTask.start(directory, Delegate.HASHMAP, LogStorage.DSTL)) {
            task.value(1).update("x".repeat(1 << 16));
            RunnableFuture<SnapshotResult<KeyedStateHandle>> first = task.trigger(1, FULL);
            RunnableFuture<SnapshotResult<KeyedStateHandle>> joined = task.trigger(2, ANY);
            KeyedStateHandle unsent = TestTask.finish(first);
            KeyedStateHandle alsoUnsent = TestTask.finish(joined);
            assertThat(snapshots()).hasSize(1);
            task.changelog().notifyCheckpointAborted(1);

            unsent.discardState();
            assertThat(snapshots()).hasSize(1);
            alsoUnsent.discardState();
        }
        CommonTestUtils.waitUntilCondition(() -> snapshots().isEmpty());
    }

    @Test
    void baseWhoseLastCheckpointIsDroppedAfterTheTaskHasEnded_leavesNoFile() throws Exception {
        KeyedStateHandle unsent;
        try (TestTask task = TestTask.start(directory, Delegate.HASHMAP, LogStorage.DSTL)) {
            task.value(1).update("x".repeat(1 << 16));
            assertThat(task.materialize()).isTrue();
            unsent = TestTask.finish(task.trigger(1));
        }
        unsent.discardState();
        CommonTestUtils.waitUntilCondition(() -> snapshots().isEmpty());
    }

    @Test
    void stateChangedInADoubtfulWayDuringAFullCheckpoint_isInALaterFullOne() throws Exception {
        FakeJobManager jobManager = new FakeJobManager();
        try (TestTask task =
                TestTask.start(directory, Delegate.HASHMAP, LogStorage.DSTL, jobManager)) {
            ValueState<List<String>> state =
                    task.state(
                            1,
                            new ValueStateDescriptor<>(
                                    "list",
                                    new ListSerializer<>(new VersionedStringSerializer(1))));
            state.update(new ArrayList<>(List.of("one")));
            RunnableFuture<SnapshotResult<KeyedStateHandle>> first = task.trigger(1, FULL);
            List<String> inPlace = state.value();
            inPlace.add(VersionedStringSerializer.BAD);
            assertThatThrownBy(() -> state.update(inPlace)).isInstanceOf(IOException.class);
            inPlace.set(1, "two");
            RunnableFuture<SnapshotResult<KeyedStateHandle>> second = task.trigger(2, ANY);
            long base = acknowledge(task, 1, first);
            task.complete(1);
            assertThat(acknowledge(task, 2, second)).isGreaterThan(base);
            task.complete(2);
            assertThat(task.checkpoint(3).getMaterializationID()).isGreaterThan(base);
        }
    }

    private static long acknowledge(
            TestTask task, long id, RunnableFuture<SnapshotResult<KeyedStateHandle>> checkpoint)
            throws Exception {
        KeyedStateHandle handle = TestTask.finish(checkpoint);
        return ((ChangelogStateBackendHandle) task.jobManager.acknowledge(id, handle))
                .getMaterializationID();
    }

    private List<Path> snapshots() throws IOException {
        return FileTree.files(directory.resolve("checkpoints"));
    }
}
