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

package dev.dstl.changelog.restore;

import dev.dstl.changelog.metrics.RestoreMetrics;
import dev.dstl.changelog.metrics.RestoreRate;
import dev.dstl.changelog.record.StateRegistration;
import dev.dstl.changelog.replay.LogReplayer;
import dev.dstl.changelog.schema.SchemaHistory;
import dev.dstl.changelog.schema.SchemaVersion;
import dev.dstl.changelog.sorting.ReplayOrder;
import dev.dstl.log.api.RestoredFiles;
import java.io.IOException;
import java.util.List;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.runtime.execution.Environment;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.BackendBuildingException;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.filesystem.FileStateHandle;
import org.apache.flink.util.IOUtils;
import org.apache.flink.util.StateMigrationException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Restores a delegate: first the base, then the changelogs on top. Used by the task thread;
 * cancelling the task closes open streams. Closes everything it opened if it fails.
 *
 * @param <K> type of the key
 */
public final class RestoreOperation<K> {

    private static final Logger LOG = LoggerFactory.getLogger(RestoreOperation.class);

    private final Environment environment;
    private final CloseableRegistry cancelRegistry;
    private final TypeSerializer<K> keySerializer;
    private final DelegateFactory<K> delegates;
    private final RestoreMetrics metrics;

    /**
     * Creates an operation.
     *
     * @param environment of the task
     * @param cancelRegistry closed when the task is cancelled
     * @param keySerializer key serializer of the job
     * @param delegates creates a delegate from snapshots
     * @param metrics receive the progress
     */
    public RestoreOperation(
            Environment environment,
            CloseableRegistry cancelRegistry,
            TypeSerializer<K> keySerializer,
            DelegateFactory<K> delegates,
            RestoreMetrics metrics) {
        this.environment = environment;
        this.cancelRegistry = cancelRegistry;
        this.keySerializer = keySerializer;
        this.delegates = delegates;
        this.metrics = metrics;
    }

    /**
     * Restores a delegate.
     *
     * @param keyGroups of the task
     * @param restored snapshots and changelogs
     * @param snapshots snapshots of {@code restored} in the form that the delegate shall know
     * @return the delegate is owned by the caller
     * @throws Exception if the state cannot be restored; nothing is left open then
     */
    public RestoredDelegate<K> restore(
            KeyGroupRange keyGroups, RestoredHandles restored, List<KeyedStateHandle> snapshots)
            throws Exception {
        try (LogReaders readers =
                        new LogReaders(
                                environment.getTaskStateManager(),
                                environment.getTaskManagerInfo().getConfiguration(),
                                metrics::readRetried);
                SortedLogs logs =
                        new SortedLogs(
                                restored.logs(),
                                keyGroups,
                                delegates.replayOrder(),
                                delegates.replayOrder() == ReplayOrder.BY_KEY
                                                && delegates.timersOnHeap()
                                        ? StateRegistration::isOfTimers
                                        : registration -> false,
                                readers)) {
            cancelRegistry.registerCloseable(logs);
            try {
                return restore(
                        keyGroups, restored, bases(restored, snapshots, readers), snapshots, logs);
            } finally {
                cancelRegistry.unregisterCloseable(logs);
            }
        } catch (StateMigrationException e) {
            throw new BackendBuildingException(e.getMessage(), e);
        }
    }

    private RestoredDelegate<K> restore(
            KeyGroupRange keyGroups,
            RestoredHandles restored,
            BaseRestore<K> bases,
            List<KeyedStateHandle> snapshots,
            SortedLogs logs)
            throws Exception {
        RestoreProgress progress =
                new RestoreProgress(
                        environment.getTaskInfo().getTaskNameWithSubtasks(),
                        metrics,
                        RestoreRate.ofChangelogs(),
                        RestoreRate.ofBases(),
                        System::nanoTime);
        progress.changelogs(logs.count(), logs.bytes(), logs.knowAllBytes());
        SchemaHistory history = new SchemaHistory();
        RestoredBase<K> base =
                restored.basesOverlap()
                        ? restoreSeparately(bases, keyGroups, restored, history)
                        : bases.restore(keyGroups, snapshots, history, false);
        AbstractKeyedStateBackend<K> delegate = base.delegate();
        progress.baseLoaded(
                snapshots.stream().mapToLong(KeyedStateHandle::getStateSize).sum(),
                !restored.isLocal());
        try {
            try (LogReplayer<K> replayer = new LogReplayer<>(base.states(), userClassLoader())) {
                logs.replay(replayer, progress);
            }
            progress.finished(logs.recordsRead());
            return new RestoredDelegate<>(
                    delegate,
                    history,
                    restored.needFullSnapshot()
                            || base.ofSeveralVersions()
                            || !history.hasOnlyKeys(SchemaVersion.of(delegate.getKeySerializer())),
                    logs.bytesOfUnknownSize());
        } catch (Throwable t) {
            IOUtils.closeQuietly(delegate);
            delegate.dispose();
            throw t;
        }
    }

    private BaseRestore<K> bases(
            RestoredHandles restored, List<KeyedStateHandle> snapshots, LogReaders readers)
            throws IOException {
        RestoredFiles files =
                snapshots.isEmpty() ? FileStateHandle::openInputStream : readers.files();
        return new BaseRestore<>(
                reading(files),
                snapshots.isEmpty()
                        ? new KeysOfLog(readers, userClassLoader())
                                .serializer(keySerializer, restored.logs())
                        : keySerializer,
                new SnapshotSchemas(files, userClassLoader(), cancelRegistry));
    }

    private DelegateFactory<K> reading(RestoredFiles files) {
        return (keyGroups, keys, snapshots, onlyRead) -> {
            try (RetriedSnapshots retried = new RetriedSnapshots(files, delegates.download())) {
                try {
                    return delegates.create(
                            keyGroups, keys, BufferedSnapshots.of(retried.of(snapshots)), onlyRead);
                } catch (Exception e) {
                    throw retried.failure(e);
                }
            }
        };
    }

    private ClassLoader userClassLoader() {
        return environment.getUserCodeClassLoader().asClassLoader();
    }

    private RestoredBase<K> restoreSeparately(
            BaseRestore<K> delegate,
            KeyGroupRange keyGroups,
            RestoredHandles restored,
            SchemaHistory history)
            throws Exception {
        LOG.info(
                "The bases of {} overlap after changes of parallelism and are separated first",
                environment.getTaskInfo().getTaskNameWithSubtasks());
        try (OverlappingBases<K> bases =
                new OverlappingBases<>(
                        environment.getTaskManagerInfo().getTmpWorkingDirectory().toPath(),
                        delegate,
                        cancelRegistry)) {
            return delegate.restore(keyGroups, bases.cut(restored.bases()), history, false);
        }
    }
}
