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

package dev.dstl.log.local;

import dev.dstl.log.memory.JobMemory;
import dev.dstl.log.memory.MemoryUse;
import dev.dstl.log.metrics.DstlMetrics;
import dev.dstl.log.segment.EncodedSegment;
import java.io.BufferedOutputStream;
import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicLong;
import javax.annotation.Nullable;
import org.apache.flink.core.fs.Path;
import org.apache.flink.util.function.ThrowingConsumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes copies of segments to the local disks of the TaskManager and deletes them. Copies only
 * make recovery faster: no upload and no checkpoint waits for one. If a disk fails, is full or
 * hangs, its copies are lost; this is counted, and logged once until the disk works again.
 *
 * <p>Thread-safe. Disks are accessed on the executor only.
 */
public final class LocalCopies implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(LocalCopies.class);

    /**
     * Segments that wait for a slow disk are held in memory; above this total size, segments are
     * not copied. They yield to all that needs the memory.
     */
    private static final long MAX_WAITING_BYTES = 64L << 20;

    private static final int BUFFER_BYTES = 1 << 16;

    private static final String NO_MEMORY = "the disk does not keep up, or its memory is needed";

    private final LocalDirectories directories;
    private final Executor disk;
    @Nullable private final DstlMetrics metrics;
    private final LocalLogs logs = new LocalLogs();
    private final AtomicLong nextNumber = new AtomicLong(1);
    private final AtomicLong waitingBytes = new AtomicLong();

    /** Copies whose turn on the disk has not come, in their order. */
    private final Queue<LocalCopy> waiting = new ConcurrentLinkedQueue<>();

    private final JobMemory memory;

    private volatile boolean failing;
    private volatile boolean closed;

    private LocalCopies(
            LocalDirectories directories,
            Executor disk,
            @Nullable DstlMetrics metrics,
            JobMemory memory) {
        this.directories = directories;
        this.disk = disk;
        this.metrics = metrics;
        this.memory = memory;
    }

    /**
     * Creates copies in the given directories; without directories nothing is copied.
     *
     * @param disk runs one task at a time, never on the calling thread
     */
    public static LocalCopies in(LocalDirectories directories, Executor disk, DstlMetrics metrics) {
        return in(directories, disk, metrics, JobMemory.alone(Long.MAX_VALUE));
    }

    /**
     * Creates copies in the given directories, while there is memory for segments that wait for the
     * disk; without directories nothing is copied.
     *
     * @param disk runs one task at a time, never on the calling thread
     */
    public static LocalCopies in(
            LocalDirectories directories, Executor disk, DstlMetrics metrics, JobMemory memory) {
        LocalCopies copies = new LocalCopies(directories, disk, metrics, memory);
        memory.whenRefused(copies::giveWay);
        copies.onDisk(() -> copies.deleteStrangers(false));
        copies.logs.whenIndependent(() -> copies.onDisk(() -> copies.deleteStrangers(true)));
        return copies;
    }

    /** Returns whether checkpoints shall have a local part. */
    public boolean isEnabled() {
        return !directories.isEmpty();
    }

    /** Returns the copies that changelogs of the job leave for recovery. */
    public LocalLogs logs() {
        return logs;
    }

    /**
     * Opens a copy that is not written yet.
     *
     * @param references number of batches in the segment; each is released once
     * @return null if local copies are disabled
     */
    @Nullable
    public LocalCopy open(int references) {
        return isEnabled() ? new LocalCopy(this, references) : null;
    }

    /** Starts to write a copy, if the disk keeps up. Called at most once per copy. */
    public void write(LocalCopy copy, EncodedSegment segment) {
        if (!tryWait(segment.length())) {
            failed(NO_MEMORY);
            return;
        }
        copy.waitsFor(segment);
        try {
            waiting.add(copy);
            disk.execute(this::writeNext);
        } catch (Throwable notStarted) {
            // Or the turn of the next copy would be spent on this one.
            waiting.remove(copy);
            free(copy);
            if (!closed) {
                failed(notStarted.toString());
            }
        }
        if (closed || !copy.isNeeded()) {
            cancel(copy);
        }
    }

    private boolean tryWait(long bytes) {
        long waiting = waitingBytes.addAndGet(bytes);
        if ((waiting > MAX_WAITING_BYTES && waiting > bytes)
                || !memory.tryReserve(MemoryUse.LOCAL_COPIES, bytes)) {
            waitingBytes.addAndGet(-bytes);
            return false;
        }
        return true;
    }

    /** Frees the memory of a copy that was written or will not be. Has effect once. */
    private void free(LocalCopy copy) {
        EncodedSegment segment = copy.takeSegment();
        if (segment != null) {
            waitingBytes.addAndGet(-segment.length());
            memory.release(MemoryUse.LOCAL_COPIES, segment.length());
        }
    }

    /** Frees the memory of a copy that is no longer needed, unless the disk has begun it. */
    void cancel(LocalCopy copy) {
        if (waiting.remove(copy)) {
            free(copy);
        }
    }

    /** Gives up all copies that the disk has not begun, because their memory is needed. */
    private void giveWay() {
        for (LocalCopy next = waiting.poll(); next != null; next = waiting.poll()) {
            free(next);
            failed(NO_MEMORY);
        }
    }

    /** Frees the memory of all copies that the disk has not begun, even if it hangs. */
    private void freeWaiting() {
        for (LocalCopy next = waiting.poll(); next != null; next = waiting.poll()) {
            free(next);
        }
    }

    private void writeNext() {
        LocalCopy next = waiting.poll();
        if (next == null) {
            return;
        }
        try {
            EncodedSegment segment = next.segment();
            if (!closed && segment != null && next.isNeeded()) {
                writeTo(directories.file(nextNumber.getAndIncrement()), next, segment);
            }
        } finally {
            free(next);
        }
    }

    private void writeTo(File file, LocalCopy copy, EncodedSegment segment) {
        try {
            create(file, segment);
        } catch (Throwable t) {
            // No copy is worth a process that ends because of an uncaught error.
            deleteNow(file);
            failed(t.toString());
            return;
        }
        if (closed || !copy.complete(Path.fromLocalFile(file), segment.length())) {
            deleteNow(file);
        }
        succeeded(file);
    }

    private static void create(File file, EncodedSegment segment) throws IOException {
        File directory = file.getParentFile();
        DirectoryLocks.own(directory);
        if (!directory.isDirectory() && !directory.mkdirs() && !directory.isDirectory()) {
            throw new IOException("Cannot create directory " + directory);
        }
        try (OutputStream out =
                new BufferedOutputStream(new FileOutputStream(file), BUFFER_BYTES)) {
            segment.writeTo(out);
        }
    }

    private void succeeded(File file) {
        metrics.localCopyWritten();
        if (failing) {
            failing = false;
            LOG.info("State changes are copied to the local disk again, the first to {}", file);
        }
    }

    private void failed(String cause) {
        metrics.localCopyFailed();
        if (!failing) {
            failing = true;
            LOG.warn(
                    "State changes are not copied to the local disks {} for local recovery: {}."
                            + " Checkpoints are complete nevertheless, but tasks read these state"
                            + " changes from the remote store when they recover. Retried with each"
                            + " segment, and counted in numberOfLocalCopyFailures.",
                    directories.own(),
                    cause);
        }
    }

    /** Deletes a copy that can no longer be read. */
    void lost(Path path) {
        metrics.localCopyFailed();
        delete(path);
    }

    void delete(Path path) {
        try {
            disk.execute(() -> deleteNow(new File(path.getPath())));
        } catch (Throwable notStarted) {
            LOG.debug("{} is deleted with its directory", path);
        }
    }

    private static void deleteNow(File file) {
        if (!file.delete() && file.exists()) {
            LOG.debug("Could not delete {}, which is retried when the job ends here", file);
        }
    }

    /**
     * Stops copying, at once what the disk has not begun, and deletes on the executor: the copies
     * of this storage, and copies of storages whose process has ended.
     */
    @Override
    public void close() {
        closed = true;
        freeWaiting();
        onDisk(this::deleteAll);
    }

    private void onDisk(Runnable work) {
        if (isEnabled()) {
            try {
                disk.execute(work);
            } catch (Throwable notStarted) {
                LOG.debug("{} are left", directories.own());
            }
        }
    }

    private void deleteAll() {
        for (File directory : directories.own()) {
            deleteDirectory(directory, DirectoryLocks::deleteOwn);
        }
        deleteStrangers(true);
    }

    /** Deletes the copies of other storages that no live process owns. */
    private void deleteStrangers(boolean ending) {
        for (File directory : directories.strangers(ending)) {
            deleteDirectory(directory, DirectoryLocks::deleteIfDead);
        }
    }

    private static void deleteDirectory(
            File directory, ThrowingConsumer<File, IOException> deletion) {
        try {
            deletion.accept(directory);
        } catch (Throwable t) {
            LOG.warn(
                    "Could not delete {}, which holds copies of state changes that are no longer"
                            + " needed. Delete it manually.",
                    directory,
                    t);
        }
        File jobDirectory = directory.getParentFile();
        if (jobDirectory.delete()) {
            LOG.debug("Deleted {}", jobDirectory);
        }
    }
}
