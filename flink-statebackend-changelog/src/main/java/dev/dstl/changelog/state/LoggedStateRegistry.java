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

import dev.dstl.changelog.delegate.DelegateStates;
import dev.dstl.changelog.record.ChangelogAppender;
import dev.dstl.changelog.record.RecordSerializers;
import dev.dstl.changelog.record.StateKind;
import dev.dstl.changelog.record.StateLog;
import dev.dstl.changelog.record.StateRegistration;
import dev.dstl.changelog.schema.SchemaHistory;
import dev.dstl.changelog.schema.SchemaVersion;
import dev.dstl.changelog.schema.StateSchema;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.flink.api.common.state.AggregatingStateDescriptor;
import org.apache.flink.api.common.state.ReducingStateDescriptor;
import org.apache.flink.api.common.state.State;
import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.KeyGroupedInternalPriorityQueue;
import org.apache.flink.runtime.state.Keyed;
import org.apache.flink.runtime.state.PriorityComparable;
import org.apache.flink.runtime.state.StateSnapshotTransformer.StateSnapshotTransformFactory;
import org.apache.flink.runtime.state.heap.HeapPriorityQueueElement;
import org.apache.flink.runtime.state.internal.InternalAggregatingState;
import org.apache.flink.runtime.state.internal.InternalKvState;
import org.apache.flink.runtime.state.internal.InternalListState;
import org.apache.flink.runtime.state.internal.InternalMapState;
import org.apache.flink.runtime.state.internal.InternalReducingState;
import org.apache.flink.runtime.state.internal.InternalValueState;

/**
 * The logged states of one keyed backend by name. Contains only states that the job registered, not
 * those that a restore created in the delegate. Used by the task thread only; owns neither delegate
 * nor changelog.
 *
 * @param <K> type of the key
 */
public final class LoggedStateRegistry<K> {

    private final AbstractKeyedStateBackend<K> delegate;
    private final ChangelogAppender log;
    private final SchemaHistory schemas;
    private final Map<String, LoggedState<K, ?, ?, ?>> statesByName = new HashMap<>();
    private final Map<String, LoggedPriorityQueue<?>> queuesByName = new LinkedHashMap<>();

    /**
     * Creates a registry.
     *
     * @param delegate contains the states
     * @param log receives the state changes
     */
    public LoggedStateRegistry(AbstractKeyedStateBackend<K> delegate, ChangelogAppender log) {
        this(delegate, log, new SchemaHistory());
    }

    /**
     * Creates a registry for a restored delegate.
     *
     * @param schemas records the schema versions that the job registers
     */
    public LoggedStateRegistry(
            AbstractKeyedStateBackend<K> delegate, ChangelogAppender log, SchemaHistory schemas) {
        this.delegate = delegate;
        this.log = log;
        this.schemas = schemas;
    }

    /** Reports that the delegate is about to take a snapshot. */
    public void snapshotStarts() {
        log.snapshotStarts();
    }

    /**
     * Registers a state with the delegate and returns its logged form. Registering a name again
     * returns the same object, with the serializers and functions of the latest registration.
     *
     * @return a state of the descriptor's kind, as the interfaces of {@code
     *     org.apache.flink.runtime.state.internal}
     * @throws Exception if the delegate throws it, for instance because of incompatible serializers
     */
    public <N, SV, SEV, S extends State> InternalKvState<K, N, SV> createOrUpdateState(
            TypeSerializer<N> namespaceSerializer,
            StateDescriptor<S, SV> stateDescriptor,
            StateSnapshotTransformFactory<SEV> snapshotTransformFactory,
            boolean allowFutureMetadataUpdates)
            throws Exception {
        InternalKvState<K, N, SV> state =
                DelegateStates.register(
                        delegate,
                        namespaceSerializer,
                        stateDescriptor,
                        snapshotTransformFactory,
                        allowFutureMetadataUpdates);
        RecordSerializers<K, N, SV> serializers =
                DelegateStates.mayKeepObjects(delegate)
                        ? RecordSerializers.of(state)
                        : RecordSerializers.duplicatesOf(state);
        StateRegistration registration = StateRegistration.ofState(stateDescriptor, serializers);
        String name = stateDescriptor.getName();
        schemas.registered(
                new StateSchema(
                        name,
                        SchemaVersion.fixed(state.getNamespaceSerializer()),
                        SchemaVersion.of(state.getValueSerializer())));
        @SuppressWarnings("unchecked") // the delegate refuses a name with other types
        LoggedState<K, N, SV, ?> known = (LoggedState<K, N, SV, ?>) statesByName.get(name);
        if (known == null) {
            known = wrap(stateDescriptor, state, serializers, log.register(registration));
            statesByName.put(name, known);
        } else {
            known.log().update(registration);
            known.rebind(state, serializers, stateDescriptor);
        }
        return known;
    }

    @SuppressWarnings({"unchecked", "rawtypes"}) // the descriptor determines the type
    private <N, SV> LoggedState<K, N, SV, ?> wrap(
            StateDescriptor<?, SV> descriptor,
            InternalKvState<K, N, SV> state,
            RecordSerializers<K, N, SV> serializers,
            StateLog stateLog) {
        switch (StateKind.of(descriptor.getType())) {
            case VALUE:
                return new LoggedValueState<>(
                        delegate, stateLog, (InternalValueState<K, N, SV>) state, serializers);
            case LIST:
                return new LoggedListState(
                        delegate, stateLog, (InternalListState) state, serializers);
            case MAP:
                return new LoggedMapState(
                        delegate, stateLog, (InternalMapState) state, serializers);
            case REDUCING:
                return new LoggedReducingState<>(
                        delegate,
                        stateLog,
                        (InternalReducingState<K, N, SV>) state,
                        serializers,
                        ((ReducingStateDescriptor<SV>) descriptor).getReduceFunction());
            case AGGREGATING:
                return new LoggedAggregatingState(
                        delegate,
                        stateLog,
                        (InternalAggregatingState) state,
                        serializers,
                        ((AggregatingStateDescriptor) descriptor).getAggregateFunction());
            default:
                throw new IllegalArgumentException(
                        "State " + descriptor.getName() + " is not keyed state");
        }
    }

    /**
     * Registers a timer queue with the delegate and returns its logged form. Registering a name
     * again returns the same object.
     */
    public <T extends HeapPriorityQueueElement & PriorityComparable<? super T> & Keyed<?>>
            KeyGroupedInternalPriorityQueue<T> createQueue(
                    String name,
                    TypeSerializer<T> elementSerializer,
                    boolean allowFutureMetadataUpdates) {
        KeyGroupedInternalPriorityQueue<T> queue =
                delegate.create(name, elementSerializer, allowFutureMetadataUpdates);
        StateRegistration registration =
                StateRegistration.ofQueue(name, delegate.getKeySerializer(), elementSerializer);
        schemas.registered(new StateSchema(name, null, SchemaVersion.fixed(elementSerializer)));
        @SuppressWarnings("unchecked") // the delegate refuses a name with other types
        LoggedPriorityQueue<T> known = (LoggedPriorityQueue<T>) queuesByName.get(name);
        if (known == null) {
            known =
                    new LoggedPriorityQueue<>(
                            log.register(registration),
                            delegate.getNumberOfKeyGroups(),
                            queue,
                            elementSerializer);
            queuesByName.put(name, known);
        } else {
            try {
                known.log().update(registration);
            } catch (IOException e) {
                throw new UncheckedIOException("Cannot register timers '" + name + "'", e);
            }
            known.rebind(queue, elementSerializer);
        }
        return known;
    }

    /**
     * Logs every element of every queue again, for delegates whose snapshots do not contain timers.
     * Called after {@link ChangelogAppender#startNewRange()}.
     *
     * @throws IOException if the elements could not be logged
     */
    public void relogQueues() throws IOException {
        for (LoggedPriorityQueue<?> queue : queuesByName.values()) {
            queue.relog();
        }
    }
}
