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
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.zip.CRC32C;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.runtime.state.CheckpointStateOutputStream;
import org.apache.flink.runtime.state.CheckpointStreamFactory;
import org.apache.flink.runtime.state.CheckpointedStateScope;
import org.apache.flink.runtime.state.StreamStateHandle;

/**
 * Writes those sealed partitions of one checkpoint to shared files that earlier checkpoints do not
 * have, or have only in files of which less than half is still in use or which are many and small.
 */
final class PartitionUpload {

    private static final int COPY_BYTES = 64 << 10;
    private static final int FEW_FILES = 64;

    private final CheckpointStreamFactory streams;
    private final CloseableRegistry cancelRegistry;
    private final long fileBytes;
    private final byte[] buffer = new byte[COPY_BYTES];
    private final List<SharedFile> written = new ArrayList<>();

    /**
     * @param cancelRegistry closes the stream being written if the checkpoint is cancelled
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
     * @throws IOException if a file cannot be written, or the checkpoint was cancelled
     */
    CheckpointedPartitions write(List<SpilledGroup> groups, CheckpointHistory.Attempt attempt)
            throws IOException {
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
        for (int next = 0; next < missing.size(); ) {
            next = writeFile(missing, next, result);
        }
        return result;
    }

    /** Small files are written anew together when there are too many files. */
    private void removeSmallFiles(Map<SharedFile, Long> liveBytes) {
        long total = liveBytes.values().stream().mapToLong(Long::longValue).sum();
        // Files of a quarter of the length, half of it in use, are not that many.
        if (liveBytes.size() > FEW_FILES + 8 * total / fileBytes) {
            liveBytes.keySet().removeIf(file -> file.bytes() < fileBytes / 4);
        }
    }

    /** Writes one file; returns the number of the first partition that is not in it. */
    private int writeFile(List<SealedPartition> partitions, int from, CheckpointedPartitions result)
            throws IOException {
        CheckpointStateOutputStream stream =
                streams.createCheckpointStateOutputStream(CheckpointedStateScope.SHARED);
        boolean finished = false;
        try {
            cancelRegistry.registerCloseable(stream);
            int[] checksums = new int[partitions.size() - from];
            int next = from;
            long length = 0;
            while (next < partitions.size() && (next == from || length < fileBytes)) {
                checksums[next - from] = copy(partitions.get(next), stream);
                length += partitions.get(next).length();
                next++;
            }
            if (!cancelRegistry.unregisterCloseable(stream)) {
                throw new IOException("The checkpoint was cancelled while it was written.");
            }
            StreamStateHandle handle = stream.closeAndGetHandle();
            finished = true;
            SharedFile file = new SharedFile(UUID.randomUUID().toString(), handle);
            written.add(file);
            long offset = 0;
            for (int i = from; i < next; i++) {
                int bytes = partitions.get(i).length();
                result.add(
                        partitions.get(i),
                        new PartitionLocation(file, offset, bytes, checksums[i - from]));
                offset += bytes;
            }
            return next;
        } finally {
            if (!finished) {
                cancelRegistry.unregisterCloseable(stream);
                // Closed before its handle was taken, a stream deletes its file.
                stream.close();
            }
        }
    }

    private int copy(SealedPartition partition, CheckpointStateOutputStream stream)
            throws IOException {
        // What was damaged on the local disk must not replace what a checkpoint has.
        partition.check();
        CRC32C crc = new CRC32C();
        for (int done = 0; done < partition.length(); done += buffer.length) {
            int bytes = Math.min(buffer.length, partition.length() - done);
            partition.segment().get(partition.base() + done, buffer, 0, bytes);
            crc.update(buffer, 0, bytes);
            stream.write(buffer, 0, bytes);
        }
        return (int) crc.getValue();
    }
}
