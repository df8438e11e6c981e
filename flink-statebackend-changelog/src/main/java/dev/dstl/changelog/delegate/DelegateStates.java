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

package dev.dstl.changelog.delegate;

import org.apache.flink.api.common.state.State;
import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.StateSnapshotTransformer.StateSnapshotTransformFactory;
import org.apache.flink.runtime.state.internal.InternalKvState;
import org.apache.flink.util.StateMigrationException;

/**
 * Registers states with a delegate, for the first time or again with other serializers. Used by the
 * task thread; stateless.
 */
public final class DelegateStates {

    private DelegateStates() {}

    /**
     * Returns whether {@code delegate} may keep objects and return them, so that a change of such
     * an object changes the state. RocksDB keeps bytes.
     */
    public static boolean mayKeepObjects(AbstractKeyedStateBackend<?> delegate) {
        return !RocksDbInternals.isRocksDb(delegate);
    }

    /**
     * Registers a state with {@code delegate}.
     *
     * @return the state to use from now on, also if it was registered before
     * @throws StateMigrationException if the serializers are incompatible with those that wrote the
     *     state
     * @throws Exception if the delegate fails otherwise
     */
    @SuppressWarnings("unchecked") // every state of a keyed backend is internal
    public static <K, N, SV, SEV, S extends State> InternalKvState<K, N, SV> register(
            AbstractKeyedStateBackend<K> delegate,
            TypeSerializer<N> namespaceSerializer,
            StateDescriptor<S, SV> descriptor,
            StateSnapshotTransformFactory<SEV> snapshotTransformFactory,
            boolean allowFutureMetadataUpdates)
            throws Exception {
        if (descriptor.getType() == StateDescriptor.Type.REDUCING
                && RocksDbInternals.isRocksDb(delegate)) {
            forgetReducingState(delegate, descriptor.getName());
        }
        return (InternalKvState<K, N, SV>)
                delegate.createOrUpdateInternalState(
                        namespaceSerializer,
                        descriptor,
                        snapshotTransformFactory,
                        allowFutureMetadataUpdates);
    }

    /**
     * RocksDB migrates the data of a reducing state that is registered again, but continues to read
     * it with the previous serializer. Flink does not notice, since only a restored changelog
     * registers a state twice. All other delegates use the new serializer, and so does RocksDB when
     * it creates the state anew.
     */
    private static void forgetReducingState(AbstractKeyedStateBackend<?> delegate, String name)
            throws StateMigrationException {
        try {
            RocksDbInternals.createdStates(delegate).remove(name);
        } catch (ReflectiveOperationException | RuntimeException e) {
            throw new StateMigrationException(
                    String.format(
                            "Reducing state '%s' cannot be restored from a changelog with this"
                                    + " version of Flink's RocksDB backend (%s). Migrate it from a"
                                    + " savepoint with state.changelog.enabled off.",
                            name, delegate.getClass().getName()),
                    e);
        }
    }

    /**
     * Makes a restored delegate that continues without a changelog forget its registrations, but
     * not its data, for the reason above: the job's own registration then creates the states anew,
     * with the serializers of the job.
     *
     * @throws StateMigrationException if this version of Flink's RocksDB backend does not allow
     *     that
     */
    public static void forgetRegistrations(AbstractKeyedStateBackend<?> delegate)
            throws StateMigrationException {
        if (!RocksDbInternals.isRocksDb(delegate)) {
            return;
        }
        try {
            RocksDbInternals.createdStates(delegate).clear();
        } catch (ReflectiveOperationException | RuntimeException e) {
            throw new StateMigrationException(
                    "This version of Flink's RocksDB backend cannot take over a changelog. Restore"
                            + " with state.changelog.enabled on, take a savepoint, and switch it off"
                            + " from that.",
                    e);
        }
    }
}
