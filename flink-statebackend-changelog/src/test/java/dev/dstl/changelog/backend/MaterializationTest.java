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
import dev.dstl.changelog.metrics.MaterializationMetrics;
import dev.dstl.log.testing.FileTree;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.RunnableFuture;
import java.util.stream.Collectors;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.runtime.checkpoint.SavepointType;
import org.apache.flink.runtime.state.IncrementalRemoteKeyedStateHandle;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.changelog.ChangelogStateBackendHandle;
import org.apache.flink.state.changelog.ChangelogStateBackend;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class MaterializationTest {

    @TempDir private Path directory;

    @ParameterizedTest
    @EnumSource(Delegate.class)
    void materializedBase_replacesTheLogInLaterCheckpoints(Delegate delegate) throws Exception {
        FakeJobManager jobManager;
        try (TestTask task = TestTask.start(directory, delegate, LogStorage.DSTL)) {
            jobManager = task.jobManager;
            task.value(1).update("one");
            assertThat(task.checkpoint(1).getNonMaterializedStateHandles()).hasSize(1);

            assertThat(task.materialize()).isTrue();

            ChangelogStateBackendHandle handle = task.checkpoint(2);
            assertThat(handle.getMaterializedStateHandles()).hasSize(1);
            assertThat(handle.getNonMaterializedStateHandles()).isEmpty();

            task.value(2).update("two");
            handle = task.checkpoint(3);
            assertThat(handle.getMaterializedStateHandles()).hasSize(1);
            assertThat(handle.getNonMaterializedStateHandles()).hasSize(1);
        }
        try (TestTask task = TestTask.start(directory, delegate, LogStorage.DSTL, jobManager)) {
            assertThat(task.values(3)).containsExactly(null, "one", "two");
        }
    }

    @Test
    void materialization_withNothingNew_isSkipped() throws Exception {
        try (TestTask task =
                TestTask.start(directory, Delegate.ROCKSDB_WITH_TIMERS_ON_HEAP, LogStorage.DSTL)) {
            assertThat(task.materialize()).isFalse();
            task.timers().add(TestTask.timer(1, 10));
            assertThat(task.materialize()).isTrue();
            task.checkpoint(1);
            assertThat(task.materialize()).as("only re-logged timers since then").isFalse();
        }
    }

    @Test
    void restoredLogs_areDroppedAfterTheFirstMaterialization_evenIfNothingIsNew() throws Exception {
        FakeJobManager jobManager = new FakeJobManager();
        for (int checkpoint = 1; checkpoint <= 3; checkpoint++) {
            try (TestTask task =
                    TestTask.start(directory, Delegate.HASHMAP, LogStorage.DSTL, jobManager)) {
                task.value(checkpoint).update("v" + checkpoint);
                assertThat(task.checkpoint(checkpoint).getNonMaterializedStateHandles())
                        .as("restored changelogs stay as long as no base covers them")
                        .hasSize(checkpoint);
            }
        }
        try (TestTask task =
                TestTask.start(directory, Delegate.HASHMAP, LogStorage.DSTL, jobManager)) {
            assertThat(task.materialize()).isTrue();
            assertThat(task.checkpoint(4).getNonMaterializedStateHandles()).isEmpty();
        }
        try (TestTask task =
                TestTask.start(directory, Delegate.HASHMAP, LogStorage.DSTL, jobManager)) {
            assertThat(task.values(4)).containsExactly(null, "v1", "v2", "v3");
        }
    }

    @Test
    void restoredBase_isStillShared_whenANewOneReplacesItBeforeTheFirstCheckpoint()
            throws Exception {
        FakeJobManager jobManager;
        Set<String> restored;
        try (TestTask task =
                TestTask.start(directory, Delegate.ROCKSDB_INCREMENTAL, LogStorage.DSTL)) {
            jobManager = task.jobManager;
            task.value(1).update("one");
            assertThat(task.materialize()).isTrue();
            restored = sharedFiles(task.checkpoint(1));
            assertThat(restored).isNotEmpty();
        }
        try (TestTask task =
                TestTask.start(
                        directory, Delegate.ROCKSDB_INCREMENTAL, LogStorage.DSTL, jobManager)) {
            for (int key = 2; key <= 3; key++) {
                task.value(key).update("more");
                assertThat(task.materialize()).isTrue();
            }
            assertThat(sharedFiles(task.checkpoint(2))).containsAll(restored);
        }
    }

    private static Set<String> sharedFiles(ChangelogStateBackendHandle checkpoint) {
        return checkpoint.getMaterializedStateHandles().stream()
                .map(IncrementalRemoteKeyedStateHandle.class::cast)
                .flatMap(base -> base.getSharedState().stream())
                .map(file -> file.getHandle().getStreamStateHandleID().getKeyString())
                .collect(Collectors.toSet());
    }

    @Test
    void longMaterialization_doesNotDelayCheckpointsOfTheSameTask() throws Exception {
        BlockedStorage storage = new BlockedStorage(TestTask.checkpoints(directory));
        try (TestTask task =
                TestTask.start(
                        directory,
                        new ChangelogStateBackend(TestTask.delegate(directory, Delegate.HASHMAP)),
                        LogStorage.DSTL.taskStateManager(directory.resolve("log")),
                        storage,
                        new FakeJobManager(),
                        List.of())) {
            task.value(1).update("one");
            storage.block();
            assertThat(task.beginMaterialization()).isTrue();
            storage.awaitBlocked();

            task.value(2).update("two");
            assertThat(task.checkpoint(1).getMaterializedStateHandles()).isEmpty();
            assertThat(task.checkpoint(2).getMaterializedStateHandles()).isEmpty();

            storage.unblock();
            assertThat(task.endMaterialization()).isTrue();
            assertThat(task.checkpoint(3).getMaterializedStateHandles()).hasSize(1);
        }
    }

    @Test
    void busyTask_doesNotHoldUpACheckpoint() throws Exception {
        try (TestTask task = TestTask.start(directory, Delegate.HASHMAP, LogStorage.DSTL)) {
            task.value(1).update("one");

            RunnableFuture<SnapshotResult<KeyedStateHandle>> checkpoint = task.trigger(1);

            assertThat(TestTask.finish(checkpoint)).isNotNull();
            assertThat(task.mailbox.size()).as("mails that ran").isZero();
        }
    }

    @Test
    void failedMaterializations_areToleratedUpToTheLimit_andThenFailTheTask() throws Exception {
        BlockedStorage storage = new BlockedStorage(TestTask.checkpoints(directory));
        try (TestTask task =
                TestTask.start(
                        directory,
                        new ChangelogStateBackend(TestTask.delegate(directory, Delegate.HASHMAP)),
                        LogStorage.DSTL.taskStateManager(directory.resolve("log")),
                        storage,
                        new FakeJobManager(),
                        List.of())) {
            task.environment.setExpectedExternalFailureCause(IllegalStateException.class);
            task.value(1).update("one");
            storage.fail(true);
            for (int failure = 1; failure <= 3; failure++) {
                assertThat(task.materialize()).isFalse();
                assertThat(task.environment.getActualExternalFailureCause()).isEmpty();
            }
            assertThat(task.metrics.count(MaterializationMetrics.FAILED_MATERIALIZATION))
                    .isEqualTo(3);
            assertThat(task.metrics.value(MaterializationMetrics.CONSECUTIVE_FAILURES))
                    .isEqualTo(3);

            storage.fail(false);
            assertThat(task.materialize()).as("a success starts the count anew").isTrue();
            assertThat(task.metrics.value(MaterializationMetrics.CONSECUTIVE_FAILURES)).isZero();
            task.checkpoint(1);

            task.value(1).update("other");
            storage.fail(true);
            for (int failure = 1; failure <= 4; failure++) {
                task.materialize();
            }
            assertThat(task.environment.getActualExternalFailureCause().orElseThrow())
                    .hasMessageContaining("'state.changelog.max-failures-allowed: 3'")
                    .hasMessageContaining("operator-(1/1)")
                    .hasMessageContaining("store is down");
        }
    }

    @Test
    void baseThatNoCheckpointGot_isDeletedWhenReplaced() throws Exception {
        try (TestTask task = TestTask.start(directory, Delegate.HASHMAP, LogStorage.DSTL)) {
            task.value(1).update("one");
            task.materialize();
            List<Path> first = taskOwnedFiles();
            assertThat(first).hasSize(1);

            task.value(1).update("two");
            task.materialize();

            awaitDeleted(first.get(0));
            task.checkpoint(1);
            task.value(1).update("three");
            task.materialize();
            assertThat(taskOwnedFiles()).as("the base of a wanted checkpoint stays").hasSize(2);
        }
    }

    @Test
    void materializationsWithoutAnyCompletedCheckpoint_goOnAndShareNothingTheJobManagerMayDelete()
            throws Exception {
        FakeJobManager jobManager;
        try (TestTask task =
                TestTask.start(directory, Delegate.ROCKSDB_INCREMENTAL, LogStorage.DSTL)) {
            jobManager = task.jobManager;
            task.value(0).update("zero");
            assertThat(task.materialize()).isTrue();
            task.checkpoint(1);
            for (int round = 1; round <= 5; round++) {
                task.value(round).update("v" + round);
                assertThat(task.materialize()).isTrue();
                task.acknowledge(1 + round);
                task.jobManager.abort(1 + round);
                task.changelog().notifyCheckpointAborted(1 + round);
            }
            task.checkpoint(7);
            task.value(6).update("v6");
            assertThat(task.materialize()).isTrue();
            task.checkpoint(8);
        }
        try (TestTask task =
                TestTask.start(
                        directory, Delegate.ROCKSDB_INCREMENTAL, LogStorage.DSTL, jobManager)) {
            assertThat(task.values(7)).containsExactly("zero", "v1", "v2", "v3", "v4", "v5", "v6");
        }
    }

    @Test
    void incrementalBase_waitsUntilItsPredecessorIsConfirmed_ifOthersWereConfirmedMeanwhile()
            throws Exception {
        FakeJobManager jobManager;
        try (TestTask task =
                TestTask.start(directory, Delegate.ROCKSDB_INCREMENTAL, LogStorage.DSTL)) {
            jobManager = task.jobManager;
            task.value(0).update("zero");
            task.materialize();
            task.acknowledge(1);
            task.value(1).update("one");
            assertThat(task.beginMaterialization()).isTrue();
            task.complete(1);
            task.endMaterialization();
            task.acknowledge(2);

            task.value(2).update("two");
            assertThat(task.materialize())
                    .as("it would share files with a base that checkpoint 2 does not contain")
                    .isFalse();

            task.complete(2);
            assertThat(task.materialize()).isTrue();
            task.checkpoint(3);
        }
        try (TestTask task =
                TestTask.start(
                        directory, Delegate.ROCKSDB_INCREMENTAL, LogStorage.DSTL, jobManager)) {
            assertThat(task.values(3)).containsExactly("zero", "one", "two");
        }
    }

    @Test
    void nativeSavepoint_doesNotStopMaterialization() throws Exception {
        try (TestTask task =
                TestTask.start(directory, Delegate.ROCKSDB_INCREMENTAL, LogStorage.DSTL)) {
            task.value(1).update("one");
            task.materialize();
            task.checkpoint(1);

            TestTask.finish(task.trigger(2, SavepointType.savepoint(SavepointFormatType.NATIVE)));

            for (int round = 3; round < 6; round++) {
                task.value(1).update("round " + round);
                assertThat(task.materialize()).isTrue();
                task.checkpoint(round);
            }
        }
    }

    @Test
    void closing_interruptsTheUpload_andLeavesNoFile() throws Exception {
        BlockedStorage storage = new BlockedStorage(TestTask.checkpoints(directory));
        TestTask task =
                TestTask.start(
                        directory,
                        new ChangelogStateBackend(TestTask.delegate(directory, Delegate.HASHMAP)),
                        LogStorage.DSTL.taskStateManager(directory.resolve("log")),
                        storage,
                        new FakeJobManager(),
                        List.of());
        task.value(1).update("one");
        storage.block();
        task.beginMaterialization();
        storage.awaitBlocked();

        task.close();

        storage.awaitInterrupted();
        assertThat(taskOwnedFiles()).isEmpty();
    }

    @Test
    void materializationIds_startAboveEveryIdThatTheDelegateHasSeen() throws Exception {
        KeyedStateHandle plain;
        try (TestTask task = plainRocksDb(List.of())) {
            task.value(1).update("one");
            plain = TestTask.finish(task.trigger(500));
            plain = task.jobManager.acknowledge(500, plain);
        }
        FakeJobManager jobManager = new FakeJobManager();
        jobManager.acknowledge(500, plain);
        try (TestTask task =
                TestTask.start(
                        directory,
                        Delegate.ROCKSDB_INCREMENTAL,
                        LogStorage.DSTL,
                        jobManager,
                        List.of(plain))) {
            task.value(2).update("two");
            assertThat(task.materialize()).isTrue();
            assertThat(task.checkpoint(501).getMaterializationID()).isGreaterThan(500);
        }
    }

    private TestTask plainRocksDb(List<KeyedStateHandle> restored) throws Exception {
        return TestTask.start(
                directory,
                TestTask.delegate(directory, Delegate.ROCKSDB_INCREMENTAL),
                LogStorage.DSTL.taskStateManager(directory.resolve("log")),
                TestTask.checkpoints(directory),
                new FakeJobManager(),
                restored);
    }

    private List<Path> taskOwnedFiles() throws IOException {
        return FileTree.files(directory.resolve("checkpoints")).stream()
                .filter(file -> file.toString().contains("taskowned"))
                .collect(Collectors.toList());
    }

    private static void awaitDeleted(Path file) throws InterruptedException {
        long deadline = System.nanoTime() + 30_000_000_000L;
        while (Files.exists(file)) {
            assertThat(System.nanoTime()).as("deadline for deleting " + file).isLessThan(deadline);
            Thread.sleep(5);
        }
    }

    /** The deletion of a base of the former attempt would delete the local copy of the next one. */
    @Test
    void attemptsThatRestoreTheSameCheckpoint_takeDifferentMaterializationIds() throws Exception {
        FakeJobManager jobManager = new FakeJobManager();
        try (TestTask task =
                TestTask.start(directory, Delegate.HASHMAP, LogStorage.DSTL, jobManager)) {
            task.value(1).update("one");
            task.checkpoint(1);
        }
        List<KeyedStateHandle> restored = jobManager.latest();
        Set<Long> ids = new HashSet<>();
        for (int attempt = 1; attempt <= 3; attempt++) {
            try (TestTask task =
                    TestTask.start(
                            directory, Delegate.HASHMAP, LogStorage.DSTL, jobManager, restored)) {
                assertThat(task.materialize()).isTrue();
                ids.add(
                        ((ChangelogStateBackendHandle) TestTask.finish(task.trigger(2)))
                                .getMaterializationID());
            }
        }
        assertThat(ids).hasSize(3);
    }
}
