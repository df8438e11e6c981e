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

package dev.dstl.spillable.table;

import dev.dstl.spillable.layout.EntryRewrite;
import dev.dstl.spillable.layout.SpilledLayout;
import dev.dstl.spillable.overlay.Addresses;
import dev.dstl.spillable.overlay.EntryReader;
import dev.dstl.spillable.overlay.PartitionPool;
import dev.dstl.spillable.overlay.PartitionedMap;
import dev.dstl.spillable.partition.StateIdentity;
import dev.dstl.spillable.size.EntrySizes;
import java.io.IOException;
import java.util.List;
import javax.annotation.Nullable;
import org.apache.flink.api.common.typeutils.TypeSerializer;

/**
 * The entries of one state in one key group: some on the heap, some spilled, each on one side. Task
 * thread only. The layout passed in is the table's; it has been made with the current serializers.
 */
final class KeyGroupMap<K, N, S> {

    private final StateIdentity identity;
    private final HeapMap<K, N, S> heap;
    @Nullable private PartitionedMap spilled;
    private Residency residency = Residency.ON_HEAP;
    private final EntrySizes sizes;
    private final LargeEntryMove<K, N, S> large = new LargeEntryMove<>();
    private final ElementCount heapElements = new ElementCount();

    /** Bytes of heap that the last step has freed or taken. */
    private double movedBytes;

    /** Bytes that slices of an entry have taken off-heap which has not moved yet. */
    private long slicedBytes;

    /** While the group is loading. */
    @Nullable private HeapLoad<K, N, S> loading;

    /** Accesses since the heat was last updated. */
    private int accesses;

    private double heat;

    KeyGroupMap(TypeSerializer<S> stateSerializer, StateIdentity identity, EntrySizes sizes) {
        this.identity = identity;
        this.sizes = sizes;
        this.heap = new HeapMap<>(stateSerializer);
    }

    int size() {
        return heap.size() + spilledSize();
    }

    int heapSize() {
        return heap.size();
    }

    int spilledSize() {
        return spilled == null ? 0 : spilled.size();
    }

    Residency residency() {
        return residency;
    }

    /** The state if it is on the heap, only to be read. */
    @Nullable
    S peekHeap(K key, N namespace) {
        return heap.size() == 0 ? null : heap.peek(key, namespace);
    }

    /** The state if it is on the heap; it may be changed in place. */
    @Nullable
    S heapState(K key, N namespace) {
        accesses++;
        return heap.size() == 0 ? null : heap.get(key, namespace);
    }

    /**
     * Where the entry selected in the layout is or belongs, if it is not on the heap: the spilled
     * map, or null for the heap.
     */
    @Nullable
    PartitionedMap spilledHome(SpilledLayout<K, N, S> layout) {
        if (spilled == null) {
            return null;
        }
        return residency.spillsNewEntries() || layout.exists(spilled.entries()) ? spilled : null;
    }

    /** The spilled map if the entry selected in the layout is in it. */
    @Nullable
    PartitionedMap spilled(SpilledLayout<K, N, S> layout) {
        return spilled != null && layout.exists(spilled.entries()) ? spilled : null;
    }

    /** Reads an entry from another thread; the layout is the caller's own. */
    @Nullable
    S peek(K key, N namespace, SpilledLayout<K, N, S> layout) throws IOException {
        S state = heap.peekForeign(key, namespace);
        PartitionedMap map = spilled;
        if (state != null || map == null) {
            return state;
        }
        layout.select(key, namespace);
        return layout.readForeign(map);
    }

    boolean hasSpilled() {
        return spilled != null;
    }

    /** The state of the entry, of which the layout has the key selected if anything is spilled. */
    @Nullable
    S get(K key, N namespace, SpilledLayout<K, N, S> layout) throws IOException {
        accesses++;
        S state = heap.size() == 0 ? null : heap.get(key, namespace);
        return state != null || spilled == null ? state : layout.read(spilled.entries());
    }

    void put(K key, N namespace, S state, SpilledLayout<K, N, S> layout) throws IOException {
        accesses++;
        if (isLeaving(key, namespace)) {
            S former = heap.peek(key, namespace);
            if (large.replace(state, heap, spilled, layout)) {
                heapElements.left(former);
            }
            return;
        }
        large.replaced(key, namespace);
        if (spilled == null) {
            heap.put(key, namespace, state);
        } else if (heap.size() == 0 || !heap.replace(key, namespace, state)) {
            if (residency.spillsNewEntries()) {
                layout.write(spilled, state);
            } else {
                loading.put(key, namespace, state, spilled, layout);
            }
        }
    }

    void remove(K key, N namespace, SpilledLayout<K, N, S> layout) {
        accesses++;
        large.replaced(key, namespace);
        if (!heap.remove(key, namespace) && spilled != null) {
            layout.delete(spilled);
        }
    }

    @Nullable
    S removeAndGet(K key, N namespace, SpilledLayout<K, N, S> layout) throws IOException {
        accesses++;
        large.replaced(key, namespace);
        S state = heap.removeAndGet(key, namespace);
        if (state == null && spilled != null) {
            state = layout.read(spilled.entries());
            if (state != null) {
                layout.delete(spilled);
            }
        }
        return state;
    }

    /** Positions over both sides: {@code [0, cursorEnd())}. */
    int cursorEnd() {
        return heap.cursorEnd() + (spilled == null ? 0 : spilled.entries().cursorEnd());
    }

    /** Keys under one cursor position; an entry of a side that grew meanwhile may be missed. */
    void keysAt(int cursor, SpilledLayout<K, N, S> layout, KeyConsumer<K, N> consumer)
            throws IOException {
        if (cursor < heap.cursorEnd()) {
            heap.visit(cursor, e -> consumer.accept(e.key, e.namespace));
        } else if (spilled != null && cursor - heap.cursorEnd() < spilled.entries().cursorEnd()) {
            for (byte[] key : spilledKeysAt(cursor - heap.cursorEnd())) {
                layout.selectBytes(key);
                layout.readKey(consumer::accept);
            }
        }
    }

    /**
     * Keys from a position on, about as many as asked for; may be called again to go on. An entry
     * that moves meanwhile may be met twice or missed.
     *
     * @param position 0 or what the call before returned
     * @return where to go on, or -1 if there are no more
     */
    long keysFrom(
            long position, int most, SpilledLayout<K, N, S> layout, KeyConsumer<K, N> consumer)
            throws IOException {
        int cursor = (int) (position >>> Integer.SIZE);
        if (cursor >= cursorEnd()) {
            return -1;
        }
        int spilledCursor = cursor - heap.cursorEnd();
        if (spilledCursor < 0) {
            long next = heap.visitFrom(position, most, e -> consumer.accept(e.key, e.namespace));
            return next < 0 ? (long) heap.cursorEnd() << Integer.SIZE : next;
        } else {
            Addresses addresses = new Addresses();
            int next =
                    spilled.entries().addressesAt(spilledCursor, (int) position, most, addresses);
            for (int i = 0; i < addresses.count(); i++) {
                layout.selectAt(spilled.entries(), addresses.get(i));
                layout.readKey(consumer::accept);
            }
            if (next >= 0) {
                return ((long) cursor << Integer.SIZE) | next;
            }
        }
        return (cursor + 1L) << Integer.SIZE;
    }

    /** Receives keys. */
    interface KeyConsumer<K, N> {
        void accept(K key, N namespace);
    }

    private List<byte[]> spilledKeysAt(int cursor) {
        Addresses addresses = new Addresses();
        spilled.entries().addressesAt(cursor, addresses);
        return addresses.copyKeys(spilled.entries());
    }

    /** Hands over all keys as of now; the consumer changes nothing. */
    void forEachKey(SpilledLayout<K, N, S> layout, KeyConsumer<K, N> consumer) throws IOException {
        int end = cursorEnd();
        for (int cursor = 0; cursor < end; cursor++) {
            keysAt(cursor, layout, consumer);
        }
    }

    void startSpill(PartitionPool pool) {
        large.cancel();
        loading = null;
        residency = residency.to(Residency.SPILLING);
        if (spilled == null) {
            spilled = new PartitionedMap(pool, identity);
        }
    }

    StateIdentity identity() {
        return identity;
    }

    /**
     * Takes over what a snapshot has spilled; new entries go there too.
     *
     * @throws IllegalStateException if there are spilled entries already
     */
    void restoreSpilled(PartitionedMap restored) {
        if (spilled != null) {
            if (spilled.size() > 0) {
                throw new IllegalStateException("Two snapshots have spilled " + identity);
            }
            spilled.close();
        }
        if (!residency.spillsNewEntries()) {
            residency = residency.to(Residency.SPILLING);
        }
        spilled = restored;
        if (heap.size() == 0 && residency == Residency.SPILLING) {
            residency = residency.to(Residency.SPILLED);
        }
    }

    /**
     * Moves about {@code steps} entries off-heap, or as many slices of large ones; returns how many
     * entries it moved.
     */
    int spill(int steps, SpilledLayout<K, N, S> layout) throws IOException {
        long bytesBefore = spilled.liveBytes();
        int moved = 0;
        double movedElements = 0;
        try {
            for (int step = 0; step < steps; step++) {
                S state;
                if (large.isWriting()) {
                    state = large.writeSlice(heap, spilled, layout);
                } else if (large.hasLeftovers()) {
                    large.removeLeftovers(spilled, layout);
                    state = null;
                } else {
                    HeapEntry<K, N, S> entry = heap.next();
                    if (entry == null) {
                        break;
                    }
                    state = spillOne(entry, layout);
                }
                if (state != null) {
                    heapElements.left(state);
                    movedElements += EntrySizes.elementsOf(state);
                    moved++;
                }
            }
        } finally {
            movedBytes = sizes.heapBytes(moved, movedElements);
            slicedBytes += spilled.liveBytes() - bytesBefore;
            if (moved > 0) {
                sizes.moved(movedBytes, slicedBytes);
                slicedBytes = 0;
            }
        }
        if (heap.size() == 0 && !large.hasLeftovers()) {
            heapElements.clear();
            residency = residency.to(Residency.SPILLED);
        }
        return moved;
    }

    /** Spills an entry, or begins to if it is large; returns the state if it has been spilled. */
    @Nullable
    private S spillOne(HeapEntry<K, N, S> entry, SpilledLayout<K, N, S> layout) throws IOException {
        layout.select(entry.key, entry.namespace);
        if (large.startWrite(entry, heap, layout)) {
            return null;
        }
        S state = entry.state;
        layout.writeWholly(spilled, state);
        heap.discard(entry);
        return state;
    }

    void startLoad() {
        large.cancel();
        residency = residency.to(Residency.LOADING);
        loading = new HeapLoad<>(heap, heapElements, large, sizes);
    }

    /**
     * Moves about {@code steps} entries onto the heap, or as many slices of large ones; returns how
     * many entries it moved. Leaves entries where they are that need more than {@code room} bytes.
     */
    int load(int steps, double room, SpilledLayout<K, N, S> layout) throws IOException {
        int moved;
        try {
            moved = loading.load(steps, room, spilled, layout);
        } finally {
            movedBytes = loading.movedBytes();
        }
        if (spilled.size() == 0) {
            spilled.close();
            spilled = null;
            loading = null;
            large.forgetLeftovers();
            residency = residency.to(Residency.ON_HEAP);
        }
        return moved;
    }

    /** Whether a load has found nothing that fits into so many bytes. */
    boolean nothingFits(double room) {
        return loading != null && loading.nothingFits(spilled, room);
    }

    /** Bytes of heap that the last step of a spill has freed, or that of a load has taken. */
    double movedBytes() {
        return movedBytes;
    }

    /** What the entries on the heap take there. */
    double heapBytes() {
        int entries = heap.size();
        return entries == 0 ? 0 : sizes.heapBytes(entries, heapElements.of(entries, sizes));
    }

    /** What the spilled entries would take on the heap. */
    double loadedBytes() {
        return spilled == null ? 0 : sizes.loadedBytes(spilled.liveBytes());
    }

    /** Elements were added to states on the heap by a restore. */
    void restored(int elements) {
        heapElements.add(elements);
    }

    /** A user key of a map was set or removed, wherever the map is. */
    void userKeyChanged(K key, N namespace, Object userKey) {
        large.changed(key, namespace, userKey);
    }

    /** Whether an entry is being copied from the heap. */
    boolean isLeaving(K key, N namespace) {
        return large.isWriting() && large.isOf(key, namespace);
    }

    /** Writes an entry off-heap that a restore has begun on the heap, if it is there. */
    void spillRestored(K key, N namespace, SpilledLayout<K, N, S> layout) throws IOException {
        S state = heap.peek(key, namespace);
        if (state != null && residency.spillsNewEntries()) {
            large.replaced(key, namespace);
            layout.select(key, namespace);
            layout.writeWholly(spilled, state);
            heap.discard(key, namespace);
            heapElements.left(state);
        }
    }

    /**
     * Counts the elements of some entries, others each time, and measures the first of them.
     *
     * @return whether all entries have been looked at since the count began
     */
    boolean measure(int entries) {
        return heapElements.count(heap, entries, sizes);
    }

    /** Rewrites what is spilled with another layout. */
    void reencode(PartitionPool pool, SpilledLayout<K, N, S> from, SpilledLayout<K, N, S> to)
            throws IOException {
        large.forgetLeftovers();
        EntryRewrite<K, N, S> rewrite = new EntryRewrite<>(from, to);
        PartitionedMap target = new PartitionedMap(pool, identity);
        PartitionedMap obsolete = target;
        try {
            EntryReader entries = spilled.entries();
            for (long hash = 0; hash < EntryReader.HASHES; ) {
                // By hashes and keys: what is written may let partitions that are read be merged
                // and split.
                Addresses addresses = new Addresses();
                hash = entries.addressesFrom(hash, addresses);
                for (byte[] key : addresses.copyKeys(entries)) {
                    rewrite.rewrite(entries, key, target);
                }
            }
            if (target.size() != spilled.size()) {
                throw new IOException(
                        String.format(
                                "Spilled state is damaged (%s): it has %d entries, %d were put.",
                                identity, target.size(), spilled.size()));
            }
            obsolete = spilled;
            spilled = target;
        } finally {
            obsolete.close();
        }
    }

    /** Halves the old heat and adds the accesses since; returns the new heat. */
    double coolDown() {
        heat = heat / 2 + accesses;
        accesses = 0;
        return heat;
    }

    double heat() {
        return heat + accesses;
    }

    void setStateSerializer(TypeSerializer<S> stateSerializer) {
        large.cancel();
        heap.setStateSerializer(stateSerializer);
    }

    KeyGroupView<K, N, S> view() {
        return new KeyGroupView<>(heap.view(), spilled == null ? null : spilled.view());
    }

    void close() {
        if (spilled != null) {
            spilled.close();
        }
    }
}
