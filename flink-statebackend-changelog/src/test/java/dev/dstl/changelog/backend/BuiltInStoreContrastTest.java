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
import dev.dstl.changelog.fixture.BuiltInChangelog;
import dev.dstl.changelog.fixture.FakeJobManager;
import dev.dstl.changelog.fixture.GuardedFileSystem;
import dev.dstl.changelog.fixture.GuardedFileSystem.Call;
import dev.dstl.changelog.fixture.ManualMailbox;
import dev.dstl.log.DstlStorage;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.state.ReducingStateDescriptor;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.core.fs.FileSystem;
import org.apache.flink.core.plugin.PluginUtils;
import org.apache.flink.metrics.groups.UnregisteredMetricsGroup;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.StateBackend;
import org.apache.flink.runtime.state.TestTaskStateManager;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;
import org.apache.flink.runtime.state.changelog.SequenceNumber;
import org.apache.flink.runtime.state.changelog.StateChangelogStorage;
import org.apache.flink.runtime.state.changelog.StateChangelogWriter;
import org.apache.flink.runtime.state.filesystem.FileStateHandle;
import org.apache.flink.runtime.state.internal.InternalReducingState;
import org.apache.flink.state.changelog.ChangelogStateBackend;
import org.apache.flink.util.IOUtils;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The same store faults, and the same end of a task, with Flink's built-in changelog and with DSTL,
 * as compared in the README.
 */
@Timeout(120)
class BuiltInStoreContrastTest {

    private static final KeyGroupRange ALL = KeyGroupRange.of(0, TestTask.KEY_GROUPS - 1);
    private static final int KEY = 1;
    private static final int TASKS = 8;

    @TempDir private Path directory;

    private final CountDownLatch storeAnswers = new CountDownLatch(1);

    enum Changelog {
        FLINKS {
            @Override
            StateChangelogStorage<?> create(Configuration settings, Path directory)
                    throws Exception {
                return BuiltInChangelog.files(
                        GuardedFileSystem.uri(directory.resolve("flinks")), settings);
            }
        },
        DSTL {
            @Override
            StateChangelogStorage<?> create(Configuration settings, Path directory) {
                settings.setString(
                        "state.changelog.dstl.dfs.base-path",
                        GuardedFileSystem.uri(directory.resolve("dstl")));
                settings.setString("state.changelog.dstl.inline-threshold", "0");
                return new DstlStorage(new JobID(), settings, new UnregisteredMetricsGroup());
            }
        };

        abstract StateChangelogStorage<?> create(Configuration settings, Path directory)
                throws Exception;
    }

    @BeforeEach
    void knowTheFileSystem() {
        FileSystem.initialize(
                new Configuration(),
                PluginUtils.createPluginManagerFromRootFolder(new Configuration()));
    }

    @AfterEach
    void answer() {
        storeAnswers.countDown();
        GuardedFileSystem.reset();
    }

    @ParameterizedTest
    @EnumSource(Changelog.class)
    void closeOfAnUploadFails(Changelog changelog) throws Exception {
        try (Task task = new Task(changelog.create(new Configuration(), directory))) {
            AtomicBoolean failed = new AtomicBoolean();
            GuardedFileSystem.guard(
                    (call, path) -> {
                        if (call == Call.CLOSE && !failed.getAndSet(true)) {
                            local(path).toFile().delete();
                            throw new IOException("The store refused the file");
                        }
                    });
            task.append("lost?");

            List<Path> named = task.files(task.persist(1));

            assertThat(failed).isTrue();
            if (changelog == Changelog.DSTL) {
                assertThat(named).isNotEmpty().allMatch(file -> file.toFile().exists());
            } else {
                assertThat(named)
                        .as("Flink's built-in changelog names a file that is not there")
                        .isNotEmpty()
                        .noneMatch(file -> file.toFile().exists());
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Changelog.class)
    void storeHangsForSomeSeconds_andAnswersAgain(Changelog changelog) throws Exception {
        Configuration impatient = new Configuration();
        impatient.setString("state.changelog.dstl.dfs.upload.timeout", "50 ms");
        try (Task task = new Task(changelog.create(impatient, directory))) {
            // The second attempt begins when the first one has timed out.
            CountDownLatch attempts = new CountDownLatch(2);
            GuardedFileSystem.guard(
                    (call, path) -> {
                        if (call == Call.CREATE) {
                            attempts.countDown();
                            awaitAnswer();
                        }
                    });
            task.append("first");
            CompletableFuture<?> during = task.persist(1);
            assertThat(attempts.await(60, TimeUnit.SECONDS)).as("a second attempt").isTrue();
            if (changelog == Changelog.DSTL) {
                task.mailbox.runAll();
                assertThat(during).isNotDone();
            } else {
                assertThatThrownBy(() -> task.await(during)).isInstanceOf(ExecutionException.class);
            }
            storeAnswers.countDown();
            task.append("second");

            if (changelog == Changelog.DSTL) {
                task.await(during);
                assertThat(task.files(task.persist(2)))
                        .isNotEmpty()
                        .allMatch(file -> file.toFile().exists());
            } else {
                assertThatThrownBy(() -> task.persist(2))
                        .as("Flink's built-in changelog fails checkpoints of a healthy store")
                        .isInstanceOf(IOException.class)
                        .hasMessageContaining("already failed previously");
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Changelog.class)
    void tasksEndWhileOthersUpload(Changelog changelog) throws Exception {
        Configuration oneFile = new Configuration();
        oneFile.setString("state.changelog.dstl.dfs.batch.persist-delay", "500 ms");
        StateChangelogStorage<?> storage = changelog.create(oneFile, directory);
        // Several of each, since the order in which they are told is left to chance.
        List<Task> ending = tasks(storage);
        List<Task> staying = tasks(storage);
        CountDownLatch begun = new CountDownLatch(1);
        GuardedFileSystem.guard(
                (call, path) -> {
                    if (call == Call.CLOSE) {
                        begun.countDown();
                        awaitAnswer();
                    }
                });
        for (Task task : ending) {
            assertThat(task.persist(1)).isNotDone();
        }
        List<CompletableFuture<SnapshotResult<ChangelogStateHandleStreamImpl>>> persists =
                new ArrayList<>();
        for (Task task : staying) {
            persists.add(task.persist(1));
        }
        assertThat(begun.await(60, TimeUnit.SECONDS)).isTrue();
        ending.forEach(Task::end);
        storeAnswers.countDown();

        if (changelog == Changelog.DSTL) {
            for (int i = 0; i < persists.size(); i++) {
                assertThat(staying.get(i).files(persists.get(i)))
                        .isNotEmpty()
                        .allMatch(file -> file.toFile().exists());
            }
        } else {
            runMailboxes(staying);
            long answered = persists.stream().filter(CompletableFuture::isDone).count();
            assertThat(answered)
                    .as("answers of Flink's built-in changelog, which ends at the first task gone")
                    .isLessThan(TASKS);
        }
        staying.forEach(Task::close);
    }

    /** Runs the mailboxes for long enough that an answer would arrive. */
    private static void runMailboxes(List<Task> tasks) throws Exception {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(3);
        while (System.nanoTime() - deadline < 0) {
            for (Task task : tasks) {
                task.mailbox.runAll();
            }
            Thread.sleep(1);
        }
    }

    private static List<Task> tasks(StateChangelogStorage<?> storage) throws IOException {
        List<Task> tasks = new ArrayList<>();
        for (int i = 0; i < TASKS; i++) {
            Task task = new Task(storage);
            task.append("of task " + i);
            tasks.add(task);
        }
        return tasks;
    }

    @ParameterizedTest
    @EnumSource(Changelog.class)
    void windowsMerge(Changelog changelog) throws Exception {
        FakeJobManager jobManager = new FakeJobManager();
        KeyedStateHandle handle;
        try (TestTask task = start(changelog, jobManager, List.of())) {
            InternalReducingState<Integer, String, String> windows = windows(task);
            for (String window : List.of("one", "other")) {
                windows.setCurrentNamespace(window);
                windows.add(window);
            }
            windows.mergeNamespaces("one", List.of("other"));
            handle = task.checkpoint(1);
        }

        if (changelog == Changelog.DSTL) {
            try (TestTask task = start(changelog, jobManager, List.of(handle))) {
                InternalReducingState<Integer, String, String> windows = windows(task);
                windows.setCurrentNamespace("one");
                assertThat(windows.get()).isEqualTo("one other");
            }
        } else {
            assertThatThrownBy(() -> start(changelog, jobManager, List.of(handle)).close())
                    .as("Flink's built-in changelog cannot replay merged windows")
                    .isInstanceOf(NullPointerException.class);
        }
    }

    @SuppressWarnings("unchecked") // What both make of a descriptor of this kind.
    private static InternalReducingState<Integer, String, String> windows(TestTask task)
            throws Exception {
        InternalReducingState<Integer, String, String> windows =
                (InternalReducingState<Integer, String, String>)
                        task.backend()
                                .getOrCreateKeyedState(
                                        StringSerializer.INSTANCE,
                                        new ReducingStateDescriptor<>(
                                                "windows",
                                                (one, other) -> one + " " + other,
                                                String.class));
        task.backend().setCurrentKey(KEY);
        return windows;
    }

    private TestTask start(
            Changelog changelog, FakeJobManager jobManager, List<KeyedStateHandle> restored)
            throws Exception {
        StateBackend delegate = TestTask.delegate(directory, Delegate.HASHMAP);
        return TestTask.start(
                directory,
                changelog == Changelog.DSTL
                        ? new ChangelogStateBackend(delegate)
                        : BuiltInChangelog.over(delegate),
                TestTaskStateManager.builder()
                        .setStateChangelogStorage(changelog.create(new Configuration(), directory))
                        .build(),
                TestTask.checkpoints(directory),
                jobManager,
                ALL,
                restored);
    }

    private void awaitAnswer() throws IOException {
        try {
            storeAnswers.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException(e);
        }
    }

    private static Path local(org.apache.flink.core.fs.Path path) {
        return Path.of(path.getPath());
    }

    /** A task that writes to a changelog, with a mailbox that rejects mails once it has ended. */
    private static final class Task implements AutoCloseable {

        private final StateChangelogStorage<?> storage;
        private final ManualMailbox mailbox = new ManualMailbox();
        private final StateChangelogWriter<?> writer;
        private final SequenceNumber first;

        private Task(StateChangelogStorage<?> storage) {
            this.storage = storage;
            this.writer = storage.createWriter("operator", ALL, mailbox);
            this.first = writer.initialSequenceNumber();
        }

        private void append(String change) throws IOException {
            writer.append(KEY, change.getBytes(StandardCharsets.UTF_8));
        }

        @SuppressWarnings("unchecked") // The handle of both.
        private CompletableFuture<SnapshotResult<ChangelogStateHandleStreamImpl>> persist(
                long checkpointId) throws IOException {
            writer.nextSequenceNumber();
            return (CompletableFuture<SnapshotResult<ChangelogStateHandleStreamImpl>>)
                    (CompletableFuture<?>) writer.persist(first, checkpointId);
        }

        private <T> T await(CompletableFuture<T> future) throws Exception {
            while (!future.isDone()) {
                mailbox.runAll();
                Thread.sleep(1);
            }
            return future.get();
        }

        private List<Path> files(
                CompletableFuture<SnapshotResult<ChangelogStateHandleStreamImpl>> persist)
                throws Exception {
            return await(persist).getJobManagerOwnedSnapshot().getHandlesAndOffsets().stream()
                    .map(handle -> local(((FileStateHandle) handle.f0).getFilePath()))
                    .collect(Collectors.toList());
        }

        private void end() {
            mailbox.close();
            writer.close();
        }

        @Override
        public void close() {
            end();
            IOUtils.closeQuietly(storage);
        }
    }
}
