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

import java.io.Closeable;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.flink.util.FileUtils;

/**
 * Copies of shared files that no checkpoint on the local disk has yet. After a restore from the
 * checkpoint storage these are all files, and a slow disk takes them in the course of several
 * checkpoints: each goes on where the one before has stopped, however that ended. Thread-safe.
 */
final class UnfinishedCopies implements Closeable {

    private static final int COPY_BYTES = 64 << 10;

    /** What limits the copying of one checkpoint. */
    interface Limit {
        /**
         * Called before each partition.
         *
         * @param bytes of the partition
         * @return false if the rest is left to later checkpoints
         * @throws IOException if the checkpoint is cancelled
         */
        boolean allows(int bytes) throws IOException;
    }

    private final Path directory;

    /** Up to where in each file that is here partitions are copied. */
    private final Map<SharedFile, Long> copiedUntil = new HashMap<>();

    private volatile boolean closed;

    /**
     * @param directory made when the first file is copied
     */
    UnfinishedCopies(Path directory) {
        this.directory = directory;
    }

    /**
     * Writes partitions to where they are in the shared file. What that file has between them is
     * not in use and stays a hole.
     *
     * @param partitions all that are in use of the file, in the order in which they lie there;
     *     later there may be fewer, but no others
     * @return whether the copy is complete, and one of the file's copies
     */
    synchronized boolean copy(
            SharedFile file, List<CheckpointedPartitions.Located> partitions, Limit limit)
            throws IOException {
        if (closed) {
            throw new IOException("The state backend is closed");
        }
        Files.createDirectories(directory);
        Path copy = directory.resolve(file.name);
        long until = Files.exists(copy) ? copiedUntil.getOrDefault(file, 0L) : 0;
        byte[] buffer = new byte[COPY_BYTES];
        try (RandomAccessFile out = new RandomAccessFile(copy.toFile(), "rw")) {
            for (CheckpointedPartitions.Located one : partitions) {
                if (one.location.offset >= until) {
                    if (!limit.allows(one.location.length)) {
                        return false;
                    }
                    copy(one, out, buffer);
                    copiedUntil.put(file, one.location.offset + one.location.length);
                }
            }
        }
        file.copies.add(copy);
        return true;
    }

    private static void copy(
            CheckpointedPartitions.Located one, RandomAccessFile out, byte[] buffer)
            throws IOException {
        out.seek(one.location.offset);
        int count;
        for (int done = 0; done < one.location.length; done += count) {
            count = Math.min(buffer.length, one.location.length - done);
            one.partition.extent().read(ByteBuffer.wrap(buffer, 0, count), done);
            out.write(buffer, 0, count);
        }
    }

    /**
     * Keeps a copy that a checkpoint on the local disk has, if one does: the checkpoint may go
     * before another one has all files.
     */
    synchronized void keep(SharedFile file) throws IOException {
        if (closed || copiedUntil.containsKey(file)) {
            return;
        }
        Files.createDirectories(directory);
        Path copy = directory.resolve(file.name);
        if (file.copies.linkOnlyTo(copy) != null) {
            copiedUntil.put(file, Long.MAX_VALUE);
            file.copies.add(copy);
        }
    }

    /** Deletes all copies but some: checkpoints on the local disk have the others, or need none. */
    synchronized void retainOnly(Set<SharedFile> files) throws IOException {
        Iterator<SharedFile> all = copiedUntil.keySet().iterator();
        while (all.hasNext()) {
            SharedFile file = all.next();
            if (!files.contains(file)) {
                Files.deleteIfExists(directory.resolve(file.name));
                all.remove();
            }
        }
    }

    /** Deletes all copies, for a disk that may be full. */
    synchronized void clear() throws IOException {
        copiedUntil.clear();
        FileUtils.deleteDirectory(directory.toFile());
    }

    /** Whether a copy is one of these. */
    boolean has(Path copy) {
        return directory.equals(copy.getParent());
    }

    /** Deletes what is there, on any thread, also while files are copied, which fails then. */
    @Override
    public void close() throws IOException {
        closed = true;
        FileUtils.deleteDirectory(directory.toFile());
    }
}
