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

package dev.dstl.compat;

import java.io.Closeable;
import java.io.IOException;
import javax.annotation.Nullable;
import org.apache.flink.api.common.state.State;
import org.apache.flink.api.common.state.StateTtlConfig;
import org.apache.flink.api.common.state.v2.StateDescriptor;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.runtime.asyncprocessing.StateRequestHandler;
import org.apache.flink.runtime.state.CheckpointableKeyedStateBackend;
import org.apache.flink.runtime.state.v2.StateDescriptorUtils;
import org.apache.flink.runtime.state.v2.adaptor.AsyncKeyedStateBackendAdaptor;
import org.apache.flink.runtime.state.v2.internal.InternalKeyedState;
import org.apache.flink.util.IOUtils;

/**
 * A synchronous keyed backend for an operator with asynchronous state. Flink's own adaptor neither
 * closes nor disposes the backend, an operator with asynchronous state is not told which
 * checkpoints are subsumed, a static timer of Flink keeps its task in memory, and Flink's adaptor
 * forgets that a state has a time to live. Used by the task thread; closed by any.
 *
 * @param <K> type of the key
 */
final class OwningAsyncKeyedStateBackend<K> extends AsyncKeyedStateBackendAdaptor<K> {

    private static final long NONE = -1;

    private long completed = NONE;
    @Nullable private StateRequestHandler requests;

    /** Creates an adaptor that owns {@code backend}. */
    OwningAsyncKeyedStateBackend(CheckpointableKeyedStateBackend<K> backend) {
        super(backend);
    }

    @Override
    public void setup(StateRequestHandler stateRequestHandler) {
        super.setup(stateRequestHandler);
        requests = stateRequestHandler;
    }

    /**
     * Registers a state with its time to live, which Flink's adaptor does not pass on. The adaptor
     * then finds the state under its name.
     */
    @Override
    @SuppressWarnings({"rawtypes", "TypeParameterUnusedInFormals"}) // as what it overrides
    public <N, S extends InternalKeyedState, SV> S createStateInternal(
            N defaultNamespace,
            TypeSerializer<N> namespaceSerializer,
            StateDescriptor<SV> descriptor)
            throws Exception {
        StateTtlConfig timeToLive = descriptor.getTtlConfig();
        if (timeToLive.isEnabled()) {
            org.apache.flink.api.common.state.StateDescriptor<?, ?> synchronous =
                    StateDescriptorUtils.transformFromV2ToV1(descriptor);
            synchronous.enableTimeToLive(timeToLive);
            State unused =
                    getKeyedStateBackend()
                            .getPartitionedState(
                                    defaultNamespace, namespaceSerializer, synchronous);
        }
        return super.createStateInternal(defaultNamespace, namespaceSerializer, descriptor);
    }

    /**
     * Reports a completed checkpoint, and that the one completed before it is subsumed: a job that
     * fails does not return to it.
     */
    @Override
    public void notifyCheckpointComplete(long checkpointId) throws Exception {
        super.notifyCheckpointComplete(checkpointId);
        if (completed < checkpointId) {
            long before = completed;
            completed = checkpointId;
            if (before != NONE) {
                notifyCheckpointSubsumed(before);
            }
        }
    }

    @Override
    public void close() throws IOException {
        getKeyedStateBackend().close();
    }

    @Override
    public void dispose() {
        try {
            getKeyedStateBackend().dispose();
        } finally {
            // Nobody else ends the timer that looks for requests that wait too long.
            if (requests instanceof Closeable) {
                IOUtils.closeQuietly((Closeable) requests);
            }
        }
    }
}
