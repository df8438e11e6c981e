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

package dev.dstl.spillable.entry;

import java.util.Arrays;
import java.util.function.LongConsumer;
import javax.annotation.Nullable;
import org.apache.flink.core.memory.MemorySegment;

/**
 * Finds and reads spilled entries of one state in one key group. Used by one thread, which belongs
 * to whoever made the reader: the task thread for a {@link SpilledMap}, another for a view.
 *
 * <p>It is a cursor: {@link #find} and {@link #read} go to an entry, and {@link #segment()}, {@link
 * #keyOffset()} and so on tell where that entry lies until the next such call or the next change.
 *
 * <p>It owns the directory of index tables and the array of blocks. The map changes both through
 * the methods of this package; a view has copies of them.
 */
public final class EntryReader {

    /** Directory of index tables, addressed by the top {@link #depth} bits of the hash. */
    private IndexTable[] tables;

    private int depth;
    private Block[] blocks;

    /** How to read what lies in chunk files; null to take it from their mappings. */
    @Nullable private final SealedBlockReader sealedBlocks;

    private IndexTable foundTable;
    private int foundIndex;

    private MemorySegment segment;
    private int entryOffset;
    private int keyWord;
    private int keyOffset;
    private int valueOffset;
    private int valueLength;

    EntryReader(IndexTable[] tables, Block[] blocks, @Nullable SealedBlockReader sealedBlocks) {
        this.tables = tables;
        this.depth = Integer.numberOfTrailingZeros(Math.max(1, tables.length));
        this.blocks = blocks;
        this.sealedBlocks = sealedBlocks;
    }

    /**
     * A reader of what this one sees now, of its own and past the page reads of the task thread.
     */
    EntryReader frozen() {
        return new EntryReader(tables.clone(), blocks.clone(), null);
    }

    /**
     * A reader for another thread over arrays that this one goes on changing; what it reads may be
     * torn.
     */
    EntryReader shared() {
        // In this order: blocks that the tables name are there when the array is looked at.
        IndexTable[] currentTables = tables;
        return new EntryReader(currentTables, blocks, null);
    }

    /**
     * Hash by which keys are found.
     *
     * @param length bytes of {@code key} that count, from its start
     */
    public static int hash(byte[] key, int length) {
        return EntryFormat.hash(key, length);
    }

    /**
     * Finds an entry and goes to it.
     *
     * @param key the key in its first {@code keyLength} bytes
     * @param hash of the key, by {@link #hash} or, for a part, as its layout computes it
     * @param part whether a part of another entry is looked for
     * @return the entry's address, or 0 if there is none
     */
    public long find(byte[] key, int keyLength, int hash, boolean part) {
        IndexTable table = tables[tableIndex(hash)];
        int slotHash = hash >>> 8;
        int index = table.home(slotHash);
        int wantedWord = keyWord(keyLength, part);
        while (true) {
            long slot = table.get(index);
            if (slot == 0) {
                return 0;
            }
            if (EntryFormat.slotHash(slot) == slotHash) {
                long address = EntryFormat.slotAddress(slot);
                read(address);
                if (keyWord == wantedWord && keyEquals(key, keyLength)) {
                    foundTable = table;
                    foundIndex = index;
                    return address;
                }
            }
            index = table.next(index);
        }
    }

    static int keyWord(int keyLength, boolean part) {
        return (keyLength << 1) | (part ? 1 : 0);
    }

    private boolean keyEquals(byte[] key, int length) {
        int position = keyOffset;
        int i = 0;
        for (; i + Long.BYTES <= length; i += Long.BYTES) {
            if (segment.getLongLittleEndian(position + i) != EntryFormat.longAt(key, i)) {
                return false;
            }
        }
        for (; i < length; i++) {
            if (segment.get(position + i) != key[i]) {
                return false;
            }
        }
        return true;
    }

    /**
     * Goes to the entry at an address.
     *
     * @param address as {@link #find} or {@link #addressesAt} gave it, with no change since
     * @throws java.io.UncheckedIOException if a chunk file cannot be read
     */
    public void read(long address) {
        Block block = blocks[EntryFormat.blockNumber(address)];
        MemorySegment memory = block.segment;
        int offset = EntryFormat.offset(address);
        int start = block.base + offset;
        boolean readsSealed = sealedBlocks != null && block.isSealed();
        if (readsSealed) {
            start = sealedBlocks.locate(block, offset);
            memory = sealedBlocks.segment();
        }
        int position = start + EntryFormat.HASH_BYTES;
        segment = memory;
        entryOffset = start;
        int word = memory.get(position++);
        if (word < 0) {
            word &= 0x7F;
            int shift = 7;
            byte next;
            do {
                next = memory.get(position++);
                word |= (next & 0x7F) << shift;
                shift += 7;
            } while (next < 0);
        }
        int length = memory.get(position++);
        if (length < 0) {
            length &= 0x7F;
            int shift = 7;
            byte next;
            do {
                next = memory.get(position++);
                length |= (next & 0x7F) << shift;
                shift += 7;
            } while (next < 0);
        }
        keyWord = word;
        keyOffset = position;
        valueOffset = position + (word >>> 1);
        valueLength = length;
        if (readsSealed) {
            sealedBlocks.complete(block, offset, valueOffset + valueLength - start);
        }
    }

    /** Table in which {@link #find} found its entry. */
    IndexTable foundTable() {
        return foundTable;
    }

    /** Position of the entry that {@link #find} found in {@link #foundTable()}. */
    int foundIndex() {
        return foundIndex;
    }

    /** Hash of the entry read last. */
    int entryHash() {
        return segment.getInt(entryOffset);
    }

    /** Where the entry read last starts in {@link #segment()}. */
    int entryOffset() {
        return entryOffset;
    }

    /** Length of the entry read last, in bytes, with its padding. */
    int entryBytes() {
        return (int) EntryFormat.entryBytes(keyLength(), valueLength);
    }

    /**
     * Memory of the entry read last. It belongs to the map and is read-only, but for the value
     * where {@link SpilledMap#isMutable} allows a change.
     */
    public MemorySegment segment() {
        return segment;
    }

    /** Where the key of the entry read last starts in {@link #segment()}, in bytes. */
    public int keyOffset() {
        return keyOffset;
    }

    /** Length of the key of the entry read last, in bytes. */
    public int keyLength() {
        return keyWord >>> 1;
    }

    /** A copy of the key of the entry read last. */
    public byte[] copyKey() {
        byte[] key = new byte[keyLength()];
        segment.get(keyOffset, key);
        return key;
    }

    /** Copies {@code length} bytes at {@code offset} of {@link #segment()} to {@code target}. */
    public void copy(int offset, byte[] target, int length) {
        EntryFormat.copyOut(segment, offset, target, length);
    }

    /**
     * Whether the entry read last is a part of another: a fragment of a list, a bucket of a map.
     */
    public boolean isPart() {
        return (keyWord & 1) != 0;
    }

    /** Where the value of the entry read last starts in {@link #segment()}, in bytes. */
    public int valueOffset() {
        return valueOffset;
    }

    /** Length of the value of the entry read last, in bytes. */
    public int valueLength() {
        return valueLength;
    }

    /** Number of positions for {@link #addressesAt}: {@code [0, cursorEnd())}. */
    public int cursorEnd() {
        return tables.length;
    }

    /**
     * Hands over the addresses of the entries under one cursor position, without parts. They hold
     * until the next change.
     *
     * @param most number of addresses to hand over at most
     */
    public void addressesAt(int cursor, int most, LongConsumer consumer) {
        IndexTable table = tables[cursor];
        if (!isFirstOfItsTable(cursor)) {
            return;
        }
        int given = 0;
        for (int i = 0; i < table.slotCount() && given < most; i++) {
            long slot = table.get(i);
            if (slot != 0) {
                long address = EntryFormat.slotAddress(slot);
                read(address);
                if (!isPart()) {
                    consumer.accept(address);
                    given++;
                }
            }
        }
    }

    /** Whether no position before {@code cursor} has the same table. */
    boolean isFirstOfItsTable(int cursor) {
        return cursor == 0 || tables[cursor - 1] != tables[cursor];
    }

    /** Whether the entry read last, at this address, is in the index. */
    boolean livesAt(long address) {
        int hash = entryHash();
        return table(hash).indexOf(EntryFormat.slot(hash, address)) >= 0;
    }

    private int tableIndex(int hash) {
        return (hash >>> 1) >>> (31 - depth);
    }

    /** Number of top bits of the hash that address the directory. */
    int depth() {
        return depth;
    }

    /** The table that has or would have a key of this hash. */
    IndexTable table(int hash) {
        return tables[tableIndex(hash)];
    }

    IndexTable tableAt(int cursor) {
        return tables[cursor];
    }

    /** Puts a table in the place of the one that has this hash, wherever that stands. */
    void replaceTable(int hash, IndexTable table) {
        int span = 1 << (depth - table.depth);
        int start = tableIndex(hash) & -span;
        Arrays.fill(tables, start, start + span, table);
    }

    /** Puts two tables, one bit deeper, in the place of the one that has this hash. */
    void replaceTable(int hash, IndexTable zero, IndexTable one) {
        int span = 1 << (depth - zero.depth + 1);
        int start = tableIndex(hash) & -span;
        Arrays.fill(tables, start, start + (span >>> 1), zero);
        Arrays.fill(tables, start + (span >>> 1), start + span, one);
    }

    void doubleDirectory() {
        IndexTable[] doubled = new IndexTable[tables.length << 1];
        for (int i = 0; i < doubled.length; i++) {
            doubled[i] = tables[i >>> 1];
        }
        tables = doubled;
        depth++;
    }

    /** Releases every table once. Nothing can be found afterwards. */
    void releaseTables() {
        for (int i = 0; i < tables.length; i++) {
            if (isFirstOfItsTable(i)) {
                tables[i].release();
            }
        }
        tables = new IndexTable[0];
    }

    /** Length of the block array; numbers below it may have no block. */
    int blockNumberEnd() {
        return blocks.length;
    }

    /** The block of that number, or null if there is none. */
    @Nullable
    Block block(int number) {
        return number < blocks.length ? blocks[number] : null;
    }

    void setBlock(int number, @Nullable Block block) {
        if (number >= blocks.length) {
            blocks = Arrays.copyOf(blocks, blocks.length << 1);
        }
        blocks[number] = block;
    }
}
