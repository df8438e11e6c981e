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

import java.util.Collection;
import java.util.Collections;
import java.util.concurrent.RunnableFuture;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.metrics.groups.UnregisteredMetricsGroup;
import org.apache.flink.runtime.checkpoint.CheckpointOptions;
import org.apache.flink.runtime.checkpoint.SnapshotType;
import org.apache.flink.runtime.execution.Environment;
import org.apache.flink.runtime.operators.testutils.MockEnvironment;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.CheckpointStorageLocationReference;
import org.apache.flink.runtime.state.CheckpointStreamFactory;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyedStateBackendParametersImpl;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.SavepointSnapshotStrategy;
import org.apache.flink.runtime.state.SnapshotExecutionType;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.SnapshotStrategyRunner;
import org.apache.flink.runtime.state.StateBackend;
import org.apache.flink.runtime.state.memory.MemCheckpointStreamFactory;
import org.apache.flink.runtime.state.ttl.TtlTimeProvider;

/** Creates keyed backends and takes snapshots of them, without a job. */
public final class KeyedBackends {

    private static final MemCheckpointStreamFactory STREAMS =
            new MemCheckpointStreamFactory(1 << 30);

    private KeyedBackends() {}

    public static <K> AbstractKeyedStateBackend<K> create(
            StateBackend backend,
            TypeSerializer<K> keySerializer,
            int numberOfKeyGroups,
            KeyGroupRange range,
            Collection<KeyedStateHandle> handles)
            throws Exception {
        return create(
                backend,
                keySerializer,
                numberOfKeyGroups,
                range,
                handles,
                new UnregisteredMetricsGroup());
    }

    public static <K> AbstractKeyedStateBackend<K> create(
            StateBackend backend,
            TypeSerializer<K> keySerializer,
            int numberOfKeyGroups,
            KeyGroupRange range,
            Collection<KeyedStateHandle> handles,
            MetricGroup metrics)
            throws Exception {
        return create(
                backend,
                keySerializer,
                numberOfKeyGroups,
                range,
                handles,
                metrics,
                MockEnvironment.builder().build());
    }

    public static <K> AbstractKeyedStateBackend<K> create(
            StateBackend backend,
            TypeSerializer<K> keySerializer,
            int numberOfKeyGroups,
            KeyGroupRange range,
            Collection<KeyedStateHandle> handles,
            MetricGroup metrics,
            Environment environment)
            throws Exception {
        return (AbstractKeyedStateBackend<K>)
                backend.createKeyedStateBackend(
                        new KeyedStateBackendParametersImpl<>(
                                environment,
                                new JobID(),
                                "operator",
                                keySerializer,
                                numberOfKeyGroups,
                                range,
                                null,
                                TtlTimeProvider.DEFAULT,
                                metrics,
                                (name, value) -> {},
                                handles,
                                new CloseableRegistry(),
                                1.0));
    }

    /** Runs the synchronous part of a checkpoint. */
    public static RunnableFuture<SnapshotResult<KeyedStateHandle>> checkpoint(
            AbstractKeyedStateBackend<?> backend, long id) throws Exception {
        return backend.snapshot(
                id, 0, STREAMS, CheckpointOptions.forCheckpointWithDefaultLocation());
    }

    /** Runs the synchronous part of a checkpoint that is written to {@code streams}. */
    public static RunnableFuture<SnapshotResult<KeyedStateHandle>> checkpoint(
            AbstractKeyedStateBackend<?> backend,
            long id,
            CheckpointStreamFactory streams,
            SnapshotType type)
            throws Exception {
        return backend.snapshot(
                id,
                0,
                streams,
                new CheckpointOptions(type, CheckpointStorageLocationReference.getDefault()));
    }

    /** Runs the synchronous part of a canonical savepoint. */
    public static <K> RunnableFuture<SnapshotResult<KeyedStateHandle>> savepoint(
            AbstractKeyedStateBackend<K> backend, long id) throws Exception {
        return new SnapshotStrategyRunner<>(
                        "savepoint",
                        new SavepointSnapshotStrategy<>(backend.savepoint().getSnapshotResources()),
                        new CloseableRegistry(),
                        SnapshotExecutionType.ASYNCHRONOUS)
                .snapshot(id, 0, STREAMS, CheckpointOptions.forCheckpointWithDefaultLocation());
    }

    public static void run(RunnableFuture<?> snapshot) throws Exception {
        snapshot.run();
        snapshot.get();
    }

    public static Collection<KeyedStateHandle> handles(
            RunnableFuture<SnapshotResult<KeyedStateHandle>> snapshot) throws Exception {
        snapshot.run();
        KeyedStateHandle handle = snapshot.get().getJobManagerOwnedSnapshot();
        return handle == null ? Collections.emptyList() : Collections.singletonList(handle);
    }
}
