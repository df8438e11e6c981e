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

package dev.dstl.benchmarks.state;

import dev.dstl.benchmarks.harness.Changelog;
import dev.dstl.benchmarks.log.TaskMailbox;
import java.io.IOException;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.RunnableFuture;
import org.apache.flink.api.common.ExecutionConfig;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.state.CheckpointListener;
import org.apache.flink.api.common.state.State;
import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.StateBackendOptions;
import org.apache.flink.configuration.StateChangelogOptions;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.core.plugin.PluginUtils;
import org.apache.flink.metrics.groups.UnregisteredMetricsGroup;
import org.apache.flink.runtime.checkpoint.CheckpointOptions;
import org.apache.flink.runtime.checkpoint.CheckpointType;
import org.apache.flink.runtime.metrics.groups.UnregisteredMetricGroups;
import org.apache.flink.runtime.operators.testutils.MockEnvironment;
import org.apache.flink.runtime.state.CheckpointStorageAccess;
import org.apache.flink.runtime.state.CheckpointStorageLocationReference;
import org.apache.flink.runtime.state.CheckpointableKeyedStateBackend;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyedStateBackendParametersImpl;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.LocalRecoveryConfig;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.StateBackendLoader;
import org.apache.flink.runtime.state.TestTaskStateManager;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.apache.flink.runtime.state.changelog.StateChangelogStorage;
import org.apache.flink.runtime.state.changelog.StateChangelogStorageLoader;
import org.apache.flink.runtime.state.storage.FileSystemCheckpointStorage;
import org.apache.flink.runtime.state.ttl.TtlTimeProvider;
import org.apache.flink.runtime.util.TestingTaskManagerRuntimeInfo;
import org.apache.flink.util.IOUtils;

/**
 * A keyed task with {@code Long} keys whose state backend is loaded from the configuration, as
 * Flink does, so that the class path determines the changelog. Never materializes. Used by the
 * thread that opens it.
 */
final class KeyedTask implements AutoCloseable {

    private static final int KEY_GROUPS = 128;

    private final Changelog changelog;
    private final TaskMailbox mailbox = new TaskMailbox();
    private final MockEnvironment environment;
    private final CheckpointStorageAccess checkpoints;
    private final CheckpointableKeyedStateBackend<Long> backend;
    private long checkpointId;

    /**
     * Opens the task.
     *
     * @param store URI below which checkpoints and the changelog go
     * @param restored what {@link #checkpoint} returned, or nothing
     */
    KeyedTask(
            Changelog changelog,
            Delegate delegate,
            String store,
            List<? extends KeyedStateHandle> restored)
            throws Exception {
        this.changelog = changelog;
        Configuration configuration = configuration(changelog, delegate, store);
        checkpoints =
                new FileSystemCheckpointStorage(store + "/checkpoints")
                        .createCheckpointStorage(new JobID());
        checkpoints.initializeBaseLocationsForCheckpoint();
        ExecutionConfig execution = new ExecutionConfig();
        execution.enablePeriodicMaterialize(false);
        TestTaskStateManager stateManager =
                TestTaskStateManager.builder()
                        .setStateChangelogStorage(storage(changelog, configuration))
                        .build();
        environment =
                MockEnvironment.builder()
                        .setTaskStateManager(stateManager)
                        .setExecutionConfig(execution)
                        .setTaskManagerRuntimeInfo(new TestingTaskManagerRuntimeInfo(configuration))
                        .build();
        environment.setMainMailboxExecutor(mailbox);
        environment.setCheckpointStorageAccess(checkpoints);
        backend =
                StateBackendLoader.fromApplicationOrConfigOrDefault(
                                null,
                                new Configuration(),
                                configuration,
                                KeyedTask.class.getClassLoader(),
                                null)
                        .createKeyedStateBackend(
                                new KeyedStateBackendParametersImpl<>(
                                        environment,
                                        environment.getJobID(),
                                        "operator-(1/1)",
                                        LongSerializer.INSTANCE,
                                        KEY_GROUPS,
                                        KeyGroupRange.of(0, KEY_GROUPS - 1),
                                        environment.getTaskKvStateRegistry(),
                                        TtlTimeProvider.DEFAULT,
                                        new UnregisteredMetricsGroup(),
                                        List.copyOf(restored),
                                        new CloseableRegistry()));
    }

    private static Configuration configuration(
            Changelog changelog, Delegate delegate, String store) {
        Configuration all = new Configuration();
        all.set(StateBackendOptions.STATE_BACKEND, delegate.name().toLowerCase(Locale.ROOT));
        all.setString("state.backend.rocksdb.memory.fixed-per-slot", "256mb");
        all.set(StateChangelogOptions.ENABLE_STATE_CHANGE_LOG, changelog != Changelog.NONE);
        all.set(StateChangelogOptions.STATE_CHANGE_LOG_STORAGE, changelog.storage());
        all.setString("state.changelog.dstl.dfs.base-path", store + "/log");
        return all;
    }

    private static StateChangelogStorage<?> storage(
            Changelog changelog, Configuration configuration) throws IOException {
        if (changelog == Changelog.NONE) {
            return null;
        }
        StateChangelogStorageLoader.initialize(
                PluginUtils.createPluginManagerFromRootFolder(configuration));
        StateChangelogStorage<?> storage =
                StateChangelogStorageLoader.load(
                        new JobID(),
                        configuration,
                        UnregisteredMetricGroups.createUnregisteredTaskManagerJobMetricGroup(),
                        LocalRecoveryConfig.BACKUP_AND_RECOVERY_DISABLED);
        if (storage == null) {
            throw new IOException("No changelog '" + changelog.storage() + "' on the class path");
        }
        return storage;
    }

    CheckpointableKeyedStateBackend<Long> backend() {
        return backend;
    }

    <S extends State> S state(StateDescriptor<S, ?> descriptor) throws Exception {
        return backend.getPartitionedState(
                VoidNamespace.INSTANCE, VoidNamespaceSerializer.INSTANCE, descriptor);
    }

    /** Takes a checkpoint, waits for it, and confirms it. */
    KeyedStateHandle checkpoint() throws Exception {
        long id = ++checkpointId;
        CheckpointStorageLocationReference location =
                CheckpointStorageLocationReference.getDefault();
        RunnableFuture<SnapshotResult<KeyedStateHandle>> snapshot =
                backend.snapshot(
                        id,
                        0L,
                        checkpoints.resolveCheckpointStorageLocation(id, location),
                        new CheckpointOptions(CheckpointType.CHECKPOINT, location));
        while (changelog == Changelog.BUILT_IN && !snapshot.isDone()) {
            // Its uploads complete on the mailbox.
            if (!mailbox.tryYield()) {
                Thread.onSpinWait();
            }
        }
        snapshot.run();
        KeyedStateHandle handle = snapshot.get().getJobManagerOwnedSnapshot();
        ((CheckpointListener) backend).notifyCheckpointComplete(id);
        return handle;
    }

    @Override
    public void close() throws IOException {
        backend.close();
        backend.dispose();
        IOUtils.closeQuietly(environment.getTaskStateManager().getStateChangelogStorage());
        IOUtils.closeQuietly(environment);
    }
}
