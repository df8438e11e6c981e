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
import dev.dstl.spillable.partition.EntryFormat;
import dev.dstl.spillable.partition.SealedPartition;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.List;
import org.apache.flink.core.memory.MemorySegment;
import org.apache.flink.runtime.state.KeyGroupRange;

/** Writes a {@link DirectoryFormat directory}. */
final class DirectoryWriter {

    private final BlockOutput blocks;
    private final DataOutputStream out;
    private byte[] buffer = new byte[64];

    private DirectoryWriter(OutputStream stream) {
        this.blocks = new BlockOutput(stream);
        this.out = new DataOutputStream(blocks);
    }

    /**
     * Writes a directory.
     *
     * @param stream not closed
     * @param offsets of the key groups of {@code range} in the file with heap entries
     * @param heapChecksums of that file
     * @param groups all that is spilled
     * @param partitions has the location of each sealed partition of {@code groups}
     */
    static void write(
            OutputStream stream,
            KeyGroupRange range,
            long[] offsets,
            FileChecksums heapChecksums,
            List<SpilledGroup> groups,
            CheckpointedPartitions partitions)
            throws IOException {
        DataOutputStream header = new DataOutputStream(stream);
        header.writeLong(DirectoryFormat.MAGIC);
        header.writeInt(DirectoryFormat.VERSION);
        DirectoryWriter writer = new DirectoryWriter(stream);
        writer.write(range, offsets);
        writer.write(heapChecksums);
        writer.write(partitions.files());
        writer.out.writeInt(groups.size());
        for (SpilledGroup group : groups) {
            writer.write(group, partitions);
        }
        for (SpilledGroup group : groups) {
            group.view.forEachChange(writer::writeChange);
            writer.out.writeByte(DirectoryFormat.END);
        }
        writer.blocks.finish();
    }

    private void write(KeyGroupRange range, long[] offsets) throws IOException {
        out.writeInt(range.getStartKeyGroup());
        out.writeInt(offsets.length);
        for (long offset : offsets) {
            out.writeLong(offset);
        }
    }

    private void write(FileChecksums checksums) throws IOException {
        out.writeLong(checksums.length);
        out.writeInt(checksums.blocks.length);
        for (int block : checksums.blocks) {
            out.writeInt(block);
        }
    }

    private void write(List<SharedFile> files) throws IOException {
        out.writeInt(files.size());
        for (SharedFile file : files) {
            out.writeUTF(file.name);
        }
    }

    private void write(SpilledGroup group, CheckpointedPartitions partitions) throws IOException {
        out.writeUTF(group.stateName);
        out.writeInt(group.keyGroup);
        out.writeLong(group.view.entries().keyHash().seed());
        out.writeInt(group.view.size());
        out.writeLong(group.view.liveBytes());
        out.writeInt(group.partitions.size());
        for (RestoredPartition partition : group.partitions) {
            out.writeByte(partition.depth());
            out.writeInt(partition.firstHash());
            SealedPartition sealed = partition.sealed();
            if (sealed == null) {
                out.writeInt(DirectoryFormat.NO_FILE);
                continue;
            }
            PartitionLocation location = partitions.location(sealed);
            out.writeInt(partitions.indexOf(location.file));
            out.writeLong(location.offset);
            out.writeInt(location.length);
            out.writeInt(location.checksum);
            out.writeInt(sealed.stateId());
        }
    }

    private void writeChange(MemorySegment segment, int entry, boolean removed, boolean covers)
            throws IOException {
        int length = EntryFormat.entryBytesAt(segment, entry);
        if (buffer.length < length) {
            buffer = new byte[Math.max(length, buffer.length * 2)];
        }
        segment.get(entry, buffer, 0, length);
        int put = covers ? DirectoryFormat.PUT_COVERING : DirectoryFormat.PUT;
        out.writeByte(removed ? DirectoryFormat.REMOVED : put);
        out.write(buffer, 0, length);
    }
}
