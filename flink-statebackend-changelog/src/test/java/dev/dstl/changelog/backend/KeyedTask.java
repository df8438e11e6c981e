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
import java.io.IOException;
import java.nio.file.Path;
import org.apache.flink.api.common.ExecutionConfig;
import org.apache.flink.api.common.state.State;
import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.metrics.groups.UnregisteredMetricsGroup;
import org.apache.flink.runtime.checkpoint.CheckpointType;
import org.apache.flink.runtime.operators.testutils.MockEnvironment;
import org.apache.flink.runtime.state.CheckpointStorageAccess;
import org.apache.flink.runtime.state.CheckpointStorageLocationReference;
import org.apache.flink.runtime.state.CheckpointableKeyedStateBackend;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyedStateBackendParametersImpl;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.apache.flink.runtime.state.ttl.TtlTimeProvider;
import org.apache.flink.state.changelog.ChangelogStateBackend;
import org.apache.flink.util.IOUtils;

/**
 * A task whose keys are of any type and whose job has a class loader of its own. What it leaves in
 * a checkpoint is a log and nothing else. To be closed.
 *
 * @param <K> the type of the keys
 */
final class KeyedTask<K> implements AutoCloseable {

    private final ManualMailbox mailbox = new ManualMailbox();
    private final FakeJobManager jobManager;
    private final CheckpointStorageAccess checkpoints;
    private final MockEnvironment environment;
    private final CheckpointableKeyedStateBackend<K> backend;

    private KeyedTask(
            Path directory,
            Delegate delegate,
            TypeSerializer<K> keys,
            ClassLoader classLoader,
            FakeJobManager jobManager)
            throws Exception {
        this.jobManager = jobManager;
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
                new ChangelogStateBackend(TestTask.delegate(directory, delegate))
                        .createKeyedStateBackend(
                                new KeyedStateBackendParametersImpl<>(
                                        environment,
                                        environment.getJobID(),
                                        "operator-(1/1)",
                                        keys,
                                        TestTask.KEY_GROUPS,
                                        KeyGroupRange.of(0, TestTask.KEY_GROUPS - 1),
                                        environment.getTaskKvStateRegistry(),
                                        TtlTimeProvider.DEFAULT,
                                        new UnregisteredMetricsGroup(),
                                        jobManager.latest(),
                                        new CloseableRegistry()));
    }

    /** A task that restores what the JobManager has. */
    static <K> KeyedTask<K> start(
            Path directory, Delegate delegate, TypeSerializer<K> keys, FakeJobManager jobManager)
            throws Exception {
        return start(directory, delegate, keys, KeyedTask.class.getClassLoader(), jobManager);
    }

    /** The same, of a job with classes of its own. */
    static <K> KeyedTask<K> start(
            Path directory,
            Delegate delegate,
            TypeSerializer<K> keys,
            ClassLoader classLoader,
            FakeJobManager jobManager)
            throws Exception {
        return new KeyedTask<>(directory, delegate, keys, classLoader, jobManager);
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

    void checkpoint(long id) throws Exception {
        jobManager.acknowledge(
                id,
                TestTask.finish(
                        backend.snapshot(
                                id,
                                0L,
                                checkpoints.resolveCheckpointStorageLocation(
                                        id, CheckpointStorageLocationReference.getDefault()),
                                TestTask.options(CheckpointType.CHECKPOINT))));
        jobManager.complete(id);
        ((ChangelogKeyedStateBackend<K>) backend).notifyCheckpointComplete(id);
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
