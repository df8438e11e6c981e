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

package dev.dstl.changelog.checkpoint;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RunnableFuture;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.runtime.checkpoint.CheckpointOptions;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.CheckpointBoundKeyedStateHandle;
import org.apache.flink.runtime.state.CheckpointStreamFactory;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.SavepointResources;
import org.apache.flink.runtime.state.SavepointSnapshotStrategy;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.SnapshotStrategyRunner;
import org.apache.flink.runtime.state.StateUtil;
import org.apache.flink.util.concurrent.FutureUtils;

/**
 * Savepoints in the delegate's native format. They contain no changelog and equal those of the
 * delegate alone, so a job can be restored from them without the changelog state backend. Used by
 * the task thread.
 *
 * @param <K> type of the key
 */
final class NativeSavepoints<K> {

    private final AbstractKeyedStateBackend<K> delegate;
    private final boolean omitTimers;
    private final CloseableRegistry cancelRegistry;

    /**
     * Creates savepoints.
     *
     * @param omitTimers whether the delegate's native format lacks timers; savepoints are then
     *     written in the canonical format, which has them
     * @param cancelRegistry closes open streams when the task is cancelled
     */
    NativeSavepoints(
            AbstractKeyedStateBackend<K> delegate,
            boolean omitTimers,
            CloseableRegistry cancelRegistry) {
        this.delegate = delegate;
        this.omitTimers = omitTimers;
        this.cancelRegistry = cancelRegistry;
    }

    /**
     * Starts a savepoint.
     *
     * @param snapshotId id that the delegate has not seen before
     */
    CheckpointFuture take(
            long snapshotId,
            long checkpointId,
            long timestamp,
            CheckpointStreamFactory streams,
            CheckpointOptions options)
            throws Exception {
        RunnableFuture<SnapshotResult<KeyedStateHandle>> snapshot =
                omitTimers
                        ? canonical(checkpointId, timestamp, streams, options)
                        : delegate.snapshot(snapshotId, timestamp, streams, options);
        return follow(checkpointId, snapshot);
    }

    /**
     * Returns a future of the savepoint that {@code snapshot} writes. If it is cancelled, files
     * that are written afterwards are deleted.
     */
    static CheckpointFuture follow(
            long checkpointId, RunnableFuture<SnapshotResult<KeyedStateHandle>> snapshot) {
        CompletableFuture<SnapshotResult<KeyedStateHandle>> result = new CompletableFuture<>();
        CompletableFuture<?> unused =
                result.whenComplete(
                        (ignored, failure) -> {
                            if (failure != null) {
                                snapshot.cancel(true);
                            }
                        });
        return CheckpointFuture.of(
                () -> {
                    try {
                        SnapshotResult<KeyedStateHandle> savepoint =
                                bind(checkpointId, FutureUtils.runIfNotDoneAndGet(snapshot));
                        if (!result.complete(savepoint)) {
                            StateUtil.discardStateObjectQuietly(savepoint);
                        }
                    } catch (Throwable t) {
                        result.completeExceptionally(t);
                    }
                },
                result);
    }

    private RunnableFuture<SnapshotResult<KeyedStateHandle>> canonical(
            long checkpointId,
            long timestamp,
            CheckpointStreamFactory streams,
            CheckpointOptions options)
            throws Exception {
        SavepointResources<K> resources = delegate.savepoint();
        return new SnapshotStrategyRunner<>(
                        "Savepoint with timers",
                        new SavepointSnapshotStrategy<>(resources.getSnapshotResources()),
                        cancelRegistry,
                        resources.getPreferredSnapshotExecutionType())
                .snapshot(checkpointId, timestamp, streams, options);
    }

    /**
     * Replaces the snapshot id by the checkpoint id, under which Flink knows the savepoint, and
     * drops the local copy.
     */
    private static SnapshotResult<KeyedStateHandle> bind(
            long checkpointId, SnapshotResult<KeyedStateHandle> result) {
        if (result.getTaskLocalSnapshot() != null) {
            StateUtil.discardStateObjectQuietly(result.getTaskLocalSnapshot());
        }
        KeyedStateHandle handle = result.getJobManagerOwnedSnapshot();
        if (handle instanceof CheckpointBoundKeyedStateHandle) {
            handle = ((CheckpointBoundKeyedStateHandle) handle).rebound(checkpointId);
        }
        return handle == null ? SnapshotResult.empty() : SnapshotResult.of(handle);
    }
}
