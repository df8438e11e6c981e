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

import dev.dstl.changelog.delegate.DelegateStates;
import dev.dstl.changelog.record.RestoredRegistration;
import dev.dstl.changelog.schema.SchemaChoice;
import dev.dstl.changelog.schema.SchemaVersion;
import dev.dstl.changelog.schema.StateSchema;
import javax.annotation.Nullable;
import org.apache.flink.api.common.state.AggregatingStateDescriptor;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ReducingStateDescriptor;
import org.apache.flink.api.common.state.State;
import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.base.ListSerializer;
import org.apache.flink.api.common.typeutils.base.MapSerializer;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.StateSnapshotTransformer.StateSnapshotTransformFactory;
import org.apache.flink.runtime.state.internal.InternalKvState;

/**
 * A state of the delegate, in the schema version to which it is restored. Values of other versions,
 * from changelogs and other bases, are read with the serializers that wrote them and written with
 * those of this version. Used by the task thread.
 *
 * @param <K> type of the key
 * @param <N> type of the namespace
 * @param <V> type of the whole value
 * @param <S> type of the delegate's state
 */
final class RestoredState<K, N, V, S extends InternalKvState<K, N, V>> {

    private final AbstractKeyedStateBackend<K> delegate;
    @Nullable private SchemaVersion<N> namespaces;
    @Nullable private SchemaVersion<V> values;
    @Nullable private S state;
    @Nullable private N namespace;
    private int version;

    /** For which registration, and at which version, {@link #choiceIsOpen} was computed. */
    @Nullable private RestoredRegistration chosenFor;

    private int chosenAtVersion;
    private boolean choiceIsOpen;

    /**
     * Creates a state.
     *
     * @param delegate contains the state
     * @param schema schema version of the state; null if the delegate does not contain it yet
     */
    @SuppressWarnings("unchecked") // the delegate refuses a name with other types
    RestoredState(AbstractKeyedStateBackend<K> delegate, @Nullable StateSchema schema) {
        this.delegate = delegate;
        if (schema != null) {
            this.namespaces = (SchemaVersion<N>) schema.namespaces();
            this.values = (SchemaVersion<V>) schema.values();
        }
    }

    /** Returns the delegate's state; requires {@link #expect}. */
    S state() {
        return state;
    }

    /** Returns a number that changes when the serializer of the state changes. */
    int version() {
        return version;
    }

    /**
     * Returns whether the bytes of values that {@code registration} reads are those of the
     * delegate.
     */
    boolean takesBytesOf(RestoredRegistration registration) {
        return namespaces.hasSameBytesAs(registration.schema().namespaces())
                && values.hasSameBytesAs(registration.schema().values());
    }

    void select(K key, N newNamespace) {
        delegate.setCurrentKey(key);
        namespace = newNamespace;
        state.setCurrentNamespace(newNamespace);
    }

    int currentKeyGroup() {
        return delegate.getCurrentKeyGroupIndex();
    }

    /**
     * Prepares the state for values that {@code registration} reads.
     *
     * @return whether {@link #makeRoomFor} must be called before each value is written
     */
    @SuppressWarnings("unchecked") // the delegate refuses a name with other types
    boolean expect(RestoredRegistration registration) throws Exception {
        SchemaVersion<N> newNamespaces = (SchemaVersion<N>) registration.schema().namespaces();
        SchemaVersion<V> newValues = (SchemaVersion<V>) registration.schema().values();
        if (values == null) {
            register(registration, newNamespaces.present(), newValues.present());
            return false;
        }
        TypeSerializer<N> namespaceSerializer =
                SchemaChoice.between(namespaces, newNamespaces).replacement();
        SchemaChoice<V> choice = SchemaChoice.between(values, newValues);
        TypeSerializer<V> valueSerializer = choice.replacement();
        if (state == null || namespaceSerializer != null || valueSerializer != null) {
            register(
                    registration,
                    namespaceSerializer == null ? namespaces.present() : namespaceSerializer,
                    valueSerializer == null ? values.present() : valueSerializer);
        }
        return choice.isOpen();
    }

    /**
     * Changes to the schema version of {@code registration} if the present version would lose a
     * part of the value.
     */
    @SuppressWarnings("unchecked") // the delegate refuses a name with other types
    void makeRoomFor(RestoredRegistration registration, V value) throws Exception {
        TypeSerializer<V> reader = (TypeSerializer<V>) registration.valueSerializer();
        SchemaVersion<V> added = (SchemaVersion<V>) registration.schema().values();
        if (registration != chosenFor || version != chosenAtVersion) {
            // Costs hundreds of times what the comparison of a value does.
            chosenFor = registration;
            chosenAtVersion = version;
            choiceIsOpen = SchemaChoice.between(values, added).isOpen();
        }
        if (choiceIsOpen && !SchemaChoice.keeps(state.getValueSerializer(), reader, value)) {
            register(registration, namespaces.present(), added.present());
            state.setCurrentNamespace(namespace);
        }
    }

    @SuppressWarnings("unchecked") // the registration's serializers and kind tell the types
    private void register(
            RestoredRegistration registration,
            TypeSerializer<N> namespaceSerializer,
            TypeSerializer<V> valueSerializer)
            throws Exception {
        StateDescriptor<State, V> descriptor =
                (StateDescriptor<State, V>) descriptor(registration, valueSerializer);
        if (registration.timeToLive().isEnabled()) {
            descriptor.enableTimeToLive(registration.timeToLive());
        }
        InternalKvState<K, N, V> registered =
                DelegateStates.register(
                        delegate,
                        namespaceSerializer,
                        descriptor,
                        StateSnapshotTransformFactory.noTransform(),
                        true);
        state = (S) registered;
        version++;
        namespaces = SchemaVersion.fixed(state.getNamespaceSerializer());
        values = SchemaVersion.of(state.getValueSerializer());
    }

    @SuppressWarnings("deprecation") // jobs may still give default values
    private static <V> StateDescriptor<?, ?> descriptor(
            RestoredRegistration registration, TypeSerializer<V> serializer) {
        String name = registration.name();
        switch (registration.kind()) {
            case VALUE:
                @SuppressWarnings("unchecked") // written by the state's own serializer
                V defaultValue = (V) registration.defaultValue();
                return new ValueStateDescriptor<>(name, serializer, defaultValue);
            case LIST:
                return new ListStateDescriptor<>(
                        name, ((ListSerializer<?>) serializer).getElementSerializer());
            case MAP:
                MapSerializer<?, ?> map = (MapSerializer<?, ?>) serializer;
                return new MapStateDescriptor<>(
                        name, map.getKeySerializer(), map.getValueSerializer());
            case REDUCING:
                return new ReducingStateDescriptor<>(
                        name, new FunctionPlaceholder<V, V, V>(name), serializer);
            case AGGREGATING:
                return new AggregatingStateDescriptor<>(
                        name, new FunctionPlaceholder<Object, V, Object>(name), serializer);
            default:
                throw new IllegalArgumentException("Unknown state kind " + registration.kind());
        }
    }
}
