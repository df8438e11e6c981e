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
import dev.dstl.changelog.fixture.FakeJobManager;
import dev.dstl.changelog.fixture.ManualMailbox;
import dev.dstl.changelog.fixture.RecordedMetrics;
import dev.dstl.changelog.metrics.MaterializationMetrics;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.ExecutionConfig;
import org.apache.flink.api.common.state.State;
import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.runtime.checkpoint.CheckpointType;
import org.apache.flink.runtime.checkpoint.SnapshotType;
import org.apache.flink.runtime.operators.testutils.MockEnvironment;
import org.apache.flink.runtime.state.CheckpointStorageAccess;
import org.apache.flink.runtime.state.CheckpointStorageLocationReference;
import org.apache.flink.runtime.state.CheckpointableKeyedStateBackend;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyGroupedInternalPriorityQueue;
import org.apache.flink.runtime.state.KeyedStateBackendParametersImpl;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.StateBackend;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.apache.flink.runtime.state.ttl.TtlTimeProvider;
import org.apache.flink.state.changelog.ChangelogStateBackend;
import org.apache.flink.streaming.api.operators.TimerHeapInternalTimer;
import org.apache.flink.streaming.api.operators.TimerSerializer;
import org.apache.flink.util.IOUtils;

/**
 * A task with keys of any type, whose job has a class loader of its own. Its checkpoints contain a
 * changelog without a base, unless it is told to materialize. To be closed.
 *
 * @param <K> the type of the keys
 */
final class KeyedTask<K> implements AutoCloseable {

    private final ManualMailbox mailbox = new ManualMailbox();
    private final RecordedMetrics metrics = new RecordedMetrics();
    private final FakeJobManager jobManager;

    /** If so, nothing is deleted, since each subtask has its own JobManager. */
    private final boolean oneOfSeveral;

    private final CheckpointStorageAccess checkpoints;
    private final MockEnvironment environment;
    private final CheckpointableKeyedStateBackend<K> backend;

    private KeyedTask(
            Path directory,
            StateBackend delegate,
            TypeSerializer<K> keys,
            ClassLoader classLoader,
            FakeJobManager jobManager,
            KeyGroupRange keyGroups,
            List<KeyedStateHandle> restored,
            boolean oneOfSeveral)
            throws Exception {
        this.jobManager = jobManager;
        this.oneOfSeveral = oneOfSeveral;
        this.checkpoints = TestTask.checkpoints(directory);
        ExecutionConfig executionConfig = new ExecutionConfig();
        executionConfig.enablePeriodicMaterialize(false);
        this.environment =
                MockEnvironment.builder()
                        .setTaskStateManager(
                                LogStorage.DSTL.taskStateManager(directory.resolve("log")))
                        .setExecutionConfig(executionConfig)
                        .setUserCodeClassLoader(classLoader)
                        .build();
        environment.setMainMailboxExecutor(mailbox);
        environment.setCheckpointStorageAccess(checkpoints);
        this.backend =
                new ChangelogStateBackend(delegate)
                        .createKeyedStateBackend(
                                new KeyedStateBackendParametersImpl<>(
                                        environment,
                                        environment.getJobID(),
                                        "operator-(1/1)",
                                        keys,
                                        TestTask.KEY_GROUPS,
                                        keyGroups,
                                        environment.getTaskKvStateRegistry(),
                                        TtlTimeProvider.DEFAULT,
                                        metrics,
                                        restored,
                                        new CloseableRegistry()));
    }

    /** Starts a task that restores the latest checkpoint of the JobManager. */
    static <K> KeyedTask<K> start(
            Path directory, Delegate delegate, TypeSerializer<K> keys, FakeJobManager jobManager)
            throws Exception {
        return start(directory, delegate, keys, KeyedTask.class.getClassLoader(), jobManager);
    }

    /** The same for a job with its own classes. */
    static <K> KeyedTask<K> start(
            Path directory,
            Delegate delegate,
            TypeSerializer<K> keys,
            ClassLoader classLoader,
            FakeJobManager jobManager)
            throws Exception {
        StateBackend created = TestTask.delegate(directory, delegate);
        return start(directory, created, keys, classLoader, jobManager);
    }

    /** The same, over any state backend. */
    static <K> KeyedTask<K> start(
            Path directory,
            StateBackend delegate,
            TypeSerializer<K> keys,
            ClassLoader classLoader,
            FakeJobManager jobManager)
            throws Exception {
        return new KeyedTask<>(
                directory,
                delegate,
                keys,
                classLoader,
                jobManager,
                KeyGroupRange.of(0, TestTask.KEY_GROUPS - 1),
                jobManager.latest(),
                false);
    }

    /** Starts one of several subtasks, which restores its part of a checkpoint. */
    static <K> KeyedTask<K> startSubtask(
            Path directory,
            Delegate delegate,
            TypeSerializer<K> keys,
            ClassLoader classLoader,
            KeyGroupRange keyGroups,
            List<KeyedStateHandle> checkpoint)
            throws Exception {
        FakeJobManager jobManager = new FakeJobManager();
        List<KeyedStateHandle> restored = new ArrayList<>();
        for (KeyedStateHandle handle : checkpoint) {
            KeyedStateHandle part = handle.getIntersection(keyGroups);
            if (part != null) {
                jobManager.acknowledge(0, part);
                restored.add(part);
            }
        }
        return new KeyedTask<>(
                directory,
                TestTask.delegate(directory, delegate),
                keys,
                classLoader,
                jobManager,
                keyGroups,
                restored,
                true);
    }

    <S extends State> S state(K key, StateDescriptor<S, ?> descriptor) throws Exception {
        return state(key, VoidNamespace.INSTANCE, VoidNamespaceSerializer.INSTANCE, descriptor);
    }

    <N, S extends State> S state(
            K key, N namespace, TypeSerializer<N> namespaces, StateDescriptor<S, ?> descriptor)
            throws Exception {
        if (!descriptor.isSerializerInitialized()) {
            descriptor.initializeSerializerUnlessSet(environment.getExecutionConfig());
        }
        backend.setCurrentKey(key);
        return backend.getPartitionedState(namespace, namespaces, descriptor);
    }

    /** Returns the queue of event time timers of a name. */
    <N> KeyGroupedInternalPriorityQueue<TimerHeapInternalTimer<K, N>> timers(
            String name, TypeSerializer<N> namespaces) {
        return backend.create(name, new TimerSerializer<>(backend.getKeySerializer(), namespaces));
    }

    CheckpointableKeyedStateBackend<K> backend() {
        return backend;
    }

    /** Takes a checkpoint that completes. */
    KeyedStateHandle checkpoint(long id) throws Exception {
        return checkpoint(id, CheckpointType.CHECKPOINT);
    }

    KeyedStateHandle checkpoint(long id, SnapshotType type) throws Exception {
        KeyedStateHandle handle =
                jobManager.acknowledge(
                        id,
                        TestTask.finish(
                                backend.snapshot(
                                        id,
                                        0L,
                                        checkpoints.resolveCheckpointStorageLocation(
                                                id,
                                                CheckpointStorageLocationReference.getDefault()),
                                        TestTask.options(type))));
        if (!oneOfSeveral) {
            jobManager.complete(id);
        }
        changelog().notifyCheckpointComplete(id);
        return handle;
    }

    /** Runs a materialization; returns false if there was nothing to do or it failed. */
    boolean materialize() throws Exception {
        long completed = completed();
        long started = started();
        changelog().materialize();
        mailbox.runNext();
        if (started() == started) {
            // The delegate was flushed first.
            mailbox.runNext();
        }
        if (metrics.count(MaterializationMetrics.FAILED_MATERIALIZATION) == 0
                && completed() == completed) {
            mailbox.runNext();
        }
        return completed() > completed;
    }

    private long started() {
        return metrics.count(MaterializationMetrics.STARTED_MATERIALIZATION);
    }

    private long completed() {
        return metrics.count(MaterializationMetrics.COMPLETED_MATERIALIZATION);
    }

    private ChangelogKeyedStateBackend<K> changelog() {
        return (ChangelogKeyedStateBackend<K>) backend;
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
