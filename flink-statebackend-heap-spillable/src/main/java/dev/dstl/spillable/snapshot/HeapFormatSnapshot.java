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

package dev.dstl.spillable.snapshot;

import dev.dstl.spillable.table.StateRegistry;
import dev.dstl.spillable.table.TableView;
import java.io.IOException;
import java.io.OutputStream;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.core.fs.FSDataOutputStream;
import org.apache.flink.core.memory.DataOutputView;
import org.apache.flink.core.memory.DataOutputViewStreamWrapper;
import org.apache.flink.runtime.checkpoint.CheckpointOptions;
import org.apache.flink.runtime.state.CheckpointStreamFactory;
import org.apache.flink.runtime.state.CheckpointStreamWithResultProvider;
import org.apache.flink.runtime.state.CheckpointedStateScope;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyGroupRangeOffsets;
import org.apache.flink.runtime.state.KeyGroupsStateHandle;
import org.apache.flink.runtime.state.KeyedBackendSerializationProxy;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.LocalRecoveryConfig;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.SnapshotStrategy;
import org.apache.flink.runtime.state.StreamCompressionDecorator;
import org.apache.flink.runtime.state.UncompressedStreamCompressionDecorator;
import org.apache.flink.runtime.state.heap.HeapPriorityQueueStateSnapshot;

/**
 * Writes snapshots in the format of Flink's heap backend, so that either restores what the other
 * wrote. Prepared on the task thread, written by one other thread per snapshot.
 *
 * <pre>
 *   header     compression flag, key serializer, states (KeyedBackendSerializationProxy)
 *   per key group, at the offset given in the handle
 *     int keyGroup
 *     per state, compressed on its own:
 *       short stateId
 *       int n, then n x ( namespace, key, state )       a table
 *       int n, then n x ( element )                     a timer queue
 * </pre>
 */
public final class HeapFormatSnapshot<K>
        implements SnapshotStrategy<KeyedStateHandle, StatesView<K>> {

    private final StateRegistry<K> states;
    private final KeyGroupRange keyGroupRange;
    private final int numberOfKeyGroups;
    private final TypeSerializer<K> keySerializer;
    private final StreamCompressionDecorator compression;
    private final LocalRecoveryConfig localRecovery;

    /**
     * @param states what is written
     * @param keySerializer duplicated for each snapshot
     * @param localRecovery whether checkpoints get a second copy on the local disk
     */
    public HeapFormatSnapshot(
            StateRegistry<K> states,
            KeyGroupRange keyGroupRange,
            int numberOfKeyGroups,
            TypeSerializer<K> keySerializer,
            StreamCompressionDecorator compression,
            LocalRecoveryConfig localRecovery) {
        this.states = states;
        this.keyGroupRange = keyGroupRange;
        this.numberOfKeyGroups = numberOfKeyGroups;
        this.keySerializer = keySerializer;
        this.compression = compression;
        this.localRecovery = localRecovery;
    }

    @Override
    public StatesView<K> syncPrepareResources(long checkpointId) {
        return new StatesView<>(
                states, keyGroupRange, numberOfKeyGroups, keySerializer.duplicate(), compression);
    }

    @Override
    public SnapshotResultSupplier<KeyedStateHandle> asyncSnapshot(
            StatesView<K> view,
            long checkpointId,
            long timestamp,
            CheckpointStreamFactory streamFactory,
            CheckpointOptions checkpointOptions) {
        if (view.getMetaInfoSnapshots().isEmpty()) {
            return registry -> SnapshotResult.empty();
        }
        return registry -> {
            CheckpointStreamWithResultProvider stream =
                    openStream(checkpointId, streamFactory, checkpointOptions);
            registry.registerCloseable(stream);
            long[] offsets =
                    write(view, stream.getCheckpointOutputStream(), TableView::writeKeyGroup);
            if (!registry.unregisterCloseable(stream)) {
                throw new IOException(
                        "Checkpoint " + checkpointId + " was cancelled while it was written.");
            }
            return CheckpointStreamWithResultProvider.toKeyedStateHandleSnapshotResult(
                    stream.closeAndFinalizeCheckpointStreamResult(),
                    new KeyGroupRangeOffsets(keyGroupRange, offsets),
                    KeyGroupsStateHandle::new);
        };
    }

    private CheckpointStreamWithResultProvider openStream(
            long checkpointId, CheckpointStreamFactory streamFactory, CheckpointOptions options)
            throws IOException {
        if (localRecovery.isLocalBackupEnabled() && !options.getCheckpointType().isSavepoint()) {
            return CheckpointStreamWithResultProvider.createDuplicatingStream(
                    checkpointId,
                    CheckpointedStateScope.EXCLUSIVE,
                    streamFactory,
                    localRecovery
                            .getLocalStateDirectoryProvider()
                            .orElseThrow(LocalRecoveryConfig.localRecoveryNotEnabled()));
        }
        return CheckpointStreamWithResultProvider.createSimpleStream(
                CheckpointedStateScope.EXCLUSIVE, streamFactory);
    }

    /** Writes the entries of a table in one key group. */
    private interface TableWriter {
        void write(TableView<?, ?, ?> table, int keyGroup, DataOutputView out) throws IOException;
    }

    /**
     * Writes the states, the timers and the entries that are on the heap, which it releases.
     *
     * @return where each key group starts
     * @throws IOException if {@code stream} fails or a state cannot be serialized
     */
    public long[] writeHeapEntries(StatesView<K> view, FSDataOutputStream stream)
            throws IOException {
        return write(view, stream, TableView::writeHeapEntries);
    }

    private long[] write(StatesView<K> view, FSDataOutputStream stream, TableWriter writer)
            throws IOException {
        DataOutputViewStreamWrapper out = new DataOutputViewStreamWrapper(stream);
        boolean compressed = compression != UncompressedStreamCompressionDecorator.INSTANCE;
        new KeyedBackendSerializationProxy<>(
                        view.getKeySerializer(), view.getMetaInfoSnapshots(), compressed)
                .write(out);
        long[] offsets = new long[keyGroupRange.getNumberOfKeyGroups()];
        for (int i = 0; i < offsets.length; i++) {
            int keyGroup = keyGroupRange.getKeyGroupId(i);
            offsets[i] = stream.getPos();
            out.writeInt(keyGroup);
            int stateId = 0;
            for (TableView<K, ?, ?> table : view.tables()) {
                try (OutputStream decorated = compression.decorateWithCompression(stream)) {
                    DataOutputViewStreamWrapper stateOut =
                            new DataOutputViewStreamWrapper(decorated);
                    stateOut.writeShort(stateId++);
                    writer.write(table, keyGroup, stateOut);
                }
            }
            for (HeapPriorityQueueStateSnapshot<?> queue : view.queues()) {
                try (OutputStream decorated = compression.decorateWithCompression(stream)) {
                    DataOutputViewStreamWrapper stateOut =
                            new DataOutputViewStreamWrapper(decorated);
                    stateOut.writeShort(stateId++);
                    queue.getKeyGroupWriter().writeStateInKeyGroup(stateOut, keyGroup);
                }
            }
        }
        return offsets;
    }
}
