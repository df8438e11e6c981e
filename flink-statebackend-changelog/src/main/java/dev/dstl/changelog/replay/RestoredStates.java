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

package dev.dstl.changelog.replay;

import dev.dstl.changelog.mutation.DelegateStates;
import dev.dstl.changelog.mutation.RestoredRegistration;
import java.util.HashMap;
import java.util.Map;
import org.apache.flink.api.common.state.AggregatingStateDescriptor;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ReducingStateDescriptor;
import org.apache.flink.api.common.state.State;
import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.TypeSerializerSchemaCompatibility;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.base.ListSerializer;
import org.apache.flink.api.common.typeutils.base.MapSerializer;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.KeyGroupedInternalPriorityQueue;
import org.apache.flink.runtime.state.Keyed;
import org.apache.flink.runtime.state.PriorityComparable;
import org.apache.flink.runtime.state.StateSerializerProvider;
import org.apache.flink.runtime.state.StateSnapshotTransformer.StateSnapshotTransformFactory;
import org.apache.flink.runtime.state.heap.HeapPriorityQueueElement;
import org.apache.flink.runtime.state.internal.InternalKvState;
import org.apache.flink.util.StateMigrationException;

/**
 * Creates in the delegate what the log registers, with the serializers of the log; they may be
 * replaced later, when the job registers the states itself. Belongs to the task thread.
 *
 * @param <K> type of the key
 */
final class RestoredStates<K> {

    private final AbstractKeyedStateBackend<K> delegate;
    private final Map<String, RestoredQueue<?>> queuesByName = new HashMap<>();

    RestoredStates(AbstractKeyedStateBackend<K> delegate) {
        this.delegate = delegate;
    }

    /**
     * Creates or updates a state or queue in the delegate.
     *
     * @throws StateMigrationException if the job's serializers cannot take over what others wrote
     * @throws Exception if the delegate fails otherwise
     */
    StateApplier create(RestoredRegistration registration) throws Exception {
        TypeSerializer<K> keySerializer = readerOfKeys(registration);
        switch (registration.kind()) {
            case VALUE:
                return value(registration, keySerializer, registration.valueSerializer());
            case LIST:
                return list(
                        registration,
                        keySerializer,
                        (ListSerializer<?>) registration.valueSerializer());
            case MAP:
                return map(
                        registration,
                        keySerializer,
                        (MapSerializer<?, ?>) registration.valueSerializer());
            case REDUCING:
                return reducing(registration, keySerializer, registration.valueSerializer());
            case AGGREGATING:
                return aggregating(registration, keySerializer, registration.valueSerializer());
            case QUEUE:
                return queue(registration);
            default:
                throw new IllegalArgumentException("Unknown state kind " + registration.kind());
        }
    }

    /** The delegate checks keys only against a base, and there may be none. */
    @SuppressWarnings("unchecked") // the compatibility check compares the types
    private TypeSerializer<K> readerOfKeys(RestoredRegistration registration)
            throws StateMigrationException {
        TypeSerializerSnapshot<K> written =
                (TypeSerializerSnapshot<K>) registration.keySerializerSnapshot();
        TypeSerializer<K> present = delegate.getKeySerializer();
        TypeSerializerSchemaCompatibility<K> compatibility =
                StateSerializerProvider.fromPreviousSerializerSnapshot(written)
                        .registerNewSerializerForRestoredState(present);
        if (compatibility.isIncompatible() || compatibility.isCompatibleAfterMigration()) {
            throw new StateMigrationException(
                    String.format(
                            "The key serializer (%s) must be compatible with the one that wrote the"
                                    + " checkpoint (%s): keys cannot be migrated. Key the job as it"
                                    + " was keyed, or start without this checkpoint.",
                            present, written));
        }
        return compatibility.isCompatibleWithReconfiguredSerializer()
                ? compatibility.getReconfiguredSerializer()
                : present;
    }

    @SuppressWarnings({"unchecked", "deprecation"}) // jobs may still give default values
    private <N, V> StateApplier value(
            RestoredRegistration registration,
            TypeSerializer<K> keySerializer,
            TypeSerializer<V> valueSerializer)
            throws Exception {
        return new ValueApplier<K, N, V>(
                registration,
                restore(
                        registration,
                        keySerializer,
                        new ValueStateDescriptor<>(
                                registration.name(),
                                valueSerializer,
                                (V) registration.defaultValue())),
                valueSerializer);
    }

    private <N, V> StateApplier list(
            RestoredRegistration registration,
            TypeSerializer<K> keySerializer,
            ListSerializer<V> serializer)
            throws Exception {
        return new ListApplier<K, N, V>(
                registration,
                restore(
                        registration,
                        keySerializer,
                        new ListStateDescriptor<>(
                                registration.name(), serializer.getElementSerializer())),
                serializer);
    }

    private <N, UK, UV> StateApplier map(
            RestoredRegistration registration,
            TypeSerializer<K> keySerializer,
            MapSerializer<UK, UV> serializer)
            throws Exception {
        return new MapApplier<K, N, UK, UV>(
                registration,
                restore(
                        registration,
                        keySerializer,
                        new MapStateDescriptor<>(
                                registration.name(),
                                serializer.getKeySerializer(),
                                serializer.getValueSerializer())),
                serializer);
    }

    private <N, V> StateApplier reducing(
            RestoredRegistration registration,
            TypeSerializer<K> keySerializer,
            TypeSerializer<V> valueSerializer)
            throws Exception {
        return new ResultApplier<K, N, V>(
                registration,
                restore(
                        registration,
                        keySerializer,
                        new ReducingStateDescriptor<>(
                                registration.name(),
                                new FunctionPlaceholder<V, V, V>(registration.name()),
                                valueSerializer)),
                valueSerializer);
    }

    private <N, ACC> StateApplier aggregating(
            RestoredRegistration registration,
            TypeSerializer<K> keySerializer,
            TypeSerializer<ACC> valueSerializer)
            throws Exception {
        return new ResultApplier<K, N, ACC>(
                registration,
                restore(
                        registration,
                        keySerializer,
                        new AggregatingStateDescriptor<>(
                                registration.name(),
                                new FunctionPlaceholder<Object, ACC, Object>(registration.name()),
                                valueSerializer)),
                valueSerializer);
    }

    @SuppressWarnings("unchecked") // the registration's serializers and kind tell the types
    private <N, V, IS extends InternalKvState<K, N, ?>> RestoredState<K, N, IS> restore(
            RestoredRegistration registration,
            TypeSerializer<K> keySerializer,
            StateDescriptor<? extends State, V> descriptor)
            throws Exception {
        if (registration.timeToLive().isEnabled()) {
            descriptor.enableTimeToLive(registration.timeToLive());
        }
        TypeSerializer<N> namespaceSerializer =
                (TypeSerializer<N>) registration.namespaceSerializer();
        InternalKvState<K, N, ?> state =
                DelegateStates.register(
                        delegate,
                        namespaceSerializer,
                        (StateDescriptor<State, V>) descriptor,
                        StateSnapshotTransformFactory.noTransform(),
                        true);
        return new RestoredState<>(delegate, (IS) state, keySerializer, namespaceSerializer);
    }

    @SuppressWarnings({"unchecked", "rawtypes"}) // only timers are ever registered as a queue
    private StateApplier queue(RestoredRegistration registration) {
        return timers(registration, (TypeSerializer) registration.valueSerializer());
    }

    @SuppressWarnings("unchecked") // the delegate refuses a name with other types
    private <T extends HeapPriorityQueueElement & PriorityComparable<? super T> & Keyed<?>>
            StateApplier timers(
                    RestoredRegistration registration, TypeSerializer<T> elementSerializer) {
        KeyGroupedInternalPriorityQueue<T> newest =
                delegate.create(registration.name(), elementSerializer, true);
        RestoredQueue<T> restored = (RestoredQueue<T>) queuesByName.get(registration.name());
        if (restored == null) {
            restored = new RestoredQueue<>(newest);
            queuesByName.put(registration.name(), restored);
        } else {
            restored.replace(newest);
        }
        return new QueueApplier<>(
                registration,
                restored,
                elementSerializer,
                delegate.getKeyContext().getNumberOfKeyGroups());
    }
}
