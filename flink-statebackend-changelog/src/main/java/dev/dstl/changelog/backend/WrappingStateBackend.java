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

import dev.dstl.changelog.delegate.DelegateStates;
import dev.dstl.changelog.delegate.RocksDbBackend;
import dev.dstl.changelog.metrics.RestoreMetrics;
import dev.dstl.changelog.metrics.RestoreRate;
import dev.dstl.changelog.restore.DelegateFactory;
import dev.dstl.changelog.restore.RestoreOperation;
import dev.dstl.changelog.restore.RestoredHandles;
import dev.dstl.changelog.sorting.ReplayOrder;
import dev.dstl.compat.AsynchronousStateBackend;
import java.io.IOException;
import java.util.List;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.metrics.groups.UnregisteredMetricsGroup;
import org.apache.flink.runtime.query.KvStateRegistry;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.CheckpointableKeyedStateBackend;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyedStateBackendParametersImpl;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.OperatorStateBackend;
import org.apache.flink.runtime.state.StateBackend;
import org.apache.flink.runtime.state.delegate.DelegatingStateBackend;
import org.apache.flink.util.IOUtils;

/**
 * A state backend that stores all state in another one. Created on the JobManager and in every
 * task; creating it accesses nothing.
 */
public abstract class WrappingStateBackend
        implements DelegatingStateBackend, AsynchronousStateBackend {

    private static final long serialVersionUID = 1L;

    private final StateBackend delegate;

    /**
     * Creates the backend.
     *
     * @param backend the delegate, or a changelog state backend around it, which is removed: both a
     *     key and the job may have asked for a changelog
     */
    protected WrappingStateBackend(StateBackend backend) {
        StateBackend innermost = backend;
        while (innermost instanceof DelegatingStateBackend) {
            innermost = ((DelegatingStateBackend) innermost).getDelegatedStateBackend();
        }
        this.delegate = innermost;
    }

    @Override
    public final StateBackend getDelegatedStateBackend() {
        return delegate;
    }

    @Override
    public final OperatorStateBackend createOperatorStateBackend(
            OperatorStateBackendParameters parameters) throws Exception {
        return delegate.createOperatorStateBackend(parameters);
    }

    @Override
    public final boolean useManagedMemory() {
        return delegate.useManagedMemory();
    }

    @Override
    public final boolean supportsSavepointFormat(SavepointFormatType format) {
        return delegate.supportsSavepointFormat(format);
    }

    @Override
    public final boolean supportsNoClaimRestoreMode() {
        return delegate.supportsNoClaimRestoreMode();
    }

    /**
     * Returns a keyed backend of the delegate after a replay of the restored changelog. It records
     * no further changes.
     */
    final <K> CheckpointableKeyedStateBackend<K> replayed(KeyedStateBackendParameters<K> parameters)
            throws Exception {
        RestoredHandles restored =
                RestoredHandles.of(parameters.getKeyGroupRange(), parameters.getStateHandles());
        AbstractKeyedStateBackend<K> delegate =
                new RestoreOperation<>(
                                parameters.getEnv(),
                                parameters.getCancelStreamRegistry(),
                                parameters.getKeySerializer(),
                                this.<K>delegates(parameters),
                                RestoreMetrics.of(
                                        parameters.getMetricGroup(),
                                        RestoreRate.ofChangelogs()::bytesPerSecond))
                        .restore(
                                parameters.getKeyGroupRange(),
                                restored,
                                restored.snapshotsBoundToCheckpoints())
                        .delegate();
        try {
            DelegateStates.forgetRegistrations(delegate);
            return delegate;
        } catch (Throwable t) {
            IOUtils.closeQuietly(delegate);
            delegate.dispose();
            throw t;
        }
    }

    /** Returns a factory of the delegate's keyed backends. */
    final <K> DelegateFactory<K> delegates(KeyedStateBackendParameters<K> parameters) {
        return new DelegateFactory<>() {
            @Override
            public AbstractKeyedStateBackend<K> create(
                    KeyGroupRange keyGroups,
                    TypeSerializer<K> keySerializer,
                    List<KeyedStateHandle> snapshots,
                    boolean onlyRead)
                    throws Exception {
                return checked(
                        delegate.createKeyedStateBackend(
                                restoring(
                                        parameters,
                                        keyGroups,
                                        keySerializer,
                                        snapshots,
                                        onlyRead)));
            }

            @Override
            public boolean download() {
                return RocksDbBackend.downloadsFiles(delegate);
            }

            @Override
            public ReplayOrder replayOrder() {
                return RocksDbBackend.is(delegate) ? ReplayOrder.BY_KEY : ReplayOrder.AS_WRITTEN;
            }

            @Override
            public boolean timersOnHeap() {
                return !RocksDbBackend.keepsTimers(delegate);
            }
        };
    }

    /**
     * Returns parameters. A backend that is only read has no metrics, and a registry of its own for
     * queryable states: when it is disposed of, it removes all that are registered for the task.
     */
    private static <K> KeyedStateBackendParameters<K> restoring(
            KeyedStateBackendParameters<K> parameters,
            KeyGroupRange keyGroups,
            TypeSerializer<K> keySerializer,
            List<KeyedStateHandle> snapshots,
            boolean onlyRead) {
        return new KeyedStateBackendParametersImpl<>(
                parameters.getEnv(),
                parameters.getJobID(),
                parameters.getOperatorIdentifier(),
                keySerializer,
                parameters.getNumberOfKeyGroups(),
                keyGroups,
                onlyRead
                        ? new KvStateRegistry()
                                .createTaskRegistry(
                                        parameters.getJobID(), parameters.getEnv().getJobVertexId())
                        : parameters.getKvStateRegistry(),
                parameters.getTtlTimeProvider(),
                onlyRead ? new UnregisteredMetricsGroup() : parameters.getMetricGroup(),
                onlyRead ? (name, value) -> {} : parameters.getCustomInitializationMetrics(),
                List.copyOf(snapshots),
                parameters.getCancelStreamRegistry(),
                parameters.getManagedMemoryFraction());
    }

    private <K> AbstractKeyedStateBackend<K> checked(CheckpointableKeyedStateBackend<K> keyed)
            throws IOException {
        if (keyed instanceof AbstractKeyedStateBackend) {
            return (AbstractKeyedStateBackend<K>) keyed;
        }
        keyed.close();
        keyed.dispose();
        throw new UnsupportedOperationException(
                String.format(
                        "%s cannot be the delegate of a changelog because its keyed backend is"
                                + " not an AbstractKeyedStateBackend; use another"
                                + " 'state.backend.type' or set 'state.changelog.enabled: false'.",
                        delegate.getClass().getName()));
    }
}
