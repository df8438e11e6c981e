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

import dev.dstl.changelog.contract.Delegate;
import dev.dstl.changelog.contract.LogStorage;
import dev.dstl.changelog.fixture.BuiltInChangelog;
import dev.dstl.changelog.fixture.FakeJobManager;
import dev.dstl.changelog.fixture.ManualMailbox;
import dev.dstl.changelog.fixture.RecordedMetrics;
import dev.dstl.changelog.fixture.VersionedStringSerializer;
import dev.dstl.changelog.metrics.MaterializationMetrics;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.RunnableFuture;
import org.apache.flink.api.common.ExecutionConfig;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.State;
import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.runtime.checkpoint.CheckpointOptions;
import org.apache.flink.runtime.checkpoint.CheckpointType;
import org.apache.flink.runtime.checkpoint.SnapshotType;
import org.apache.flink.runtime.operators.testutils.MockEnvironment;
import org.apache.flink.runtime.state.CheckpointStorageAccess;
import org.apache.flink.runtime.state.CheckpointStorageLocationReference;
import org.apache.flink.runtime.state.CheckpointStreamFactory;
import org.apache.flink.runtime.state.CheckpointableKeyedStateBackend;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyGroupedInternalPriorityQueue;
import org.apache.flink.runtime.state.KeyedStateBackendParametersImpl;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.StateBackend;
import org.apache.flink.runtime.state.TaskStateManager;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.apache.flink.runtime.state.changelog.ChangelogStateBackendHandle;
import org.apache.flink.runtime.state.storage.FileSystemCheckpointStorage;
import org.apache.flink.runtime.state.ttl.TtlTimeProvider;
import org.apache.flink.runtime.util.TestingTaskManagerRuntimeInfo;
import org.apache.flink.state.changelog.ChangelogStateBackend;
import org.apache.flink.streaming.api.operators.TimerHeapInternalTimer;
import org.apache.flink.streaming.api.operators.TimerSerializer;
import org.apache.flink.util.CloseableIterator;
import org.apache.flink.util.IOUtils;

/** A keyed task with real files, a manual mailbox and a fake JobManager; to be closed. */
final class TestTask implements AutoCloseable {

    static final int KEY_GROUPS = 8;

    private static final String OPERATOR = "operator-(1/1)";

    static final ValueStateDescriptor<String> VALUE =
            new ValueStateDescriptor<>("value", String.class);

    final ManualMailbox mailbox = new ManualMailbox();
    final MockEnvironment environment;
    final FakeJobManager jobManager;
    final RecordedMetrics metrics = new RecordedMetrics();
    final Path directory;

    private final CheckpointStorageAccess checkpoints;
    private CheckpointableKeyedStateBackend<Integer> backend;
    private KeyGroupedInternalPriorityQueue<TimerHeapInternalTimer<Integer, VoidNamespace>> timers;

    private TestTask(
            Path directory,
            FakeJobManager jobManager,
            TaskStateManager taskStateManager,
            CheckpointStorageAccess checkpoints) {
        this.directory = directory;
        this.jobManager = jobManager;
        this.checkpoints = checkpoints;
        ExecutionConfig executionConfig = new ExecutionConfig();
        executionConfig.enablePeriodicMaterialize(false);
        this.environment =
                MockEnvironment.builder()
                        .setTaskStateManager(taskStateManager)
                        .setExecutionConfig(executionConfig)
                        .setTaskManagerRuntimeInfo(
                                new TestingTaskManagerRuntimeInfo(
                                        new Configuration(), directory.resolve("working").toFile()))
                        .build();
        // beside local recovery, Flink chooses by this key who keeps local checkpoints
        environment.getJobConfiguration().setString("state.changelog.enabled", "true");
        environment.setMainMailboxExecutor(mailbox);
        environment.setCheckpointStorageAccess(checkpoints);
    }

    /** Starts a task of a new job. */
    static TestTask start(Path directory, Delegate delegate, LogStorage storage) throws Exception {
        return start(directory, delegate, storage, new FakeJobManager());
    }

    /** Starts a task that restores the latest checkpoint of the JobManager. */
    static TestTask start(
            Path directory, Delegate delegate, LogStorage storage, FakeJobManager jobManager)
            throws Exception {
        return start(directory, delegate, storage, jobManager, jobManager.latest());
    }

    /** Starts a task that restores some handles. */
    static TestTask start(
            Path directory,
            Delegate delegate,
            LogStorage storage,
            FakeJobManager jobManager,
            List<KeyedStateHandle> restored)
            throws Exception {
        TestTask task =
                new TestTask(
                        directory,
                        jobManager,
                        storage.taskStateManager(directory.resolve("log")),
                        checkpoints(directory));
        task.open(
                OPERATOR,
                new ChangelogStateBackend(delegate(directory, delegate)),
                KeyGroupRange.of(0, KEY_GROUPS - 1),
                restored,
                new CloseableRegistry());
        return task;
    }

    /** Starts one of several subtasks, which restores its part. */
    static TestTask startSubtask(
            Path directory,
            Delegate delegate,
            LogStorage storage,
            FakeJobManager jobManager,
            KeyGroupRange keyGroups,
            List<KeyedStateHandle> restored)
            throws Exception {
        return start(
                directory,
                new ChangelogStateBackend(delegate(directory, delegate)),
                storage.taskStateManager(directory.resolve("log")),
                checkpoints(directory),
                jobManager,
                keyGroups,
                restored);
    }

    /** Starts a task with all key groups. */
    static TestTask start(
            Path directory,
            StateBackend stateBackend,
            TaskStateManager taskStateManager,
            CheckpointStorageAccess checkpoints,
            FakeJobManager jobManager,
            List<KeyedStateHandle> restored)
            throws Exception {
        return start(
                directory,
                stateBackend,
                taskStateManager,
                checkpoints,
                jobManager,
                KeyGroupRange.of(0, KEY_GROUPS - 1),
                restored);
    }

    /** Starts a task with given key groups. */
    static TestTask start(
            Path directory,
            StateBackend stateBackend,
            TaskStateManager taskStateManager,
            CheckpointStorageAccess checkpoints,
            FakeJobManager jobManager,
            KeyGroupRange keyGroups,
            List<KeyedStateHandle> restored)
            throws Exception {
        return start(
                directory,
                stateBackend,
                taskStateManager,
                checkpoints,
                jobManager,
                keyGroups,
                restored,
                new CloseableRegistry());
    }

    /** Starts a task with given key groups that can be cancelled while it restores. */
    static TestTask start(
            Path directory,
            StateBackend stateBackend,
            TaskStateManager taskStateManager,
            CheckpointStorageAccess checkpoints,
            FakeJobManager jobManager,
            KeyGroupRange keyGroups,
            List<KeyedStateHandle> restored,
            CloseableRegistry cancelled)
            throws Exception {
        TestTask task = new TestTask(directory, jobManager, taskStateManager, checkpoints);
        task.open(OPERATOR, stateBackend, keyGroups, restored, cancelled);
        return task;
    }

    /** Starts a task of a given operator with checkpoints, which restores the latest one. */
    static TestTask startOperator(
            String operator,
            Path directory,
            Delegate delegate,
            TaskStateManager taskStateManager,
            FakeJobManager jobManager)
            throws Exception {
        TestTask task =
                new TestTask(directory, jobManager, taskStateManager, checkpoints(directory));
        // how Flink up to 2.1 tells that checkpoints are periodic, and how later ones do
        task.environment.getTaskConfiguration().setString("checkpointing", "true");
        task.environment.getJobConfiguration().setString("execution.checkpointing.interval", "1 s");
        task.open(
                operator,
                new ChangelogStateBackend(delegate(directory, delegate)),
                KeyGroupRange.of(0, KEY_GROUPS - 1),
                jobManager.latest(),
                new CloseableRegistry());
        return task;
    }

    static StateBackend delegate(Path directory, Delegate delegate) {
        return delegate.create(directory.resolve("state-" + UUID.randomUUID()));
    }

    /** Storage that writes every byte to a file, so that deleting too much is detected. */
    static CheckpointStorageAccess checkpoints(Path directory) throws Exception {
        CheckpointStorageAccess access =
                new FileSystemCheckpointStorage(directory.resolve("checkpoints").toUri(), 0)
                        .createCheckpointStorage(new JobID());
        access.initializeBaseLocationsForCheckpoint();
        return access;
    }

    private void open(
            String operator,
            StateBackend stateBackend,
            KeyGroupRange keyGroups,
            List<KeyedStateHandle> restored,
            CloseableRegistry cancelled)
            throws Exception {
        backend =
                stateBackend.createKeyedStateBackend(
                        new KeyedStateBackendParametersImpl<>(
                                environment,
                                environment.getJobID(),
                                operator,
                                IntSerializer.INSTANCE,
                                KEY_GROUPS,
                                keyGroups,
                                environment.getTaskKvStateRegistry(),
                                TtlTimeProvider.DEFAULT,
                                metrics,
                                restored,
                                cancelled));
    }

    CheckpointableKeyedStateBackend<Integer> backend() {
        return backend;
    }

    ChangelogKeyedStateBackend<Integer> changelog() {
        return (ChangelogKeyedStateBackend<Integer>) backend;
    }

    <S extends State> S state(int key, StateDescriptor<S, ?> descriptor) throws Exception {
        backend.setCurrentKey(key);
        return backend.getPartitionedState(
                VoidNamespace.INSTANCE, VoidNamespaceSerializer.INSTANCE, descriptor);
    }

    ValueState<String> value(int key) throws Exception {
        return state(key, VALUE);
    }

    /** The state of a value whose serializer migrates what lower versions have written. */
    ValueState<String> versioned(int key, int version) throws Exception {
        return state(
                key,
                new ValueStateDescriptor<>("versioned", new VersionedStringSerializer(version)));
    }

    MapState<String, String> map(int key) throws Exception {
        return state(key, new MapStateDescriptor<>("map", String.class, String.class));
    }

    ListState<String> list(int key) throws Exception {
        return state(key, new ListStateDescriptor<>("list", String.class));
    }

    KeyGroupedInternalPriorityQueue<TimerHeapInternalTimer<Integer, VoidNamespace>> timers() {
        if (timers == null) {
            timers =
                    backend.create(
                            "timers",
                            new TimerSerializer<>(
                                    IntSerializer.INSTANCE, VoidNamespaceSerializer.INSTANCE));
        }
        return timers;
    }

    static TimerHeapInternalTimer<Integer, VoidNamespace> timer(int key, long time) {
        return new TimerHeapInternalTimer<>(time, key, VoidNamespace.INSTANCE);
    }

    @SuppressWarnings("try") // close() is declared with Exception by Flink's interface
    SortedSet<Long> timerTimes() throws Exception {
        SortedSet<Long> times = new TreeSet<>();
        try (CloseableIterator<TimerHeapInternalTimer<Integer, VoidNamespace>> all =
                timers().iterator()) {
            all.forEachRemaining(timer -> times.add(timer.getTimestamp()));
        }
        return times;
    }

    static CheckpointOptions options(SnapshotType type) {
        return new CheckpointOptions(type, CheckpointStorageLocationReference.getDefault());
    }

    CheckpointStreamFactory streams(long checkpointId) throws Exception {
        return checkpoints.resolveCheckpointStorageLocation(
                checkpointId, CheckpointStorageLocationReference.getDefault());
    }

    RunnableFuture<SnapshotResult<KeyedStateHandle>> trigger(long checkpointId) throws Exception {
        return trigger(checkpointId, CheckpointType.CHECKPOINT);
    }

    RunnableFuture<SnapshotResult<KeyedStateHandle>> trigger(long checkpointId, SnapshotType type)
            throws Exception {
        return backend.snapshot(checkpointId, 0L, streams(checkpointId), options(type));
    }

    static KeyedStateHandle finish(RunnableFuture<SnapshotResult<KeyedStateHandle>> checkpoint)
            throws Exception {
        checkpoint.run();
        return checkpoint.get().getJobManagerOwnedSnapshot();
    }

    /** Takes a checkpoint that is acknowledged, but does not complete. */
    ChangelogStateBackendHandle acknowledge(long checkpointId) throws Exception {
        return acknowledge(checkpointId, CheckpointType.CHECKPOINT);
    }

    ChangelogStateBackendHandle acknowledge(long checkpointId, SnapshotType type) throws Exception {
        return (ChangelogStateBackendHandle)
                jobManager.acknowledge(
                        checkpointId, finishWithMailbox(trigger(checkpointId, type)));
    }

    /**
     * The checkpoints of Flink's own changelog complete on the mailbox if it logs to its own files.
     */
    private KeyedStateHandle finishWithMailbox(
            RunnableFuture<SnapshotResult<KeyedStateHandle>> checkpoint) throws Exception {
        runMailbox(checkpoint);
        return finish(checkpoint);
    }

    private void runMailbox(RunnableFuture<?> checkpoint) throws Exception {
        while (BuiltInChangelog.isOwn(backend) && !checkpoint.isDone()) {
            mailbox.runAll();
            Thread.sleep(1);
        }
    }

    /** Takes a checkpoint that is not acknowledged; returns its local part too. */
    SnapshotResult<KeyedStateHandle> snapshot(long checkpointId) throws Exception {
        RunnableFuture<SnapshotResult<KeyedStateHandle>> checkpoint = trigger(checkpointId);
        runMailbox(checkpoint);
        checkpoint.run();
        return checkpoint.get();
    }

    /** Completes a checkpoint and notifies the task. */
    void complete(long checkpointId) throws Exception {
        jobManager.complete(checkpointId);
        if (backend instanceof ChangelogKeyedStateBackend) {
            changelog().notifyCheckpointComplete(checkpointId);
            changelog().notifyCheckpointSubsumed(checkpointId - 1);
        }
    }

    ChangelogStateBackendHandle checkpoint(long checkpointId) throws Exception {
        ChangelogStateBackendHandle handle = acknowledge(checkpointId);
        complete(checkpointId);
        return handle;
    }

    /** Runs a materialization; returns false if there was nothing to do or it failed. */
    boolean materialize() throws Exception {
        return beginMaterialization() && endMaterialization();
    }

    /** Starts a materialization; returns false if there was nothing to do. */
    boolean beginMaterialization() throws Exception {
        long ended = ended();
        long started = started();
        changelog().materialize();
        mailbox.runNext();
        if (started() == started) {
            // The delegate was flushed first.
            mailbox.runNext();
        }
        return ended() == ended;
    }

    private long started() {
        return metrics.count(MaterializationMetrics.STARTED_MATERIALIZATION);
    }

    /** Waits for the running materialization; returns false if it failed. */
    boolean endMaterialization() throws Exception {
        long completed = metrics.count(MaterializationMetrics.COMPLETED_MATERIALIZATION);
        mailbox.runNext();
        return metrics.count(MaterializationMetrics.COMPLETED_MATERIALIZATION) > completed;
    }

    private long ended() {
        return metrics.count(MaterializationMetrics.COMPLETED_MATERIALIZATION)
                + metrics.count(MaterializationMetrics.FAILED_MATERIALIZATION);
    }

    /** All values of some keys, null included. */
    List<String> values(int keys) throws Exception {
        List<String> values = new ArrayList<>();
        for (int key = 0; key < keys; key++) {
            values.add(value(key).value());
        }
        return values;
    }

    @Override
    public void close() throws IOException {
        mailbox.close();
        backend.close();
        backend.dispose();
        IOUtils.closeQuietly(environment.getTaskStateManager().getStateChangelogStorage());
        IOUtils.closeQuietly(environment);
    }
}
