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

import static org.apache.flink.util.Preconditions.checkNotNull;

import dev.dstl.compat.StateTracking;
import java.util.HashMap;
import java.util.Map;
import javax.annotation.Nullable;
import org.apache.flink.api.common.ExecutionConfig;
import org.apache.flink.api.common.state.State;
import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.KeyedStateBackend;
import org.apache.flink.runtime.state.internal.InternalKvState;
import org.apache.flink.runtime.state.ttl.TtlStateFactory;
import org.apache.flink.runtime.state.ttl.TtlTimeProvider;

/**
 * The states that the job has registered, in the form in which it uses them: logged, with time to
 * live and latency tracking. Caches the latest one, since operators request their state with every
 * record. Used by the task thread.
 *
 * @param <K> type of the key
 */
final class RegisteredStates<K> {

    private final KeyedStateBackend<K> logged;
    private final AbstractKeyedStateBackend<K> delegate;
    private final ExecutionConfig executionConfig;
    private final TtlTimeProvider timeToLive;
    private final Map<String, InternalKvState<K, ?, ?>> byName = new HashMap<>();

    @Nullable private String lastName;
    @Nullable private InternalKvState<K, ?, ?> last;

    /**
     * Creates an empty set.
     *
     * @param logged creates logged states
     * @param delegate has the settings of latency tracking and queryable state
     */
    RegisteredStates(
            KeyedStateBackend<K> logged,
            AbstractKeyedStateBackend<K> delegate,
            ExecutionConfig executionConfig,
            TtlTimeProvider timeToLive) {
        this.logged = logged;
        this.delegate = delegate;
        this.executionConfig = executionConfig;
        this.timeToLive = timeToLive;
    }

    @SuppressWarnings("unchecked") // The name decides the type of the state.
    <N, S extends State> S partitioned(
            N namespace, TypeSerializer<N> namespaceSerializer, StateDescriptor<S, ?> descriptor)
            throws Exception {
        checkNotNull(namespace, "Namespace");
        if (!descriptor.getName().equals(lastName)) {
            S state = getOrCreate(namespaceSerializer, descriptor);
            last = (InternalKvState<K, ?, ?>) state;
            lastName = descriptor.getName();
        }
        ((InternalKvState<K, N, ?>) last).setCurrentNamespace(namespace);
        return (S) last;
    }

    @SuppressWarnings("unchecked") // The name decides the type of the state.
    <N, S extends State, V> S getOrCreate(
            TypeSerializer<N> namespaceSerializer, StateDescriptor<S, V> descriptor)
            throws Exception {
        checkNotNull(namespaceSerializer, "Namespace serializer");
        checkNotNull(logged.getKeySerializer(), "Keyed state on a stream without a key");
        InternalKvState<K, ?, ?> state = byName.get(descriptor.getName());
        if (state == null) {
            if (!descriptor.isSerializerInitialized()) {
                descriptor.initializeSerializerUnlessSet(executionConfig);
            }
            state =
                    StateTracking.track(
                            TtlStateFactory.createStateAndWrapWithTtlIfEnabled(
                                    namespaceSerializer, descriptor, logged, timeToLive),
                            descriptor,
                            delegate);
            byName.put(descriptor.getName(), state);
            delegate.publishQueryableStateIfEnabled(descriptor, state);
        }
        return (S) state;
    }

    void clear() {
        byName.clear();
        lastName = null;
        last = null;
    }
}
