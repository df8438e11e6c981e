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

package dev.dstl.spillable.chunk;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.channels.NonWritableChannelException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.apache.flink.core.memory.MemorySegment;
import org.apache.flink.core.memory.MemorySegmentFactory;

/**
 * One file on a local disk, read through a mapping of its whole length.
 *
 * <p>It is written through the channel only. Space that the disk does not have is thus an {@link
 * IOException} of the write, never a fault of a memory access: the mapping is read-only, lies
 * within the file's length, and a part never written reads as zeros.
 */
final class ChunkFile {

    private final Path path;
    private final SpillDirectory directory;
    private volatile FileChannel channel;
    private final MappedByteBuffer mapping;
    private final MemorySegment segment;
    final int length;

    /** Where space never handed out starts. Guarded by the {@link ChunkFiles}. */
    volatile int freshOffset;

    /** Bytes handed out and not given back. Guarded by the {@link ChunkFiles}. */
    volatile int occupied;

    /** False after a write failed: nobody knows what the disk has. */
    volatile boolean isWritable = true;

    private ChunkFile(
            Path path,
            SpillDirectory directory,
            FileChannel channel,
            MappedByteBuffer mapping,
            int length) {
        this.path = path;
        this.directory = directory;
        this.channel = channel;
        this.mapping = mapping;
        this.segment = MemorySegmentFactory.wrapOffHeapMemory(mapping);
        this.length = length;
    }

    /** An interrupt does not fail it; the thread stays interrupted. */
    static ChunkFile create(SpillDirectory directory, long number, int length) throws IOException {
        boolean interrupted = false;
        try {
            while (true) {
                interrupted |= Thread.interrupted();
                try {
                    return createOnce(directory, number, length);
                } catch (ClosedByInterruptException e) {
                    // Once more, without the interrupt.
                    interrupted = true;
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private static ChunkFile createOnce(SpillDirectory directory, long number, int length)
            throws IOException {
        Path path = directory.path().resolve("chunk-" + number);
        FileChannel channel =
                FileChannel.open(
                        path,
                        StandardOpenOption.CREATE_NEW,
                        StandardOpenOption.READ,
                        StandardOpenOption.WRITE);
        try {
            channel.write(ByteBuffer.allocate(1), length - 1L);
            return new ChunkFile(
                    path,
                    directory,
                    channel,
                    channel.map(FileChannel.MapMode.READ_ONLY, 0, length),
                    length);
        } catch (Throwable e) {
            channel.close();
            Files.deleteIfExists(path);
            throw e;
        }
    }

    SpillDirectory directory() {
        return directory;
    }

    Path path() {
        return path;
    }

    MemorySegment segment() {
        return segment;
    }

    void write(ByteBuffer source, int offset) throws IOException {
        long position = offset;
        try {
            while (source.hasRemaining()) {
                position += channel.write(source, position);
            }
        } catch (NonWritableChannelException e) {
            // Closed by an interrupt of a reader, who has opened it again.
            throw (IOException) new ClosedChannelException().initCause(e);
        }
    }

    /**
     * An interrupt does not fail it, neither of this thread, which stays interrupted, nor of
     * another one that reads. Readers do not wait for each other's disk accesses.
     */
    void read(ByteBuffer target, int offset) throws IOException {
        boolean interrupted = Thread.interrupted();
        try {
            int start = target.position();
            while (true) {
                try {
                    readFully(readable(), target, offset);
                    return;
                } catch (ClosedChannelException e) {
                    interrupted |= Thread.interrupted();
                    target.position(start);
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** The channel, opened again for reading if an interrupt has closed it. */
    private synchronized FileChannel readable() throws IOException {
        if (!channel.isOpen()) {
            isWritable = false;
            channel = FileChannel.open(path, StandardOpenOption.READ);
        }
        return channel;
    }

    private void readFully(FileChannel source, ByteBuffer target, int offset) throws IOException {
        int length = target.remaining();
        long position = offset;
        while (target.hasRemaining()) {
            int bytes = source.read(target, position);
            if (bytes < 0) {
                throw new EOFException(
                        String.format(
                                "%s ends at byte %d, %d bytes at %d were expected. Something else"
                                        + " has shortened it.",
                                path, source.size(), length, offset));
            }
            position += bytes;
        }
    }

    /** As an interrupt of a thread that uses it does. */
    void closeChannel() throws IOException {
        channel.close();
    }

    /** Unmaps and deletes the file. Nobody may read it any more. */
    void delete() throws IOException {
        segment.free();
        MappedMemory.unmap(mapping);
        try {
            channel.close();
        } finally {
            Files.deleteIfExists(path);
        }
    }
}
