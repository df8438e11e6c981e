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

package dev.dstl.spillable;

import dev.dstl.compat.StateTracking;
import dev.dstl.compat.TrackingKeyedStateBackendBuilder;
import dev.dstl.spillable.chunk.ChunkFiles;
import dev.dstl.spillable.chunk.SpillDirectories;
import dev.dstl.spillable.config.SpillConfig;
import dev.dstl.spillable.incremental.IncrementalRestore;
import dev.dstl.spillable.incremental.IncrementalSnapshot;
import dev.dstl.spillable.incremental.LocalBackup;
import dev.dstl.spillable.overlay.OffHeapBudget;
import dev.dstl.spillable.overlay.PartitionPool;
import dev.dstl.spillable.overlay.SpillSpace;
import dev.dstl.spillable.partition.KeyHash;
import dev.dstl.spillable.restore.CanonicalRestore;
import dev.dstl.spillable.restore.HeapFormatRestore;
import dev.dstl.spillable.snapshot.HeapFormatSnapshot;
import dev.dstl.spillable.snapshot.StatesView;
import dev.dstl.spillable.spill.SpillMetrics;
import dev.dstl.spillable.spill.StateMover;
import dev.dstl.spillable.table.CurrentKey;
import dev.dstl.spillable.table.StateRegistry;
import java.io.IOException;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import javax.annotation.Nullable;
import org.apache.flink.api.common.operators.MailboxExecutor;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.runtime.state.BackendBuildingException;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.LocalRecoveryConfig;
import org.apache.flink.runtime.state.SavepointKeyedStateHandle;
import org.apache.flink.runtime.state.SnapshotStrategy;
import org.apache.flink.runtime.state.StateBackend;
import org.apache.flink.runtime.state.StreamCompressionDecorator;
import org.apache.flink.runtime.state.heap.HeapPriorityQueueSetFactory;
import org.apache.flink.util.IOUtils;
import org.apache.flink.util.concurrent.ExecutorThreadFactory;

/** Wires one keyed backend and restores its state. Runs once, on the task thread. */
final class SpillableKeyedStateBackendBuilder<K> extends TrackingKeyedStateBackendBuilder<K> {

    private final StateBackend.KeyedStateBackendParameters<K> parameters;
    private final HeapPriorityQueueSetFactory queueFactory;
    private final SpillConfig config;
    @Nullable private final MoverFactory moverFactory;

    SpillableKeyedStateBackendBuilder(
            StateBackend.KeyedStateBackendParameters<K> parameters,
            StateTracking tracking,
            StreamCompressionDecorator compression,
            HeapPriorityQueueSetFactory queueFactory,
            SpillConfig config,
            @Nullable MoverFactory moverFactory) {
        super(parameters, tracking, compression);
        this.parameters = parameters;
        this.queueFactory = queueFactory;
        this.config = config;
        this.moverFactory = moverFactory;
    }

    @Override
    public SpillableKeyedStateBackend<K> build() throws BackendBuildingException {
        prepareDisks();
        CurrentKey<K> currentKey = new CurrentKey<>(keyGroupRange, numberOfKeyGroups);
        SpillSpace space = new SpillSpace(this::openPool);
        StateRegistry<K> states = new StateRegistry<>(currentKey, queueFactory, space);
        // Restored state may not fit on the heap, so it can move from the start.
        StateMover mover = mover(states, space);
        IncrementalRestore<K> incremental = incrementalRestore(states, space, mover);
        try {
            restore(states, mover, incremental);
            return backend(currentKey, space, states, mover, incremental);
        } catch (BackendBuildingException | RuntimeException | Error e) {
            mover.close();
            closeAfter(e, states);
            throw e;
        }
    }

    private SpillableKeyedStateBackend<K> backend(
            CurrentKey<K> currentKey,
            SpillSpace space,
            StateRegistry<K> states,
            StateMover mover,
            IncrementalRestore<K> incremental)
            throws BackendBuildingException {
        mover.started();
        TypeSerializer<K> keySerializer = keySerializerProvider.currentSchemaSerializer();
        LocalRecoveryConfig localRecovery =
                parameters.getEnv().getTaskStateManager().createLocalRecoveryConfig();
        CloseableRegistry closedWithBackend = new CloseableRegistry();
        HeapFormatSnapshot<K> full =
                new HeapFormatSnapshot<>(
                        states,
                        keyGroupRange,
                        numberOfKeyGroups,
                        keySerializer,
                        keyGroupCompressionDecorator,
                        localRecovery);
        return new SpillableKeyedStateBackend<>(
                kvStateRegistry,
                keySerializer,
                userCodeClassLoader,
                executionConfig,
                ttlTimeProvider,
                tracking,
                closedWithBackend,
                keyGroupCompressionDecorator,
                currentKey,
                states,
                queueFactory,
                config.incrementalCheckpoints()
                        ? incremental(full, incremental, space, localRecovery, closedWithBackend)
                        : full,
                incremental.history(),
                mover);
    }

    private SnapshotStrategy<KeyedStateHandle, StatesView<K>> incremental(
            HeapFormatSnapshot<K> full,
            IncrementalRestore<K> restored,
            SpillSpace space,
            LocalRecoveryConfig localRecovery,
            CloseableRegistry closedWithBackend)
            throws BackendBuildingException {
        LocalBackup localBackup = new LocalBackup(localRecovery);
        try {
            closedWithBackend.registerCloseable(localBackup);
        } catch (IOException e) {
            throw new BackendBuildingException("The task was cancelled", e);
        }
        SpillMetrics.registerLocalCopies(
                parameters.getMetricGroup(), localBackup::copies, localBackup::failures);
        return new IncrementalSnapshot<>(
                full, keyGroupRange, restored.backendId(), restored.history(), space, localBackup);
    }

    private StateMover mover(StateRegistry<K> states, SpillSpace space)
            throws BackendBuildingException {
        if (moverFactory != null) {
            return moverFactory.create(states, space);
        }
        try {
            return new TaskManagerArbiter(parameters.getEnv().getSharedResources())
                    .newScheduler(config, states, space, mailbox(), parameters.getMetricGroup());
        } catch (Exception e) {
            throw new BackendBuildingException("Cannot share the heap with other backends", e);
        }
    }

    /** Null in the State Processor API, where only the selection of keys moves state. */
    @Nullable
    private MailboxExecutor mailbox() {
        try {
            return parameters.getEnv().getMainMailboxExecutor();
        } catch (UnsupportedOperationException noMailbox) {
            return null;
        }
    }

    private void prepareDisks() throws BackendBuildingException {
        try {
            SpillDirectories.prepare(disks());
        } catch (IOException e) {
            throw new BackendBuildingException(e.getMessage(), e);
        }
    }

    private List<Path> disks() {
        List<String> directories =
                config.directories().isEmpty()
                        ? Arrays.asList(temporaryDirectories())
                        : config.directories();
        return directories.stream().map(Paths::get).collect(Collectors.toList());
    }

    private String[] temporaryDirectories() {
        try {
            return parameters.getEnv().getTaskManagerInfo().getTmpDirectories();
        } catch (UnsupportedOperationException noTaskManager) {
            // As in the State Processor API.
            return parameters.getEnv().getIOManager().getSpillingDirectoriesPaths();
        }
    }

    private PartitionPool openPool() throws IOException {
        SpillDirectories spillDirectories = new SpillDirectories(disks());
        try {
            return openPool(spillDirectories);
        } catch (Throwable e) {
            // As when the task has ended meanwhile, and its slot was freed.
            IOUtils.closeQuietly(spillDirectories);
            throw e;
        }
    }

    private PartitionPool openPool(SpillDirectories spillDirectories) {
        ExecutorService executor =
                Executors.newSingleThreadExecutor(
                        new ExecutorThreadFactory("dstl-partition-merge"));
        OffHeapBudget budget =
                new ManagedMemoryShare(
                                parameters.getEnv().getMemoryManager(),
                                parameters.getManagedMemoryFraction())
                        .budget(config);
        try {
            return new PartitionPool(
                    budget,
                    new ChunkFiles(
                            spillDirectories,
                            config.chunkBytes(),
                            () -> System.nanoTime() / 1_000_000,
                            fileDeleter()),
                    new KeyHash(new SecureRandom().nextLong()),
                    executor);
        } catch (Throwable e) {
            // What other backends of the slot may need.
            budget.release();
            throw e;
        }
    }

    /** Not the executor of merges: files that are to go would stay behind all that wait. */
    private static Executor fileDeleter() {
        ThreadPoolExecutor deleter =
                new ThreadPoolExecutor(
                        1,
                        1,
                        1,
                        TimeUnit.SECONDS,
                        new LinkedBlockingQueue<>(),
                        new ExecutorThreadFactory("dstl-spill-file-deletion"));
        deleter.allowCoreThreadTimeOut(true);
        return deleter;
    }

    private static void closeAfter(Throwable failure, StateRegistry<?> states) {
        try {
            states.close();
        } catch (IOException e) {
            failure.addSuppressed(e);
        }
    }

    private IncrementalRestore<K> incrementalRestore(
            StateRegistry<K> states, SpillSpace space, StateMover mover) {
        return new IncrementalRestore<>(
                states,
                space,
                new HeapFormatRestore<>(
                        states,
                        keySerializerProvider,
                        keyGroupRange,
                        userCodeClassLoader,
                        cancelStreamRegistry,
                        mover),
                keyGroupRange,
                cancelStreamRegistry);
    }

    private void restore(
            StateRegistry<K> states, StateMover mover, IncrementalRestore<K> incremental)
            throws BackendBuildingException {
        if (restoreStateHandles.isEmpty()) {
            return;
        }
        try {
            if (restoreStateHandles.iterator().next() instanceof SavepointKeyedStateHandle) {
                new CanonicalRestore<>(
                                states,
                                keySerializerProvider,
                                keyGroupRange,
                                numberOfKeyGroups,
                                userCodeClassLoader,
                                mover)
                        .restore(restoreStateHandles);
            } else {
                incremental.restore(restoreStateHandles);
            }
        } catch (Exception e) {
            throw new BackendBuildingException("Failed to restore the spillable backend", e);
        }
    }
}
