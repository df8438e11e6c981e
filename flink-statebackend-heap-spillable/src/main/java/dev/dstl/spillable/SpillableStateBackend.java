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

import dev.dstl.compat.TrackingStateBackend;
import dev.dstl.spillable.config.SpillConfig;
import java.io.IOException;
import javax.annotation.Nullable;
import org.apache.flink.annotation.VisibleForTesting;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.BackendBuildingException;
import org.apache.flink.runtime.state.ConfigurableStateBackend;
import org.apache.flink.runtime.state.DefaultOperatorStateBackendBuilder;
import org.apache.flink.runtime.state.OperatorStateBackend;
import org.apache.flink.runtime.state.heap.HeapPriorityQueueSetFactory;

/**
 * A state backend that keeps state as objects on the heap and, before the heap runs out, moves the
 * coldest of it to chunk files. Reads and writes the snapshots of Flink's HashMapStateBackend.
 *
 * <p>Immutable; created on the client or from the configuration, used on every task.
 */
public final class SpillableStateBackend extends TrackingStateBackend
        implements ConfigurableStateBackend {

    private static final long serialVersionUID = 1L;

    private static final int MINIMUM_QUEUE_CAPACITY = 128;

    /**
     * Null for the defaults. Flink configures a backend that was shipped to a cluster again, and
     * high availability stores what was shipped for later releases, so options are no part of it.
     */
    @Nullable private final transient SpillConfig config;

    @Nullable private final transient MoverFactory moverFactory;

    /** With the default configuration; {@link #configure} makes one with the job's. */
    public SpillableStateBackend() {
        this((SpillConfig) null, null);
    }

    @VisibleForTesting
    SpillableStateBackend(@Nullable SpillConfig config, @Nullable MoverFactory moverFactory) {
        this.config = config;
        this.moverFactory = moverFactory;
    }

    private SpillableStateBackend(SpillableStateBackend original, ReadableConfig config) {
        super(original, config);
        this.config = SpillConfig.of(config);
        this.moverFactory = original.moverFactory;
    }

    @Override
    public SpillableStateBackend configure(ReadableConfig config, ClassLoader classLoader) {
        return new SpillableStateBackend(this, config);
    }

    @Override
    public boolean useManagedMemory() {
        return true;
    }

    @Override
    public boolean supportsNoClaimRestoreMode() {
        return true;
    }

    @Override
    public boolean supportsSavepointFormat(SavepointFormatType formatType) {
        return true;
    }

    @Override
    public <K> AbstractKeyedStateBackend<K> createKeyedStateBackend(
            KeyedStateBackendParameters<K> parameters) throws IOException {
        return new SpillableKeyedStateBackendBuilder<>(
                        parameters,
                        tracking(parameters.getMetricGroup()),
                        getCompressionDecorator(parameters.getEnv().getExecutionConfig()),
                        new HeapPriorityQueueSetFactory(
                                parameters.getKeyGroupRange(),
                                parameters.getNumberOfKeyGroups(),
                                MINIMUM_QUEUE_CAPACITY),
                        config == null ? SpillConfig.defaults() : config,
                        moverFactory)
                .build();
    }

    @Override
    public OperatorStateBackend createOperatorStateBackend(
            OperatorStateBackendParameters parameters) throws BackendBuildingException {
        return new DefaultOperatorStateBackendBuilder(
                        parameters.getEnv().getUserCodeClassLoader().asClassLoader(),
                        parameters.getEnv().getExecutionConfig(),
                        true,
                        parameters.getStateHandles(),
                        parameters.getCancelStreamRegistry())
                .build();
    }
}
