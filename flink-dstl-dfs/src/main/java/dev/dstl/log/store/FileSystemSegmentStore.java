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

package dev.dstl.log.store;

import dev.dstl.log.memory.JobMemory;
import dev.dstl.log.memory.MemoryUse;
import java.io.BufferedOutputStream;
import java.io.FileNotFoundException;
import java.io.IOException;
import org.apache.flink.core.fs.EntropyInjector;
import org.apache.flink.core.fs.FSDataOutputStream;
import org.apache.flink.core.fs.FileSystem;
import org.apache.flink.core.fs.FileSystem.WriteMode;
import org.apache.flink.core.fs.Path;

/**
 * Segments on any Flink file system. Writing a segment takes a single request: names are unique, so
 * nothing is looked up first, and object stores have no directories to create.
 */
public final class FileSystemSegmentStore implements SegmentStore {

    /** Enough to combine small writes. */
    private static final int SMALL_BUFFER_BYTES = 1 << 13;

    private final FileSystem fileSystem;
    private final Path basePath;
    private final int maxBufferBytes;
    private final JobMemory memory;

    /**
     * Creates a store below a path.
     *
     * @param fileSystem must not close its streams when a task ends, see {@link
     *     FileSystem#getUnguardedFileSystem}
     * @param maxBufferBytes maximum size of the buffer of one write, at least 1
     */
    public FileSystemSegmentStore(FileSystem fileSystem, Path basePath, int maxBufferBytes) {
        this(fileSystem, basePath, maxBufferBytes, JobMemory.alone(Long.MAX_VALUE));
    }

    /**
     * Creates a store below a path that uses small buffers while memory is short.
     *
     * @param fileSystem must not close its streams when a task ends, see {@link
     *     FileSystem#getUnguardedFileSystem}
     * @param maxBufferBytes maximum size of the buffer of one write, at least 1
     * @param memory changelog memory of the job
     */
    public FileSystemSegmentStore(
            FileSystem fileSystem, Path basePath, int maxBufferBytes, JobMemory memory) {
        this.fileSystem = fileSystem;
        this.basePath = basePath.makeQualified(fileSystem);
        this.maxBufferBytes = maxBufferBytes;
        this.memory = memory;
    }

    FileSystem fileSystem() {
        return fileSystem;
    }

    @Override
    public Path locate(SegmentName name) throws IOException {
        return EntropyInjector.addEntropy(fileSystem, name.below(basePath));
    }

    @Override
    public void write(Path file, SegmentContent content) throws IOException {
        FSDataOutputStream stream = create(file);
        try {
            content.opened(stream);
            writeAll(stream, content);
        } catch (Throwable failure) {
            try {
                stream.close();
            } catch (Throwable alsoFailed) {
                failure.addSuppressed(alsoFailed);
            }
            throw failure;
        }
        // Many file systems send everything here; only a normal return means success.
        stream.close();
    }

    private void writeAll(FSDataOutputStream stream, SegmentContent content) throws IOException {
        int bufferBytes = (int) Math.max(1, Math.min(maxBufferBytes, content.length()));
        if (!memory.tryReserve(MemoryUse.UPLOAD_BUFFERS, bufferBytes)) {
            bufferBytes = Math.min(bufferBytes, SMALL_BUFFER_BYTES);
            memory.reserve(MemoryUse.UPLOAD_BUFFERS, bufferBytes);
        }
        try {
            BufferedOutputStream buffered = new BufferedOutputStream(stream, bufferBytes);
            content.writeTo(buffered);
            buffered.flush();
        } finally {
            memory.release(MemoryUse.UPLOAD_BUFFERS, bufferBytes);
        }
        if (stream.getPos() != content.length()) {
            throw new IOException(
                    String.format(
                            "The stream took %d bytes of a segment of %d bytes",
                            stream.getPos(), content.length()));
        }
    }

    private FSDataOutputStream create(Path file) throws IOException {
        try {
            return fileSystem.create(file, WriteMode.OVERWRITE);
        } catch (FileNotFoundException missingDirectory) {
            // Most file systems create parents themselves, and object stores have none.
            fileSystem.mkdirs(file.getParent());
            return fileSystem.create(file, WriteMode.OVERWRITE);
        }
    }

    @Override
    public void delete(Path file) throws IOException {
        try {
            if (!fileSystem.delete(file, false) && fileSystem.exists(file)) {
                throw new IOException("The file system refused to delete " + file);
            }
        } catch (FileNotFoundException nothingToDelete) {
            return;
        }
    }

    @Override
    public void ping() throws IOException {
        try {
            fileSystem.getFileStatus(basePath);
        } catch (FileNotFoundException nothingStoredYet) {
            return;
        }
    }
}
