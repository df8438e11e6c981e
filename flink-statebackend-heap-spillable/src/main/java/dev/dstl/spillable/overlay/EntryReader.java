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

import dev.dstl.spillable.partition.EntryFormat;
import dev.dstl.spillable.partition.KeyHash;
import dev.dstl.spillable.partition.PageWindow;
import dev.dstl.spillable.partition.SealedPartition;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.function.LongConsumer;
import javax.annotation.Nullable;
import org.apache.flink.core.memory.MemorySegment;

/**
 * Finds and reads spilled entries of one state in one key group. Used by one thread, which belongs
 * to whoever made the reader: the task thread for a {@link PartitionedMap}, another for a view.
 *
 * <p>It is a cursor: {@link #find} and {@link #read} go to an entry, and {@link #segment()}, {@link
 * #keyOffset()} and so on tell where that entry lies until the next such call or the next change.
 *
 * <p>It owns the directory of partitions, which the top {@link #depth} bits of a hash address. The
 * map changes it through the methods of this package; a view has a copy.
 *
 * <pre>
 *   address   63                 34 33     32 31                                    0
 *             +--------------------+---------+--------------------------------------+
 *             | index in directory |  layer  | cell of an overlay, offset if sealed |
 *             +--------------------+---------+--------------------------------------+
 * </pre>
 */
public class EntryReader {

    /** Number of hashes, for {@link #addressesFrom}. */
    public static final long HASHES = 1L << Integer.SIZE;

    static final int SEALED = 1;
    static final int FROZEN = 2;
    static final int ACTIVE = 3;

    private static final int INDEX_SHIFT = 34;
    private static final int LAYER_SHIFT = 32;

    private final KeyHash keyHash;

    /** How to read what is sealed; null to take it from the mapping. */
    @Nullable private final PageReads pageReads;

    private Layers[] directory;
    private int depth;
    private long changes;

    private int foundIndex;
    private int activeCell;
    private byte[] scratchKey = new byte[64];

    private MemorySegment segment;
    private int keyWord;
    private int keyOffset;
    private int valueOffset;
    private int valueLength;

    EntryReader(KeyHash keyHash, Layers[] directory, @Nullable PageReads pageReads) {
        this.keyHash = keyHash;
        this.pageReads = pageReads;
        this.directory = directory;
        this.depth = Integer.numberOfTrailingZeros(Math.max(1, directory.length));
    }

    /** Looks into the partitions that another reader has now. */
    final void takeDirectory(EntryReader other) {
        directory = other.directory;
        depth = Integer.numberOfTrailingZeros(Math.max(1, directory.length));
    }

    /** Hash by which keys are found. */
    public KeyHash keyHash() {
        return keyHash;
    }

    /**
     * Finds an entry and goes to it.
     *
     * @param key the key in its first {@code keyLength} bytes
     * @param hash of the key, by {@link #keyHash()}
     * @param part whether a part of another entry is looked for
     * @return the entry's address, or 0 if there is none
     */
    public long find(byte[] key, int keyLength, int hash, boolean part) {
        int index = index(hash);
        Layers layers = directory[index];
        int wantedWord = EntryFormat.keyWord(keyLength, part);
        foundIndex = index;
        activeCell = -1;
        Overlay active = layers.active;
        if (active != null) {
            int cell = active.find(key, keyLength, wantedWord, hash);
            if (cell >= 0) {
                activeCell = cell;
                return found(active, cell, index, ACTIVE);
            }
        }
        Overlay frozen = layers.frozen;
        if (frozen != null) {
            int cell = frozen.find(key, keyLength, wantedWord, hash);
            if (cell >= 0) {
                return found(frozen, cell, index, FROZEN);
            }
        }
        SealedPartition sealed = layers.sealed;
        if (sealed == null) {
            return 0;
        }
        if (pageReads != null && pageReads.isByPage()) {
            return findByPage(sealed, key, keyLength, part, hash);
        }
        int entry = sealed.find(key, keyLength, part, hash);
        if (entry == 0) {
            return 0;
        }
        goTo(sealed.segment(), sealed.base() + entry);
        return address(index, SEALED, entry);
    }

    private long findByPage(
            SealedPartition sealed, byte[] key, int keyLength, boolean part, int hash) {
        PageWindow window = pageReads.window();
        int entry = sealed.find(key, keyLength, part, hash, window);
        if (entry == 0) {
            return 0;
        }
        goTo(sealed, entry, window);
        return address(foundIndex, SEALED, entry);
    }

    private long found(Overlay overlay, int cell, int index, int layer) {
        if (overlay.isRemoved(cell)) {
            return 0;
        }
        goTo(overlay, cell);
        return address(index, layer, cell);
    }

    /**
     * As the other {@code find}, and searches only if {@code presence} does not know.
     *
     * @param presence of this very key; takes what is found
     */
    public long find(byte[] key, int keyLength, int hash, boolean part, Presence presence) {
        if (presence.reader == this && presence.changes == changes) {
            foundIndex = presence.directoryIndex;
            activeCell = presence.activeCell;
            if (presence.address != 0) {
                read(presence.address);
            }
            return presence.address;
        }
        long address = find(key, keyLength, hash, part);
        presence.reader = this;
        presence.changes = changes;
        presence.address = address;
        presence.activeCell = activeCell;
        presence.directoryIndex = foundIndex;
        return address;
    }

    private static long address(int index, int layer, int position) {
        return ((long) index << INDEX_SHIFT) | ((long) layer << LAYER_SHIFT) | position;
    }

    static int layer(long address) {
        return (int) (address >>> LAYER_SHIFT) & 3;
    }

    /**
     * Goes to the entry at an address.
     *
     * @param address as {@link #find} or {@link #addressesAt} gave it, with no change since
     */
    public void read(long address) {
        Layers layers = directory[(int) (address >>> INDEX_SHIFT)];
        switch (layer(address)) {
            case SEALED:
                SealedPartition sealed = layers.sealed;
                if (pageReads != null && pageReads.isByPage()) {
                    goTo(sealed, (int) address, pageReads.window());
                } else {
                    goTo(sealed.segment(), sealed.base() + (int) address);
                }
                break;
            case FROZEN:
                goTo(layers.frozen, (int) address);
                break;
            default:
                goTo(layers.active, (int) address);
        }
    }

    private void goTo(SealedPartition sealed, int entry, PageWindow window) {
        // First located: a window that is too small for the entry gets other memory.
        int at = sealed.locate(entry, window);
        goTo(window.segment(), at);
    }

    private void goTo(Overlay overlay, int cell) {
        goTo(overlay.segmentAt(cell), overlay.entryAt(cell));
    }

    final void goTo(MemorySegment memory, int entry) {
        int position = entry;
        int word = memory.get(position++);
        if (word < 0) {
            word = EntryFormat.varintAt(memory, entry);
            position = entry + EntryFormat.varintBytes(word);
        }
        int length = memory.get(position++);
        if (length < 0) {
            length = EntryFormat.varintAt(memory, position - 1);
            position += EntryFormat.varintBytes(length) - 1;
        }
        segment = memory;
        keyWord = word;
        keyOffset = position;
        valueOffset = position + EntryFormat.keyLength(word);
        valueLength = length;
    }

    /** The partition of the keys with a hash. */
    Layers layersOf(int hash) {
        return directory[index(hash)];
    }

    /** The partition that the key last searched for has or would have. */
    Layers foundLayers() {
        return directory[foundIndex];
    }

    /** Cell of the active overlay with the key last searched for, removed or not, or -1. */
    int activeCell() {
        return activeCell;
    }

    /** Whether an address is in the active overlay, and nobody else holds that. */
    boolean isMutable(long address) {
        return layer(address) == ACTIVE
                && !directory[(int) (address >>> INDEX_SHIFT)].active.isShared();
    }

    /**
     * Makes the value of an entry longer where it lies.
     *
     * @param address of the entry read last, which is mutable
     * @return false if there is no room
     */
    boolean extend(long address, int bytes) {
        Overlay active = directory[(int) (address >>> INDEX_SHIFT)].active;
        int newLength = valueLength + bytes;
        if (EntryFormat.varintBytes(newLength) != EntryFormat.varintBytes(valueLength)
                || !active.hasRoom((int) address, entryBytes() + bytes)) {
            return false;
        }
        EntryFormat.putValueLength(segment, keyOffset, newLength);
        valueLength = newLength;
        return true;
    }

    /** What was found before is worth nothing any more. */
    void changed() {
        changes++;
    }

    /** Length of the entry read last, in bytes. */
    int entryBytes() {
        return EntryFormat.entryBytes(keyLength(), valueLength);
    }

    /**
     * Memory of the entry read last. It belongs to the map and is read-only, but for the value
     * where {@link PartitionedMap#isMutable} allows a change.
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
        return EntryFormat.keyLength(keyWord);
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
        return EntryFormat.isPart(keyWord);
    }

    /** Where the value of the entry read last starts in {@link #segment()}, in bytes. */
    public int valueOffset() {
        return valueOffset;
    }

    /** Length of the value of the entry read last, in bytes. */
    public int valueLength() {
        return valueLength;
    }

    /** Number of cursor positions for {@link #addressesAt}: {@code [0, cursorEnd())}. */
    public int cursorEnd() {
        return directory.length;
    }

    /**
     * Hands over the addresses of all entries under one cursor position, without parts. They hold
     * until the next change.
     */
    public void addressesAt(int cursor, LongConsumer consumer) {
        addressesAt(cursor, 0, Integer.MAX_VALUE, consumer);
    }

    /**
     * Hands over the addresses of entries under one cursor position, without parts, and may be
     * called again to go on. They hold until the next change.
     *
     * @param from 0 or what the call before returned
     * @param most number of addresses to hand over at most
     * @return where to go on, or -1 if there are no more. After changes some entries may be missed
     *     or met again.
     */
    public int addressesAt(int cursor, int from, int most, LongConsumer consumer) {
        if (!isFirstOfItsPartition(cursor)) {
            return -1;
        }
        Layers layers = directory[cursor];
        int given = 0;
        int start = 0;
        for (int layer = SEALED; layer <= ACTIVE; layer++) {
            int cells = cells(layers, layer);
            for (int cell = Math.max(0, from - start); cell < cells; cell++) {
                if (given == most) {
                    return start + cell;
                }
                long address = liveAt(layers, cursor, layer, cell);
                if (address != 0) {
                    consumer.accept(address);
                    given++;
                }
            }
            start += cells;
        }
        return -1;
    }

    /**
     * Hands over the addresses of all entries of one partition, without parts. They hold until the
     * next change. Calls that go on with what the call before returned meet each partition once,
     * also if changes in between have split some.
     *
     * @param hash 0 or what the call before returned, less than {@link #HASHES}
     * @return where the next partition begins, or {@link #HASHES} if there is none
     */
    public long addressesFrom(long hash, LongConsumer consumer) {
        int cursor = index((int) hash);
        Layers layers = directory[cursor];
        addressesAt(cursor, consumer);
        return Integer.toUnsignedLong(layers.firstHash) + (HASHES >>> layers.depth);
    }

    private static int cells(Layers layers, int layer) {
        if (layer == SEALED) {
            return layers.sealed == null ? 0 : layers.sealed.cells();
        }
        Overlay overlay = layer == FROZEN ? layers.frozen : layers.active;
        return overlay == null ? 0 : overlay.cells();
    }

    /** Goes to the entry in a cell; its address, or 0 if there is none to hand over. */
    private long liveAt(Layers layers, int index, int layer, int cell) {
        if (layer == SEALED) {
            SealedPartition sealed = layers.sealed;
            int entry = sealed.entryAt(cell);
            if (entry == 0) {
                return 0;
            }
            goTo(sealed.segment(), sealed.base() + entry);
            if (isPart()) {
                return 0;
            }
            if (layers.frozen == null && layers.active == null) {
                return address(index, SEALED, entry);
            }
            copyScratchKey();
            int hash = sealed.hashAt(cell);
            boolean hidden = isIn(layers.frozen, hash) || isIn(layers.active, hash);
            return hidden ? 0 : address(index, SEALED, entry);
        }
        Overlay overlay = layer == FROZEN ? layers.frozen : layers.active;
        if (!overlay.isUsed(cell) || overlay.isRemoved(cell)) {
            return 0;
        }
        goTo(overlay, cell);
        if (isPart()) {
            return 0;
        }
        if (layer == FROZEN && layers.active != null) {
            copyScratchKey();
            if (isIn(layers.active, keyHash.of(scratchKey, keyLength()))) {
                return 0;
            }
        }
        return address(index, layer, cell);
    }

    /** Whether an overlay has the key that {@link #copyScratchKey} has copied. */
    private boolean isIn(@Nullable Overlay overlay, int hash) {
        return overlay != null && overlay.find(scratchKey, keyLength(), keyWord, hash) >= 0;
    }

    private void copyScratchKey() {
        if (scratchKey.length < keyLength()) {
            scratchKey = new byte[keyLength() * 2];
        }
        EntryFormat.copyOut(segment, keyOffset, scratchKey, keyLength());
    }

    /** Whether no position before {@code cursor} has the same partition. */
    boolean isFirstOfItsPartition(int cursor) {
        return cursor == 0 || directory[cursor - 1] != directory[cursor];
    }

    int index(int hash) {
        return (hash >>> 1) >>> (31 - depth);
    }

    Layers layersAt(int cursor) {
        return directory[cursor];
    }

    /** Puts a partition where its hashes are, with a larger directory if need be. */
    void place(Layers layers) {
        while (layers.depth > depth) {
            Layers[] doubled = new Layers[directory.length << 1];
            for (int i = 0; i < doubled.length; i++) {
                doubled[i] = directory[i >>> 1];
            }
            directory = doubled;
            depth++;
        }
        int from = index(layers.firstHash);
        Arrays.fill(directory, from, from + (1 << (depth - layers.depth)), layers);
        changes++;
    }

    /** Puts all partitions where their hashes are, or fails before the first. */
    void placeAll(List<? extends Layers> all) {
        // The directory grows once, with the deepest.
        place(Collections.max(all, Comparator.comparingInt((Layers layers) -> layers.depth)));
        all.forEach(this::place);
    }

    /** Forgets all partitions; nothing can be found afterwards. */
    void clear() {
        directory = new Layers[0];
        changes++;
    }
}
