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

package dev.dstl.changelog.state;

import dev.dstl.changelog.mutation.MutationLog;
import java.io.IOException;
import org.apache.flink.api.common.state.State;
import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.KeyGroupedInternalPriorityQueue;
import org.apache.flink.runtime.state.Keyed;
import org.apache.flink.runtime.state.PriorityComparable;
import org.apache.flink.runtime.state.StateSnapshotTransformer.StateSnapshotTransformFactory;
import org.apache.flink.runtime.state.heap.HeapPriorityQueueElement;

/**
 * The logged states of one keyed backend by name. Knows only what the job registered, nothing that
 * a restore created in the delegate. Belongs to the task thread; delegate and log stay their
 * creator's.
 *
 * @param <K> type of the key
 */
public final class LoggedStateRegistry<K> {

    private final AbstractKeyedStateBackend<K> delegate;
    private final MutationLog log;

    /**
     * @param delegate where the state lives
     * @param log where mutations go
     */
    public LoggedStateRegistry(AbstractKeyedStateBackend<K> delegate, MutationLog log) {
        this.delegate = delegate;
        this.log = log;
    }

    /**
     * Registers a state with the delegate and gives its logged form; the same object again if the
     * job registers the name again, then with the serializers of the last registration.
     *
     * @throws Exception what the delegate throws, for instance on incompatible serializers
     */
    public <N, SV, SEV, S extends State, IS extends S> IS createOrUpdateState(
            TypeSerializer<N> namespaceSerializer,
            StateDescriptor<S, SV> stateDescriptor,
            StateSnapshotTransformFactory<SEV> snapshotTransformFactory,
            boolean allowFutureMetadataUpdates)
            throws Exception {
        throw new UnsupportedOperationException(delegate + " " + log);
    }

    /** Registers a queue of timers with the delegate and gives its logged form. */
    public <T extends HeapPriorityQueueElement & PriorityComparable<? super T> & Keyed<?>>
            KeyGroupedInternalPriorityQueue<T> createQueue(
                    String name,
                    TypeSerializer<T> elementSerializer,
                    boolean allowFutureMetadataUpdates) {
        throw new UnsupportedOperationException();
    }

    /**
     * Writes every element of every queue again. For delegates whose snapshots omit timers; to be
     * called after {@link MutationLog#startNewRange()}.
     */
    public void relogQueues() throws IOException {
        throw new UnsupportedOperationException();
    }
}
