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
 *   table   [ cell | cell | ... ][ tag | tag | ... ]
 *   heap    entries longer than a cell, see {@link OverlayHeap}
 *
 *   cell    flags 1 | entry
 *           flags 1 | room 3, in eight bytes | place of the entry 4 | hash 4
 *   tag     0 empty | 1 was removed | 128 + 7 bits of the hash
 * </pre>
 *
 * Eight tags are compared at a time, in one long: a key that is absent costs one cache line, one
 * that is there costs two, or three if its entry is in the heap.
 *
 * <p>Held by the live partition, by views and by the merge that writes it. While somebody else
 * holds it, the live partition copies it before a change. Changed on the task thread only.
 */
final class Overlay {

    /** The cell has a place instead of the entry. */
    private static final int OUTSIDE = 1;

    /** There is no such key; the one below is hidden. */
    static final int REMOVED = 2;

    /** The key has an entry in the layers below. */
    static final int COVERS = 4;

    /** Keys of entries in cells are shorter. */
    static final int LONGEST_IN_CELL = 128;

    private static final int ENTRY_AT = 1;
    private static final int PLACE_AT = 4;
    private static final int HASH_AT = 8;

    /** Of cells without entries. */
    static final int SMALLEST_CELL = 12;

    /** What of the room a cell can say. */
    private static final int MOST_ROOM = (1 << 24) - 1;

    private static final int GROUP = 8;
    private static final long ONES = 0x0101010101010101L;
    private static final long HIGHS = 0x8080808080808080L;
    private static final byte WAS_REMOVED = 1;

    /** Cells are too wide if less than one entry in so many lies in them. */
    private static final int FEW_IN_CELLS = 4;

    private final OverlayMemory memory;
    private final MemoryBlock table;
    private final MemorySegment segment;
    private final int base;
    private final int cellBytes;
    private final int groups;
    private final int tagsAt;
    private final int mostUsed;
    private final OverlayHeap heap;
    private int used;
    private int gone;
    private int outside;

    /** Whether the heap belongs to the table that has replaced this one. */
    private boolean heapGiven;

    private final AtomicInteger holders = new AtomicInteger(1);

    /**
     * @param cells that are wanted at least
     * @param heap belongs to the overlay
     */
    Overlay(OverlayMemory memory, int cells, int cellBytes, OverlayHeap heap) {
        this(memory, memory.allocate(tableBytes(cells, cellBytes)), 0, cellBytes, heap);
        for (int i = 0; i < groups; i++) {
            segment.putLong(tagsAt + (i << 3), 0);
        }
    }

    /**
     * @param wantedGroups 0 for as many as the table has room for
     */
    private Overlay(
            OverlayMemory memory,
            MemoryBlock table,
            int wantedGroups,
            int cellBytes,
            OverlayHeap heap) {
        this.memory = memory;
        this.table = table;
        this.segment = table.segment;
        this.base = table.offset;
        this.cellBytes = cellBytes;
        this.groups = wantedGroups > 0 ? wantedGroups : table.bytes / (GROUP * (cellBytes + 1));
        this.tagsAt = base + groups * GROUP * cellBytes;
        this.mostUsed = groups * GROUP - groups;
        this.heap = heap;
    }

    private static int tableBytes(int cells, int cellBytes) {
        return Math.multiplyExact((cells + GROUP - 1) / GROUP * GROUP, cellBytes + 1);
    }

    /** The same cells in the same places, held by the caller alone. */
    Overlay copy() {
        Overlay copy = withSameGroups(cellBytes, heap.copy());
        segment.copyTo(base, copy.segment, copy.base, tagsAt - base);
        copy.outside = outside;
        return copy;
    }

    /** A table with the same tags, and cells that are to be filled. */
    private Overlay withSameGroups(int newCellBytes, OverlayHeap itsHeap) {
        MemoryBlock itsTable = memory.allocate(tableBytes(cells(), newCellBytes));
        Overlay same = new Overlay(memory, itsTable, groups, newCellBytes, itsHeap);
        segment.copyTo(tagsAt, same.segment, same.tagsAt, cells());
        same.used = used;
        same.gone = gone;
        return same;
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
                if (hasKey(cell, key, keyLength, keyWord, hash)) {
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

    private boolean hasKey(int cell, byte[] key, int keyLength, int keyWord, int hash) {
        int at = cellAt(cell);
        if ((segment.get(at) & OUTSIDE) == 0) {
            return EntryFormat.hasKey(segment, at + ENTRY_AT, keyWord, key, keyLength);
        }
        if (segment.getIntLittleEndian(at + HASH_AT) != hash) {
            return false;
        }
        int place = segment.getIntLittleEndian(at + PLACE_AT);
        return EntryFormat.hasKey(
                heap.segmentAt(place), heap.offsetAt(place), keyWord, key, keyLength);
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

    /** Number of keys, removed ones included. */
    int used() {
        return used;
    }

    /** Bytes of memory. */
    int bytes() {
        return (int) Math.min(Integer.MAX_VALUE, (long) table.bytes + heap.bytes());
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

    /** Whether a layer below has the key of a cell. */
    boolean covers(int cell) {
        return (flags(cell) & COVERS) != 0;
    }

    private boolean isOutside(int cell) {
        return (flags(cell) & OUTSIDE) != 0;
    }

    /** Memory of the entry of a cell. */
    MemorySegment segmentAt(int cell) {
        int at = cellAt(cell);
        return (segment.get(at) & OUTSIDE) == 0
                ? segment
                : heap.segmentAt(segment.getIntLittleEndian(at + PLACE_AT));
    }

    /** Where the entry of a cell starts in {@link #segmentAt}. */
    int entryAt(int cell) {
        int at = cellAt(cell);
        return (segment.get(at) & OUTSIDE) == 0
                ? at + ENTRY_AT
                : heap.offsetAt(segment.getIntLittleEndian(at + PLACE_AT));
    }

    private int cellAt(int cell) {
        return base + cell * cellBytes;
    }

    private int roomOf(int cell) {
        return (segment.getIntLittleEndian(cellAt(cell)) >>> Byte.SIZE)
                << OverlayHeap.ALIGNMENT_SHIFT;
    }

    /** Whether the entry of a cell can have that length where it lies. */
    boolean hasRoom(int cell, int entryBytes) {
        return entryBytes <= (isOutside(cell) ? roomOf(cell) : cellBytes - ENTRY_AT);
    }

    /**
     * Makes room for the entry of a key that has no cell.
     *
     * @return the cell, for which the caller writes the entry, or -1 if the table is full
     */
    int add(int hash, int entryBytes, int flags) {
        if (used + gone >= mostUsed) {
            return -1;
        }
        int cell = freeCell(hash);
        if (entryBytes + ENTRY_AT <= cellBytes) {
            segment.put(cellAt(cell), (byte) flags);
        } else {
            moveOut(cell, flags, hash, entryBytes);
        }
        take(cell, hash);
        return cell;
    }

    private int freeCell(int hash) {
        int group = home(hash);
        long free = ~tagsOf(group) & HIGHS;
        while (free == 0) {
            group = group + 1 == groups ? 0 : group + 1;
            free = ~tagsOf(group) & HIGHS;
        }
        return (group << 3) + (Long.numberOfTrailingZeros(free) >>> 3);
    }

    private void take(int cell, int hash) {
        if (segment.get(tagsAt + cell) == WAS_REMOVED) {
            gone--;
        }
        segment.put(tagsAt + cell, (byte) (0x80 | (hash & 0x7F)));
        used++;
    }

    private long tagsOf(int group) {
        return segment.getLongLittleEndian(tagsAt + (group << 3));
    }

    private void moveOut(int cell, int flags, int hash, int room) {
        int place = heap.allocate(room);
        int at = cellAt(cell);
        int units = Math.min(heap.roomGiven() >>> OverlayHeap.ALIGNMENT_SHIFT, MOST_ROOM);
        segment.putIntLittleEndian(at, (units << Byte.SIZE) | flags | OUTSIDE);
        segment.putIntLittleEndian(at + PLACE_AT, place);
        segment.putIntLittleEndian(at + HASH_AT, hash);
        outside++;
    }

    /** Makes room for another entry of a cell's key, which the caller writes. */
    void replace(int cell, int hash, int entryBytes) {
        int at = cellAt(cell);
        int kept = segment.get(at) & COVERS;
        boolean wasOutside = isOutside(cell);
        int room = wasOutside ? roomOf(cell) : 0;
        if (hasRoom(cell, entryBytes)) {
            segment.put(at, (byte) (kept | (wasOutside ? OUTSIDE : 0)));
            return;
        }
        if (entryBytes + ENTRY_AT <= cellBytes) {
            segment.put(at, (byte) kept);
        } else {
            moveOut(cell, kept, hash, OverlayHeap.roomToGrow(entryBytes));
        }
        if (wasOutside) {
            leave(room);
        }
    }

    private void leave(int room) {
        heap.leave(room);
        outside--;
    }

    /** Hides the key of a cell that covers one below, or forgets it if there is none below. */
    void remove(int cell) {
        int at = cellAt(cell);
        if (covers(cell)) {
            segment.put(at, (byte) (segment.get(at) | REMOVED));
            return;
        }
        if (isOutside(cell)) {
            leave(roomOf(cell));
        }
        boolean ends = hasEmpty(tagsOf(cell >>> 3));
        segment.put(tagsAt + cell, ends ? 0 : WAS_REMOVED);
        used--;
        if (!ends) {
            gone++;
        }
    }

    /** Whether to use {@link #tidied} before more memory is taken for an entry of that length. */
    boolean isUntidy(int entryBytes) {
        return entryBytes + ENTRY_AT > cellBytes
                && heap.growsFor(OverlayHeap.roomToGrow(entryBytes))
                && (heap.isSparse() || hasWideCells());
    }

    /** Whether cells are made for entries that have become longer. */
    private boolean hasWideCells() {
        return cellBytes > SMALLEST_CELL && outside > used - used / FEW_IN_CELLS;
    }

    /** The same cells in the same places without what entries have left, held by the caller. */
    Overlay tidied(KeyHash keyHash) {
        Overlay tidied = withSameGroups(hasWideCells() ? SMALLEST_CELL : cellBytes, heapForNext());
        byte[] scratch = new byte[LONGEST_IN_CELL];
        for (int cell = 0; cell < cells(); cell++) {
            if (isUsed(cell)) {
                tidied.fill(cell, hashOf(cell, keyHash, scratch), this, cell);
            }
        }
        heapGiven = tidied.heap == heap;
        return tidied;
    }

    /**
     * A table with the same keys and more cells, held by the caller.
     *
     * @param entryBytes of the entry for which there is no cell here
     */
    Overlay grown(KeyHash keyHash, int entryBytes) {
        Overlay grown =
                new Overlay(memory, used + used / 2 + 2, bestCellBytes(entryBytes), heapForNext());
        byte[] scratch = new byte[LONGEST_IN_CELL];
        for (int cell = 0; cell < cells(); cell++) {
            if (isUsed(cell)) {
                int hash = hashOf(cell, keyHash, scratch);
                int to = grown.freeCell(hash);
                grown.fill(to, hash, this, cell);
                grown.take(to, hash);
            }
        }
        heapGiven = grown.heap == heap;
        return grown;
    }

    /** The entries stay where they are unless that would keep much of what others have left. */
    private OverlayHeap heapForNext() {
        return heap.isSparse() || isShared() ? new OverlayHeap(memory) : heap;
    }

    private int bestCellBytes(int entryBytes) {
        if (outside == 0 && entryBytes + ENTRY_AT <= cellBytes) {
            return cellBytes;
        }
        int[] lengths = new int[used + 1];
        int count = 0;
        for (int cell = 0; cell < cells(); cell++) {
            if (isUsed(cell)) {
                lengths[count++] = ENTRY_AT + (isOutside(cell) ? roomOf(cell) : lengthOf(cell));
            }
        }
        lengths[count++] = entryBytes + ENTRY_AT;
        return CellSizes.bestOr(SMALLEST_CELL, lengths, count);
    }

    int lengthOf(int cell) {
        return EntryFormat.entryBytesAt(segmentAt(cell), entryAt(cell));
    }

    /** Sets a cell to what one of another table has; the heap may be the same. */
    private void fill(int cell, int hash, Overlay source, int from) {
        int sourceAt = source.cellAt(from);
        boolean wasOutside = source.isOutside(from);
        int room = wasOutside ? source.roomOf(from) : 0;
        boolean staysInHeap = wasOutside && heap == source.heap && room + ENTRY_AT > cellBytes;
        if (staysInHeap || (!wasOutside && source.cellBytes == cellBytes)) {
            int length = wasOutside ? SMALLEST_CELL : cellBytes;
            for (int i = 0; i < length; i += Integer.BYTES) {
                segment.putInt(cellAt(cell) + i, source.segment.getInt(sourceAt + i));
            }
            outside += wasOutside ? 1 : 0;
            return;
        }
        int bytes = source.lengthOf(from);
        int kept = source.flags(from) & (REMOVED | COVERS);
        if (bytes + ENTRY_AT <= cellBytes) {
            segment.put(cellAt(cell), (byte) kept);
        } else {
            int growing = Math.min(room, OverlayHeap.roomToGrow(bytes));
            moveOut(cell, kept, hash, Math.max(bytes, growing));
        }
        source.segmentAt(from).copyTo(source.entryAt(from), segmentAt(cell), entryAt(cell), bytes);
        if (wasOutside && heap == source.heap) {
            heap.leave(room);
        }
    }

    /** Copies a cell's entry with its flags; false if the table is full. */
    boolean addCopy(int hash, Overlay source, int cell) {
        int bytes = source.lengthOf(cell);
        int to = add(hash, bytes, source.flags(cell) & (REMOVED | COVERS));
        if (to < 0) {
            return false;
        }
        source.segmentAt(cell).copyTo(source.entryAt(cell), segmentAt(to), entryAt(to), bytes);
        return true;
    }

    /**
     * Hash of the key of a cell.
     *
     * @param scratch of {@link #LONGEST_IN_CELL} bytes
     */
    int hashOf(int cell, KeyHash keyHash, byte[] scratch) {
        if (isOutside(cell)) {
            return segment.getIntLittleEndian(cellAt(cell) + HASH_AT);
        }
        int entry = entryAt(cell);
        byte[] key = EntryFormat.copyKey(segment, entry, scratch);
        return keyHash.of(key, EntryFormat.keyLengthAt(segment, entry));
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
            memory.free(table);
            if (!heapGiven) {
                heap.free();
            }
        }
    }
}
