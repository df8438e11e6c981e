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

package dev.dstl.spillable.overlay;

import dev.dstl.spillable.partition.CellSizes;
import dev.dstl.spillable.partition.EntryFormat;
import dev.dstl.spillable.partition.KeyHash;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.flink.core.memory.MemorySegment;

/**
 * A small hash table in memory with what was put and removed in one partition since that was
 * sealed.
 *
 * <pre>
 *   block   [ cell | cell | ... ][ tag | tag | ... ][ entries longer than a cell | free ]
 *
 *   cell    flags 1 | entry
 *           flags 1 | 0 0 0 | offset of the entry 4 | room 4
 *   tag     0 empty | 1 was removed | 128 + 7 bits of the hash
 * </pre>
 *
 * Eight tags are compared at a time, in one long: a key that is absent costs one cache line, one
 * that is there costs two.
 *
 * <p>Held by the live partition, by views and by the merge that writes it. While somebody else
 * holds it, the live partition copies it before a change. Changed on the task thread only.
 */
final class Overlay {

    /** The cell has an offset instead of the entry. */
    private static final int OUTSIDE = 1;

    /** There is no such key; the one below is hidden. */
    static final int REMOVED = 2;

    /** The key has an entry in the layers below. */
    static final int COVERS = 4;

    private static final int ENTRY_AT = 1;
    private static final int OFFSET_AT = 4;
    private static final int ROOM_AT = 8;

    private static final int GROUP = 8;
    private static final long ONES = 0x0101010101010101L;
    private static final long HIGHS = 0x8080808080808080L;
    private static final byte WAS_REMOVED = 1;

    /** One part in so many is left free behind entries that grow. */
    private static final int GROWTH = 4;

    private final OverlayMemory memory;
    private final MemoryBlock block;
    private final MemorySegment segment;
    private final int base;
    private final int cellBytes;
    private final int groups;
    private final int tagsAt;
    private final int mostUsed;
    private int used;
    private int gone;
    private int heapEnd;
    private final AtomicInteger holders = new AtomicInteger(1);

    /**
     * @param cells that are wanted at least
     * @param heapBytes for entries longer than a cell
     */
    Overlay(OverlayMemory memory, int cells, int cellBytes, int heapBytes) {
        int groupBytes = GROUP * (cellBytes + 1);
        long wanted = (long) ((cells + GROUP - 1) / GROUP) * groupBytes + heapBytes;
        this.memory = memory;
        this.block = memory.allocate(checked(wanted));
        this.segment = block.segment;
        this.base = block.offset;
        this.cellBytes = cellBytes;
        this.groups = (block.bytes - heapBytes) / groupBytes;
        this.tagsAt = base + groups * GROUP * cellBytes;
        this.heapEnd = tagsAt + groups * GROUP;
        this.mostUsed = groups * GROUP - groups;
        for (int i = 0; i < groups; i++) {
            segment.putLong(tagsAt + (i << 3), 0);
        }
    }

    /**
     * @param bytes of memory
     * @param copiedBytes how much is taken over: up to the last entry, or the cells and tags only
     */
    private Overlay(Overlay original, int bytes, int copiedBytes) {
        this.memory = original.memory;
        this.block = memory.allocate(bytes);
        this.segment = block.segment;
        this.base = block.offset;
        this.cellBytes = original.cellBytes;
        this.groups = original.groups;
        this.tagsAt = base + (original.tagsAt - original.base);
        this.mostUsed = original.mostUsed;
        this.used = original.used;
        this.gone = original.gone;
        this.heapEnd = base + copiedBytes;
        original.segment.copyTo(original.base, segment, base, copiedBytes);
    }

    private static int checked(long bytes) {
        if (bytes > Integer.MAX_VALUE - 8192) {
            throw new IllegalStateException(
                    "Entries of one partition need more than 2 GiB; make state entries smaller,"
                            + " for example by the keys of a map state.");
        }
        return (int) bytes;
    }

    /** The same cells in the same places, held by the caller alone. */
    Overlay copy() {
        return new Overlay(this, block.bytes, heapEnd - base);
    }

    /**
     * The cell with a key, a removed one too, or -1.
     *
     * @param keyWord as {@link EntryFormat#keyWord} makes it
     */
    int find(byte[] key, int keyLength, int keyWord, int hash) {
        int group = home(hash);
        long pattern = (0x80 | (hash & 0x7F)) * ONES;
        for (int i = 0; i < groups; i++) {
            long tags = segment.getLongLittleEndian(tagsAt + (group << 3));
            long difference = tags ^ pattern;
            long matches = (difference - ONES) & ~difference & HIGHS;
            while (matches != 0) {
                int cell = (group << 3) + (Long.numberOfTrailingZeros(matches) >>> 3);
                if (EntryFormat.hasKey(segment, entryAt(cell), keyWord, key, keyLength)) {
                    return cell;
                }
                matches &= matches - 1;
            }
            if (hasEmpty(tags)) {
                return -1;
            }
            group = group + 1 == groups ? 0 : group + 1;
        }
        return -1;
    }

    /** Bits independent of those that choose the partition and the tag. */
    private int home(int hash) {
        return (int) ((Integer.toUnsignedLong(hash * 0x9E3779B1) * groups) >>> 32);
    }

    private static boolean hasEmpty(long tags) {
        return (~(tags | (tags << 7)) & HIGHS) != 0;
    }

    /** Number of positions for {@link #isUsed}. */
    int cells() {
        return groups << 3;
    }

    /** Number of cells with a key, removed ones included. */
    int used() {
        return used;
    }

    /** Bytes of memory. */
    int bytes() {
        return block.bytes;
    }

    /** Whether a cell has a key. */
    boolean isUsed(int cell) {
        return segment.get(tagsAt + cell) < 0;
    }

    int flags(int cell) {
        return segment.get(cellAt(cell));
    }

    boolean isRemoved(int cell) {
        return (flags(cell) & REMOVED) != 0;
    }

    MemorySegment segment() {
        return segment;
    }

    /** Where the entry of a cell starts in {@link #segment()}. */
    int entryAt(int cell) {
        int at = cellAt(cell);
        return (segment.get(at) & OUTSIDE) == 0
                ? at + ENTRY_AT
                : base + segment.getIntLittleEndian(at + OFFSET_AT);
    }

    private int cellAt(int cell) {
        return base + cell * cellBytes;
    }

    /**
     * Makes room for the entry of a key that has no cell.
     *
     * @return where in {@link #segment()} the caller writes the entry, or -1 if there is no room
     */
    int add(int hash, int entryBytes, int flags) {
        if (used + gone >= mostUsed) {
            return -1;
        }
        boolean fits = entryBytes + ENTRY_AT <= cellBytes;
        if (!fits && entryBytes > heapRoom()) {
            return -1;
        }
        int group = home(hash);
        long free = ~tagsOf(group) & HIGHS;
        while (free == 0) {
            group = group + 1 == groups ? 0 : group + 1;
            free = ~tagsOf(group) & HIGHS;
        }
        int cell = (group << 3) + (Long.numberOfTrailingZeros(free) >>> 3);
        if (segment.get(tagsAt + cell) == WAS_REMOVED) {
            gone--;
        }
        segment.put(tagsAt + cell, (byte) (0x80 | (hash & 0x7F)));
        used++;
        int at = cellAt(cell);
        if (fits) {
            segment.put(at, (byte) flags);
            return at + ENTRY_AT;
        }
        return moveOut(at, flags, entryBytes, entryBytes);
    }

    private long tagsOf(int group) {
        return segment.getLongLittleEndian(tagsAt + (group << 3));
    }

    private int heapRoom() {
        return base + block.bytes - heapEnd;
    }

    private int moveOut(int at, int flags, int entryBytes, int room) {
        int entry = heapEnd;
        heapEnd += Math.max(entryBytes, Math.min(room, heapRoom()));
        segment.put(at, (byte) (flags | OUTSIDE));
        segment.putIntLittleEndian(at + OFFSET_AT, entry - base);
        segment.putIntLittleEndian(at + ROOM_AT, heapEnd - entry);
        return entry;
    }

    /**
     * Makes room for another entry of a cell's key.
     *
     * @return where in {@link #segment()} the caller writes the entry, or -1 if there is no room
     */
    int replace(int cell, int entryBytes) {
        int at = cellAt(cell);
        int flags = segment.get(at) & COVERS;
        if (entryBytes + ENTRY_AT <= cellBytes) {
            segment.put(at, (byte) flags);
            return at + ENTRY_AT;
        }
        boolean outside = (segment.get(at) & OUTSIDE) != 0;
        if (outside && entryBytes <= segment.getIntLittleEndian(at + ROOM_AT)) {
            segment.put(at, (byte) (flags | OUTSIDE));
            return entryAt(cell);
        }
        if (entryBytes > heapRoom()) {
            return -1;
        }
        // An entry that has grown grows again: it does not move each time.
        int room = outside ? entryBytes + entryBytes / GROWTH : entryBytes;
        return moveOut(at, flags, entryBytes, room);
    }

    /** Hides the key of a cell that covers one below, or forgets it if there is none below. */
    void remove(int cell) {
        int at = cellAt(cell);
        int flags = segment.get(at);
        if ((flags & COVERS) != 0) {
            segment.put(at, (byte) (flags | REMOVED));
            return;
        }
        boolean ends = hasEmpty(tagsOf(cell >>> 3));
        segment.put(tagsAt + cell, ends ? 0 : WAS_REMOVED);
        used--;
        if (!ends) {
            gone++;
        }
    }

    /**
     * A table with the same keys and room for more, held by the caller.
     *
     * @param entryBytes of the entry for which there is no room here
     */
    Overlay grown(KeyHash hash, int entryBytes) {
        if (used + gone < mostUsed) {
            return withMoreHeap(entryBytes);
        }
        if (heapEnd == tagsAt + cells() && entryBytes + ENTRY_AT <= cellBytes) {
            int wanted = used + 1;
            Overlay sameCells = new Overlay(memory, wanted + wanted / 2 + 1, cellBytes, 0);
            copyTo(sameCells, hash);
            return sameCells;
        }
        int[] lengths = new int[used + 1];
        int count = 0;
        for (int cell = 0; cell < cells(); cell++) {
            if (isUsed(cell)) {
                lengths[count++] = EntryFormat.entryBytesAt(segment, entryAt(cell)) + ENTRY_AT;
            }
        }
        lengths[count++] = entryBytes + ENTRY_AT;
        int newCellBytes = CellSizes.best(lengths, count);
        long outside = 0;
        for (int length : lengths) {
            outside += length <= newCellBytes ? 0 : length;
        }
        Overlay grown = new Overlay(memory, count + count / 2 + 1, newCellBytes, heapFor(outside));
        copyTo(grown, hash);
        return grown;
    }

    /** The same cells, and behind them the entries outside of cells, without what they left. */
    private Overlay withMoreHeap(int entryBytes) {
        long outside = entryBytes;
        for (int cell = 0; cell < cells(); cell++) {
            if (isUsed(cell) && isOutside(cell)) {
                outside += EntryFormat.entryBytesAt(segment, entryAt(cell));
            }
        }
        int cellsEnd = tagsAt - base + cells();
        Overlay grown = new Overlay(this, checked((long) cellsEnd + heapFor(outside)), cellsEnd);
        for (int cell = 0; cell < cells(); cell++) {
            if (isUsed(cell) && isOutside(cell)) {
                int entry = entryAt(cell);
                int bytes = EntryFormat.entryBytesAt(segment, entry);
                int at = grown.moveOut(grown.cellAt(cell), flags(cell), bytes, bytes);
                segment.copyTo(entry, grown.segment, at, bytes);
            }
        }
        return grown;
    }

    /** Room in proportion, as entries that grow leave behind where they were. */
    private static int heapFor(long outsideBytes) {
        long heap = outsideBytes > 1 << 29 ? outsideBytes : outsideBytes + outsideBytes / GROWTH;
        return (int) Math.min(heap, Integer.MAX_VALUE - (1 << 21));
    }

    private boolean isOutside(int cell) {
        return (flags(cell) & OUTSIDE) != 0;
    }

    private void copyTo(Overlay target, KeyHash hash) {
        byte[] key = new byte[64];
        for (int cell = 0; cell < cells(); cell++) {
            if (isUsed(cell)) {
                key = keyOf(cell, key);
                target.addCopy(hash.of(key, keyLength(cell)), this, cell);
            }
        }
    }

    /** Copies a cell's entry with its flags; false if there is no room. */
    boolean addCopy(int hash, Overlay source, int cell) {
        int sourceFlags = source.flags(cell);
        if (source.cellBytes == cellBytes && (sourceFlags & OUTSIDE) == 0) {
            int to = add(hash, 0, sourceFlags);
            if (to < 0) {
                return false;
            }
            int from = source.cellAt(cell);
            for (int i = 0; i < cellBytes; i += Long.BYTES) {
                segment.putLong(to - ENTRY_AT + i, source.segment.getLong(from + i));
            }
            return true;
        }
        int entry = source.entryAt(cell);
        int bytes = EntryFormat.entryBytesAt(source.segment, entry);
        int at = add(hash, bytes, sourceFlags & (REMOVED | COVERS));
        if (at < 0) {
            return false;
        }
        source.segment.copyTo(entry, segment, at, bytes);
        return true;
    }

    int keyLength(int cell) {
        return EntryFormat.keyLengthAt(segment, entryAt(cell));
    }

    /** Copies the key of a cell into {@code buffer}, or into a larger one if that is too small. */
    byte[] keyOf(int cell, byte[] buffer) {
        return EntryFormat.copyKey(segment, entryAt(cell), buffer);
    }

    int cellBytes() {
        return cellBytes;
    }

    boolean isShared() {
        return holders.get() > 1;
    }

    void hold() {
        holders.incrementAndGet();
    }

    void release() {
        if (holders.decrementAndGet() == 0) {
            memory.free(block);
        }
    }
}
