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

import static org.apache.flink.runtime.state.KeyGroupRangeAssignment.assignToKeyGroup;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.dstl.changelog.contract.Delegate;
import dev.dstl.changelog.contract.LogStorage;
import dev.dstl.changelog.fixture.FakeJobManager;
import dev.dstl.changelog.metrics.RestoreMetrics;
import dev.dstl.log.testing.FaultyStore;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.flink.api.common.JobID;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.runtime.checkpoint.CheckpointType;
import org.apache.flink.runtime.state.CheckpointStorageAccess;
import org.apache.flink.runtime.state.IncrementalKeyedStateHandle.HandleAndLocalPath;
import org.apache.flink.runtime.state.IncrementalRemoteKeyedStateHandle;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyGroupsStateHandle;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.PlaceholderStreamStateHandle;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.runtime.state.changelog.ChangelogStateBackendHandle;
import org.apache.flink.runtime.state.filesystem.FileStateHandle;
import org.apache.flink.runtime.state.storage.FileSystemCheckpointStorage;
import org.apache.flink.state.changelog.ChangelogStateBackend;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A store does not answer some requests for files of the base. The restore asks again, and the
 * checkpoints after it are those of a restore where nothing happened. On a busy machine, requests
 * that the store would answer are repeated as well.
 */
@Timeout(120)
class SlowBaseTest {

    private static final KeyGroupRange ALL = KeyGroupRange.of(0, TestTask.KEY_GROUPS - 1);
    private static final KeyGroupRange LEFT = KeyGroupRange.of(0, 3);
    private static final KeyGroupRange RIGHT = KeyGroupRange.of(4, 7);
    private static final int KEYS = 20;

    @TempDir private Path directory;

    private final FaultyStore store = FaultyStore.create();
    private final FakeJobManager jobManager = new FakeJobManager();
    private final Map<String, Integer> requests = new ConcurrentHashMap<>();
    private final Map<String, Fault> faults = new ConcurrentHashMap<>();

    private enum FileOfBase {
        SHARED {
            @Override
            StreamStateHandle of(IncrementalRemoteKeyedStateHandle base) {
                return base.getSharedState().get(0).getHandle();
            }
        },
        PRIVATE {
            @Override
            StreamStateHandle of(IncrementalRemoteKeyedStateHandle base) {
                return base.getPrivateState().get(0).getHandle();
            }
        },
        METADATA {
            @Override
            StreamStateHandle of(IncrementalRemoteKeyedStateHandle base) {
                return base.getMetaDataStateHandle();
            }
        };

        abstract StreamStateHandle of(IncrementalRemoteKeyedStateHandle base);
    }

    private enum Fault {
        HANGS {
            @Override
            void on(FaultyStore store) {
                store.hangRead();
            }
        },
        HANGS_UNTIL_INTERRUPTED {
            @Override
            void on(FaultyStore store) throws IOException {
                store.hangReadUntilInterrupted();
            }
        },
        FAILS {
            @Override
            void on(FaultyStore store) throws IOException {
                throw new IOException("503 SlowDown");
            }
        };

        abstract void on(FaultyStore store) throws IOException;
    }

    static Stream<Arguments> faults() {
        return Stream.of(FileOfBase.values())
                .flatMap(file -> Stream.of(Fault.values()).map(fault -> Arguments.of(file, fault)));
    }

    @AfterEach
    void release() {
        store.beforeReads(file -> {});
        store.close();
    }

    @ParameterizedTest
    @MethodSource("faults")
    void requestWithoutAnAnswer_isRepeated_andTheNextCheckpointSharesTheFilesOfTheBase(
            FileOfBase file, Fault fault) throws Exception {
        List<String> expected = new ArrayList<>();
        IncrementalRemoteKeyedStateHandle base;
        try (TestTask task = start(jobManager.latest())) {
            writeAll(task, "old");
            assertThat(task.materialize()).isTrue();
            task.value(0).update("logged");
            base = baseOf(task.checkpoint(1));
            expected.addAll(task.values(KEYS));
        }
        firstRequest(file.of(base), fault);
        try (TestTask task = start(jobManager.latest())) {
            assertThat(task.metrics.value(RestoreMetrics.READ_RETRIES)).isPositive();
            assertThat(task.values(KEYS)).isEqualTo(expected);

            assertThat(baseOf(task.checkpoint(2)).getSharedState())
                    .isEqualTo(base.getSharedState());
            task.value(1).update("new");
            expected.set(1, "new");
            assertThat(task.materialize()).isTrue();
            IncrementalRemoteKeyedStateHandle sent =
                    baseOf((ChangelogStateBackendHandle) TestTask.finish(task.trigger(3)));
            assertThat(placeholders(sent)).isEqualTo(placeholdersFor(base));

            IncrementalRemoteKeyedStateHandle next = baseOf(task.checkpoint(4));
            assertThat(next.getSharedState()).containsAll(base.getSharedState());
            assertThat(next.getSharedState()).hasSizeGreaterThan(base.getSharedState().size());
            assertPlainFiles(next);
        }
        firstRequest(file.of(base), fault);
        try (TestTask task = start(jobManager.latest())) {
            assertThat(task.values(KEYS)).isEqualTo(expected);
        }
    }

    @Test
    void fullCheckpointAfterARestoreWithoutClaim_sharesNothing() throws Exception {
        IncrementalRemoteKeyedStateHandle base;
        try (TestTask task = start(jobManager.latest())) {
            writeAll(task, "old");
            task.materialize();
            base = baseOf(task.checkpoint(1));
        }
        firstRequest(FileOfBase.SHARED.of(base), Fault.HANGS);
        FakeJobManager copy = new FakeJobManager();
        try (TestTask task = start(ALL, copy, jobManager.latest(), new CloseableRegistry())) {
            task.value(1).update("new");
            IncrementalRemoteKeyedStateHandle full =
                    baseOf(task.acknowledge(2, CheckpointType.FULL_CHECKPOINT));
            task.complete(2);
            assertThat(full.getSharedState())
                    .isNotEmpty()
                    .doesNotContainAnyElementsOf(base.getSharedState());
            task.value(2).update("newer");
            assertThat(task.materialize()).isTrue();
            IncrementalRemoteKeyedStateHandle next = baseOf(task.checkpoint(3));
            assertThat(next.getSharedState()).containsAll(full.getSharedState());
            assertPlainFiles(next);
        }
        base.discardState();
        try (TestTask task = start(ALL, copy, copy.latest(), new CloseableRegistry())) {
            assertThat(task.values(4)).containsExactly("old0", "new", "newer", "old3");
        }
    }

    @Test
    void rescaledJob_restoresFromSeveralBases() throws Exception {
        IncrementalRemoteKeyedStateHandle base;
        try (TestTask task = start(jobManager.latest())) {
            writeAll(task, "old");
            task.materialize();
            base = baseOf(task.checkpoint(1));
        }
        List<KeyedStateHandle> one = jobManager.latest();
        List<KeyedStateHandle> two = new ArrayList<>();
        for (KeyGroupRange half : List.of(LEFT, RIGHT)) {
            FakeJobManager ofHalf = new FakeJobManager();
            firstRequest(FileOfBase.SHARED.of(base), Fault.HANGS);
            try (TestTask task = start(half, ofHalf, one, new CloseableRegistry())) {
                assertThat(task.metrics.value(RestoreMetrics.READ_RETRIES)).isPositive();
                for (int key = 0; key < KEYS; key++) {
                    if (half.contains(assignToKeyGroup(key, TestTask.KEY_GROUPS))) {
                        assertThat(task.value(key).value()).isEqualTo("old" + key);
                        task.value(key).update("new" + key);
                    }
                }
                assertThat(task.materialize()).isTrue();
                assertPlainFiles(baseOf(task.checkpoint(2)));
                two.addAll(ofHalf.latest());
            }
        }
        for (KeyedStateHandle half : two) {
            StreamStateHandle file =
                    FileOfBase.SHARED.of(baseOf((ChangelogStateBackendHandle) half));
            firstRequest(file, Fault.FAILS);
        }
        try (TestTask task = start(ALL, jobManager, two, new CloseableRegistry())) {
            for (int key = 0; key < KEYS; key++) {
                assertThat(task.value(key).value()).isEqualTo("new" + key);
            }
            task.value(0).update("newer");
            assertThat(task.materialize()).isTrue();
            assertPlainFiles(baseOf(task.checkpoint(3)));
        }
        try (TestTask task = start(jobManager.latest())) {
            assertThat(task.value(0).value()).isEqualTo("newer");
            assertThat(task.value(3).value()).isEqualTo("new3");
        }
    }

    @ParameterizedTest
    @EnumSource(Fault.class)
    void fullSnapshotOfAHashMap_isReadAgain(Fault fault) throws Exception {
        ChangelogStateBackend hashMap =
                new ChangelogStateBackend(TestTask.delegate(directory, Delegate.HASHMAP));
        KeyGroupsStateHandle base;
        try (TestTask task = start(hashMap, ALL, jobManager, List.of(), new CloseableRegistry())) {
            writeAll(task, "old");
            assertThat(task.materialize()).isTrue();
            base = (KeyGroupsStateHandle) task.checkpoint(1).getMaterializedStateHandles().get(0);
        }
        // The schema is read first, with four requests, and then the state.
        request(base.getDelegateStateHandle(), 0, fault);
        request(base.getDelegateStateHandle(), 5, fault);
        try (TestTask task =
                start(hashMap, ALL, jobManager, jobManager.latest(), new CloseableRegistry())) {
            assertThat(task.metrics.value(RestoreMetrics.READ_RETRIES)).isGreaterThanOrEqualTo(2);
            assertThat(task.value(3).value()).isEqualTo("old3");
            assertThat(task.checkpoint(2).getMaterializedStateHandles()).hasSize(1);
        }
    }

    /**
     * The missing file ends the reads of all others, which hang, and any of these may fail before
     * it.
     */
    @RepeatedTest(10)
    void missingFile_failsTheRestore_andIsNamed() throws Exception {
        IncrementalRemoteKeyedStateHandle base;
        try (TestTask task = start(jobManager.latest())) {
            writeAll(task, "old");
            task.materialize();
            base = baseOf(task.checkpoint(1));
        }
        StreamStateHandle missing = FileOfBase.SHARED.of(base);
        missing.discardState();
        for (HandleAndLocalPath other : base.getPrivateState()) {
            request(other.getHandle(), 0, Fault.HANGS);
        }
        assertThatThrownBy(() -> start(jobManager.latest()))
                .satisfies(
                        failure ->
                                assertThat(textOf(failure))
                                        .contains("File " + pathOf(missing) + " is gone"));
    }

    @ParameterizedTest
    @EnumSource
    void cancelledTask_waitsForNoRead(FileOfBase file) throws Exception {
        IncrementalRemoteKeyedStateHandle base;
        try (TestTask task = start(jobManager.latest())) {
            writeAll(task, "old");
            task.materialize();
            base = baseOf(task.checkpoint(1));
        }
        String hanging = pathOf(file.of(base));
        store.beforeReads(
                path -> {
                    if (path.toString().equals(hanging)) {
                        store.hangRead();
                    }
                });
        CloseableRegistry cancelled = new CloseableRegistry();
        AtomicReference<Throwable> failure = new AtomicReference<>();
        Thread task =
                new Thread(
                        () -> {
                            try {
                                start(ALL, jobManager, jobManager.latest(), cancelled).close();
                            } catch (Throwable t) {
                                failure.set(t);
                            }
                        });
        task.start();
        while (store.hangingReads() == 0) {
            Thread.sleep(1);
        }
        cancelled.close();
        // Less than the time after which the first try is abandoned.
        task.join(TimeUnit.SECONDS.toMillis(10));
        assertThat(task.isAlive()).isFalse();
        assertThat(failure.get()).isNotNull();
    }

    private static void writeAll(TestTask task, String value) throws Exception {
        for (int key = 0; key < KEYS; key++) {
            task.value(key).update(value + key);
        }
    }

    private void firstRequest(StreamStateHandle file, Fault fault) {
        request(file, 0, fault);
    }

    /** One more request for a file, counted from now, has no answer. */
    private void request(StreamStateHandle file, int number, Fault fault) {
        String faulty = pathOf(file) + " " + number;
        requests.remove(pathOf(file));
        faults.put(faulty, fault);
        store.beforeReads(
                path -> {
                    int request = requests.merge(path.toString(), 1, Integer::sum) - 1;
                    Fault now = faults.remove(path + " " + request);
                    if (now != null) {
                        now.on(store);
                    }
                });
    }

    private static IncrementalRemoteKeyedStateHandle baseOf(ChangelogStateBackendHandle handle) {
        return (IncrementalRemoteKeyedStateHandle) handle.getMaterializedStateHandles().get(0);
    }

    /** Shared files that the JobManager has already, as the task names them. */
    private static Set<Object> placeholders(IncrementalRemoteKeyedStateHandle sent) {
        return sent.getSharedState().stream()
                .map(HandleAndLocalPath::getHandle)
                .filter(PlaceholderStreamStateHandle.class::isInstance)
                .map(StreamStateHandle::getStreamStateHandleID)
                .collect(Collectors.toSet());
    }

    private static Set<Object> placeholdersFor(IncrementalRemoteKeyedStateHandle base) {
        return base.getSharedState().stream()
                .map(file -> file.getHandle().getStreamStateHandleID())
                .collect(Collectors.toSet());
    }

    private static void assertPlainFiles(IncrementalRemoteKeyedStateHandle base) {
        Set<Class<?>> classes = new HashSet<>();
        base.streamSubHandles().forEach(file -> classes.add(file.getClass()));
        assertThat(classes).containsExactly(FileStateHandle.class);
    }

    private static String pathOf(StreamStateHandle file) {
        return ((FileStateHandle) file).getFilePath().toString();
    }

    private static String textOf(Throwable failure) {
        StringWriter text = new StringWriter();
        failure.printStackTrace(new PrintWriter(text));
        return text.toString();
    }

    private TestTask start(List<KeyedStateHandle> restored) throws Exception {
        return start(ALL, jobManager, restored, new CloseableRegistry());
    }

    private TestTask start(
            KeyGroupRange keyGroups,
            FakeJobManager ofTask,
            List<KeyedStateHandle> restored,
            CloseableRegistry cancelled)
            throws Exception {
        return start(
                new ChangelogStateBackend(
                        TestTask.delegate(directory, Delegate.ROCKSDB_INCREMENTAL)),
                keyGroups,
                ofTask,
                restored,
                cancelled);
    }

    private TestTask start(
            ChangelogStateBackend stateBackend,
            KeyGroupRange keyGroups,
            FakeJobManager ofTask,
            List<KeyedStateHandle> restored,
            CloseableRegistry cancelled)
            throws Exception {
        return TestTask.start(
                directory,
                stateBackend,
                LogStorage.DSTL.taskStateManager(directory.resolve("log")),
                checkpoints(),
                ofTask,
                keyGroups,
                restored,
                cancelled);
    }

    private CheckpointStorageAccess checkpoints() throws Exception {
        CheckpointStorageAccess access =
                new FileSystemCheckpointStorage(store.basePath().toUri(), 0)
                        .createCheckpointStorage(new JobID());
        access.initializeBaseLocationsForCheckpoint();
        return access;
    }
}
