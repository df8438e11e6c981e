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
import dev.dstl.spillable.partition.SealedPartition;
import dev.dstl.spillable.partition.StateIdentity;
import java.util.ArrayList;
import java.util.List;

/**
 * The spilled entries of one state in one key group: partitions by ranges of hashes, each sealed in
 * a file, with an overlay in memory over it if it was changed. Task thread only; a {@link
 * SpilledView} may be read by one other thread at the same time.
 *
 * <pre>
 *   directory     0        1        2        3        top bits of the hash
 *                 |        |        '----.---'
 *   overlays   [ put,   ]          [ put ]            memory, change
 *              [ remove ]
 *   sealed     [ ...... ][ ...... ][ ............ ]   files, never change
 * </pre>
 *
 * A partition with too many entries is split: at once if it is an overlay over nothing, else by the
 * merge of its overlay and its sealed part.
 */
public final class PartitionedMap extends PartitionOwner implements AutoCloseable {

    private final PartitionPool pool;
    private final OverlayMemory memory;
    private final StateIdentity identity;
    private final KeyHash keyHash;
    private final ChangeSequence changes = new ChangeSequence();
    private final EntryReader entries;
    private final ActiveOverlays overlays;
    private final PartitionDirectory partitions;
    private final List<SpilledView> views = new ArrayList<>();
    private int size;
    private long liveBytes;
    private boolean closed;

    /**
     * @param pool has the memory and the files of the map; it outlives the map
     * @param identity whose entries these are
     */
    public PartitionedMap(PartitionPool pool, StateIdentity identity) {
        this(pool, identity, pool.keyHash());
        entries.place(partitions.create(0, 0));
    }

    /**
     * A map of partitions that lie in files already, to be followed by the puts and removals that
     * were made since they were sealed.
     *
     * @param keyHash by which the entries of the partitions are found
     * @param restored partitions in the order of their hashes, all hashes covered; belong to the
     *     map
     */
    public PartitionedMap(
            PartitionPool pool,
            StateIdentity identity,
            KeyHash keyHash,
            List<RestoredPartition> restored) {
        this(pool, identity, keyHash);
        for (RestoredPartition one : restored) {
            LivePartition partition = partitions.create(one.depth, one.firstHash);
            SealedPartition sealed = one.sealed;
            entries.place(partition);
            if (sealed != null) {
                partition.sealed = sealed;
                partition.live = sealed.entries();
                size += sealed.entries() - sealed.parts();
                pool.sealed(partition);
            }
        }
    }

    private PartitionedMap(PartitionPool pool, StateIdentity identity, KeyHash keyHash) {
        this.pool = pool;
        this.memory = pool.memory();
        this.identity = identity;
        this.keyHash = keyHash;
        this.entries = new EntryReader(keyHash, new Layers[1], pool.pageReads());
        this.overlays = new ActiveOverlays(pool, keyHash, changes);
        this.partitions = new PartitionDirectory(this, entries, overlays, keyHash, memory, changes);
    }

    /**
     * Puts or removes a key as {@link SpilledView#forEachChange} handed it over. Does not search
     * for the key, so each may be given once, to a map that has changed in no other way.
     *
     * @param key the key in its first {@code keyLength} bytes
     * @param hash of the key, by {@link EntryReader#keyHash()}
     * @param part whether the entry is a part of another
     * @param value the value in its first {@code valueLength} bytes
     * @param removed whether the key was removed
     * @param covers whether the partition that the map came with has the key
     * @throws IllegalStateException if memory is used up and no disk takes partitions
     */
    public void restoreChange(
            byte[] key,
            int keyLength,
            int hash,
            boolean part,
            byte[] value,
            int valueLength,
            boolean removed,
            boolean covers) {
        LivePartition partition = (LivePartition) entries.layersOf(hash);
        int flags = (removed ? Overlay.REMOVED : 0) | (covers ? Overlay.COVERS : 0);
        int length = removed ? 0 : valueLength;
        overlays.put(partition, -1, hash, flags, key, keyLength, part, value, length);
        entries.changed();
        pool.addPutBytes(EntryFormat.entryBytes(keyLength, length));
        int added = removed ? -1 : covers ? 0 : 1;
        partition.live += added;
        size += part ? 0 : added;
        if (removed) {
            releaseIfEmpty(partition);
        }
        if (partition.active != null && partition.isTooLarge()) {
            relieve(partition);
        }
        pool.maintain();
    }

    /** Tells how many bytes the entries have that the partitions came with. */
    public void restoredBytes(long bytes) {
        addLiveBytes(bytes - liveBytes);
    }

    /** Reads the entries; owned by the map, its position moves with every change. */
    public EntryReader entries() {
        return entries;
    }

    /** Number of entries, parts not counted. */
    public int size() {
        return size;
    }

    /** Bytes of all entries that can be found, parts included. */
    public long liveBytes() {
        return liveBytes;
    }

    /**
     * Begins a change of several entries that belong together: what fails because memory is used up
     * or a merge has failed, fails with {@link #end()} and not halfway.
     */
    public void begin() {
        pool.begin();
    }

    /** Ends what {@link #begin()} has begun; to be called in any case. */
    public void end() {
        pool.end();
    }

    /**
     * As {@link #begin()}, of a change that removes or replaces a state of several entries.
     *
     * @param hash of the key of the state
     */
    public void beginReplacement(int hash) {
        pool.begin();
        pool.replacedStates().begin(hash);
    }

    /** Ends what {@link #beginReplacement} has begun; to be called in any case. */
    public void endReplacement() {
        pool.replacedStates().end();
        pool.end();
    }

    /** The caller begins to change bytes of an entry that {@link #isMutable}, and nothing else. */
    public void beginInPlace() {
        changes.begin();
    }

    /** Ends what {@link #beginInPlace} has begun. */
    public void endInPlace() {
        changes.end();
    }

    /**
     * Sets the value of a key.
     *
     * @param key the key in its first {@code keyLength} bytes
     * @param hash of the key, by {@link EntryReader#keyHash()}
     * @param part whether the entry is a part of another
     * @param value the value in its first {@code valueLength} bytes
     * @param presence of the key
     * @throws IllegalStateException if the entry gets too large, or if memory is used up and no
     *     disk takes partitions
     */
    public void put(
            byte[] key,
            int keyLength,
            int hash,
            boolean part,
            byte[] value,
            int valueLength,
            Presence presence) {
        put(
                entries.find(key, keyLength, hash, part, presence),
                key,
                keyLength,
                hash,
                part,
                value,
                valueLength);
    }

    /** As the other {@code put}, of a key of which nothing is known. */
    public void put(
            byte[] key, int keyLength, int hash, boolean part, byte[] value, int valueLength) {
        put(
                entries.find(key, keyLength, hash, part),
                key,
                keyLength,
                hash,
                part,
                value,
                valueLength);
    }

    private void put(
            long address,
            byte[] key,
            int keyLength,
            int hash,
            boolean part,
            byte[] value,
            int valueLength) {
        LivePartition partition = (LivePartition) entries.foundLayers();
        int cell = entries.activeCell();
        if (address != 0
                && cell >= 0
                && valueLength == entries.valueLength()
                && !partition.active.isShared()) {
            changes.begin();
            EntryFormat.copyIn(value, entries.segment(), entries.valueOffset(), valueLength);
            changes.end();
            pool.maintain();
            return;
        }
        int bytes = EntryFormat.entryBytes(keyLength, valueLength);
        long addedBytes = (long) bytes - (address == 0 ? 0 : entries.entryBytes());
        int flags = address == 0 ? 0 : Overlay.COVERS;
        // First: if it fails, cells may have moved all the same.
        entries.changed();
        overlays.put(partition, cell, hash, flags, key, keyLength, part, value, valueLength);
        pool.addPutBytes(bytes);
        addLiveBytes(addedBytes);
        if (address == 0) {
            partition.live++;
            size += part ? 0 : 1;
        }
        if (cell < 0 ? partition.isTooLarge() : partition.isFarTooLarge()) {
            relieve(partition);
        }
        pool.maintain();
    }

    private void addLiveBytes(long bytes) {
        liveBytes += bytes;
        pool.addLiveBytes(bytes);
    }

    private void relieve(LivePartition partition) {
        if (partition.sealed == null && partition.frozen == null) {
            partitions.split(partition);
        } else if (!partition.merging) {
            pool.startMerge(partition);
        }
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
        return remove(address, key, keyLength, hash, part);
    }

    /**
     * As the other {@code remove}.
     *
     * @param presence of the key
     */
    public boolean remove(byte[] key, int keyLength, int hash, boolean part, Presence presence) {
        long address = entries.find(key, keyLength, hash, part, presence);
        return remove(address, key, keyLength, hash, part);
    }

    private boolean remove(long address, byte[] key, int keyLength, int hash, boolean part) {
        if (address == 0) {
            return false;
        }
        int bytes = entries.entryBytes();
        LivePartition partition = (LivePartition) entries.foundLayers();
        int cell = entries.activeCell();
        entries.changed();
        if (cell >= 0) {
            overlays.remove(partition, cell);
        } else {
            int flags = Overlay.COVERS | Overlay.REMOVED;
            overlays.put(partition, cell, hash, flags, key, keyLength, part, key, 0);
        }
        size -= part ? 0 : 1;
        partition.live--;
        addLiveBytes(-bytes);
        releaseIfEmpty(partition);
        pool.maintain();
        return true;
    }

    private void releaseIfEmpty(LivePartition partition) {
        if (partition.live == 0 && !partition.merging) {
            partition.release(memory);
            entries.changed();
        }
    }

    /**
     * Whether the entry's value may be changed in place, keeping its length: it is in memory and no
     * view sees it.
     *
     * @param address as {@link EntryReader#find} gave it, with no change since
     */
    public boolean isMutable(long address) {
        return entries.isMutable(address);
    }

    /**
     * Makes the value of an entry longer where it lies. The caller then writes the bytes added.
     *
     * @param address of the entry read last
     * @return false if it has to be put, because it is not mutable or there is no room
     */
    public boolean extend(long address, int bytes) {
        if (!entries.isMutable(address)) {
            return false;
        }
        changes.begin();
        boolean extended = entries.extend(address, bytes);
        changes.end();
        addLiveBytes(extended ? bytes : 0);
        return extended;
    }

    /**
     * Changes bytes of the value of an entry where they lie.
     *
     * @param address of the entry read last
     * @param from where in the value
     * @return false if the entry has to be put, because it is not mutable
     */
    public boolean overwrite(long address, int from, byte[] bytes, int length) {
        if (!entries.isMutable(address)) {
            return false;
        }
        changes.begin();
        EntryFormat.copyIn(bytes, entries.segment(), entries.valueOffset() + from, length);
        changes.end();
        pool.maintain();
        return true;
    }

    @Override
    PartitionMerge startMerge(LivePartition partition) {
        entries.changed();
        return partition.startMerge(identity, keyHash, memory, changes);
    }

    @Override
    void moveOverlay(LivePartition partition) {
        entries.changed();
        overlays.move(partition);
    }

    @Override
    boolean isKept(LivePartition partition, Overlay overlay) {
        for (SpilledView view : views) {
            if (view.keeps(partition, overlay)) {
                return true;
            }
        }
        return false;
    }

    @Override
    void merged(PartitionMerge merge) {
        LivePartition partition = (LivePartition) merge.target;
        partition.merging = false;
        if (partition.dropped || merge.failure != null) {
            merge.discard();
            if (partition.dropped) {
                partition.release(memory);
            }
            return;
        }
        entries.changed();
        List<PartitionMerge.Part> parts = merge.parts;
        for (SpilledView view : views) {
            view.replaceIfSame(partition, parts);
        }
        if (parts.size() == 1) {
            partition.replaceMerged(parts.get(0).sealed, memory, changes);
            partition.splitAsUsual();
            releaseIfEmpty(partition);
            pool.sealed(partition);
            return;
        }
        List<LivePartition> targets = new ArrayList<>(parts.size());
        for (PartitionMerge.Part part : parts) {
            LivePartition one = partitions.create(part.depth, part.firstHash);
            one.sealed = part.sealed;
            one.live = part.sealed == null ? 0 : part.sealed.entries();
            targets.add(one);
        }
        partitions.replace(partition, targets);
        for (LivePartition one : targets) {
            releaseIfEmpty(one);
            pool.sealed(one);
        }
    }

    /**
     * Opens a consistent view, which the caller closes. Costs one step per partition, none per
     * entry.
     */
    public SpilledView view() {
        Layers[] directory = new Layers[entries.cursorEnd()];
        for (int i = 0; i < directory.length; i++) {
            directory[i] =
                    entries.isFirstOfItsPartition(i)
                            ? entries.layersAt(i).held()
                            : directory[i - 1];
        }
        SpilledView view =
                new SpilledView(
                        memory,
                        new EntryReader(keyHash, directory, null),
                        size,
                        liveBytes,
                        identity);
        views.removeIf(SpilledView::isClosed);
        views.add(view);
        pool.viewOpened(view);
        return view;
    }

    /** Opens a view for another thread, on that thread, which closes it. */
    public ForeignView foreignView() {
        return new ForeignView(memory, pool.replacedStates(), entries, changes);
    }

    /** Gives back everything that no view needs. The map must not be used afterwards. */
    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        changes.begin();
        for (int i = 0; i < entries.cursorEnd(); i++) {
            if (entries.isFirstOfItsPartition(i)) {
                partitions.drop((LivePartition) entries.layersAt(i));
            }
        }
        entries.clear();
        changes.end();
        addLiveBytes(-liveBytes);
        size = 0;
    }
}
