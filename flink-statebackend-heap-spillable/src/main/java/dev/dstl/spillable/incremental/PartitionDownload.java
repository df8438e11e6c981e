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

import dev.dstl.spillable.chunk.ChunkFiles;
import dev.dstl.spillable.overlay.SpillSpace;
import dev.dstl.spillable.partition.PartitionVersion;
import dev.dstl.spillable.partition.SealedPartition;
import dev.dstl.spillable.partition.StateIdentity;
import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.CRC32C;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.core.memory.MemorySegmentFactory;
import org.apache.flink.util.IOUtils;

/** Copies partitions from shared files to chunk files, several files at a time. */
final class PartitionDownload {

    /** Shorter gaps are read rather than sought over, which may cost a request. */
    private static final long LONGEST_GAP_READ = 1 << 20;

    private final SpillSpace space;
    private final ChunkFiles chunks;
    private final CloseableRegistry cancelRegistry;

    /** By file, what of it is wanted. */
    private final Map<SharedFile, List<Wanted>> wanted = new HashMap<>();

    private static final class Wanted {
        final DirectoryMap map;
        final DirectoryMap.Range range;

        Wanted(DirectoryMap map, DirectoryMap.Range range) {
            this.map = map;
            this.range = range;
        }
    }

    /**
     * @param space whose files take the partitions
     * @param cancelRegistry closes the streams being read if the task is cancelled
     * @throws IOException if no spill directory can be made
     */
    PartitionDownload(SpillSpace space, CloseableRegistry cancelRegistry) throws IOException {
        this.space = space;
        this.chunks = space.open().chunks();
        this.cancelRegistry = cancelRegistry;
    }

    /** Adds all partitions of a map. */
    void add(DirectoryMap map) {
        for (DirectoryMap.Range range : map.ranges) {
            if (range.location != null) {
                wanted.computeIfAbsent(range.location.file, file -> new ArrayList<>())
                        .add(new Wanted(map, range));
            }
        }
    }

    /** Number of partitions added. */
    int partitions() {
        return wanted.values().stream().mapToInt(List::size).sum();
    }

    /**
     * Copies and opens all partitions.
     *
     * <p>A client that does not react when its stream is closed holds up neither a failure nor a
     * cancelled task: its thread keeps the files until it ends.
     *
     * @throws Exception if one cannot be read or is damaged, or no directory takes it
     */
    void run() throws Exception {
        List<FileTransfers.Transfer> copies = new ArrayList<>();
        wanted.forEach((file, parts) -> copies.add(streams -> copyHolding(file, parts, streams)));
        FileTransfers.runOrAbandon(copies, "dstl-partition-restore", cancelRegistry);
    }

    private void copyHolding(SharedFile file, List<Wanted> parts, CloseableRegistry streams)
            throws IOException {
        Closeable files = space.holdFiles();
        try {
            copy(file, parts, streams);
        } finally {
            files.close();
        }
    }

    private void copy(SharedFile file, List<Wanted> parts, CloseableRegistry streams)
            throws IOException {
        parts.sort(Comparator.comparingLong(part -> part.range.location.offset));
        FSDataInputStream in = file.openInputStream();
        try {
            streams.registerCloseable(in);
            byte[] buffer = new byte[0];
            long position = 0;
            for (Wanted part : parts) {
                PartitionLocation location = part.range.location;
                moveTo(in, position, location.offset);
                if (buffer.length < location.length) {
                    buffer = new byte[location.length];
                }
                read(in, buffer, location);
                position = location.offset + location.length;
                part.range.sealed = open(part, buffer);
            }
        } finally {
            streams.unregisterCloseable(in);
            IOUtils.closeQuietly(in);
        }
    }

    private static void moveTo(FSDataInputStream in, long from, long to) throws IOException {
        if (to < from || to - from > LONGEST_GAP_READ) {
            in.seek(to);
            return;
        }
        long left = to - from;
        byte[] skipped = new byte[(int) Math.min(left, 8192)];
        while (left > 0) {
            int read = in.read(skipped, 0, (int) Math.min(left, skipped.length));
            if (read < 0) {
                // The read that follows says what is missing.
                return;
            }
            left -= read;
        }
    }

    private static void read(FSDataInputStream in, byte[] buffer, PartitionLocation location)
            throws IOException {
        int read = in.readNBytes(buffer, 0, location.length);
        if (read < location.length) {
            throw new IOException(
                    String.format(
                            "%s is damaged: it ends at byte %d, a partition of %d bytes was"
                                    + " expected at byte %d.",
                            location.file,
                            location.offset + read,
                            location.length,
                            location.offset));
        }
        CRC32C crc = new CRC32C();
        crc.update(buffer, 0, location.length);
        if ((int) crc.getValue() != location.checksum) {
            throw new IOException(
                    String.format(
                            "%s is damaged: the checksum of the partition at byte %d is %08x,"
                                    + " expected %08x.",
                            location.file,
                            location.offset,
                            (int) crc.getValue(),
                            location.checksum));
        }
        PartitionVersion.requireKnown(buffer, location.length, location.file, location.offset);
    }

    private SealedPartition open(Wanted part, byte[] buffer) throws IOException {
        PartitionLocation location = part.range.location;
        SealedPartition sealed =
                new SealedPartition(
                        chunks.write(MemorySegmentFactory.wrap(buffer), location.length),
                        new StateIdentity(
                                part.range.stateId, part.map.stateName, part.map.keyGroup));
        if (sealed.length() != location.length
                || sealed.seed() != part.map.seed
                || sealed.depth() != part.range.depth
                || sealed.firstHash() != part.range.firstHash) {
            throw new IOException(
                    String.format(
                            "%s has another partition at byte %d than the one of %s that was"
                                    + " expected.",
                            location.file, location.offset, part.map));
        }
        return sealed;
    }
}
