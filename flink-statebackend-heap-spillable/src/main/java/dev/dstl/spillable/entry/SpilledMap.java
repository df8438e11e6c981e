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
import javax.annotation.Nullable;
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
public final class SpilledMap extends BlockOwner implements AutoCloseable {

    private static final int FIRST_BLOCK_BYTES = 4096;
    private static final int MAX_DEPTH = 24;

    private final BlockPool pool;
    private final EntryReader entries;
    private int size;
    private int nextBlockNumber = 1;
    private int[] freeNumbers = new int[8];
    private int freeNumberCount;
    private int openNumber;
    private int lastBlockBytes = FIRST_BLOCK_BYTES / 2;

    /**
     * @param pool has the memory and the files of the map; it outlives the map
     */
    public SpilledMap(BlockPool pool) {
        this.pool = pool;
        this.entries =
                new EntryReader(
                        new IndexTable[] {new IndexTable(pool.memory(), IndexTable.MIN_SLOTS, 0)},
                        new Block[4],
                        pool.sealedBlocks());
    }

    /** Reads the entries; owned by the map, its position moves with every change. */
    public EntryReader entries() {
        return entries;
    }

    /** Number of entries, parts not counted. */
    public int size() {
        return size;
    }

    /**
     * Sets the value of a key: in place if its length stays and {@link #isMutable} allows it, else
     * by appending a new entry.
     *
     * @param key the key in its first {@code keyLength} bytes
     * @param hash of the key, by {@link EntryReader#hash} or, for a part, as its layout computes it
     * @param part whether the entry is a part of another
     * @param value the value in its first {@code valueLength} bytes
     * @throws IllegalStateException if the entry or the map gets too large, or if no disk takes
     *     blocks that memory has no room for
     */
    public void put(
            byte[] key, int keyLength, int hash, boolean part, byte[] value, int valueLength) {
        long address = entries.find(key, keyLength, hash, part);
        if (address != 0) {
            if (valueLength == entries.valueLength() && isMutable(address)) {
                EntryFormat.copyIn(value, entries.segment(), entries.valueOffset(), valueLength);
                return;
            }
            int oldBytes = entries.entryBytes();
            IndexTable table = entries.foundTable();
            int index = entries.foundIndex();
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

    /**
     * Whether the entry's value may be changed in place, keeping its length: it is in memory and no
     * view sees it.
     *
     * @param address as {@link EntryReader#find} gave it, with no change since
     */
    public boolean isMutable(long address) {
        return entries.block(EntryFormat.blockNumber(address))
                .isMutable(EntryFormat.offset(address));
    }

    /**
     * Removes a key and gives its space back some time.
     *
     * @param key the key in its first {@code keyLength} bytes
     * @param hash of the key, as in {@link #put}
     * @param part whether the entry is a part of another
     * @return false if there was none
     */
    public boolean remove(byte[] key, int keyLength, int hash, boolean part) {
        long address = entries.find(key, keyLength, hash, part);
        if (address == 0) {
            return false;
        }
        int bytes = entries.entryBytes();
        writable(hash, entries.foundTable()).remove(entries.foundIndex());
        if (!part) {
            size--;
        }
        died(address, bytes);
        pool.maintain();
        return true;
    }

    private void insert(int hash, long address) {
        IndexTable table = entries.table(hash);
        if (table.isFull()) {
            grow(hash, table);
            table = entries.table(hash);
        }
        writable(hash, table).add(EntryFormat.slot(hash, address));
    }

    private IndexTable writable(int hash, IndexTable table) {
        if (!table.isShared()) {
            return table;
        }
        IndexTable copy = table.copy();
        entries.replaceTable(hash, copy);
        table.release();
        return copy;
    }

    private void grow(int hash, IndexTable table) {
        if (table.slotCount() < IndexTable.MAX_SLOTS || table.depth == MAX_DEPTH) {
            IndexTable bigger = new IndexTable(pool.memory(), table.slotCount() << 1, table.depth);
            for (int i = 0; i < table.slotCount(); i++) {
                if (table.get(i) != 0) {
                    bigger.add(table.get(i));
                }
            }
            entries.replaceTable(hash, bigger);
        } else {
            if (table.depth == entries.depth()) {
                entries.doubleDirectory();
            }
            IndexTable zero = new IndexTable(pool.memory(), table.slotCount(), table.depth + 1);
            IndexTable one = new IndexTable(pool.memory(), table.slotCount(), table.depth + 1);
            int splitBit = 1 << (23 - table.depth);
            for (int i = 0; i < table.slotCount(); i++) {
                long slot = table.get(i);
                if (slot != 0) {
                    ((EntryFormat.slotHash(slot) & splitBit) == 0 ? zero : one).add(slot);
                }
            }
            entries.replaceTable(hash, zero, one);
        }
        table.release();
    }

    private long append(
            byte[] key, int keyLength, int hash, boolean part, byte[] value, int valueLength) {
        long bytes = EntryFormat.entryBytes(keyLength, valueLength);
        long address = allocate(bytes);
        Block block = entries.block(EntryFormat.blockNumber(address));
        MemorySegment memory = block.segment;
        int position = EntryFormat.offset(address);
        memory.putInt(position, hash);
        position =
                EntryFormat.putVarint(
                        memory,
                        position + EntryFormat.HASH_BYTES,
                        EntryReader.keyWord(keyLength, part));
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
            entries.block(number).used = length;
            return EntryFormat.address(number, 0);
        }
        Block open = openNumber == 0 ? null : entries.block(openNumber);
        if (open == null || open.isSealed() || open.used + length > open.capacity) {
            lastBlockBytes = Math.min(EntryFormat.BLOCK_BYTES, lastBlockBytes << 1);
            while (lastBlockBytes < length) {
                lastBlockBytes <<= 1;
            }
            openNumber = addBlock(lastBlockBytes);
            open = entries.block(openNumber);
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
        entries.setBlock(number, pool.allocateBlock(bytes));
        pool.blockAdded(this, number);
        return number;
    }

    private void died(long address, int bytes) {
        int number = EntryFormat.blockNumber(address);
        Block block = entries.block(number);
        block.dead += bytes;
        pool.died(bytes);
        if (block.dead == block.used && number != openNumber) {
            dropBlock(number);
        }
    }

    private void dropBlock(int number) {
        Block block = entries.block(number);
        entries.setBlock(number, null);
        if (freeNumberCount == freeNumbers.length) {
            freeNumbers = Arrays.copyOf(freeNumbers, freeNumberCount << 1);
        }
        freeNumbers[freeNumberCount++] = number;
        pool.blockDropped(block);
        block.release();
    }

    @Override
    @Nullable
    Block block(int number) {
        return entries.block(number);
    }

    @Override
    boolean isOpen(int number) {
        return number == openNumber;
    }

    @Override
    void replaceBlock(int number, Block block) {
        entries.setBlock(number, block);
        if (number == openNumber) {
            // There is no memory for open blocks of this size; the next gets no larger than this
            // one became, so that all open blocks together find room.
            openNumber = 0;
            lastBlockBytes = Math.max(FIRST_BLOCK_BYTES / 2, Integer.highestOneBit(block.used) / 2);
        }
    }

    @Override
    int compact(int number, int from, int bytes) {
        Block block = block(number);
        if (block == null || number == openNumber) {
            return -1;
        }
        int offset = from;
        int until = Math.min(block.used, from + bytes);
        while (offset < until) {
            long address = EntryFormat.address(number, offset);
            entries.read(address);
            int length = entries.entryBytes();
            int hash = entries.entryHash();
            IndexTable table = entries.table(hash);
            int index = table.indexOf(EntryFormat.slot(hash, address));
            if (index >= 0) {
                long moved = allocate(length);
                Block target = entries.block(EntryFormat.blockNumber(moved));
                entries.segment()
                        .copyTo(
                                entries.entryOffset(),
                                target.segment,
                                EntryFormat.offset(moved),
                                length);
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

    /**
     * Opens a consistent view, which the caller closes. Costs one step per block and index table,
     * none per entry.
     */
    public SpilledView view() {
        return new SpilledView(pool.memory(), entries.frozen(), size);
    }

    /** Opens a view for another thread, on that thread, which closes it. */
    public ForeignView foreignView() {
        return new ForeignView(pool.memory(), entries);
    }

    /** Gives back everything that no view needs. The map must not be used afterwards. */
    @Override
    public void close() {
        entries.releaseTables();
        openNumber = 0;
        for (int number = 1; number < entries.blockNumberEnd(); number++) {
            if (entries.block(number) != null) {
                dropBlock(number);
            }
        }
        size = 0;
    }
}
