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

package dev.dstl.changelog;

import static org.apache.flink.util.Preconditions.checkNotNull;

import dev.dstl.changelog.config.MemoryStorage;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.runtime.state.CheckpointableKeyedStateBackend;
import org.apache.flink.runtime.state.ConfigurableStateBackend;
import org.apache.flink.runtime.state.OperatorStateBackend;
import org.apache.flink.runtime.state.StateBackend;
import org.apache.flink.runtime.state.delegate.DelegatingStateBackend;

/**
 * The changelog backend for {@code env.setStateBackend(...)}:
 *
 * <pre>{@code
 * env.setStateBackend(new DstlStateBackend(new EmbeddedRocksDBStateBackend(true)));
 * }</pre>
 *
 * <p>Serialized with the job. Flink configures it on the JobManager and in every task, which
 * creates the backend, or fails if the jars are not in {@code lib/}. No other setting is needed;
 * {@code state.changelog.enabled: true} is compatible, and required for local recovery.
 */
public final class DstlStateBackend implements DelegatingStateBackend, ConfigurableStateBackend {

    private static final long serialVersionUID = 1L;

    private final StateBackend delegate;

    /**
     * Creates a changelog state backend.
     *
     * @param delegate holds the state: RocksDB, heap or any other backend whose keyed backend is an
     *     {@link org.apache.flink.runtime.state.AbstractKeyedStateBackend}
     */
    public DstlStateBackend(StateBackend delegate) {
        this.delegate = checkNotNull(delegate, "delegate");
    }

    /**
     * {@inheritDoc} Called on the JobManager when a job is submitted, and in every task.
     *
     * @throws dev.dstl.changelog.config.MisconfigurationException if the jars are misplaced, or if
     *     the changelog would be in memory although checkpoints go to a directory
     */
    @Override
    public StateBackend configure(ReadableConfig config, ClassLoader classLoader) {
        MemoryStorage.refuseWithDurableCheckpoints(config);
        return ShimLoader.wrap(
                delegate instanceof ConfigurableStateBackend
                        ? ((ConfigurableStateBackend) delegate).configure(config, classLoader)
                        : delegate,
                classLoader);
    }

    @Override
    public StateBackend getDelegatedStateBackend() {
        return delegate;
    }

    @Override
    public boolean useManagedMemory() {
        return delegate.useManagedMemory();
    }

    @Override
    public boolean supportsNoClaimRestoreMode() {
        return delegate.supportsNoClaimRestoreMode();
    }

    @Override
    public boolean supportsSavepointFormat(SavepointFormatType format) {
        return delegate.supportsSavepointFormat(format);
    }

    @Override
    public <K> CheckpointableKeyedStateBackend<K> createKeyedStateBackend(
            KeyedStateBackendParameters<K> parameters) throws Exception {
        return ShimLoader.wrap(
                        delegate, parameters.getEnv().getUserCodeClassLoader().asClassLoader())
                .createKeyedStateBackend(parameters);
    }

    @Override
    public OperatorStateBackend createOperatorStateBackend(
            OperatorStateBackendParameters parameters) throws Exception {
        return delegate.createOperatorStateBackend(parameters);
    }
}
