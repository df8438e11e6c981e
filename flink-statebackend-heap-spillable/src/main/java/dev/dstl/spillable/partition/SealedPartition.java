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
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.zip.CRC32C;
import org.apache.flink.core.memory.MemorySegment;

/**
 * An immutable partition in a file, see {@link PartitionFormat}. Read by any thread.
 *
 * <p>The checksum of a page is compared the first time that an entry in it is read through the
 * mapping, and each time that a {@link PageWindow} reads the page; a merge or a full snapshot,
 * which read all pages, use {@link #check()}. Bytes are read with a call for it: where the disk
 * cannot be read, a call fails, but an access to a mapping ends the process.
 *
 * <p>A page that left the page cache and is mapped again is not compared again: nothing tells that
 * it has been read once more.
 *
 * <p>Held by whoever can read it, at first by whoever made it; the last holder frees the extent.
 */
public final class SealedPartition {

    private static final int PAGES_IN_WORD = 64;
    private static final int LONGEST_KEY_RECHECKED = 1024;
    private static final int PAGES_READ_AT_ONCE = 16;

    /** Off-heap, so that neither garbage nor a second copy is made of each page. */
    private static final ThreadLocal<ByteBuffer> PAGES =
            ThreadLocal.withInitial(
                    () ->
                            ByteBuffer.allocateDirect(
                                    PAGES_READ_AT_ONCE << PartitionFormat.PAGE_SHIFT));

    private final Extent extent;
    private final Object contents;
    private final StateIdentity identity;
    private final MemorySegment segment;
    private final int base;
    private final int firstCell;
    private final int homes;
    private final int cellBytes;
    private final int depth;
    private final int cells;
    private final int length;
    private final int entries;
    private final int parts;

    /** On the heap, or else reading a page past the mapping would need the first page as well. */
    private final int[] pageChecksums;

    private final AtomicInteger holders = new AtomicInteger(1);

    /** A bit per page; a lost update costs a second look. The first word is the common case. */
    private long checkedFirst;

    private final long[] checkedRest;

    /**
     * Opens a partition that lies in an extent.
     *
     * @param identity whose entries are expected
     * @throws DamagedPartitionException if it is none, or another one's
     * @throws UncheckedIOException if the file cannot be read
     */
    public SealedPartition(Extent extent, StateIdentity identity) {
        this(extent, identity, new Object());
    }

    private SealedPartition(Extent extent, StateIdentity identity, Object contents) {
        this.extent = extent;
        this.identity = identity;
        this.contents = contents;
        this.segment = extent.segment();
        this.base = extent.offset();
        read(ByteBuffer.allocate(Math.min(PartitionFormat.PAGE_BYTES, extent.length())), 0);
        require("magic", PartitionFormat.MAGIC, getLong(PartitionFormat.MAGIC_AT), 0);
        require("version", PartitionFormat.VERSION, PartitionFormat.VERSION_AT);
        this.length = getInt(PartitionFormat.LENGTH_AT);
        this.cells = getInt(PartitionFormat.CELLS_AT);
        this.cellBytes = getInt(PartitionFormat.CELL_BYTES_AT);
        this.firstCell = checkedDataStart();
        require("state id", identity.stateId(), PartitionFormat.STATE_ID_AT);
        require("key group", identity.keyGroup(), PartitionFormat.KEY_GROUP_AT);
        this.homes = getInt(PartitionFormat.HOMES_AT);
        this.depth = getInt(PartitionFormat.DEPTH_AT);
        this.entries = getInt(PartitionFormat.ENTRIES_AT);
        this.parts = getInt(PartitionFormat.PARTS_AT);
        this.pageChecksums = new int[PartitionFormat.pages(length)];
        for (int page = 0; page < pageChecksums.length; page++) {
            pageChecksums[page] = getInt(PartitionFormat.PAGE_CRCS_AT + 4 * page);
        }
        int words = (pageChecksums.length + PAGES_IN_WORD - 1) / PAGES_IN_WORD;
        this.checkedRest = words > 1 ? new long[words] : null;
    }

    private int checkedDataStart() {
        // The length is not trusted before the checksum of the header is right.
        if (length < PartitionFormat.PAGE_CRCS_AT || length > extent.length()) {
            throw damaged("length", PartitionFormat.LENGTH_AT, extent.length(), length);
        }
        int table = PartitionFormat.PAGE_CRCS_AT + 4 * PartitionFormat.pages(length);
        int start = (table + CellSizes.LARGEST - 1) & -CellSizes.LARGEST;
        if (start > length) {
            throw damaged("length", PartitionFormat.LENGTH_AT, start, length);
        }
        byte[] header = new byte[start];
        read(ByteBuffer.wrap(header), 0);
        for (int i = 0; i < 4; i++) {
            header[PartitionFormat.HEADER_CRC_AT + i] = 0;
        }
        CRC32C crc = new CRC32C();
        crc.update(header, 0, start);
        require("checksum of the header", (int) crc.getValue(), PartitionFormat.HEADER_CRC_AT);
        return start;
    }

    private void require(String what, int expected, int at) {
        require(what, expected & 0xFFFFFFFFL, getInt(at) & 0xFFFFFFFFL, at);
    }

    private void require(String what, long expected, long found, int at) {
        if (expected != found) {
            throw damaged(what, at, expected, found);
        }
    }

    private DamagedPartitionException damaged(String what, int at, long expected, long found) {
        return new DamagedPartitionException(
                identity, extent.file(), (long) base + at, what, expected, found);
    }

    private int getInt(int offset) {
        return segment.getIntLittleEndian(base + offset);
    }

    private long getLong(int offset) {
        return segment.getLongLittleEndian(base + offset);
    }

    /**
     * Finds an entry.
     *
     * @param key in its first {@code keyLength} bytes
     * @return where it lies, from the partition's start, or 0 if there is none
     * @throws DamagedPartitionException if a page that has to be read is damaged
     * @throws UncheckedIOException if a page is read for the first time and cannot be
     */
    public int find(byte[] key, int keyLength, boolean part, int hash) {
        int keyWord = EntryFormat.keyWord(keyLength, part);
        int cell = firstCell + PartitionFormat.home(hash, depth, homes) * cellBytes;
        int page = -1;
        boolean mismatch = false;
        while (true) {
            if (cell >>> PartitionFormat.PAGE_SHIFT != page) {
                page = cell >>> PartitionFormat.PAGE_SHIFT;
                checkPage(page);
            }
            int control = segment.get(base + cell + PartitionFormat.CELL_ENTRY_AT);
            if (control == PartitionFormat.EMPTY) {
                return 0;
            }
            if (control == 0) {
                throw lost(cell);
            }
            int cellHash = getInt(cell);
            if (cellHash == hash) {
                int entry = entryOf(cell, control);
                if (EntryFormat.hasKey(segment, base + entry, keyWord, key, keyLength)) {
                    return entry;
                }
                mismatch = recheck(mismatch, cell, entry);
            } else if (Integer.compareUnsigned(cellHash, hash) > 0) {
                return 0;
            }
            cell += cellBytes;
        }
    }

    /**
     * As the other {@code find}, reading pages with calls.
     *
     * @param window has the entry when it is found, see {@link #locate}
     */
    public int find(byte[] key, int keyLength, boolean part, int hash, PageWindow window) {
        int keyWord = EntryFormat.keyWord(keyLength, part);
        int cell = firstCell + PartitionFormat.home(hash, depth, homes) * cellBytes;
        boolean mismatch = false;
        while (true) {
            int at = locate(cell, cell + cellBytes, window);
            int control = window.segment().get(at + PartitionFormat.CELL_ENTRY_AT);
            if (control == PartitionFormat.EMPTY) {
                return 0;
            }
            int cellHash = window.segment().getIntLittleEndian(at);
            if (control == 0) {
                throw lost(cell);
            }
            if (cellHash == hash) {
                int entry = cell + PartitionFormat.CELL_ENTRY_AT;
                if (control == PartitionFormat.OUTSIDE) {
                    entry =
                            window.segment()
                                    .getIntLittleEndian(at + PartitionFormat.CELL_OFFSET_AT);
                }
                int entryAt = locate(entry, window);
                if (EntryFormat.hasKey(window.segment(), entryAt, keyWord, key, keyLength)) {
                    return entry;
                }
                mismatch = recheck(mismatch, cell, entry);
            } else if (Integer.compareUnsigned(cellHash, hash) > 0) {
                return 0;
            }
            cell += cellBytes;
        }
    }

    /**
     * Makes an entry readable in a window.
     *
     * @param entry where it lies, from the partition's start
     * @return where it starts in the window's memory
     */
    public int locate(int entry, PageWindow window) {
        int at = locate(entry, Math.min(length, entry + 10), window);
        return locate(entry, entry + EntryFormat.entryBytesAt(window.segment(), at), window);
    }

    private int locate(int from, int until, PageWindow window) {
        try {
            return window.locate(this, from, until);
        } catch (IOException e) {
            throw unreadable(until - from, from, e);
        }
    }

    /**
     * Two keys of one hash are rarer than a page that was lost after it had been checked, so the
     * first time in a search the checksums are compared again.
     */
    private boolean recheck(boolean done, int cell, int entry) {
        if (!done) {
            compareChecksum(cell >>> PartitionFormat.PAGE_SHIFT);
            compareChecksum(entry >>> PartitionFormat.PAGE_SHIFT);
            int end = Math.min(length - 1, entry + LONGEST_KEY_RECHECKED);
            compareChecksum(end >>> PartitionFormat.PAGE_SHIFT);
        }
        return true;
    }

    /** A cell that is all zeros although the writer leaves none so. */
    private DamagedPartitionException lost(int cell) {
        compareChecksum(cell >>> PartitionFormat.PAGE_SHIFT);
        return damaged("a cell", cell, PartitionFormat.EMPTY, 0);
    }

    private int entryOf(int cell, int control) {
        if (control == 0) {
            throw lost(cell);
        }
        if (control != PartitionFormat.OUTSIDE) {
            return cell + PartitionFormat.CELL_ENTRY_AT;
        }
        int entry = getInt(cell + PartitionFormat.CELL_OFFSET_AT);
        checkPages(entry, Math.min(length, entry + 10));
        checkPages(entry, entry + EntryFormat.entryBytesAt(segment, base + entry));
        return entry;
    }

    /** Number of cells; positions for {@link #entryAt} and {@link #hashAt}. */
    public int cells() {
        return cells;
    }

    /** Where the entry in a cell lies, from the partition's start, or 0 if the cell is empty. */
    public int entryAt(int cell) {
        int offset = firstCell + cell * cellBytes;
        checkPage(offset >>> PartitionFormat.PAGE_SHIFT);
        int control = segment.get(base + offset + PartitionFormat.CELL_ENTRY_AT);
        return control == PartitionFormat.EMPTY ? 0 : entryOf(offset, control);
    }

    /** Hash of the entry in a cell that is not empty. */
    public int hashAt(int cell) {
        return getInt(firstCell + cell * cellBytes);
    }

    private void checkPages(int from, int until) {
        for (int page = from >>> PartitionFormat.PAGE_SHIFT;
                page <= (until - 1) >>> PartitionFormat.PAGE_SHIFT;
                page++) {
            checkPage(page);
        }
    }

    private void checkPage(int page) {
        long checked = page < PAGES_IN_WORD ? checkedFirst : checkedRest[page >>> 6];
        if ((checked & (1L << page)) == 0) {
            compareChecksum(page);
        }
    }

    private void compareChecksum(int page) {
        compareChecksums(page, page + 1, new CRC32C());
    }

    /** Reads pages {@code [from, until)} with calls and compares their checksums. */
    void compareChecksums(int from, int until, CRC32C crc) {
        ByteBuffer buffer = PAGES.get();
        for (int page = from; page < until; page += PAGES_READ_AT_ONCE) {
            int behind = Math.min(until, page + PAGES_READ_AT_ONCE);
            int start = page << PartitionFormat.PAGE_SHIFT;
            int end = (int) Math.min(length, (long) behind << PartitionFormat.PAGE_SHIFT);
            read(buffer.clear().limit(end - start), start);
            compareChecksums(buffer, page, behind, crc);
        }
    }

    /**
     * Compares the checksums of pages that have been read.
     *
     * @param buffer begins with the page {@code from}
     */
    void compareChecksums(ByteBuffer buffer, int from, int until, CRC32C crc) {
        int start = from << PartitionFormat.PAGE_SHIFT;
        for (int page = from; page < until; page++) {
            int at = page << PartitionFormat.PAGE_SHIFT;
            int dataFrom = Math.max(firstCell, at);
            int dataUntil = (int) Math.min(length, at + (long) PartitionFormat.PAGE_BYTES);
            if (dataFrom < dataUntil) {
                crc.reset();
                crc.update(buffer.limit(dataUntil - start).position(dataFrom - start));
                requireChecksum(page, (int) crc.getValue());
            }
            markChecked(page);
        }
    }

    private void requireChecksum(int page, int found) {
        if (found != pageChecksums[page]) {
            throw damaged(
                    "the checksum of a page",
                    page << PartitionFormat.PAGE_SHIFT,
                    pageChecksums[page] & 0xFFFFFFFFL,
                    found & 0xFFFFFFFFL);
        }
    }

    private void read(ByteBuffer target, int from) {
        int bytes = target.remaining();
        try {
            extent.read(target, from);
        } catch (IOException e) {
            throw unreadable(bytes, from, e);
        }
    }

    private UncheckedIOException unreadable(int bytes, int from, IOException cause) {
        return new UncheckedIOException(
                String.format(
                        "Spilled state cannot be read (%s): %d bytes at byte %d of %s. Check the"
                                + " disk; the state is restored from the last checkpoint.",
                        identity, bytes, (long) base + from, extent.file()),
                cause);
    }

    /**
     * Compares the checksums of all pages, whether that was done before or not.
     *
     * @throws DamagedPartitionException if one is wrong
     * @throws UncheckedIOException if the file cannot be read
     */
    public void check() {
        checkedDataStart();
        compareChecksums(0, pageChecksums.length, new CRC32C());
    }

    private void markChecked(int page) {
        if (page < PAGES_IN_WORD) {
            checkedFirst |= 1L << page;
        } else {
            checkedRest[page >>> 6] |= 1L << page;
        }
    }

    /** Memory in which the partition starts at {@link #base()}. Read-only. */
    public MemorySegment segment() {
        return segment;
    }

    /** Where the partition starts in {@link #segment()}. */
    public int base() {
        return base;
    }

    /** The extent; freed with the last holder. */
    public Extent extent() {
        return extent;
    }

    /**
     * Writes the partition to another place, byte for byte.
     *
     * @param image memory of at least {@link #length()} bytes, free again when this returns
     * @throws IOException if it cannot be read, or if no directory takes it
     */
    public SealedPartition copyTo(ChunkFiles files, MemorySegment image) throws IOException {
        ByteBuffer pages = PAGES.get();
        int bytes;
        for (int done = 0; done < length; done += bytes) {
            bytes = Math.min(pages.capacity(), length - done);
            pages.clear().limit(bytes);
            extent.read(pages, done);
            image.put(done, pages.flip(), bytes);
        }
        return new SealedPartition(files.write(image, length), identity, contents);
    }

    /** Equal only to itself; two partitions have the same if one is a copy of the other. */
    public Object contents() {
        return contents;
    }

    /** Number of entries, parts included. */
    public int entries() {
        return entries;
    }

    /** Number of entries that are parts of others. */
    public int parts() {
        return parts;
    }

    /** Number of leading bits that all hashes share. */
    public int depth() {
        return depth;
    }

    /** The lowest hash that the partition may have. */
    public int firstHash() {
        return getInt(PartitionFormat.FIRST_HASH_AT);
    }

    /** Number by which the partition names its state. */
    public int stateId() {
        return identity.stateId();
    }

    /** Seed of the hash by which the entries are found. */
    public long seed() {
        return getLong(PartitionFormat.SEED_AT);
    }

    /** Distinguishes the partition from all others ever written. */
    public UUID id() {
        return new UUID(getLong(PartitionFormat.ID_AT), getLong(PartitionFormat.ID_AT + 8));
    }

    /** Bytes from its start to its end. */
    public int length() {
        return length;
    }

    /** The file, for messages. */
    public Path file() {
        return extent.file();
    }

    /** Takes part in holding the partition. */
    public void hold() {
        holders.incrementAndGet();
    }

    /** Gives it up; true if nobody holds it any more and the caller has to free the extent. */
    public boolean release() {
        return holders.decrementAndGet() == 0;
    }
}
