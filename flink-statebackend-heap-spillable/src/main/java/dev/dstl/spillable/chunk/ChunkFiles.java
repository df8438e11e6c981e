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

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import javax.annotation.Nullable;
import org.apache.flink.core.memory.MemorySegment;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The chunk files of one backend, used by any thread. Extents follow each other in a file. The
 * space of one is not reused while others in the file are occupied: a file is deleted when its last
 * extent is given back, or, while it still takes extents, filled again from its start. Who has
 * extents in a file of which little is still occupied writes them anew, see {@link
 * Extent#occupiedShare()}.
 *
 * <p>A file of which a write failed or was interrupted takes no more extents: what the disk has of
 * it is unknown. Extents written to it before stay readable.
 */
public final class ChunkFiles implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(ChunkFiles.class);

    private static final int COPY_BYTES = 256 * 1024;
    private static final int MOST_BYTES = Integer.MAX_VALUE & ~4095;

    /** So many interrupts during one write are survived. */
    private static final int MOST_INTERRUPTS = 3;

    /** Makes a file. */
    interface Maker {
        /**
         * @param number that no other file of the directory has
         */
        ChunkFile create(SpillDirectory directory, long number, int length) throws IOException;
    }

    private final SpillDirectories directories;
    private final Maker maker;
    private final int chunkBytes;
    private final LongSupplier clockMillis;
    private final Executor deleter;
    private final Object copying = new Object();

    /** Made by the first write: what may fail for want of memory must not leave directories. */
    @Nullable private ByteBuffer copyBuffer;

    private final Set<ChunkFile> chunks = new HashSet<>();
    private ChunkFile current;

    /** Why a directory refused last, which it is not asked again for some seconds. */
    private String lastRefusal = "none was asked";

    private long nextNumber;
    private int nextDirectory;
    // Read without the lock, which is held while a disk makes a file.
    private final AtomicLong fileBytes = new AtomicLong();
    private final AtomicLong occupiedBytes = new AtomicLong();
    private boolean closed;

    /**
     * @param directories owned and closed by this object
     * @param chunkBytes length of a file, a power of two; larger extents get files of their own
     * @param clockMillis milliseconds since any moment, for pauses after failures; one that nobody
     *     sets
     */
    public ChunkFiles(SpillDirectories directories, int chunkBytes, LongSupplier clockMillis) {
        this(directories, chunkBytes, clockMillis, Runnable::run);
    }

    /**
     * As the other constructor.
     *
     * @param deleter deletes files that nobody needs any more, which takes some ten milliseconds
     *     each; one that refuses, as after its end, leaves it to the thread that asks
     */
    public ChunkFiles(
            SpillDirectories directories,
            int chunkBytes,
            LongSupplier clockMillis,
            Executor deleter) {
        this(directories, chunkBytes, clockMillis, deleter, ChunkFile::create);
    }

    ChunkFiles(
            SpillDirectories directories,
            int chunkBytes,
            LongSupplier clockMillis,
            Executor deleter,
            Maker maker) {
        this.directories = directories;
        this.maker = maker;
        this.chunkBytes = chunkBytes;
        this.clockMillis = clockMillis;
        this.deleter = deleter;
    }

    /**
     * Copies {@code [0, length)} of {@code source} into a file. An interrupt of the calling thread
     * does not fail it; the thread stays interrupted.
     *
     * @throws IOException if no directory took the bytes; nothing is occupied then
     */
    public Extent write(MemorySegment source, int length) throws IOException {
        IOException failure = null;
        int attempts = directories.directories().size() + MOST_INTERRUPTS;
        boolean interrupted = false;
        try {
            for (int i = 0; i < attempts; i++) {
                // A channel closes when the thread that uses it is interrupted.
                interrupted |= Thread.interrupted();
                Extent extent = allocate((int) Math.min(MOST_BYTES, (length + 4095L) & ~4095L));
                interrupted |= Thread.interrupted();
                try {
                    copy(source, length, extent);
                    return extent;
                } catch (IOException e) {
                    // Closed by an interrupt, of this thread or of one that was reading.
                    boolean isInterrupt = e instanceof ClosedChannelException;
                    takeOutOfUse(extent.chunk, isInterrupt ? null : e);
                    release(extent);
                    if (failure != null) {
                        e.addSuppressed(failure);
                    }
                    failure = e;
                } catch (RuntimeException | Error e) {
                    release(extent);
                    throw e;
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
        throw failure;
    }

    /**
     * @param refusal of the disk, null if it is not to blame
     */
    private synchronized void takeOutOfUse(ChunkFile chunk, @Nullable IOException refusal) {
        chunk.isWritable = false;
        if (chunk == current) {
            current = null;
        }
        if (refusal != null) {
            refused(chunk.directory(), refusal);
        }
    }

    private void refused(SpillDirectory directory, IOException refusal) {
        directory.pause(clockMillis.getAsLong());
        lastRefusal = refusal.getMessage();
    }

    /** One thread at a time writes. */
    private void copy(MemorySegment source, int length, Extent extent) throws IOException {
        synchronized (copying) {
            if (copyBuffer == null) {
                copyBuffer = ByteBuffer.allocateDirect(COPY_BYTES);
            }
            // By what is left: a step of one size could leave the range of an int.
            int bytes;
            for (int done = 0; done < length; done += bytes) {
                bytes = Math.min(COPY_BYTES, length - done);
                copyBuffer.clear();
                source.get(done, copyBuffer, bytes);
                copyBuffer.flip();
                extent.chunk.write(copyBuffer, extent.offset + done);
            }
        }
    }

    private synchronized Extent allocate(int length) throws IOException {
        Extent extent;
        if (length > chunkBytes) {
            extent = new Extent(newChunk(length), 0, length);
            extent.chunk.freshOffset = length;
        } else {
            if (current == null
                    || !current.isWritable
                    || length > current.length - current.freshOffset) {
                ChunkFile full = current;
                current = newChunk(chunkBytes);
                if (full != null && full.occupied == 0) {
                    drop(full);
                }
            }
            extent = new Extent(current, current.freshOffset, length);
            current.freshOffset += length;
        }
        extent.chunk.occupied += length;
        occupiedBytes.addAndGet(length);
        return extent;
    }

    private ChunkFile newChunk(int length) throws IOException {
        List<SpillDirectory> all = directories.directories();
        IOException failure = null;
        for (int i = 0; i < all.size(); i++) {
            SpillDirectory directory = all.get(nextDirectory++ % all.size());
            if (!directory.isUsable(clockMillis.getAsLong())) {
                continue;
            }
            try {
                ChunkFile chunk = maker.create(directory, nextNumber++, length);
                chunks.add(chunk);
                fileBytes.addAndGet(length);
                return chunk;
            } catch (IOException e) {
                refused(directory, e);
                if (failure != null) {
                    e.addSuppressed(failure);
                }
                failure = e;
            }
        }
        List<String> paths = new ArrayList<>();
        all.forEach(directory -> paths.add(directory.path().toString()));
        throw new IOException(
                String.format(
                        "No spill directory takes a chunk of %d bytes (%s): %s. Free disk space or"
                                + " add directories to state.backend.spillable.directories; if"
                                + " files or mappings are too many, raise the limits of the"
                                + " process or state.backend.spillable.chunk-size.",
                        length, lastRefusal, paths),
                failure);
    }

    /** Gives an extent back. Nobody may read it any more. */
    public synchronized void release(Extent extent) {
        if (closed) {
            return;
        }
        ChunkFile chunk = extent.chunk;
        chunk.occupied -= extent.length;
        occupiedBytes.addAndGet(-extent.length);
        if (chunk.occupied == 0) {
            if (chunk == current) {
                chunk.freshOffset = 0;
            } else {
                drop(chunk);
            }
        }
    }

    private void drop(ChunkFile chunk) {
        chunks.remove(chunk);
        fileBytes.addAndGet(-chunk.length);
        try {
            deleter.execute(() -> delete(chunk));
        } catch (RejectedExecutionException | OutOfMemoryError e) {
            delete(chunk);
        }
    }

    /** Does not fail: nobody reads the file any more, and its directory goes with the backend. */
    private static void delete(ChunkFile chunk) {
        try {
            chunk.delete();
        } catch (IOException | RuntimeException | OutOfMemoryError e) {
            // Thrown on the thread of an executor, it would end the process.
            LOG.warn("Cannot delete {}; it takes disk space until its task ends.", chunk.path(), e);
        }
    }

    /** Length of a file, unless a single extent is longer. */
    public int chunkBytes() {
        return chunkBytes;
    }

    /** Total length of the files. */
    public long fileBytes() {
        return fileBytes.get();
    }

    /** What is in use of {@link #fileBytes()}. */
    public long occupiedBytes() {
        return occupiedBytes.get();
    }

    /** Deletes everything. Nobody may read an extent any more. */
    @Override
    public synchronized void close() throws IOException {
        if (!closed) {
            closed = true;
            chunks.forEach(ChunkFiles::delete);
            directories.close();
        }
    }
}
