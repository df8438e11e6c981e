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

package dev.dstl.spillable.partition;

import dev.dstl.spillable.chunk.ChunkFiles;
import dev.dstl.spillable.chunk.Extent;
import java.io.IOException;
import java.util.Arrays;
import java.util.UUID;
import java.util.function.IntFunction;
import java.util.zip.CRC32C;
import org.apache.flink.core.memory.MemorySegment;

/**
 * Writes partitions, one after the other: {@link #start}, {@link #add} for each entry in the order
 * of their hashes, {@link #finish}. Used by one thread at a time.
 */
public final class PartitionWriter {

    private static final int MOST_BYTES = Integer.MAX_VALUE - PartitionFormat.PAGE_BYTES;

    private final IntFunction<MemorySegment> images;
    private final byte[] page = new byte[PartitionFormat.PAGE_BYTES];
    private final CRC32C crc = new CRC32C();

    private StateIdentity identity;
    private long seed;
    private int firstHash;
    private int depth;
    private int entries;
    private int parts;
    private int[] hashes = new int[64];
    private int[] offsets = new int[64];
    private int[] lengths = new int[64];
    private MemorySegment[] segments = new MemorySegment[64];

    /**
     * @param images gives memory of at least that many bytes, which is the writer's until it asks
     *     for memory again
     */
    public PartitionWriter(IntFunction<MemorySegment> images) {
        this.images = images;
    }

    /**
     * Starts a partition.
     *
     * @param hash by which the entries are found
     * @param firstHash the lowest hash it may have, with zeros behind its first {@code depth} bits
     * @param depth number of leading bits that its hashes share
     */
    public void start(StateIdentity itsIdentity, KeyHash hash, int firstHash, int depth) {
        this.identity = itsIdentity;
        this.seed = hash.seed();
        this.firstHash = firstHash;
        this.depth = depth;
        this.entries = 0;
        this.parts = 0;
    }

    /**
     * Adds the entry that lies at {@code offset}, where it stays until {@link #finish} returns.
     *
     * @param entryHash not below that of the entry added before, as an unsigned number
     */
    public void add(int entryHash, MemorySegment segment, int offset) {
        if (entries == hashes.length) {
            hashes = Arrays.copyOf(hashes, entries << 1);
            offsets = Arrays.copyOf(offsets, entries << 1);
            lengths = Arrays.copyOf(lengths, entries << 1);
            segments = Arrays.copyOf(segments, entries << 1);
        }
        hashes[entries] = entryHash;
        offsets[entries] = offset;
        segments[entries] = segment;
        lengths[entries] =
                EntryFormat.entryBytesAt(segment, offset) + PartitionFormat.CELL_ENTRY_AT;
        entries++;
        if (EntryFormat.isPart(EntryFormat.varintAt(segment, offset))) {
            parts++;
        }
    }

    /** Number of entries added since {@link #start}. */
    public int entries() {
        return entries;
    }

    /**
     * Writes the partition to a file.
     *
     * @throws IOException if no directory takes it
     * @throws IllegalStateException if the entries together are too long for a partition
     */
    public SealedPartition finish(ChunkFiles files) throws IOException {
        int cellBytes = CellSizes.best(lengths, entries);
        int homes = Math.max(1, (int) Math.min(1 << 30, entries * 3L / 2));
        int cells = cellCount(homes);
        long data = (long) cells * cellBytes;
        for (int i = 0; i < entries; i++) {
            if (lengths[i] > cellBytes) {
                data += outsideBytes(i);
            }
        }
        int dataStart = PartitionFormat.dataStart(data);
        long bytes = dataStart + data;
        if (bytes > MOST_BYTES) {
            throw new IllegalStateException(
                    String.format(
                            "Entries of one partition need more than 2 GiB, %d bytes (%s); make"
                                    + " state entries smaller, for example by the keys of a map"
                                    + " state.",
                            bytes, identity));
        }
        int length = (int) bytes;
        MemorySegment image = images.apply(length);
        clear(image, dataStart + cells * cellBytes);
        putHeader(image, cellBytes, homes, cells, length);
        putEntries(image, dataStart, cellBytes, homes, cells);
        putChecksums(image, dataStart, length);
        Extent extent = files.write(image, length);
        Arrays.fill(segments, 0, entries, null);
        return new SealedPartition(extent, identity);
    }

    private int cellCount(int homes) {
        int next = 0;
        for (int i = 0; i < entries; i++) {
            next = Math.max(next, PartitionFormat.home(hashes[i], depth, homes)) + 1;
        }
        return Math.max(next, homes) + 1;
    }

    private int outsideBytes(int entry) {
        return (lengths[entry] - PartitionFormat.CELL_ENTRY_AT + 7) & -8;
    }

    private static void clear(MemorySegment image, int length) {
        int i = 0;
        for (; i + Long.BYTES <= length; i += Long.BYTES) {
            image.putLong(i, 0);
        }
        for (; i < length; i++) {
            image.put(i, (byte) 0);
        }
    }

    private void putHeader(MemorySegment image, int cellBytes, int homes, int cells, int length) {
        UUID id = UUID.randomUUID();
        image.putLongLittleEndian(PartitionFormat.MAGIC_AT, PartitionFormat.MAGIC);
        image.putIntLittleEndian(PartitionFormat.VERSION_AT, PartitionFormat.VERSION);
        image.putIntLittleEndian(PartitionFormat.CELL_BYTES_AT, cellBytes);
        image.putLongLittleEndian(PartitionFormat.ID_AT, id.getMostSignificantBits());
        image.putLongLittleEndian(PartitionFormat.ID_AT + 8, id.getLeastSignificantBits());
        image.putLongLittleEndian(PartitionFormat.SEED_AT, seed);
        image.putIntLittleEndian(PartitionFormat.STATE_ID_AT, identity.stateId());
        image.putIntLittleEndian(PartitionFormat.KEY_GROUP_AT, identity.keyGroup());
        image.putIntLittleEndian(PartitionFormat.FIRST_HASH_AT, firstHash);
        image.putIntLittleEndian(PartitionFormat.DEPTH_AT, depth);
        image.putIntLittleEndian(PartitionFormat.ENTRIES_AT, entries);
        image.putIntLittleEndian(PartitionFormat.PARTS_AT, parts);
        image.putIntLittleEndian(PartitionFormat.HOMES_AT, homes);
        image.putIntLittleEndian(PartitionFormat.CELLS_AT, cells);
        image.putIntLittleEndian(PartitionFormat.LENGTH_AT, length);
    }

    private void putEntries(
            MemorySegment image, int dataStart, int cellBytes, int homes, int cells) {
        for (int cell = 0; cell < cells; cell++) {
            image.put(
                    dataStart + cell * cellBytes + PartitionFormat.CELL_ENTRY_AT,
                    (byte) PartitionFormat.EMPTY);
        }
        int nextCell = 0;
        int outside = dataStart + cells * cellBytes;
        for (int i = 0; i < entries; i++) {
            nextCell = Math.max(nextCell, PartitionFormat.home(hashes[i], depth, homes));
            int cell = dataStart + nextCell * cellBytes;
            int entryBytes = lengths[i] - PartitionFormat.CELL_ENTRY_AT;
            image.putIntLittleEndian(cell, hashes[i]);
            if (lengths[i] <= cellBytes) {
                segments[i].copyTo(
                        offsets[i], image, cell + PartitionFormat.CELL_ENTRY_AT, entryBytes);
            } else {
                image.put(cell + PartitionFormat.CELL_ENTRY_AT, (byte) PartitionFormat.OUTSIDE);
                image.putIntLittleEndian(cell + PartitionFormat.CELL_OFFSET_AT, outside);
                segments[i].copyTo(offsets[i], image, outside, entryBytes);
                int end = outside + outsideBytes(i);
                for (int j = outside + entryBytes; j < end; j++) {
                    image.put(j, (byte) 0);
                }
                outside = end;
            }
            nextCell++;
        }
    }

    private void putChecksums(MemorySegment image, int dataStart, int length) {
        for (int p = 0; p < PartitionFormat.pages(length); p++) {
            int from = Math.max(dataStart, p << PartitionFormat.PAGE_SHIFT);
            int until = Math.min(length, (p + 1) << PartitionFormat.PAGE_SHIFT);
            crc.reset();
            update(image, from, until);
            image.putIntLittleEndian(PartitionFormat.PAGE_CRCS_AT + 4 * p, (int) crc.getValue());
        }
        crc.reset();
        update(image, 0, dataStart);
        image.putIntLittleEndian(PartitionFormat.HEADER_CRC_AT, (int) crc.getValue());
    }

    private void update(MemorySegment image, int from, int until) {
        for (int start = from; start < until; start += page.length) {
            int bytes = Math.min(page.length, until - start);
            image.get(start, page, 0, bytes);
            crc.update(page, 0, bytes);
        }
    }
}
