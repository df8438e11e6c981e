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

import dev.dstl.changelog.checkpoint.Checkpointer;
import dev.dstl.changelog.materialization.Materializer;
import dev.dstl.changelog.state.LoggedStateRegistry;
import dev.dstl.compat.DelegatingKeyedStateBackend;
import java.io.IOException;
import java.util.concurrent.RunnableFuture;
import java.util.stream.Stream;
import javax.annotation.Nonnull;
import org.apache.flink.api.common.ExecutionConfig;
import org.apache.flink.api.common.state.CheckpointListener;
import org.apache.flink.api.common.state.InternalCheckpointListener;
import org.apache.flink.api.common.state.State;
import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.runtime.checkpoint.CheckpointOptions;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.CheckpointStreamFactory;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyGroupedInternalPriorityQueue;
import org.apache.flink.runtime.state.Keyed;
import org.apache.flink.runtime.state.KeyedStateBackend;
import org.apache.flink.runtime.state.KeyedStateFunction;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.PriorityComparable;
import org.apache.flink.runtime.state.SavepointResources;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.StateSnapshotTransformer.StateSnapshotTransformFactory;
import org.apache.flink.runtime.state.TestableKeyedStateBackend;
import org.apache.flink.runtime.state.changelog.StateChangelogWriter;
import org.apache.flink.runtime.state.heap.HeapPriorityQueueElement;
import org.apache.flink.runtime.state.ttl.TtlTimeProvider;
import org.apache.flink.util.IOUtils;

/**
 * A keyed backend that keeps its state in a delegate and records its state changes in the
 * changelog. Only forwards each call to the responsible component. Used by the task thread only,
 * except for {@link #close()}, and for the keyed states of operators of which {@link
 * dev.dstl.changelog.config.ForeignThreads} knows. Owns delegate, writer and materializer.
 *
 * @param <K> type of the key
 */
final class ChangelogKeyedStateBackend<K> extends DelegatingKeyedStateBackend<K>
        implements TestableKeyedStateBackend<K>, CheckpointListener, InternalCheckpointListener {

    private final StateChangelogWriter<?> writer;
    private final LoggedStateRegistry<K> logged;
    private final RegisteredStates<K> registered;
    private final Checkpointer<K> checkpointer;
    private final Materializer materializer;
    private final CloseableRegistry cancelRegistry;
    private boolean disposed;

    ChangelogKeyedStateBackend(
            AbstractKeyedStateBackend<K> delegate,
            StateChangelogWriter<?> writer,
            LoggedStateRegistry<K> logged,
            Checkpointer<K> checkpointer,
            Materializer materializer,
            CloseableRegistry cancelRegistry,
            ExecutionConfig executionConfig,
            TtlTimeProvider timeToLive) {
        super(delegate);
        this.writer = writer;
        this.logged = logged;
        this.registered = new RegisteredStates<>(this, delegate, executionConfig, timeToLive);
        this.checkpointer = checkpointer;
        this.materializer = materializer;
        this.cancelRegistry = cancelRegistry;
    }

    @Override
    public <N, S extends State> S getPartitionedState(
            N namespace, TypeSerializer<N> namespaceSerializer, StateDescriptor<S, ?> descriptor)
            throws Exception {
        return registered.partitioned(namespace, namespaceSerializer, descriptor);
    }

    @Override
    public <N, S extends State, V> S getOrCreateKeyedState(
            TypeSerializer<N> namespaceSerializer, StateDescriptor<S, V> descriptor)
            throws Exception {
        return registered.getOrCreate(namespaceSerializer, descriptor);
    }

    @Nonnull
    @Override
    @SuppressWarnings("TypeParameterUnusedInFormals") // Flink's signature.
    public <N, SV, SEV, S extends State, IS extends S> IS createOrUpdateInternalState(
            @Nonnull TypeSerializer<N> namespaceSerializer,
            @Nonnull StateDescriptor<S, SV> descriptor,
            @Nonnull StateSnapshotTransformFactory<SEV> transforms)
            throws Exception {
        return createOrUpdateInternalState(namespaceSerializer, descriptor, transforms, false);
    }

    @Nonnull
    @Override
    @SuppressWarnings({"TypeParameterUnusedInFormals", "unchecked"}) // Flink's signature.
    public <N, SV, SEV, S extends State, IS extends S> IS createOrUpdateInternalState(
            @Nonnull TypeSerializer<N> namespaceSerializer,
            @Nonnull StateDescriptor<S, SV> descriptor,
            @Nonnull StateSnapshotTransformFactory<SEV> transforms,
            boolean allowFutureMetadataUpdates)
            throws Exception {
        return (IS)
                logged.createOrUpdateState(
                        namespaceSerializer, descriptor, transforms, allowFutureMetadataUpdates);
    }

    @Nonnull
    @Override
    public <T extends HeapPriorityQueueElement & PriorityComparable<? super T> & Keyed<?>>
            KeyGroupedInternalPriorityQueue<T> create(
                    @Nonnull String name, @Nonnull TypeSerializer<T> elementSerializer) {
        return create(name, elementSerializer, false);
    }

    @Override
    public <T extends HeapPriorityQueueElement & PriorityComparable<? super T> & Keyed<?>>
            KeyGroupedInternalPriorityQueue<T> create(
                    @Nonnull String name,
                    @Nonnull TypeSerializer<T> elementSerializer,
                    boolean allowFutureMetadataUpdates) {
        return logged.createQueue(name, elementSerializer, allowFutureMetadataUpdates);
    }

    @Override
    public <N, S extends State, T> void applyToAllKeys(
            N namespace,
            TypeSerializer<N> namespaceSerializer,
            StateDescriptor<S, T> descriptor,
            KeyedStateFunction<K, S> function)
            throws Exception {
        delegate.applyToAllKeys(
                namespace, namespaceSerializer, descriptor, function, this::getPartitionedState);
    }

    @Override
    public void setCurrentKey(K key) {
        delegate.setCurrentKey(key);
    }

    @Override
    public K getCurrentKey() {
        return delegate.getCurrentKey();
    }

    @Override
    public TypeSerializer<K> getKeySerializer() {
        return delegate.getKeySerializer();
    }

    @Override
    public KeyGroupRange getKeyGroupRange() {
        return delegate.getKeyGroupRange();
    }

    @Override
    public <N> Stream<K> getKeys(String state, N namespace) {
        return delegate.getKeys(state, namespace);
    }

    @Override
    public <N> Stream<Tuple2<K, N>> getKeysAndNamespaces(String state) {
        return delegate.getKeysAndNamespaces(state);
    }

    @Override
    public void registerKeySelectionListener(KeySelectionListener<K> listener) {
        delegate.registerKeySelectionListener(listener);
    }

    @Override
    public boolean deregisterKeySelectionListener(KeySelectionListener<K> listener) {
        return delegate.deregisterKeySelectionListener(listener);
    }

    @Override
    public boolean isSafeToReuseKVState() {
        return delegate.isSafeToReuseKVState();
    }

    @Override
    public int numKeyValueStateEntries() {
        return delegate.numKeyValueStateEntries();
    }

    @Override
    public KeyedStateBackend<K> getDelegatedKeyedStateBackend(boolean recursive) {
        return delegate.getDelegatedKeyedStateBackend(recursive);
    }

    @Nonnull
    @Override
    public RunnableFuture<SnapshotResult<KeyedStateHandle>> snapshot(
            long checkpointId,
            long timestamp,
            @Nonnull CheckpointStreamFactory streams,
            @Nonnull CheckpointOptions options) {
        logged.snapshotStarts();
        return checkpointer.take(checkpointId, timestamp, streams, options);
    }

    /**
     * Creates a savepoint in the canonical format. It is written from the delegate alone, without
     * the changelog.
     */
    @Nonnull
    @Override
    public SavepointResources<K> savepoint() throws Exception {
        logged.snapshotStarts();
        return delegate.savepoint();
    }

    @Override
    public void notifyCheckpointComplete(long checkpointId) throws Exception {
        checkpointer.confirm(checkpointId);
    }

    @Override
    public void notifyCheckpointAborted(long checkpointId) throws Exception {
        checkpointer.abort(checkpointId);
    }

    @Override
    public void notifyCheckpointSubsumed(long checkpointId) {
        checkpointer.subsume(checkpointId);
    }

    /** Triggers a materialization independent of the interval. */
    void materialize() {
        materializer.trigger();
    }

    /**
     * Interrupts running uploads. Also called by the thread that cancels the task, while the task
     * thread still appends; the writer is therefore closed by {@link #dispose()}.
     */
    @Override
    public void close() throws IOException {
        IOUtils.closeAllQuietly(materializer, cancelRegistry);
        delegate.close();
    }

    @Override
    public void dispose() {
        if (disposed) {
            return;
        }
        disposed = true;
        IOUtils.closeAllQuietly(materializer, cancelRegistry);
        registered.clear();
        try {
            delegate.dispose();
        } finally {
            // Whatever the delegate throws: an open changelog would keep its memory and its files.
            closeLog();
        }
    }

    private void closeLog() {
        try {
            checkpointer.close();
        } finally {
            writer.truncateAndClose(checkpointer.persistedTo());
        }
    }
}
