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

import dev.dstl.compat.ExpiringState;
import dev.dstl.compat.StateTracking;
import dev.dstl.compat.TrackingKeyedStateBackend;
import dev.dstl.spillable.incremental.CheckpointHistory;
import dev.dstl.spillable.layout.KeyForm;
import dev.dstl.spillable.snapshot.StatesView;
import dev.dstl.spillable.spill.StateMover;
import dev.dstl.spillable.state.TableStates;
import dev.dstl.spillable.table.CurrentKey;
import dev.dstl.spillable.table.StateRegistry;
import dev.dstl.spillable.table.StateTable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.RunnableFuture;
import java.util.stream.Stream;
import org.apache.flink.api.common.ExecutionConfig;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.State;
import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.TypeSerializerSchemaCompatibility;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.runtime.checkpoint.CheckpointOptions;
import org.apache.flink.runtime.query.TaskKvStateRegistry;
import org.apache.flink.runtime.state.CheckpointStreamFactory;
import org.apache.flink.runtime.state.HeapPriorityQueuesManager;
import org.apache.flink.runtime.state.KeyGroupedInternalPriorityQueue;
import org.apache.flink.runtime.state.Keyed;
import org.apache.flink.runtime.state.KeyedStateFunction;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.PriorityComparable;
import org.apache.flink.runtime.state.RegisteredKeyValueStateBackendMetaInfo;
import org.apache.flink.runtime.state.SavepointResources;
import org.apache.flink.runtime.state.SnapshotExecutionType;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.SnapshotStrategy;
import org.apache.flink.runtime.state.SnapshotStrategyRunner;
import org.apache.flink.runtime.state.StateBackendLoader;
import org.apache.flink.runtime.state.StateSnapshotTransformer.StateSnapshotTransformFactory;
import org.apache.flink.runtime.state.StateSnapshotTransformers;
import org.apache.flink.runtime.state.StreamCompressionDecorator;
import org.apache.flink.runtime.state.heap.HeapPriorityQueueElement;
import org.apache.flink.runtime.state.heap.HeapPriorityQueueSetFactory;
import org.apache.flink.runtime.state.ttl.TtlTimeProvider;
import org.apache.flink.util.StateMigrationException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The keyed state of one task. All calls on the task thread, except the run of a snapshot's future.
 */
public final class SpillableKeyedStateBackend<K> extends TrackingKeyedStateBackend<K> {

    private static final Logger LOG = LoggerFactory.getLogger(SpillableKeyedStateBackend.class);

    private final CurrentKey<K> currentKey;
    private final StateRegistry<K> states;
    private final TableStates<K> stateObjects;
    private final HeapPriorityQueuesManager queues;
    private final SnapshotStrategy<KeyedStateHandle, StatesView<K>> snapshotStrategy;
    private final CheckpointHistory history;
    private final StateMover mover;

    SpillableKeyedStateBackend(
            TaskKvStateRegistry kvStateRegistry,
            TypeSerializer<K> keySerializer,
            ClassLoader userCodeClassLoader,
            ExecutionConfig executionConfig,
            TtlTimeProvider ttlTimeProvider,
            StateTracking tracking,
            CloseableRegistry cancelStreamRegistry,
            StreamCompressionDecorator keyGroupCompressionDecorator,
            CurrentKey<K> currentKey,
            StateRegistry<K> states,
            HeapPriorityQueueSetFactory queueFactory,
            SnapshotStrategy<KeyedStateHandle, StatesView<K>> snapshotStrategy,
            CheckpointHistory history,
            StateMover mover) {
        super(
                kvStateRegistry,
                keySerializer,
                userCodeClassLoader,
                executionConfig,
                ttlTimeProvider,
                tracking,
                cancelStreamRegistry,
                keyGroupCompressionDecorator,
                currentKey);
        this.currentKey = currentKey;
        this.states = states;
        this.stateObjects = new TableStates<>(keySerializer);
        this.queues =
                new HeapPriorityQueuesManager(
                        states.queues(),
                        queueFactory,
                        currentKey.getKeyGroupRange(),
                        currentKey.getNumberOfKeyGroups());
        this.snapshotStrategy = snapshotStrategy;
        this.history = history;
        this.mover = mover;
    }

    @Override
    public <T extends HeapPriorityQueueElement & PriorityComparable<? super T> & Keyed<?>>
            KeyGroupedInternalPriorityQueue<T> create(
                    String stateName, TypeSerializer<T> byteOrderedElementSerializer) {
        return queues.createOrUpdate(stateName, byteOrderedElementSerializer);
    }

    @Override
    public <T extends HeapPriorityQueueElement & PriorityComparable<? super T> & Keyed<?>>
            KeyGroupedInternalPriorityQueue<T> create(
                    String stateName,
                    TypeSerializer<T> byteOrderedElementSerializer,
                    boolean allowFutureMetadataUpdates) {
        return queues.createOrUpdate(
                stateName, byteOrderedElementSerializer, allowFutureMetadataUpdates);
    }

    @Override
    @SuppressWarnings("TypeParameterUnusedInFormals") // Flink's signature
    public <N, SV, SEV, S extends State, IS extends S> IS createOrUpdateInternalState(
            TypeSerializer<N> namespaceSerializer,
            StateDescriptor<S, SV> stateDesc,
            StateSnapshotTransformFactory<SEV> snapshotTransformFactory)
            throws Exception {
        return createOrUpdateInternalState(
                namespaceSerializer, stateDesc, snapshotTransformFactory, false);
    }

    @Override
    @SuppressWarnings("TypeParameterUnusedInFormals") // Flink's signature
    public <N, SV, SEV, S extends State, IS extends S> IS createOrUpdateInternalState(
            TypeSerializer<N> namespaceSerializer,
            StateDescriptor<S, SV> stateDesc,
            StateSnapshotTransformFactory<SEV> snapshotTransformFactory,
            boolean allowFutureMetadataUpdates)
            throws Exception {
        StateSnapshotTransformFactory<SV> transformFactory =
                wholeStateTransform(stateDesc, snapshotTransformFactory);
        StateTable<K, N, SV> table = states.table(stateDesc.getName());
        if (table == null) {
            RegisteredKeyValueStateBackendMetaInfo<N, SV> metaInfo =
                    new RegisteredKeyValueStateBackendMetaInfo<>(
                            stateDesc.getType(),
                            stateDesc.getName(),
                            namespaceSerializer,
                            stateDesc.getSerializer(),
                            transformFactory);
            table =
                    states.addTable(
                            allowFutureMetadataUpdates
                                    ? metaInfo.withSerializerUpgradesAllowed()
                                    : metaInfo,
                            keySerializer);
        } else {
            updateRegistration(
                    table,
                    namespaceSerializer,
                    stateDesc,
                    transformFactory,
                    allowFutureMetadataUpdates);
        }
        return stateObjects.createOrUpdate(stateDesc, table);
    }

    private <N, SV> void updateRegistration(
            StateTable<K, N, SV> table,
            TypeSerializer<N> namespaceSerializer,
            StateDescriptor<?, SV> stateDesc,
            StateSnapshotTransformFactory<SV> transformFactory,
            boolean allowFutureMetadataUpdates)
            throws StateMigrationException {
        RegisteredKeyValueStateBackendMetaInfo<N, SV> metaInfo = table.metaInfo();
        metaInfo.updateSnapshotTransformFactory(transformFactory);
        TypeSerializer<N> previousNamespaceSerializer = metaInfo.getNamespaceSerializer();
        TypeSerializerSchemaCompatibility<N> namespaceCompatibility =
                metaInfo.updateNamespaceSerializer(namespaceSerializer);
        if (namespaceCompatibility.isCompatibleAfterMigration()
                || namespaceCompatibility.isIncompatible()) {
            throw new StateMigrationException(
                    String.format(
                            "The new namespace serializer (%s) of state '%s' must be compatible"
                                    + " with the old namespace serializer (%s); namespaces cannot"
                                    + " be migrated.",
                            namespaceSerializer, stateDesc.getName(), previousNamespaceSerializer));
        }
        metaInfo.checkStateMetaInfo(stateDesc);
        TypeSerializer<SV> previousStateSerializer = metaInfo.getStateSerializer();
        TypeSerializerSchemaCompatibility<SV> stateCompatibility =
                metaInfo.updateStateSerializer(stateDesc.getSerializer());
        if (stateCompatibility.isIncompatible()) {
            throw new StateMigrationException(
                    String.format(
                            "The new state serializer (%s) of state '%s' must not be incompatible"
                                    + " with the old state serializer (%s).",
                            stateDesc.getSerializer(),
                            stateDesc.getName(),
                            previousStateSerializer));
        }
        // Compatible in Flink 2, whose own backends convert the entries.
        boolean expiring = ExpiringState.isSerializedBy(previousStateSerializer);
        if (expiring != ExpiringState.isSerializedBy(stateDesc.getSerializer())) {
            throw new StateMigrationException(
                    String.format(
                            "State '%s' was written %s a time to live and is registered %s one,"
                                    + " between which the spillable heap cannot convert; leave the"
                                    + " time to live as it was, or give the state another name.",
                            stateDesc.getName(),
                            expiring ? "with" : "without",
                            expiring ? "without" : "with"));
        }
        table.setMetaInfo(
                allowFutureMetadataUpdates ? metaInfo.withSerializerUpgradesAllowed() : metaInfo,
                stateCompatibility.isCompatibleAfterMigration()
                        || KeyForm.differs(
                                previousNamespaceSerializer, metaInfo.getNamespaceSerializer())
                        || KeyForm.ofUserKeysDiffers(
                                previousStateSerializer, metaInfo.getStateSerializer()));
    }

    @SuppressWarnings("unchecked") // elements of lists and values of maps become whole states
    private static <SV, SEV> StateSnapshotTransformFactory<SV> wholeStateTransform(
            StateDescriptor<?, SV> stateDesc, StateSnapshotTransformFactory<SEV> factory) {
        if (stateDesc instanceof ListStateDescriptor) {
            return (StateSnapshotTransformFactory<SV>)
                    new StateSnapshotTransformers.ListStateSnapshotTransformFactory<>(factory);
        }
        if (stateDesc instanceof MapStateDescriptor) {
            return (StateSnapshotTransformFactory<SV>)
                    new StateSnapshotTransformers.MapStateSnapshotTransformFactory<>(factory);
        }
        return (StateSnapshotTransformFactory<SV>) factory;
    }

    @Override
    protected void keySelected() {
        mover.keySelected();
    }

    /** State on the heap holds the job's objects, for which Flink's operators ask by this name. */
    @Override
    public String getBackendTypeIdentifier() {
        return StateBackendLoader.HASHMAP_STATE_BACKEND_NAME;
    }

    @Override
    public <N> Stream<K> getKeys(String state, N namespace) {
        StateTable<K, N, ?> table = states.table(state);
        return table == null ? Stream.empty() : table.keys(namespace);
    }

    @Override
    public <N> Stream<K> getKeys(List<String> stateNames, N namespace) {
        List<StateTable<K, N, ?>> tables = new ArrayList<>();
        for (String name : stateNames) {
            StateTable<K, N, ?> table = states.table(name);
            if (table != null) {
                tables.add(table);
            }
        }
        return StateTable.keys(tables, namespace);
    }

    @Override
    public <N> Stream<Tuple2<K, N>> getKeysAndNamespaces(String state) {
        StateTable<K, N, ?> table = states.table(state);
        return table == null ? Stream.empty() : table.keysAndNamespaces();
    }

    @Override
    public <N, S extends State, T> void applyToAllKeys(
            N namespace,
            TypeSerializer<N> namespaceSerializer,
            StateDescriptor<S, T> stateDescriptor,
            KeyedStateFunction<K, S> function,
            PartitionStateFactory partitionStateFactory)
            throws Exception {
        // The function may clear and add entries: those of its key, whose key group has been read.
        Iterator<K> keys = getKeys(stateDescriptor.getName(), namespace).iterator();
        S state = partitionStateFactory.get(namespace, namespaceSerializer, stateDescriptor);
        while (keys.hasNext()) {
            K key = keys.next();
            setCurrentKey(key);
            function.process(key, state);
        }
    }

    @Override
    public int numKeyValueStateEntries() {
        return states.tables().stream().mapToInt(StateTable::size).sum();
    }

    @Override
    public RunnableFuture<SnapshotResult<KeyedStateHandle>> snapshot(
            long checkpointId,
            long timestamp,
            CheckpointStreamFactory streamFactory,
            CheckpointOptions checkpointOptions)
            throws Exception {
        return new SnapshotStrategyRunner<>(
                        "Spillable backend snapshot",
                        snapshotStrategy,
                        cancelStreamRegistry,
                        SnapshotExecutionType.ASYNCHRONOUS)
                .snapshot(checkpointId, timestamp, streamFactory, checkpointOptions);
    }

    @Override
    public SavepointResources<K> savepoint() {
        return new SavepointResources<>(
                new StatesView<>(
                        states,
                        keyGroupRange,
                        numberOfKeyGroups,
                        keySerializer.duplicate(),
                        keyGroupCompressionDecorator),
                SnapshotExecutionType.ASYNCHRONOUS);
    }

    @Override
    public void notifyCheckpointComplete(long checkpointId) {
        history.confirmed(checkpointId);
    }

    @Override
    public void notifyCheckpointAborted(long checkpointId) {
        history.aborted(checkpointId);
    }

    @Override
    public void dispose() {
        super.dispose();
        mover.close();
        try {
            states.close();
        } catch (IOException e) {
            LOG.warn("Cannot delete the spill directories of this task.", e);
        }
    }

    @Override
    public String toString() {
        return "SpillableKeyedStateBackend" + currentKey.getKeyGroupRange();
    }
}
