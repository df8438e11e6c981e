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
import dev.dstl.spillable.overlay.PartitionedMap;
import dev.dstl.spillable.overlay.SpillSpace;
import dev.dstl.spillable.partition.KeyHash;
import dev.dstl.spillable.restore.HeapFormatRestore;
import dev.dstl.spillable.restore.SnapshotStates;
import dev.dstl.spillable.table.StateRegistry;
import dev.dstl.spillable.table.StateTable;
import dev.dstl.spillable.table.TablePlacement;
import dev.dstl.spillable.table.WrittenState;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import javax.annotation.Nullable;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.runtime.state.AbstractIncrementalStateHandle;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyGroupsStateHandle;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.util.IOUtils;
import org.apache.flink.util.StateMigrationException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads incremental checkpoints and full snapshots, of any number of handles, keeping only the
 * task's key groups. Of a checkpoint with a copy on the local disk only the copy is read. Sealed
 * partitions become parts of chunk files, and none of their entries is deserialized. Runs on the
 * task thread; a handle that is damaged or foreign fails the restore.
 */
public final class IncrementalRestore<K> {

    private static final Logger LOG = LoggerFactory.getLogger(IncrementalRestore.class);

    private final StateRegistry<K> states;
    private final SpillSpace space;
    private final HeapFormatRestore<K> heapFormat;
    private final KeyGroupRange keyGroupRange;
    private final CloseableRegistry cancelRegistry;
    private final Map<Long, KeyHash> hashes = new HashMap<>();

    private UUID backendId = UUID.randomUUID();
    private CheckpointHistory history = new CheckpointHistory();

    /**
     * @param states takes what is read; filled in part if a restore fails
     * @param space takes the partitions
     * @param heapFormat reads full snapshots and what was on the heap
     * @param cancelRegistry closes the streams being read if the task is cancelled
     */
    public IncrementalRestore(
            StateRegistry<K> states,
            SpillSpace space,
            HeapFormatRestore<K> heapFormat,
            KeyGroupRange keyGroupRange,
            CloseableRegistry cancelRegistry) {
        this.states = states;
        this.space = space;
        this.heapFormat = heapFormat;
        this.keyGroupRange = keyGroupRange;
        this.cancelRegistry = cancelRegistry;
    }

    /** Under which the next checkpoints share files: that of the restored one if it goes on. */
    public UUID backendId() {
        return backendId;
    }

    /** To which files the next checkpoint may refer. */
    public CheckpointHistory history() {
        return history;
    }

    /**
     * Reads all handles, one after the other; null counts as empty.
     *
     * @throws Exception if a handle cannot be read, is damaged, or has an incompatible key
     *     serializer
     */
    public void restore(Collection<KeyedStateHandle> handles) throws Exception {
        for (KeyedStateHandle handle : handles) {
            if (handle instanceof AbstractIncrementalStateHandle) {
                AbstractIncrementalStateHandle incremental =
                        (AbstractIncrementalStateHandle) handle;
                CheckpointedPartitions partitions = restore(CheckpointFiles.of(incremental));
                if (handles.size() == 1 && handle.getKeyGroupRange().equals(keyGroupRange)) {
                    backendId = incremental.getBackendIdentifier();
                    history = new CheckpointHistory(partitions);
                }
            } else {
                heapFormat.restore(Collections.singletonList(handle));
            }
        }
    }

    private CheckpointedPartitions restore(CheckpointFiles files) throws Exception {
        String directory = files.directory.toString();
        CheckpointedPartitions partitions = new CheckpointedPartitions();
        FSDataInputStream stream = files.directory.openInputStream();
        try {
            cancelRegistry.registerCloseable(stream);
            DirectoryReader reader =
                    new DirectoryReader(new BufferedInputStream(stream), directory, files.shared);
            heapFormat.restore(
                    new KeyGroupsStateHandle(reader.offsets(), files.heapEntries),
                    openHeapEntries(files.heapEntries, reader.heapChecksums()),
                    written -> {
                        requireStates(reader, directory, written);
                        restoreSpilled(reader, directory, files.local, partitions);
                        rewriteOthers(reader, written);
                    });
        } finally {
            cancelRegistry.unregisterCloseable(stream);
            IOUtils.closeQuietly(stream);
        }
        return partitions;
    }

    private static FSDataInputStream openHeapEntries(
            StreamStateHandle file, @Nullable FileChecksums checksums) throws IOException {
        FSDataInputStream stream = file.openInputStream();
        return checksums == null
                ? stream
                : new ChecksummedInput(stream, file.toString(), checksums);
    }

    private void restoreSpilled(
            DirectoryReader reader,
            String directory,
            boolean local,
            CheckpointedPartitions partitions)
            throws Exception {
        long start = System.nanoTime();
        PartitionPool pool = space.open();
        PartitionDownload download = new PartitionDownload(space, cancelRegistry);
        for (DirectoryMap map : reader.maps()) {
            if (keyGroupRange.contains(map.keyGroup)) {
                download.add(map);
            }
        }
        download.run();
        LOG.info(
                "Copied {} spilled partitions from {} to chunk files in {} ms.",
                download.partitions(),
                local ? "a local copy of the checkpoint" : "the checkpoint storage",
                (System.nanoTime() - start) / 1_000_000);
        List<PartitionedMap> restored = new ArrayList<>();
        for (DirectoryMap map : reader.maps()) {
            boolean own = keyGroupRange.contains(map.keyGroup);
            restored.add(own ? place(map, pool, partitions) : null);
        }
        for (int i = 0; i < restored.size(); i++) {
            PartitionedMap spilled = restored.get(i);
            reader.readChanges(spilled);
            if (spilled != null) {
                requireAll(reader.maps().get(i), spilled, directory);
            }
        }
        reader.requireEnd();
    }

    /** Before any entry of the snapshot is in a table, which may take its serializers then. */
    private void requireStates(DirectoryReader reader, String directory, SnapshotStates<K> written)
            throws IOException, StateMigrationException {
        for (DirectoryMap map : reader.maps()) {
            WrittenState<K, ?, ?> state = written.state(map.stateName);
            if (state == null) {
                throw new IOException(
                        String.format(
                                "%s has partitions of %s, which is not registered.",
                                directory, map));
            }
            if (map.entries > 0 && keyGroupRange.contains(map.keyGroup)) {
                states.tableOf(state);
            }
        }
    }

    /**
     * Rewrites what other serializers have written than those of the table. The next checkpoint
     * refers to no partition that was rewritten.
     */
    private void rewriteOthers(DirectoryReader reader, SnapshotStates<K> written)
            throws IOException {
        for (DirectoryMap map : reader.maps()) {
            if (map.entries > 0 && keyGroupRange.contains(map.keyGroup)) {
                rewriteOther(map, written.state(map.stateName));
            }
        }
    }

    private <N, S> void rewriteOther(DirectoryMap map, WrittenState<K, N, S> written)
            throws IOException {
        StateTable<K, N, S> table = states.table(map.stateName);
        if (table.writesUnlike(written)) {
            if (cancelRegistry.isClosed()) {
                throw new IOException("The task was cancelled while it rewrote " + map);
            }
            table.rewrite(map.keyGroup, written);
        }
    }

    private PartitionedMap place(
            DirectoryMap map, PartitionPool pool, CheckpointedPartitions partitions)
            throws IOException {
        StateTable<K, ?, ?> table = states.table(map.stateName);
        for (DirectoryMap.Range range : map.ranges) {
            if (range.sealed != null) {
                partitions.add(range.sealed, range.location);
            }
        }
        TablePlacement placement = table.placement();
        PartitionedMap spilled =
                new PartitionedMap(
                        pool,
                        placement.identity(map.keyGroup),
                        hash(map.seed, pool),
                        map.partitions());
        placement.restoreSpilled(map.keyGroup, spilled);
        return spilled;
    }

    /** One object per seed: layouts compare objects. */
    private KeyHash hash(long seed, PartitionPool pool) {
        return seed == pool.keyHash().seed()
                ? pool.keyHash()
                : hashes.computeIfAbsent(seed, KeyHash::new);
    }

    private static void requireAll(DirectoryMap map, PartitionedMap spilled, String directory)
            throws IOException {
        if (spilled.size() != map.entries) {
            throw new IOException(
                    String.format(
                            "%s is damaged: it states %d entries of %s, found %d.",
                            directory, map.entries, map, spilled.size()));
        }
        spilled.restoredBytes(map.entryBytes);
    }
}
