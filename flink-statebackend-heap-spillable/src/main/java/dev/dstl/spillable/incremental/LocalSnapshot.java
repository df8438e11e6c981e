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

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.function.LongSupplier;
import javax.annotation.Nullable;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.core.fs.FileSystem;
import org.apache.flink.runtime.state.CheckpointStateOutputStream;
import org.apache.flink.runtime.state.DirectoryStateHandle;
import org.apache.flink.runtime.state.DuplicatingCheckpointOutputStream;
import org.apache.flink.runtime.state.IncrementalKeyedStateHandle.HandleAndLocalPath;
import org.apache.flink.runtime.state.IncrementalLocalKeyedStateHandle;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.runtime.state.filesystem.FileBasedStateOutputStream;
import org.apache.flink.util.FileUtils;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The copy of one checkpoint on the local disk. A failure costs the copy, never the checkpoint, and
 * so does a slow disk: files that no earlier checkpoint has are copied as long as writing the
 * checkpoint took, or a second. What is left then is copied by later checkpoints, the first of
 * which to have all files has a copy again. Used by one thread.
 *
 * <pre>
 *   &lt;uuid&gt;/heap-entries       as in the checkpoint
 *   &lt;uuid&gt;/directory          as in the checkpoint
 *   &lt;uuid&gt;/&lt;name&gt;             for each shared file: a hard link to the copy that an earlier
 *                             checkpoint has, or what is in use of the file
 * </pre>
 */
final class LocalSnapshot {

    private static final Logger LOG = LoggerFactory.getLogger(LocalSnapshot.class);

    private static final long SHORTEST_SLICE_NANOS = 1_000_000_000;

    /** Copied in any case, for copies to become complete some time. */
    private static final long SMALLEST_SLICE_BYTES = 4 << 20;

    private final LocalBackup backup;
    private final Path directory;
    private final UnfinishedCopies unfinished;
    private final LongSupplier clockNanos;
    private final long startNanos;

    /** Files that would have to be copied again if this checkpoint did not complete. */
    private final Set<SharedFile> fromUnfinished = new HashSet<>();

    @Nullable private StreamStateHandle heapEntries;
    @Nullable private Exception failure;
    private long bytes;

    /**
     * @param backup told how it ends
     * @param directory made and filled here
     * @param unfinished has what earlier checkpoints have left
     * @param clockNanos time in nanoseconds
     */
    LocalSnapshot(
            LocalBackup backup,
            Path directory,
            UnfinishedCopies unfinished,
            LongSupplier clockNanos) {
        this.backup = backup;
        this.directory = directory;
        this.unfinished = unfinished;
        this.clockNanos = clockNanos;
        this.startNanos = clockNanos.getAsLong();
    }

    /** A stream that also writes a copy. */
    CheckpointStateOutputStream duplicate(CheckpointStateOutputStream stream, String name) {
        if (failure != null) {
            return stream;
        }
        try {
            Files.createDirectories(directory);
            return new DuplicatingCheckpointOutputStream(
                    stream,
                    new FileBasedStateOutputStream(
                            FileSystem.getLocalFileSystem(),
                            new org.apache.flink.core.fs.Path(directory.resolve(name).toUri())));
        } catch (IOException | RuntimeException e) {
            failure = e;
            return stream;
        }
    }

    /** To be called when a stream of {@link #duplicate} has been closed and has its handle. */
    void closeCopy(CheckpointStateOutputStream stream, String name) {
        if (!(stream instanceof DuplicatingCheckpointOutputStream)) {
            return;
        }
        try {
            StreamStateHandle handle =
                    ((DuplicatingCheckpointOutputStream) stream).closeAndGetSecondaryHandle();
            if (name.equals(CheckpointFiles.HEAP_ENTRIES)) {
                heapEntries = handle;
            } else {
                bytes += handle.getStateSize();
            }
        } catch (IOException | RuntimeException e) {
            failure = e;
        }
    }

    /**
     * Adds the shared files.
     *
     * @param partitions their memory is read
     * @param written files that no other checkpoint has
     * @param registry closed if the checkpoint is cancelled
     * @return null if something failed, or if files are left to later checkpoints
     */
    @Nullable
    KeyedStateHandle complete(
            UUID backendId,
            KeyGroupRange keyGroupRange,
            long checkpointId,
            CheckpointedPartitions partitions,
            Collection<SharedFile> written,
            CloseableRegistry registry) {
        try {
            if (failure == null) {
                List<HandleAndLocalPath> shared = new ArrayList<>();
                Slice slice = new Slice(registry);
                for (SharedFile file : partitions.files()) {
                    if (!add(file, partitions, written, slice)) {
                        for (SharedFile any : partitions.files()) {
                            unfinished.keep(any);
                        }
                        discard();
                        backup.postponed();
                        return null;
                    }
                    shared.add(HandleAndLocalPath.of(file.handle, file.name));
                }
                KeyedStateHandle handle =
                        new IncrementalLocalKeyedStateHandle(
                                backendId,
                                checkpointId,
                                new DirectoryStateHandle(directory, bytes),
                                keyGroupRange,
                                heapEntries,
                                shared);
                partitions.files().forEach(file -> file.copies.add(directory.resolve(file.name)));
                unfinished.retainOnly(fromUnfinished);
                backup.copied();
                return handle;
            }
        } catch (IOException | RuntimeException e) {
            failure = e;
        }
        discard();
        // A checkpoint that is cancelled is no failure of the disk.
        if (!registry.isClosed()) {
            backup.failed(directory, failure);
            discardUnfinished();
        }
        return null;
    }

    /** Returns false if there is no time for the whole file. */
    private boolean add(
            SharedFile file,
            CheckpointedPartitions partitions,
            Collection<SharedFile> written,
            Slice slice)
            throws IOException {
        Path target = directory.resolve(file.name);
        Path copy = file.copies.linkTo(target);
        if (copy == null) {
            if (!unfinished.copy(file, partitions.in(file), slice)) {
                return false;
            }
            copy = Objects.requireNonNull(file.copies.linkTo(target));
        }
        if (unfinished.has(copy) && !written.contains(file)) {
            fromUnfinished.add(file);
        }
        bytes += file.bytes();
        return true;
    }

    /** For how long a checkpoint copies files. */
    private final class Slice implements UnfinishedCopies.Limit {
        private final CloseableRegistry registry;
        private final long start = clockNanos.getAsLong();
        private final long nanos = Math.max(SHORTEST_SLICE_NANOS, start - startNanos);
        private long bytes;

        Slice(CloseableRegistry registry) {
            this.registry = registry;
        }

        @Override
        public boolean allows(int more) throws IOException {
            if (registry.isClosed()) {
                throw new IOException("The checkpoint was cancelled while it was copied.");
            }
            if (bytes > SMALLEST_SLICE_BYTES && clockNanos.getAsLong() - start >= nanos) {
                return false;
            }
            bytes += more;
            return true;
        }
    }

    private void discardUnfinished() {
        try {
            unfinished.clear();
        } catch (IOException | RuntimeException e) {
            LOG.debug("Copies of files cannot be deleted now.", e);
        }
    }

    /** Deletes what was written. */
    void discard() {
        try {
            FileUtils.deleteDirectory(directory.toFile());
        } catch (IOException | RuntimeException e) {
            LOG.warn(
                    "Cannot delete {}, which is an incomplete copy of a checkpoint.", directory, e);
        }
    }
}
