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
 * Registers states with a delegate, for the first time or again with other serializers. Belongs to
 * the task thread; stateless.
 */
public final class DelegateStates {

    private DelegateStates() {}

    /**
     * Registers a state with {@code delegate}.
     *
     * @return what the delegate uses from now on, also if it had the state before
     * @throws StateMigrationException if the serializers cannot take over what others wrote
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
     * RocksDB migrates the data of a reducing state that is registered again, and then goes on
     * reading it with the serializer from before. Only a restored log makes a state registered
     * twice, so that Flink does not notice. All other delegates take the new serializer over, and
     * so does RocksDB when it makes the state anew.
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
                                    + " canonical savepoint with state.changelog.enabled off.",
                            name, delegate.getClass().getName()),
                    e);
        }
    }

    /**
     * Makes a restored delegate that goes on without a changelog forget that its states were
     * registered, for the reason above: then the job's own registration makes them anew, with the
     * serializers of the job. What they hold stays.
     *
     * @throws StateMigrationException if this Flink's RocksDB backend cannot do that
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
                            + " with state.changelog.enabled on, take a canonical savepoint, and"
                            + " switch it off from that.",
                    e);
        }
    }
}
