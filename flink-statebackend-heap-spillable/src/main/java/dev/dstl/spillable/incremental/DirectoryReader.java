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

import dev.dstl.spillable.overlay.PartitionedMap;
import dev.dstl.spillable.partition.EntryFormat;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UTFDataFormatException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import javax.annotation.Nullable;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyGroupRangeOffsets;

/** Reads a {@link DirectoryFormat directory} from its start to its end, once. */
final class DirectoryReader {

    private final String file;
    private final int version;
    private final DataInputStream in;
    private final KeyGroupRangeOffsets offsets;
    @Nullable private final FileChecksums heapChecksums;
    private final List<DirectoryMap> maps = new ArrayList<>();
    private byte[] key = new byte[64];
    private byte[] value = new byte[64];

    /**
     * Reads all but the changes.
     *
     * @param stream not closed
     * @param file for messages
     * @param files the shared files of the checkpoint by name
     * @throws IOException if it is no directory, damaged, or names a file that is not there
     */
    DirectoryReader(InputStream stream, String file, Map<String, SharedFile> files)
            throws IOException {
        this.file = file;
        DataInputStream header = new DataInputStream(stream);
        byte[] first = new byte[DirectoryFormat.HEADER_BYTES];
        int read = header.readNBytes(first, 0, first.length);
        long magic =
                ((long) BlockOutput.getInt(first, 0) << 32)
                        | (BlockOutput.getInt(first, 4) & 0xFFFFFFFFL);
        if (read < first.length || magic != DirectoryFormat.MAGIC) {
            throw new IOException(
                    String.format(
                            "%s is not a directory of partitions: it starts with %016x at byte 0,"
                                    + " expected %016x.",
                            file, magic, DirectoryFormat.MAGIC));
        }
        version = BlockOutput.getInt(first, 8);
        if (version < DirectoryFormat.OLDEST_VERSION || version > DirectoryFormat.VERSION) {
            throw new IOException(
                    String.format(
                            "%s has version %d at byte 8, expected %d to %d; restore it with the"
                                    + " release that wrote it.",
                            file,
                            version,
                            DirectoryFormat.OLDEST_VERSION,
                            DirectoryFormat.VERSION));
        }
        this.in = new DataInputStream(new BlockInput(stream, file, first.length));
        try {
            this.offsets = readOffsets();
            this.heapChecksums = version == DirectoryFormat.OLDEST_VERSION ? null : readChecksums();
            List<SharedFile> shared = readFiles(files);
            int count = in.readInt();
            for (int i = 0; i < count; i++) {
                maps.add(readMap(shared));
            }
        } catch (EOFException | UTFDataFormatException | RuntimeException e) {
            IOException failure = unlikeItsVersion("reading it fails with " + e);
            failure.addSuppressed(e);
            throw failure;
        }
    }

    /** What the blocks have is as it was written: their checksums cover all but the version. */
    private IOException unlikeItsVersion(String what) {
        return new IOException(
                String.format(
                        "%s is damaged: it has version %d at byte 8, expected the one that it was"
                                + " written with: %s.",
                        file, version, what));
    }

    private KeyGroupRangeOffsets readOffsets() throws IOException {
        int firstKeyGroup = in.readInt();
        long[] starts = new long[in.readInt()];
        for (int i = 0; i < starts.length; i++) {
            starts[i] = in.readLong();
        }
        return new KeyGroupRangeOffsets(
                KeyGroupRange.of(firstKeyGroup, firstKeyGroup + starts.length - 1), starts);
    }

    private FileChecksums readChecksums() throws IOException {
        long length = in.readLong();
        int count = in.readInt();
        if (count != FileChecksums.blockCount(length)) {
            throw unlikeItsVersion(
                    String.format(
                            "it states %d checksums of %d bytes instead of %d",
                            count, length, FileChecksums.blockCount(length)));
        }
        int[] blocks = new int[count];
        for (int i = 0; i < count; i++) {
            blocks[i] = in.readInt();
        }
        return new FileChecksums(length, blocks);
    }

    private List<SharedFile> readFiles(Map<String, SharedFile> files) throws IOException {
        int count = in.readInt();
        List<SharedFile> shared = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            String name = in.readUTF();
            SharedFile one = files.get(name);
            if (one == null) {
                throw new IOException(
                        String.format(
                                "%s refers to the file '%s', the checkpoint has only %s.",
                                file, name, files.keySet()));
            }
            shared.add(one);
        }
        return shared;
    }

    private DirectoryMap readMap(List<SharedFile> files) throws IOException {
        DirectoryMap map =
                new DirectoryMap(
                        in.readUTF(), in.readInt(), in.readLong(), in.readInt(), in.readLong());
        int count = in.readInt();
        for (int i = 0; i < count; i++) {
            int depth = in.readByte();
            int firstHash = in.readInt();
            int index = in.readInt();
            if (index == DirectoryFormat.NO_FILE) {
                map.ranges.add(new DirectoryMap.Range(depth, firstHash, 0, null));
                continue;
            }
            PartitionLocation location =
                    new PartitionLocation(
                            files.get(index), in.readLong(), in.readInt(), in.readInt());
            map.ranges.add(new DirectoryMap.Range(depth, firstHash, in.readInt(), location));
        }
        if (!map.isComplete()) {
            throw unlikeItsVersion("it does not cover all hashes of " + map);
        }
        return map;
    }

    /** Where key groups start in the file with heap entries. */
    KeyGroupRangeOffsets offsets() {
        return offsets;
    }

    /** Of the file with heap entries; null if a version wrote it that did not compute them. */
    @Nullable
    FileChecksums heapChecksums() {
        return heapChecksums;
    }

    /** All maps, those of other tasks' key groups included. */
    List<DirectoryMap> maps() {
        return maps;
    }

    /**
     * Reads the changes of the next of {@link #maps()}, to be called once for each.
     *
     * @param target has the partitions of the map and nothing else, takes the changes; null to skip
     *     them
     * @throws IOException if the file is damaged
     */
    void readChanges(@Nullable PartitionedMap target) throws IOException {
        for (int kind = in.readByte(); kind != DirectoryFormat.END; kind = in.readByte()) {
            int word = readVarint();
            int valueLength = readVarint();
            int keyLength = EntryFormat.keyLength(word);
            key = read(key, keyLength);
            value = read(value, valueLength);
            if (target == null) {
                continue;
            }
            int hash = target.entries().keyHash().of(key, keyLength);
            boolean part = EntryFormat.isPart(word);
            boolean removed = kind == DirectoryFormat.REMOVED;
            if (version >= DirectoryFormat.FIRST_WITH_COVERING) {
                boolean covers = kind != DirectoryFormat.PUT;
                target.restoreChange(
                        key, keyLength, hash, part, value, valueLength, removed, covers);
            } else if (removed) {
                target.remove(key, keyLength, hash, part);
            } else {
                target.put(key, keyLength, hash, part, value, valueLength);
            }
        }
    }

    /**
     * To be called when all changes were read.
     *
     * @throws IOException if the file goes on, or its end is missing
     */
    void requireEnd() throws IOException {
        if (in.read() >= 0) {
            throw new IOException(file + " is damaged: it goes on behind its last entry.");
        }
    }

    private int readVarint() throws IOException {
        int number = 0;
        int shift = 0;
        byte next;
        do {
            next = in.readByte();
            number |= (next & 0x7F) << shift;
            shift += 7;
        } while (next < 0 && shift < 35);
        return number;
    }

    private byte[] read(byte[] buffer, int length) throws IOException {
        byte[] target = buffer.length < length ? new byte[Math.max(length, 64)] : buffer;
        in.readFully(target, 0, length);
        return target;
    }
}
