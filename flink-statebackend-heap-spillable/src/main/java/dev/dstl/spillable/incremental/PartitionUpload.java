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

import dev.dstl.spillable.overlay.RestoredPartition;
import dev.dstl.spillable.partition.SealedPartition;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.zip.CRC32C;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.runtime.state.CheckpointStateOutputStream;
import org.apache.flink.runtime.state.CheckpointStreamFactory;
import org.apache.flink.runtime.state.CheckpointedStateScope;
import org.apache.flink.runtime.state.StreamStateHandle;

/**
 * Writes those sealed partitions of one checkpoint to shared files that earlier checkpoints do not
 * have, or have only in files of which less than half is still in use or which are many and small.
 * Several files are written at a time.
 */
final class PartitionUpload {

    private static final int COPY_BYTES = 64 << 10;
    private static final int FEW_FILES = 64;

    private final CheckpointStreamFactory streams;
    private final CloseableRegistry cancelRegistry;
    private final long fileBytes;
    private final List<SharedFile> written = new CopyOnWriteArrayList<>();

    /**
     * @param cancelRegistry closes the streams being written if the checkpoint is cancelled
     * @param fileBytes after so many bytes another file begins
     */
    PartitionUpload(
            CheckpointStreamFactory streams, CloseableRegistry cancelRegistry, long fileBytes) {
        this.streams = streams;
        this.cancelRegistry = cancelRegistry;
        this.fileBytes = fileBytes;
    }

    /** The files written so far, complete ones only. */
    List<SharedFile> written() {
        return written;
    }

    /**
     * Writes what is missing.
     *
     * @param groups all that is spilled
     * @return where the partitions are, new files and old ones
     * @throws Exception if a file cannot be written, or the checkpoint was cancelled
     */
    CheckpointedPartitions write(List<SpilledGroup> groups, CheckpointHistory.Attempt attempt)
            throws Exception {
        CheckpointedPartitions base = attempt.base();
        Map<SharedFile, Long> liveBytes = new HashMap<>();
        List<SealedPartition> sealed = new ArrayList<>();
        for (SpilledGroup group : groups) {
            for (RestoredPartition partition : group.partitions) {
                if (partition.sealed() != null) {
                    sealed.add(partition.sealed());
                    PartitionLocation location = base.location(partition.sealed());
                    if (location != null) {
                        liveBytes.merge(location.file, (long) location.length, Long::sum);
                    }
                }
            }
        }
        liveBytes
                .entrySet()
                .removeIf(
                        file ->
                                file.getValue() * 2 < file.getKey().bytes()
                                        || !attempt.mayReferTo(file.getKey())
                                        || !streams.couldReuseStateHandle(file.getKey().handle));
        removeSmallFiles(liveBytes);
        CheckpointedPartitions result = new CheckpointedPartitions();
        List<SealedPartition> missing = new ArrayList<>();
        for (SealedPartition partition : sealed) {
            PartitionLocation location = base.location(partition);
            if (location != null && liveBytes.containsKey(location.file)) {
                result.add(partition, location);
            } else {
                missing.add(partition);
            }
        }
        List<NewFile> files = split(missing);
        FileTransfers.run(files, "dstl-partition-upload", cancelRegistry);
        files.forEach(file -> file.addTo(result));
        return result;
    }

    private List<NewFile> split(List<SealedPartition> partitions) {
        List<NewFile> files = new ArrayList<>();
        long length = fileBytes;
        for (SealedPartition partition : partitions) {
            if (length >= fileBytes) {
                files.add(new NewFile());
                length = 0;
            }
            files.get(files.size() - 1).partitions.add(partition);
            length += partition.length();
        }
        return files;
    }

    /** Small files are written anew together when there are too many files. */
    private void removeSmallFiles(Map<SharedFile, Long> liveBytes) {
        long total = liveBytes.values().stream().mapToLong(Long::longValue).sum();
        // Files of a quarter of the length, half of it in use, are not that many.
        if (liveBytes.size() > FEW_FILES + 8 * total / fileBytes) {
            liveBytes.keySet().removeIf(file -> file.bytes() < fileBytes / 4);
        }
    }

    /** A file to be written. */
    private final class NewFile implements FileTransfers.Transfer {

        private final List<SealedPartition> partitions = new ArrayList<>();
        private int[] checksums;
        private SharedFile file;

        @Override
        public void run(CloseableRegistry openStreams) throws IOException {
            CheckpointStateOutputStream stream =
                    streams.createCheckpointStateOutputStream(CheckpointedStateScope.SHARED);
            boolean finished = false;
            try {
                openStreams.registerCloseable(stream);
                byte[] buffer = new byte[COPY_BYTES];
                checksums = new int[partitions.size()];
                for (int i = 0; i < checksums.length; i++) {
                    checksums[i] = copy(partitions.get(i), stream, buffer);
                }
                if (!openStreams.unregisterCloseable(stream)) {
                    throw new IOException("The checkpoint was cancelled while it was written.");
                }
                StreamStateHandle handle = stream.closeAndGetHandle();
                finished = true;
                file = new SharedFile(UUID.randomUUID().toString(), handle);
                written.add(file);
            } finally {
                if (!finished) {
                    openStreams.unregisterCloseable(stream);
                    // Closed before its handle was taken, a stream deletes its file.
                    stream.close();
                }
            }
        }

        void addTo(CheckpointedPartitions result) {
            long offset = 0;
            for (int i = 0; i < checksums.length; i++) {
                int bytes = partitions.get(i).length();
                result.add(
                        partitions.get(i),
                        new PartitionLocation(file, offset, bytes, checksums[i]));
                offset += bytes;
            }
        }
    }

    private static int copy(
            SealedPartition partition, CheckpointStateOutputStream stream, byte[] buffer)
            throws IOException {
        // What was damaged on the local disk must not replace what a checkpoint has.
        partition.check();
        CRC32C crc = new CRC32C();
        int bytes;
        for (int done = 0; done < partition.length(); done += bytes) {
            bytes = Math.min(buffer.length, partition.length() - done);
            partition.extent().read(ByteBuffer.wrap(buffer, 0, bytes), done);
            crc.update(buffer, 0, bytes);
            stream.write(buffer, 0, bytes);
        }
        return (int) crc.getValue();
    }
}
