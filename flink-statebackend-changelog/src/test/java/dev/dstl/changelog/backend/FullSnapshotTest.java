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
import static org.awaitility.Awaitility.await;

import dev.dstl.changelog.contract.Delegate;
import dev.dstl.changelog.contract.LogStorage;
import dev.dstl.changelog.fixture.FakeJobManager;
import dev.dstl.changelog.materialization.LocalCheckpoint;
import dev.dstl.log.testing.RetryingTempDirFactory;
import java.io.File;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RunnableFuture;
import org.apache.flink.api.common.JobID;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.runtime.checkpoint.CheckpointType;
import org.apache.flink.runtime.checkpoint.SavepointType;
import org.apache.flink.runtime.checkpoint.SnapshotType;
import org.apache.flink.runtime.jobgraph.JobVertexID;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.LocalRecoveryConfig;
import org.apache.flink.runtime.state.LocalSnapshotDirectoryProviderImpl;
import org.apache.flink.runtime.state.SavepointKeyedStateHandle;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.changelog.ChangelogStateBackendHandle;
import org.apache.flink.state.changelog.ChangelogStateBackend;
import org.apache.flink.streaming.api.operators.StreamOperatorStateHandler;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Full checkpoints and savepoints. */
class FullSnapshotTest {

    private static final SnapshotType FULL = CheckpointType.FULL_CHECKPOINT;
    private static final SnapshotType NATIVE = SavepointType.savepoint(SavepointFormatType.NATIVE);

    @TempDir private Path directory;

    /** Flink keeps it as long as the checkpoint, on the local disk also for the next attempt. */
    @Test
    void reportedFullCheckpoint_keepsNotTheDelegateOfATaskThatHasEnded() throws Exception {
        List<WeakReference<?>> delegates = new ArrayList<>();
        KeyedStateHandle reported = fullCheckpointOfATaskThatEnds(delegates);
        await().untilAsserted(() -> assertCollected(delegates));
        assertThat(reported).isInstanceOf(ChangelogStateBackendHandle.class);
    }

    private KeyedStateHandle fullCheckpointOfATaskThatEnds(List<WeakReference<?>> delegates)
            throws Exception {
        try (TestTask task = TestTask.start(directory, Delegate.HASHMAP, LogStorage.DSTL)) {
            task.value(1).update("one");
            KeyedStateHandle reported = TestTask.finish(task.trigger(1, FULL));
            task.changelog().notifyCheckpointComplete(1);
            delegates.add(
                    new WeakReference<>(task.changelog().getDelegatedKeyedStateBackend(true)));
            return reported;
        }
    }

    @Test
    void reportedCheckpointOfAMaterializedBase_keepsNotTheDelegateOfATaskThatHasEnded()
            throws Exception {
        List<WeakReference<?>> delegates = new ArrayList<>();
        SnapshotResult<KeyedStateHandle> result = checkpointOfAMaterializedBase(delegates);
        KeyedStateHandle reported = result.getJobManagerOwnedSnapshot();
        await().untilAsserted(() -> assertCollected(delegates));
        assertThat(reported).isInstanceOf(ChangelogStateBackendHandle.class);
    }

    @Test
    void localCheckpointOfAMaterializedBase_keepsNotTheDelegateOfATaskThatHasEnded()
            throws Exception {
        List<WeakReference<?>> delegates = new ArrayList<>();
        SnapshotResult<KeyedStateHandle> result = checkpointOfAMaterializedBase(delegates);
        KeyedStateHandle local = result.getTaskLocalSnapshot();
        await().untilAsserted(() -> assertCollected(delegates));
        assertThat(local).isInstanceOf(LocalCheckpoint.class);
    }

    private SnapshotResult<KeyedStateHandle> checkpointOfAMaterializedBase(
            List<WeakReference<?>> delegates) throws Exception {
        LocalRecoveryConfig local =
                LocalRecoveryConfig.backupAndRecoveryEnabled(
                        new LocalSnapshotDirectoryProviderImpl(
                                new File[] {directory.resolve("local").toFile()},
                                new JobID(),
                                new JobVertexID(),
                                0));
        try (TestTask task =
                TestTask.start(
                        directory,
                        new ChangelogStateBackend(TestTask.delegate(directory, Delegate.HASHMAP)),
                        LogStorage.DSTL.taskStateManager(directory.resolve("log"), local),
                        TestTask.checkpoints(directory),
                        new FakeJobManager(),
                        List.of())) {
            task.value(1).update("one");
            assertThat(task.materialize()).isTrue();
            SnapshotResult<KeyedStateHandle> checkpoint = task.snapshot(1);
            task.changelog().notifyCheckpointComplete(1);
            delegates.add(
                    new WeakReference<>(task.changelog().getDelegatedKeyedStateBackend(true)));
            return checkpoint;
        }
    }

    @Test
    void fullSnapshotThatHasBecomeTheBase_keepsNoValueThatWasReplacedSince() throws Exception {
        try (TestTask task = TestTask.start(directory, Delegate.HASHMAP, LogStorage.DSTL)) {
            List<WeakReference<?>> replaced = new ArrayList<>();
            replace(task, replaced);
            await().untilAsserted(() -> assertCollected(replaced));
            assertThat(task.value(1).value()).isEqualTo("two");
        }
    }

    private static void replace(TestTask task, List<WeakReference<?>> replaced) throws Exception {
        String value = "o" + task.hashCode();
        task.value(1).update(value);
        replaced.add(new WeakReference<>(value));
        RunnableFuture<SnapshotResult<KeyedStateHandle>> checkpoint = task.trigger(1, FULL);
        task.value(1).update("two");
        KeyedStateHandle unused = TestTask.finish(checkpoint);
        task.changelog().notifyCheckpointComplete(1);
    }

    private static void assertCollected(List<WeakReference<?>> references) {
        System.gc();
        assertThat(references).isNotEmpty().allMatch(reference -> reference.get() == null);
    }

    @ParameterizedTest
    @EnumSource(Delegate.class)
    void jobRestoredWithoutClaim_needsNoFileOfItsOrigin_onceAFullCheckpointIsComplete(
            Delegate delegate) throws Exception {
        Path origin = directory.resolve("origin");
        FakeJobManager originalJob;
        try (TestTask task = TestTask.start(origin, delegate, LogStorage.DSTL)) {
            originalJob = task.jobManager;
            task.value(1).update("one");
            task.timers().add(TestTask.timer(1, 10));
            task.materialize();
            task.value(2).update("two");
            task.timers().add(TestTask.timer(2, 20));
            task.checkpoint(1);
        }
        FakeJobManager jobManager = new FakeJobManager();
        try (TestTask task =
                TestTask.start(
                        directory.resolve("copy"),
                        delegate,
                        LogStorage.DSTL,
                        jobManager,
                        originalJob.latest())) {
            task.value(3).update("three");
            task.timers().add(TestTask.timer(3, 30));

            ChangelogStateBackendHandle full = task.acknowledge(2, FULL);
            assertThat(full.getMaterializedStateHandles()).hasSize(1);
            task.complete(2);
            task.value(4).update("four");
            assertThat(task.checkpoint(3).getMaterializedStateHandles())
                    .extracting(KeyedStateHandle::getStateHandleId)
                    .containsExactly(full.getMaterializedStateHandles().get(0).getStateHandleId());
            task.value(5).update("five");
            assertThat(task.materialize()).isTrue();
            task.checkpoint(4);
        }
        RetryingTempDirFactory.delete(origin);
        try (TestTask task =
                TestTask.start(directory.resolve("copy"), delegate, LogStorage.DSTL, jobManager)) {
            assertThat(task.values(6)).containsExactly(null, "one", "two", "three", "four", "five");
            assertThat(task.timerTimes()).containsExactly(10L, 20L, 30L);
        }
    }

    @ParameterizedTest
    @EnumSource(Delegate.class)
    void checkpointAfterAFullOneThatIsStillUploading_sharesItsSnapshot(Delegate delegate)
            throws Exception {
        FakeJobManager jobManager = new FakeJobManager();
        try (TestTask task = TestTask.start(directory, delegate, LogStorage.DSTL, jobManager)) {
            task.value(1).update("one");
            RunnableFuture<SnapshotResult<KeyedStateHandle>> first = task.trigger(1, FULL);
            task.value(2).update("two");

            ChangelogStateBackendHandle second = task.acknowledge(2);

            assertThat(second.getMaterializedStateHandles()).hasSize(1);
            assertThat(second.getNonMaterializedStateHandles()).isNotEmpty();
            ChangelogStateBackendHandle late = (ChangelogStateBackendHandle) TestTask.finish(first);
            task.jobManager.acknowledge(1, late);
            assertThat(late.getMaterializationID()).isEqualTo(second.getMaterializationID());
            task.complete(2);
            task.value(3).update("three");
            ChangelogStateBackendHandle third = task.checkpoint(3);
            assertThat(third.getMaterializationID())
                    .as("the base is that of checkpoints 1 and 2, which every later one contains")
                    .isEqualTo(second.getMaterializationID());
        }
        try (TestTask task = TestTask.start(directory, delegate, LogStorage.DSTL, jobManager)) {
            assertThat(task.values(4)).containsExactly(null, "one", "two", "three");
        }
    }

    @Test
    void fullCheckpointThatIsCancelled_isFollowedByAFullOne() throws Exception {
        try (TestTask task = TestTask.start(directory, Delegate.HASHMAP, LogStorage.DSTL)) {
            task.value(1).update("one");
            RunnableFuture<SnapshotResult<KeyedStateHandle>> cancelled = task.trigger(1, FULL);
            assertThat(cancelled.cancel(true)).isTrue();
            task.changelog().notifyCheckpointAborted(1);

            assertThat(task.acknowledge(2).getMaterializedStateHandles()).hasSize(1);
        }
    }

    @Test
    void runningMaterialization_isOvertakenByAFullCheckpoint() throws Exception {
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
            task.beginMaterialization();
            storage.awaitBlocked();
            RunnableFuture<SnapshotResult<KeyedStateHandle>> full = task.trigger(1, FULL);
            storage.awaitInterrupted();
            storage.unblock();

            assertThat(task.endMaterialization()).isFalse();
            ChangelogStateBackendHandle handle =
                    (ChangelogStateBackendHandle)
                            task.jobManager.acknowledge(1, TestTask.finish(full));
            task.complete(1);

            assertThat(task.checkpoint(2).getMaterializationID())
                    .isEqualTo(handle.getMaterializationID());
        }
    }

    @ParameterizedTest
    @EnumSource(Delegate.class)
    void canonicalSavepoint_isFollowedByACheckpointThatDoesNotReferToIt(Delegate delegate)
            throws Exception {
        KeyedStateHandle savepoint;
        try (TestTask task =
                TestTask.start(directory.resolve("origin"), delegate, LogStorage.DSTL)) {
            task.value(1).update("one");
            task.timers().add(TestTask.timer(1, 10));
            savepoint =
                    TestTask.finish(
                            StreamOperatorStateHandler.prepareCanonicalSavepoint(
                                            task.backend(), new CloseableRegistry())
                                    .snapshot(
                                            1,
                                            0,
                                            task.streams(1),
                                            TestTask.options(
                                                    SavepointType.savepoint(
                                                            SavepointFormatType.CANONICAL))));
            assertThat(savepoint).isInstanceOf(SavepointKeyedStateHandle.class);
        }
        FakeJobManager jobManager = new FakeJobManager();
        try (TestTask task =
                TestTask.start(
                        directory.resolve("copy"),
                        delegate,
                        LogStorage.DSTL,
                        jobManager,
                        List.of(savepoint))) {
            assertThat(task.checkpoint(2).getMaterializedStateHandles())
                    .hasSize(1)
                    .noneMatch(SavepointKeyedStateHandle.class::isInstance);
            task.value(2).update("two");
            assertThat(task.checkpoint(3).getNonMaterializedStateHandles()).hasSize(1);
        }
        RetryingTempDirFactory.delete(directory.resolve("origin"));
        try (TestTask task =
                TestTask.start(directory.resolve("copy"), delegate, LogStorage.DSTL, jobManager)) {
            assertThat(task.values(3)).containsExactly(null, "one", "two");
            assertThat(task.timerTimes()).containsExactly(10L);
        }
    }

    @ParameterizedTest
    @EnumSource(Delegate.class)
    void nativeSavepoint_restoresWithAndWithoutAChangelog(Delegate delegate) throws Exception {
        KeyedStateHandle savepoint;
        try (TestTask task =
                TestTask.start(directory.resolve("origin"), delegate, LogStorage.DSTL)) {
            task.value(1).update("one");
            task.timers().add(TestTask.timer(1, 10));
            task.materialize();
            task.value(2).update("two");
            task.timers().add(TestTask.timer(2, 20));
            savepoint =
                    task.jobManager.acknowledge(700, TestTask.finish(task.trigger(700, NATIVE)));
            assertThat(savepoint).isNotInstanceOf(ChangelogStateBackendHandle.class);
        }
        deleteEverythingBut("chk-700", directory.resolve("origin"));
        try (TestTask task =
                TestTask.start(
                        directory.resolve("with"),
                        delegate,
                        LogStorage.DSTL,
                        new FakeJobManager(),
                        List.of(savepoint))) {
            assertThat(task.values(3)).containsExactly(null, "one", "two");
            assertThat(task.timerTimes()).containsExactly(10L, 20L);
        }
        Path without = directory.resolve("without");
        try (TestTask task =
                TestTask.start(
                        without,
                        TestTask.delegate(without, delegate),
                        LogStorage.DSTL.taskStateManager(without),
                        TestTask.checkpoints(without),
                        new FakeJobManager(),
                        List.of(savepoint))) {
            assertThat(task.values(3)).containsExactly(null, "one", "two");
            assertThat(task.timerTimes()).containsExactly(10L, 20L);
        }
    }

    @Test
    void checkpointThatCannotStart_isDeclined_andTheTaskGoesOn() throws Exception {
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
            storage.fail(true);
            RunnableFuture<SnapshotResult<KeyedStateHandle>> declined = task.trigger(1, FULL);
            declined.run();
            assertThat(declined).isDone();
            assertThat(failureOf(declined)).hasMessageContaining("store is down");

            storage.fail(false);
            task.value(2).update("two");
            task.acknowledge(2);
            task.complete(2);
            assertThat(task.values(3)).containsExactly(null, "one", "two");
        }
    }

    private static Throwable failureOf(RunnableFuture<?> checkpoint) throws InterruptedException {
        try {
            Object result = checkpoint.get();
            throw new AssertionError("The checkpoint did not fail: " + result);
        } catch (ExecutionException e) {
            return e.getCause();
        }
    }

    /** Deletes everything else, since a savepoint must be self-contained. */
    private static void deleteEverythingBut(String kept, Path directory) throws IOException {
        Files.walkFileTree(
                directory,
                new SimpleFileVisitor<>() {
                    @Override
                    public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
                            throws IOException {
                        if (!file.toString().contains(kept)) {
                            Files.deleteIfExists(file);
                        }
                        return FileVisitResult.CONTINUE;
                    }

                    @Override
                    public FileVisitResult visitFileFailed(Path file, IOException e) {
                        // the task that has ended deletes files, too
                        return FileVisitResult.CONTINUE;
                    }
                });
    }
}
