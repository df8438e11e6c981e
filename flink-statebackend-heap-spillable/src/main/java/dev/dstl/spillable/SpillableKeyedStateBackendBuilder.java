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

import dev.dstl.spillable.registry.RegisteredStates;
import dev.dstl.spillable.restore.CanonicalRestore;
import dev.dstl.spillable.restore.HeapFormatRestore;
import dev.dstl.spillable.snapshot.HeapFormatSnapshot;
import dev.dstl.spillable.table.CurrentKey;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.runtime.state.AbstractKeyedStateBackendBuilder;
import org.apache.flink.runtime.state.BackendBuildingException;
import org.apache.flink.runtime.state.SavepointKeyedStateHandle;
import org.apache.flink.runtime.state.StateBackend;
import org.apache.flink.runtime.state.StreamCompressionDecorator;
import org.apache.flink.runtime.state.heap.HeapPriorityQueueSetFactory;
import org.apache.flink.runtime.state.metrics.LatencyTrackingStateConfig;

/** Wires one keyed backend and restores its state. Runs once, on the task thread. */
final class SpillableKeyedStateBackendBuilder<K> extends AbstractKeyedStateBackendBuilder<K> {

    private final StateBackend.KeyedStateBackendParameters<K> parameters;
    private final HeapPriorityQueueSetFactory queueFactory;

    SpillableKeyedStateBackendBuilder(
            StateBackend.KeyedStateBackendParameters<K> parameters,
            LatencyTrackingStateConfig latencyTrackingStateConfig,
            StreamCompressionDecorator compression,
            HeapPriorityQueueSetFactory queueFactory) {
        super(
                parameters.getKvStateRegistry(),
                parameters.getKeySerializer(),
                parameters.getEnv().getUserCodeClassLoader().asClassLoader(),
                parameters.getNumberOfKeyGroups(),
                parameters.getKeyGroupRange(),
                parameters.getEnv().getExecutionConfig(),
                parameters.getTtlTimeProvider(),
                latencyTrackingStateConfig,
                parameters.getStateHandles(),
                compression,
                parameters.getCancelStreamRegistry());
        this.parameters = parameters;
        this.queueFactory = queueFactory;
    }

    @Override
    public SpillableKeyedStateBackend<K> build() throws BackendBuildingException {
        CurrentKey<K> currentKey = new CurrentKey<>(keyGroupRange, numberOfKeyGroups);
        RegisteredStates<K> states = new RegisteredStates<>(currentKey, queueFactory);
        restore(states);
        TypeSerializer<K> keySerializer = keySerializerProvider.currentSchemaSerializer();
        HeapFormatSnapshot<K> snapshot =
                new HeapFormatSnapshot<>(
                        states,
                        keyGroupRange,
                        numberOfKeyGroups,
                        keySerializer,
                        keyGroupCompressionDecorator,
                        parameters.getEnv().getTaskStateManager().createLocalRecoveryConfig());
        return new SpillableKeyedStateBackend<>(
                kvStateRegistry,
                keySerializer,
                userCodeClassLoader,
                executionConfig,
                ttlTimeProvider,
                latencyTrackingStateConfig,
                new CloseableRegistry(),
                keyGroupCompressionDecorator,
                currentKey,
                states,
                queueFactory,
                snapshot);
    }

    private void restore(RegisteredStates<K> states) throws BackendBuildingException {
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
                                userCodeClassLoader)
                        .restore(restoreStateHandles);
            } else {
                new HeapFormatRestore<>(
                                states,
                                keySerializerProvider,
                                keyGroupRange,
                                userCodeClassLoader,
                                cancelStreamRegistry)
                        .restore(restoreStateHandles);
            }
        } catch (Exception e) {
            throw new BackendBuildingException("Failed to restore the spillable backend", e);
        }
    }
}
