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
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
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
 * The copy of one checkpoint on the local disk. A failure costs the copy, never the checkpoint.
 * Used by one thread.
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

    private static final int COPY_BYTES = 64 << 10;

    private final LocalBackup backup;
    private final Path directory;
    @Nullable private StreamStateHandle heapEntries;
    @Nullable private Exception failure;
    private long bytes;

    /**
     * @param backup told how it ends
     * @param directory made and filled here
     */
    LocalSnapshot(LocalBackup backup, Path directory) {
        this.backup = backup;
        this.directory = directory;
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
     * @param registry closed if the checkpoint is cancelled
     * @return null if something failed
     */
    @Nullable
    KeyedStateHandle complete(
            UUID backendId,
            KeyGroupRange keyGroupRange,
            long checkpointId,
            CheckpointedPartitions partitions,
            CloseableRegistry registry) {
        try {
            if (failure == null) {
                List<HandleAndLocalPath> shared = new ArrayList<>();
                for (SharedFile file : partitions.files()) {
                    add(file, partitions, registry);
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
        }
        return null;
    }

    private void add(SharedFile file, CheckpointedPartitions partitions, CloseableRegistry registry)
            throws IOException {
        Path copy = directory.resolve(file.name);
        if (!file.copies.linkTo(copy)) {
            write(copy, partitions.in(file), registry);
        }
        bytes += file.bytes();
    }

    /**
     * Writes partitions to where they are in the shared file. What that file has between them is
     * not in use and stays a hole.
     */
    private static void write(
            Path copy, List<CheckpointedPartitions.Located> partitions, CloseableRegistry registry)
            throws IOException {
        byte[] buffer = new byte[COPY_BYTES];
        try (RandomAccessFile out = new RandomAccessFile(copy.toFile(), "rw")) {
            for (CheckpointedPartitions.Located one : partitions) {
                if (registry.isClosed()) {
                    throw new IOException("The checkpoint was cancelled while it was copied.");
                }
                out.seek(one.location.offset);
                int count;
                for (int done = 0; done < one.location.length; done += count) {
                    count = Math.min(buffer.length, one.location.length - done);
                    one.partition.extent().read(ByteBuffer.wrap(buffer, 0, count), done);
                    out.write(buffer, 0, count);
                }
            }
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
