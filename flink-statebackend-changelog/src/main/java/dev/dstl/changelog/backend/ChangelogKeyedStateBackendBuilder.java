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

import dev.dstl.changelog.checkpoint.CheckpointAssembler;
import dev.dstl.changelog.checkpoint.CheckpointDeadline;
import dev.dstl.changelog.checkpoint.Checkpointer;
import dev.dstl.changelog.config.ForeignThreads;
import dev.dstl.changelog.config.LogLimits;
import dev.dstl.changelog.config.MaterializationSettings;
import dev.dstl.changelog.config.MisconfigurationException;
import dev.dstl.changelog.config.TaskConfiguration;
import dev.dstl.changelog.materialization.BaseLedger;
import dev.dstl.changelog.materialization.BaseReferences;
import dev.dstl.changelog.materialization.DelegateSnapshots;
import dev.dstl.changelog.materialization.EarlyMaterialization;
import dev.dstl.changelog.materialization.LocalDirectories;
import dev.dstl.changelog.materialization.LogTruncation;
import dev.dstl.changelog.materialization.MaterializationLifecycle;
import dev.dstl.changelog.materialization.MaterializationThreads;
import dev.dstl.changelog.materialization.MaterializationThrottle;
import dev.dstl.changelog.materialization.MaterializedBase;
import dev.dstl.changelog.materialization.Materializer;
import dev.dstl.changelog.materialization.SnapshotDeleter;
import dev.dstl.changelog.materialization.TaskOwnedStreams;
import dev.dstl.changelog.metrics.CheckpointMetrics;
import dev.dstl.changelog.metrics.MaterializationMetrics;
import dev.dstl.changelog.metrics.RestoreMetrics;
import dev.dstl.changelog.metrics.RestoreRate;
import dev.dstl.changelog.record.ChangelogAppender;
import dev.dstl.changelog.record.SynchronizedChangelogWriter;
import dev.dstl.changelog.restore.DelegateFactory;
import dev.dstl.changelog.restore.RestoreOperation;
import dev.dstl.changelog.restore.RestoredDelegate;
import dev.dstl.changelog.restore.RestoredHandles;
import dev.dstl.changelog.restore.RestoredQueues;
import dev.dstl.changelog.schema.SchemaHistory;
import dev.dstl.changelog.state.LoggedStateRegistry;
import dev.dstl.log.api.ChangelogStorage;
import dev.dstl.log.api.ChangelogWriter;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.IllegalConfigurationException;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.runtime.execution.Environment;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.StateBackend;
import org.apache.flink.runtime.state.StateBackend.KeyedStateBackendParameters;
import org.apache.flink.runtime.state.changelog.ChangelogStateBackendHandle;
import org.apache.flink.runtime.state.changelog.StateChangelogStorage;
import org.apache.flink.runtime.state.changelog.StateChangelogWriter;
import org.apache.flink.util.IOUtils;

/**
 * Restores a keyed backend and connects its components. Used by the task thread. Closes what it
 * created if it fails.
 *
 * @param <K> type of the key
 */
final class ChangelogKeyedStateBackendBuilder<K> {

    private final KeyedStateBackendParameters<K> parameters;
    private final Environment environment;
    private final StateBackend stateBackend;
    private final DelegateFactory<K> delegates;
    private final Configuration cluster;
    private final Configuration job;
    private final boolean ofSeveralThreads;

    /**
     * @param parameters from Flink
     * @param stateBackend whose keyed backends are delegates
     * @param delegates creates a delegate from snapshots
     */
    ChangelogKeyedStateBackendBuilder(
            KeyedStateBackendParameters<K> parameters,
            StateBackend stateBackend,
            DelegateFactory<K> delegates) {
        this.parameters = parameters;
        this.environment = parameters.getEnv();
        this.stateBackend = stateBackend;
        this.delegates = delegates;
        this.cluster = environment.getTaskManagerInfo().getConfiguration();
        this.job = new Configuration(environment.getJobConfiguration());
        job.addAll(environment.getExecutionConfig().toConfiguration());
        this.ofSeveralThreads = ForeignThreads.mayUseStatesOf(parameters.getOperatorIdentifier());
    }

    /**
     * Restores the delegate and creates the keyed backend.
     *
     * @throws MisconfigurationException if the deployment cannot work and there is no state to
     *     restore
     * @throws IllegalConfigurationException if the deployment cannot work and there is state to
     *     restore
     * @throws Exception if the state cannot be restored
     */
    ChangelogKeyedStateBackend<K> build() throws Exception {
        try {
            return restored();
        } catch (MisconfigurationException e) {
            throw isFirstStart() ? e : e.butRestartable();
        }
    }

    /**
     * A task whose restored state is empty has no handles, but its attempt has a restored
     * checkpoint id.
     */
    private boolean isFirstStart() {
        return parameters.getStateHandles().isEmpty()
                && environment.getTaskInfo().getAttemptNumber() == 0
                && environment.getTaskStateManager().getRestoreCheckpointId().isEmpty();
    }

    private ChangelogKeyedStateBackend<K> restored() throws Exception {
        DeploymentCheck deployment = new DeploymentCheck(environment);
        deployment.installation();
        deployment.keys();
        deployment.delegate(stateBackend.getClass().getName());
        StateChangelogStorage<?> storage = deployment.storage();
        if (storage instanceof ChangelogStorage) {
            ((ChangelogStorage) storage).restoring();
        }
        deployment.localRecovery();
        deployment.fileMerging();
        // Before state is restored, which would be in vain.
        TaskConfiguration values = new TaskConfiguration(job, cluster);
        MaterializationSettings settings = MaterializationSettings.of(values);
        LogLimits limits = LogLimits.of(values);
        MaterializationThreads threads =
                MaterializationThreads.shared(MaterializationSettings.uploadThreads(cluster));
        CheckpointDeadline deadline =
                CheckpointDeadline.of(values, threads.clock(), storeProblem(storage));

        RestoredHandles restored =
                RestoredHandles.of(parameters.getKeyGroupRange(), parameters.getStateHandles());
        RestoredDelegate<K> restoredDelegate =
                new RestoreOperation<>(
                                environment,
                                parameters.getCancelStreamRegistry(),
                                parameters.getKeySerializer(),
                                delegates,
                                RestoreMetrics.of(
                                        parameters.getMetricGroup(),
                                        RestoreRate.ofChangelogs()::bytesPerSecond))
                        .restore(parameters.getKeyGroupRange(), restored, restored.snapshots());
        AbstractKeyedStateBackend<K> delegate = restoredDelegate.delegate();
        StateChangelogWriter<?> writer = null;
        BaseLedger bases = null;
        try {
            writer = openLog(storage);
            if (ofSeveralThreads) {
                writer = SynchronizedChangelogWriter.of(writer);
            }
            SnapshotDeleter deleter = deleter(threads);
            MaterializedBase base = restored.base(writer.initialSequenceNumber());
            bases =
                    new BaseLedger(
                            base,
                            restoredDelegate.needsFullSnapshot(),
                            references(restored, base, deleter),
                            BaseLedger.idsOfAttempt(base, System.currentTimeMillis()));
            return wire(
                    restoredDelegate, writer, bases, deleter, settings, limits, threads, deadline);
        } catch (Throwable t) {
            if (bases != null) {
                bases.close();
            }
            if (writer != null) {
                IOUtils.closeQuietly(writer);
            }
            IOUtils.closeQuietly(delegate);
            delegate.dispose();
            throw t;
        }
    }

    private SnapshotDeleter deleter(MaterializationThreads threads) {
        return new SnapshotDeleter(
                parameters.getOperatorIdentifier(),
                threads.deletions(),
                threads.interrupts(),
                new LocalDirectories(
                        environment.getTaskStateManager().createLocalRecoveryConfig()));
    }

    /** Returns the references to a restored base, whose remote files the JobManager owns. */
    private static BaseReferences references(
            RestoredHandles restored, MaterializedBase base, SnapshotDeleter deleter) {
        Runnable nothing = () -> {};
        Runnable deleteCopies = () -> deleter.deleteLocalCopiesLater(base);
        return restored.localCheckpoint()
                .map(local -> local.references(() -> new BaseReferences(nothing, deleteCopies)))
                .orElseGet(() -> new BaseReferences(nothing, nothing));
    }

    /** Errors of the storage name the misconfigured key; a restart does not help. */
    private StateChangelogWriter<?> openLog(StateChangelogStorage<?> storage) {
        try {
            if (storage instanceof ChangelogStorage) {
                ChangelogWriter writer =
                        ((ChangelogStorage) storage)
                                .createWriter(
                                        parameters.getOperatorIdentifier(),
                                        parameters.getKeyGroupRange(),
                                        environment.getMainMailboxExecutor(),
                                        environment.getTaskInfo().getNumberOfParallelSubtasks());
                writer.restoredFrom(
                        environment.getTaskStateManager().getRestoreCheckpointId().orElse(0L));
                return writer;
            }
            return storage.createWriter(
                    parameters.getOperatorIdentifier(),
                    parameters.getKeyGroupRange(),
                    environment.getMainMailboxExecutor());
        } catch (IllegalConfigurationException e) {
            throw new MisconfigurationException(e.getMessage());
        }
    }

    private ChangelogKeyedStateBackend<K> wire(
            RestoredDelegate<K> restoredDelegate,
            StateChangelogWriter<?> writer,
            BaseLedger bases,
            SnapshotDeleter deleter,
            MaterializationSettings settings,
            LogLimits limits,
            MaterializationThreads threads,
            CheckpointDeadline deadline)
            throws Exception {
        AbstractKeyedStateBackend<K> delegate = restoredDelegate.delegate();
        ClassLoader userClassLoader = environment.getUserCodeClassLoader().asClassLoader();
        String subtask = parameters.getOperatorIdentifier();

        ChangelogAppender log =
                new ChangelogAppender(writer, bases::demandFullSnapshot, ofSeveralThreads);
        SchemaHistory schemas = restoredDelegate.history();
        schemas.onChange(bases::demandFullSnapshot);
        LoggedStateRegistry<K> logged = new LoggedStateRegistry<>(delegate, log, schemas);
        LogTruncation truncation = new LogTruncation(writer);
        DelegateSnapshots<K> snapshots =
                new DelegateSnapshots<>(
                        delegate,
                        writer,
                        log,
                        logged,
                        new TaskOwnedStreams(environment.getCheckpointStorageAccess()),
                        threads::afterAWhile);
        if (snapshots.omitTimers()) {
            RestoredQueues.register(delegate, logged);
        }
        MaterializationLifecycle lifecycle =
                new MaterializationLifecycle(
                        bases, snapshots, writer, truncation, delegate, deleter);
        MaterializationThrottle throttle =
                new MaterializationThrottle(limits.maxTimeFraction(), System::nanoTime);
        Materializer materializer =
                new Materializer(
                        subtask,
                        settings,
                        lifecycle,
                        environment.getMainMailboxExecutor(),
                        threads.uploads(),
                        threads.clock(),
                        deleter,
                        userClassLoader,
                        new MaterializationMetrics(parameters.getMetricGroup()),
                        throttle,
                        ofSeveralThreads,
                        environment::failExternally);
        CloseableRegistry cancelRegistry = new CloseableRegistry();
        Checkpointer<K> checkpointer =
                new Checkpointer<>(
                        delegate,
                        writer,
                        bases,
                        snapshots,
                        lifecycle,
                        materializer,
                        truncation,
                        new CheckpointAssembler(
                                parameters.getKeyGroupRange(),
                                new CheckpointMetrics(parameters.getMetricGroup()),
                                listener(
                                        settings,
                                        limits,
                                        restoredDelegate.bytesOfUnknownSize(),
                                        snapshots.omitTimers(),
                                        materializer,
                                        throttle)),
                        deleter,
                        deadline,
                        threads.clock(),
                        cancelRegistry);
        ChangelogKeyedStateBackend<K> backend =
                new ChangelogKeyedStateBackend<>(
                        delegate,
                        writer,
                        logged,
                        checkpointer,
                        materializer,
                        cancelRegistry,
                        environment.getExecutionConfig(),
                        parameters.getTtlTimeProvider());
        materializer.start();
        return backend;
    }

    private static Supplier<Optional<String>> storeProblem(StateChangelogStorage<?> storage) {
        return storage instanceof ChangelogStorage
                ? ((ChangelogStorage) storage)::storeProblem
                : Optional::empty;
    }

    private static Consumer<ChangelogStateBackendHandle> listener(
            MaterializationSettings settings,
            LogLimits limits,
            long bytesOfUnknownSize,
            boolean basesOmitTimers,
            Materializer materializer,
            MaterializationThrottle throttle) {
        return settings.periodic()
                ? new EarlyMaterialization(
                                limits,
                                bytesOfUnknownSize,
                                basesOmitTimers,
                                RestoreRate.ofChangelogs(),
                                RestoreRate.ofBases(),
                                materializer::trigger,
                                throttle,
                                System::nanoTime)
                        ::checkpointAssembled
                : checkpoint -> {};
    }
}
