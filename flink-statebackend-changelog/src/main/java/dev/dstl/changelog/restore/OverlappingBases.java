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

package dev.dstl.changelog.restore;

import dev.dstl.changelog.schema.SchemaHistory;
import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RunnableFuture;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.core.fs.local.LocalFileSystem;
import org.apache.flink.runtime.checkpoint.CheckpointOptions;
import org.apache.flink.runtime.checkpoint.SavepointType;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.CheckpointStorageLocationReference;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.SavepointResources;
import org.apache.flink.runtime.state.SavepointSnapshotStrategy;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.SnapshotStrategyRunner;
import org.apache.flink.runtime.state.filesystem.FsCheckpointStreamFactory;
import org.apache.flink.util.FileUtils;
import org.apache.flink.util.IOUtils;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes overlapping bases restorable together, where one contains key groups that another one
 * changed later. After rescaling, subtasks first share the old base, which cannot be split. Once
 * one of them has its own base, restoring both together would bring back entries that it has
 * removed. So each base is restored separately, for the key groups for which it is the newest, and
 * written to the local disk in the canonical format.
 *
 * <p>Used by the task thread. Owns the files until it is closed.
 *
 * @param <K> type of the key
 */
final class OverlappingBases<K> implements Closeable {

    private static final int WRITE_BUFFER_BYTES = 64 << 10;

    private static final Logger LOG = LoggerFactory.getLogger(OverlappingBases.class);

    private final Path directory;
    private final BaseRestore<K> delegates;
    private final CloseableRegistry cancelRegistry;

    /**
     * Creates a directory for the files.
     *
     * @param temporary parent of the directory; emptied when a process follows one that was killed
     * @param delegates restores bases that are only read
     * @param cancelRegistry closes open streams when the task is cancelled
     */
    OverlappingBases(Path temporary, BaseRestore<K> delegates, CloseableRegistry cancelRegistry)
            throws IOException {
        this.directory =
                Files.createTempDirectory(Files.createDirectories(temporary), "dstl-bases-");
        this.delegates = delegates;
        this.cancelRegistry = cancelRegistry;
    }

    /** Restricts each base to the key groups for which it is the newest. */
    List<KeyedStateHandle> cut(List<RestoredHandles.Base> bases) throws Exception {
        List<KeyedStateHandle> cut = new ArrayList<>();
        for (RestoredHandles.Base base : bases) {
            KeyedStateHandle part = cut(base.keyGroups(), base.snapshots());
            if (part != null) {
                cut.add(part);
            }
        }
        return cut;
    }

    private KeyedStateHandle cut(KeyGroupRange keyGroups, List<KeyedStateHandle> snapshots)
            throws Exception {
        AbstractKeyedStateBackend<K> delegate =
                delegates.restore(keyGroups, snapshots, new SchemaHistory(), true).delegate();
        try {
            SavepointResources<K> resources = delegate.savepoint();
            RunnableFuture<SnapshotResult<KeyedStateHandle>> savepoint =
                    new SnapshotStrategyRunner<>(
                                    "Base of " + keyGroups,
                                    new SavepointSnapshotStrategy<>(
                                            resources.getSnapshotResources()),
                                    cancelRegistry,
                                    resources.getPreferredSnapshotExecutionType())
                            .snapshot(0, 0, files(), options());
            savepoint.run();
            return savepoint.get().getJobManagerOwnedSnapshot();
        } finally {
            IOUtils.closeQuietly(delegate);
            delegate.dispose();
        }
    }

    private FsCheckpointStreamFactory files() {
        org.apache.flink.core.fs.Path target = new org.apache.flink.core.fs.Path(directory.toUri());
        return new FsCheckpointStreamFactory(
                LocalFileSystem.getSharedInstance(), target, target, 0, WRITE_BUFFER_BYTES);
    }

    private static CheckpointOptions options() {
        return new CheckpointOptions(
                SavepointType.savepoint(SavepointFormatType.CANONICAL),
                CheckpointStorageLocationReference.getDefault());
    }

    /** Deletes the files. The restore succeeds even if that fails. */
    @Override
    public void close() {
        try {
            FileUtils.deleteDirectory(directory.toFile());
        } catch (IOException e) {
            LOG.warn(
                    "Could not delete {}, which holds copies of bases that are no longer needed."
                            + " Delete it manually.",
                    directory,
                    e);
        }
    }
}
