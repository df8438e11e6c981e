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

package dev.dstl.spillable.incremental;

import dev.dstl.spillable.overlay.PartitionPool;
import dev.dstl.spillable.overlay.SpillSpace;
import dev.dstl.spillable.overlay.SpilledView;
import dev.dstl.spillable.snapshot.HeapFormatSnapshot;
import dev.dstl.spillable.snapshot.StatesView;
import dev.dstl.spillable.table.TableView;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.UUID;
import javax.annotation.Nullable;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.runtime.checkpoint.CheckpointOptions;
import org.apache.flink.runtime.checkpoint.SnapshotType.SharingFilesStrategy;
import org.apache.flink.runtime.checkpoint.filemerging.FileMergingSnapshotManager;
import org.apache.flink.runtime.state.CheckpointStateOutputStream;
import org.apache.flink.runtime.state.CheckpointStreamFactory;
import org.apache.flink.runtime.state.CheckpointedStateScope;
import org.apache.flink.runtime.state.IncrementalKeyedStateHandle.HandleAndLocalPath;
import org.apache.flink.runtime.state.IncrementalRemoteKeyedStateHandle;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.PlaceholderStreamStateHandle;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.SnapshotStrategy;
import org.apache.flink.runtime.state.StateObject;
import org.apache.flink.runtime.state.StateUtil;
import org.apache.flink.runtime.state.StreamStateHandle;

/**
 * Takes incremental checkpoints. Prepared on the task thread, written by one other thread per
 * snapshot.
 *
 * <pre>
 *   shared    files with sealed partitions, of this and earlier checkpoints
 *   meta      states, timers and what is on the heap, in the format of Flink's heap backend
 *   private   a {@link DirectoryFormat directory}: partitions, and what was changed since they were sealed
 * </pre>
 *
 * With local recovery each checkpoint is {@link LocalSnapshot copied} to the local disk once it is
 * written. Savepoints, and checkpoints of a backend that has nothing spilled, are full snapshots,
 * which Flink's HashMap backend restores.
 */
public final class IncrementalSnapshot<K>
        implements SnapshotStrategy<KeyedStateHandle, StatesView<K>> {

    private static final long FILE_BYTES = 64L << 20;

    private final HeapFormatSnapshot<K> heapFormat;
    private final KeyGroupRange keyGroupRange;
    private final UUID backendId;
    private final CheckpointHistory history;
    private final SpillSpace space;
    private final LocalBackup localBackup;

    /**
     * @param heapFormat writes full snapshots and what is on the heap
     * @param backendId whose shared files the checkpoints have
     * @param history told about checkpoints by the backend
     * @param space where the states spill
     * @param localBackup where incremental checkpoints are copied to
     */
    public IncrementalSnapshot(
            HeapFormatSnapshot<K> heapFormat,
            KeyGroupRange keyGroupRange,
            UUID backendId,
            CheckpointHistory history,
            SpillSpace space,
            LocalBackup localBackup) {
        this.heapFormat = heapFormat;
        this.keyGroupRange = keyGroupRange;
        this.backendId = backendId;
        this.history = history;
        this.space = space;
        this.localBackup = localBackup;
    }

    @Override
    public StatesView<K> syncPrepareResources(long checkpointId) {
        return heapFormat.syncPrepareResources(checkpointId);
    }

    @Override
    public SnapshotResultSupplier<KeyedStateHandle> asyncSnapshot(
            StatesView<K> view,
            long checkpointId,
            long timestamp,
            CheckpointStreamFactory streamFactory,
            CheckpointOptions checkpointOptions) {
        SharingFilesStrategy sharing =
                checkpointOptions.getCheckpointType().getSharingFilesStrategy();
        if (sharing == SharingFilesStrategy.NO_SHARING || !view.hasSpilled()) {
            return heapFormat.asyncSnapshot(
                    view, checkpointId, timestamp, streamFactory, checkpointOptions);
        }
        sealLargeOverlays(view);
        CheckpointHistory.Attempt attempt =
                history.begin(checkpointId, sharing == SharingFilesStrategy.FORWARD_BACKWARD);
        return registry -> {
            Writing writing = new Writing(streamFactory, registry, checkpointId);
            boolean written = false;
            try {
                SnapshotResult<KeyedStateHandle> result = writing.write(view, attempt);
                written = true;
                return result;
            } finally {
                if (!written) {
                    attempt.drop();
                    writing.discard();
                }
            }
        };
    }

    /** What fails fails here, with a view that nobody else releases. */
    private void sealLargeOverlays(StatesView<K> view) {
        PartitionPool pool = space.pool();
        if (pool == null) {
            return;
        }
        try {
            pool.sealLargeOverlays();
        } catch (RuntimeException | Error e) {
            view.release();
            throw e;
        }
    }

    /** The writing of one checkpoint. */
    private final class Writing {
        private final CheckpointStreamFactory streams;
        private final CloseableRegistry registry;
        private final long checkpointId;
        private final PartitionUpload upload;
        @Nullable private final LocalSnapshot local;
        private final List<StateObject> privateFiles = new ArrayList<>();

        Writing(CheckpointStreamFactory streams, CloseableRegistry registry, long checkpointId) {
            this.streams = streams;
            this.registry = registry;
            this.checkpointId = checkpointId;
            this.local = localBackup.begin(backendId, checkpointId);
            this.upload = new PartitionUpload(streams, registry, FILE_BYTES);
        }

        SnapshotResult<KeyedStateHandle> write(
                StatesView<K> view, CheckpointHistory.Attempt attempt) throws Exception {
            HeapEntries entries = new HeapEntries();
            StreamStateHandle heap =
                    writePrivate(
                            CheckpointFiles.HEAP_ENTRIES, stream -> entries.write(view, stream));
            // Read after the heap: overlays that are sealed meanwhile are then shared at once.
            List<SpilledGroup> groups = groups(view);
            CheckpointedPartitions partitions = upload.write(groups, attempt);
            StreamStateHandle directory =
                    writePrivate(
                            CheckpointFiles.DIRECTORY,
                            stream ->
                                    DirectoryWriter.write(
                                            stream,
                                            keyGroupRange,
                                            entries.offsets,
                                            entries.checksums,
                                            groups,
                                            partitions));
            long newBytes = heap.getStateSize() + directory.getStateSize();
            for (SharedFile file : upload.written()) {
                newBytes += file.bytes();
            }
            KeyedStateHandle handle =
                    new IncrementalRemoteKeyedStateHandle(
                            backendId,
                            keyGroupRange,
                            checkpointId,
                            shared(partitions),
                            Collections.singletonList(
                                    HandleAndLocalPath.of(directory, CheckpointFiles.DIRECTORY)),
                            heap,
                            newBytes);
            KeyedStateHandle copy =
                    local == null
                            ? null
                            : local.complete(
                                    backendId,
                                    keyGroupRange,
                                    checkpointId,
                                    partitions,
                                    upload.written(),
                                    registry);
            failIfCancelled(registry.isClosed());
            attempt.written(partitions);
            return copy == null
                    ? SnapshotResult.of(handle)
                    : SnapshotResult.withLocalState(handle, copy);
        }

        private void failIfCancelled(boolean cancelled) throws IOException {
            if (cancelled) {
                throw new IOException("The checkpoint was cancelled while it was written.");
            }
        }

        private List<SpilledGroup> groups(StatesView<K> view) {
            List<SpilledGroup> groups = new ArrayList<>();
            for (TableView<K, ?, ?> table : view.tables()) {
                for (int keyGroup : keyGroupRange) {
                    SpilledView spilled = table.spilled(keyGroup);
                    if (spilled != null) {
                        groups.add(new SpilledGroup(table.name(), keyGroup, spilled));
                    }
                }
            }
            return groups;
        }

        private StreamStateHandle writePrivate(String name, Content content) throws IOException {
            CheckpointStateOutputStream stream =
                    streams.createCheckpointStateOutputStream(CheckpointedStateScope.EXCLUSIVE);
            if (local != null) {
                stream = local.duplicate(stream, name);
            }
            boolean finished = false;
            try {
                registry.registerCloseable(stream);
                content.write(stream);
                failIfCancelled(!registry.unregisterCloseable(stream));
                StreamStateHandle handle = stream.closeAndGetHandle();
                privateFiles.add(handle);
                finished = true;
                if (local != null) {
                    local.closeCopy(stream, name);
                }
                return handle;
            } finally {
                if (!finished) {
                    registry.unregisterCloseable(stream);
                    stream.close();
                }
            }
        }

        /** New files as they are, for the others what tells the JobManager which ones are meant. */
        private List<HandleAndLocalPath> shared(CheckpointedPartitions partitions) {
            List<HandleAndLocalPath> shared = new ArrayList<>();
            List<StreamStateHandle> reused = new ArrayList<>();
            for (SharedFile file : partitions.files()) {
                StreamStateHandle handle = file.handle;
                if (!upload.written().contains(file)) {
                    reused.add(handle);
                    handle =
                            new PlaceholderStreamStateHandle(
                                    handle.getStreamStateHandleID(),
                                    handle.getStateSize(),
                                    FileMergingSnapshotManager.isFileMergingHandle(handle));
                }
                shared.add(HandleAndLocalPath.of(handle, file.name));
            }
            streams.reusePreviousStateHandle(reused);
            return shared;
        }

        /** Also on a thread that is interrupted, on which clients of stores delete nothing. */
        void discard() {
            boolean interrupted = Thread.interrupted();
            for (SharedFile file : upload.written()) {
                privateFiles.add(file.handle);
            }
            privateFiles.forEach(StateUtil::discardStateObjectQuietly);
            if (local != null) {
                local.discard();
            }
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** What the directory says of the file with heap entries. */
    private final class HeapEntries {
        private long[] offsets;
        private FileChecksums checksums;

        void write(StatesView<K> view, CheckpointStateOutputStream stream) throws IOException {
            ChecksummedOutput out = new ChecksummedOutput(stream);
            offsets = heapFormat.writeHeapEntries(view, out);
            checksums = out.checksums();
        }
    }

    /** What a file gets. */
    private interface Content {
        void write(CheckpointStateOutputStream stream) throws IOException;
    }
}
