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

import java.util.function.LongConsumer;
import javax.annotation.Nullable;
import org.apache.flink.core.memory.MemorySegment;

/**
 * Reads spilled entries of one state in one key group. One thread; the methods that read an entry
 * set {@link #segment()}, {@link #keyOffset()} and so on, which hold until the next such call or
 * the next change.
 */
public abstract class EntryStore {

    /** Directory of index tables, addressed by the top {@link #depth} bits of the hash. */
    IndexTable[] tables;

    int depth;
    Block[] blocks;
    int size;

    IndexTable foundTable;
    int foundIndex;

    /** How to read what lies in chunk files; null to take it from their mappings. */
    @Nullable final SealedReads reads;

    private MemorySegment segment;
    private int entryOffset;
    private int keyWord;
    private int keyOffset;
    private int valueOffset;
    private int valueLength;

    EntryStore(@Nullable SealedReads reads) {
        this.reads = reads;
    }

    /** Entries, parts not counted. */
    public final int size() {
        return size;
    }

    /** Hash by which keys are found. */
    public static int hash(byte[] key, int length) {
        return EntryFormat.hash(key, length);
    }

    /**
     * Finds an entry and reads where it lies.
     *
     * @return its address, or 0 if there is none
     */
    public final long find(byte[] key, int keyLength, int hash, boolean part) {
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

    /** Reads where the entry at an address lies. */
    public final void read(long address) {
        Block block = blocks[EntryFormat.blockNumber(address)];
        MemorySegment memory = block.segment;
        int offset = EntryFormat.offset(address);
        int start = block.base + offset;
        boolean readsSealed = reads != null && block.isSealed();
        if (readsSealed) {
            start = reads.locate(block, offset);
            memory = reads.segment();
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
            reads.complete(block, offset, valueOffset + valueLength - start);
        }
    }

    /** Hash of the entry read last. */
    final int entryHash() {
        return segment.getInt(entryOffset);
    }

    /** Where the entry read last starts in {@link #segment()}. */
    final int entryOffset() {
        return entryOffset;
    }

    /** Memory of the entry read last; change it only where {@code mutable} allows it. */
    public final MemorySegment segment() {
        return segment;
    }

    public final int keyOffset() {
        return keyOffset;
    }

    public final int keyLength() {
        return keyWord >>> 1;
    }

    /** A copy of the key of the entry read last. */
    public final byte[] copyKey() {
        byte[] key = new byte[keyLength()];
        segment.get(keyOffset, key);
        return key;
    }

    /** Copies {@code length} bytes at {@code offset} of {@link #segment()} to {@code target}. */
    public final void copy(int offset, byte[] target, int length) {
        EntryFormat.copyOut(segment, offset, target, length);
    }

    public final boolean isPart() {
        return (keyWord & 1) != 0;
    }

    public final int valueOffset() {
        return valueOffset;
    }

    public final int valueLength() {
        return valueLength;
    }

    final int tableIndex(int hash) {
        return (hash >>> 1) >>> (31 - depth);
    }

    /** Number of positions for {@link #addressesAt}: {@code [0, cursorEnd())}. */
    public final int cursorEnd() {
        return tables.length;
    }

    /**
     * Gives out the addresses of the entries, parts left out, under one cursor position. They hold
     * until the next change.
     *
     * @param most to give out at most
     */
    public final void addressesAt(int cursor, int most, LongConsumer consumer) {
        IndexTable table = tables[cursor];
        if (cursor > 0 && tables[cursor - 1] == table) {
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
}
