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
import org.apache.flink.core.memory.MemorySegment;

/**
 * The spilled entries of one state in one key group: an index over a log of blocks. Task thread
 * only; a {@link SpilledView} may be read by one other thread at the same time.
 *
 * <pre>
 *   index   directory of tables, extendible hashing; 8 bytes per slot
 *             |
 *   log     [ sealed ][ sealed ][ memory ][ open ]      new and changed entries go to the open block
 *             chunk files          memory
 * </pre>
 *
 * An entry in memory that no view sees changes in place if its length allows; any other change
 * appends, which also brings entries that are touched again back into memory.
 */
public final class SpilledMap extends EntryStore implements AutoCloseable {

    private static final int FIRST_BLOCK_BYTES = 4096;
    private static final int MAX_DEPTH = 24;

    private final BlockPool pool;
    private int nextBlockNumber = 1;
    private int[] freeNumbers = new int[8];
    private int freeNumberCount;
    private int openNumber;
    private int lastBlockBytes = FIRST_BLOCK_BYTES / 2;

    public SpilledMap(BlockPool pool) {
        super(pool.reads());
        this.pool = pool;
        this.tables = new IndexTable[] {new IndexTable(pool, IndexTable.MIN_SLOTS, 0)};
        this.blocks = new Block[4];
    }

    /** Sets the value of a key. */
    public void put(
            byte[] key, int keyLength, int hash, boolean part, byte[] value, int valueLength) {
        long address = find(key, keyLength, hash, part);
        if (address != 0) {
            if (valueLength == valueLength() && isMutable(address)) {
                EntryFormat.copyIn(value, segment(), valueOffset(), valueLength);
                return;
            }
            int oldBytes = (int) EntryFormat.entryBytes(keyLength, valueLength());
            IndexTable table = foundTable;
            int index = foundIndex;
            long appended = append(key, keyLength, hash, part, value, valueLength);
            writable(hash, table).set(index, EntryFormat.slot(hash, appended));
            died(address, oldBytes);
        } else {
            long appended = append(key, keyLength, hash, part, value, valueLength);
            insert(hash, appended);
            if (!part) {
                size++;
            }
        }
        pool.maintain();
    }

    /** Whether the entry's value may be changed in place, keeping its length. */
    public boolean isMutable(long address) {
        return blocks[EntryFormat.blockNumber(address)].isMutable(EntryFormat.offset(address));
    }

    /** Removes a key; false if there was none. */
    public boolean remove(byte[] key, int keyLength, int hash, boolean part) {
        long address = find(key, keyLength, hash, part);
        if (address == 0) {
            return false;
        }
        int bytes = (int) EntryFormat.entryBytes(keyLength, valueLength());
        writable(hash, foundTable).remove(foundIndex);
        if (!part) {
            size--;
        }
        died(address, bytes);
        pool.maintain();
        return true;
    }

    // ------------------------------------------------ index

    private void insert(int hash, long address) {
        IndexTable table = tables[tableIndex(hash)];
        if (table.isFull()) {
            grow(hash, table);
            table = tables[tableIndex(hash)];
        }
        writable(hash, table).add(EntryFormat.slot(hash, address));
    }

    private IndexTable writable(int hash, IndexTable table) {
        if (!table.isShared()) {
            return table;
        }
        IndexTable copy = table.copy();
        place(tableIndex(hash), copy);
        table.release();
        return copy;
    }

    private void grow(int hash, IndexTable table) {
        if (table.slotCount() < IndexTable.MAX_SLOTS || table.depth == MAX_DEPTH) {
            IndexTable bigger = new IndexTable(pool, table.slotCount() << 1, table.depth);
            for (int i = 0; i < table.slotCount(); i++) {
                if (table.get(i) != 0) {
                    bigger.add(table.get(i));
                }
            }
            place(tableIndex(hash), bigger);
        } else {
            if (table.depth == depth) {
                doubleDirectory();
            }
            IndexTable zero = new IndexTable(pool, table.slotCount(), table.depth + 1);
            IndexTable one = new IndexTable(pool, table.slotCount(), table.depth + 1);
            int splitBit = 1 << (23 - table.depth);
            for (int i = 0; i < table.slotCount(); i++) {
                long slot = table.get(i);
                if (slot != 0) {
                    ((EntryFormat.slotHash(slot) & splitBit) == 0 ? zero : one).add(slot);
                }
            }
            int span = 1 << (depth - table.depth);
            int start = tableIndex(hash) & -span;
            place(start, zero);
            place(start + (span >>> 1), one);
        }
        table.release();
    }

    private void doubleDirectory() {
        IndexTable[] doubled = new IndexTable[tables.length << 1];
        for (int i = 0; i < doubled.length; i++) {
            doubled[i] = tables[i >>> 1];
        }
        tables = doubled;
        depth++;
    }

    private void place(int index, IndexTable table) {
        int span = 1 << (depth - table.depth);
        int start = index & -span;
        Arrays.fill(tables, start, start + span, table);
    }

    // ------------------------------------------------ log

    private long append(
            byte[] key, int keyLength, int hash, boolean part, byte[] value, int valueLength) {
        long bytes = EntryFormat.entryBytes(keyLength, valueLength);
        long address = allocate(bytes);
        Block block = blocks[EntryFormat.blockNumber(address)];
        MemorySegment memory = block.segment;
        int position = EntryFormat.offset(address);
        memory.putInt(position, hash);
        position =
                EntryFormat.putVarint(
                        memory, position + EntryFormat.HASH_BYTES, keyWord(keyLength, part));
        position = EntryFormat.putVarint(memory, position, valueLength);
        EntryFormat.copyIn(key, memory, position, keyLength);
        EntryFormat.copyIn(value, memory, position + keyLength, valueLength);
        return address;
    }

    private long allocate(long bytes) {
        if (bytes > Integer.MAX_VALUE - 64) {
            throw new IllegalStateException(
                    String.format(
                            "A state entry serializes to %d bytes, an entry can have at most %d."
                                    + " Split it, for example over the keys of a map state.",
                            bytes, Integer.MAX_VALUE - 64));
        }
        int length = (int) bytes;
        pool.appended(length);
        if (length > EntryFormat.BLOCK_BYTES) {
            int number = addBlock(length);
            blocks[number].used = length;
            return EntryFormat.address(number, 0);
        }
        Block open = openNumber == 0 ? null : blocks[openNumber];
        if (open == null || open.isSealed() || open.used + length > open.capacity) {
            lastBlockBytes = Math.min(EntryFormat.BLOCK_BYTES, lastBlockBytes << 1);
            while (lastBlockBytes < length) {
                lastBlockBytes <<= 1;
            }
            openNumber = addBlock(lastBlockBytes);
            open = blocks[openNumber];
        }
        int offset = open.used;
        open.used += length;
        return EntryFormat.address(openNumber, offset);
    }

    private int addBlock(int bytes) {
        int number = freeNumberCount > 0 ? freeNumbers[--freeNumberCount] : nextBlockNumber++;
        if (number > EntryFormat.MAX_BLOCK_NUMBER) {
            throw new IllegalStateException(
                    "One state has more than 8 TiB in one key group; raise the maximum parallelism.");
        }
        if (number >= blocks.length) {
            blocks = Arrays.copyOf(blocks, blocks.length << 1);
        }
        blocks[number] = pool.allocateBlock(bytes);
        pool.blockAdded(this, number);
        return number;
    }

    private void died(long address, int bytes) {
        int number = EntryFormat.blockNumber(address);
        Block block = blocks[number];
        block.dead += bytes;
        pool.died(bytes);
        if (block.dead == block.used && number != openNumber) {
            dropBlock(number);
        }
    }

    private void dropBlock(int number) {
        Block block = blocks[number];
        blocks[number] = null;
        if (freeNumberCount == freeNumbers.length) {
            freeNumbers = Arrays.copyOf(freeNumbers, freeNumberCount << 1);
        }
        freeNumbers[freeNumberCount++] = number;
        pool.blockDropped(block);
        block.release();
    }

    Block block(int number) {
        return number < blocks.length ? blocks[number] : null;
    }

    boolean isOpen(int number) {
        return number == openNumber;
    }

    void replaceBlock(int number, Block block) {
        blocks[number] = block;
        if (number == openNumber) {
            // There is no memory for open blocks of this size; the next gets no larger than this
            // one became, so that all open blocks together find room.
            openNumber = 0;
            lastBlockBytes = Math.max(FIRST_BLOCK_BYTES / 2, Integer.highestOneBit(block.used) / 2);
        }
    }

    /**
     * Copies what lives in a block to the end of the log, over {@code bytes} of it from {@code
     * from} on, and drops the block once its end is reached.
     *
     * @return where to go on, or -1 if the block is gone
     */
    int compact(int number, int from, int bytes) {
        Block block = block(number);
        if (block == null || number == openNumber) {
            return -1;
        }
        int offset = from;
        int until = Math.min(block.used, from + bytes);
        while (offset < until) {
            long address = EntryFormat.address(number, offset);
            read(address);
            int length = (int) EntryFormat.entryBytes(keyLength(), valueLength());
            int hash = entryHash();
            IndexTable table = tables[tableIndex(hash)];
            int index = table.indexOf(EntryFormat.slot(hash, address));
            if (index >= 0) {
                long moved = allocate(length);
                Block target = blocks[EntryFormat.blockNumber(moved)];
                segment().copyTo(entryOffset(), target.segment, EntryFormat.offset(moved), length);
                writable(hash, table).set(index, EntryFormat.slot(hash, moved));
                block.dead += length;
                pool.died(length);
            }
            offset += length;
        }
        if (offset < block.used) {
            return offset;
        }
        dropBlock(number);
        return -1;
    }

    // ------------------------------------------------ views and end

    /** Opens a consistent view. Costs one step per block and index table, none per entry. */
    public SpilledView view() {
        return new SpilledView(pool, tables.clone(), depth, blocks.clone(), size);
    }

    /** Opens a view for another thread, on that thread. */
    public ForeignView foreignView() {
        return new ForeignView(pool, this);
    }

    /** Lets go of everything. The map must not be used afterwards. */
    @Override
    public void close() {
        IndexTable previous = null;
        for (IndexTable table : tables) {
            if (table != previous) {
                table.release();
            }
            previous = table;
        }
        tables = new IndexTable[0];
        openNumber = 0;
        for (int number = 1; number < blocks.length; number++) {
            if (blocks[number] != null) {
                dropBlock(number);
            }
        }
        size = 0;
    }
}
