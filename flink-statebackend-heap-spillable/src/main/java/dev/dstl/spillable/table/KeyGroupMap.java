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

import dev.dstl.spillable.layout.SpilledLayout;
import dev.dstl.spillable.overlay.Addresses;
import dev.dstl.spillable.overlay.ForeignView;
import dev.dstl.spillable.overlay.PartitionPool;
import dev.dstl.spillable.overlay.PartitionedMap;
import dev.dstl.spillable.partition.StateIdentity;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import javax.annotation.Nullable;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.runtime.state.StateEntry;

/**
 * The entries of one state in one key group: some on the heap, some spilled, each on one side. Task
 * thread only. The layout passed in is the table's; it has been made with the current serializers.
 */
final class KeyGroupMap<K, N, S> {

    private final StateIdentity identity;
    private final HeapMap<K, N, S> heap;
    @Nullable private PartitionedMap spilled;
    private Residency residency = Residency.ON_HEAP;
    private int loadCursor;
    private int loadFrom;

    /** Accesses since the heat was last updated. */
    private int accesses;

    private double heat;

    KeyGroupMap(TypeSerializer<S> stateSerializer, StateIdentity identity) {
        this.identity = identity;
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
        S state = heap.peek(key, namespace);
        PartitionedMap map = spilled;
        if (state != null || map == null) {
            return state;
        }
        try (ForeignView view = map.foreignView()) {
            layout.select(key, namespace);
            return layout.read(view.entries());
        }
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
        if (spilled == null) {
            heap.put(key, namespace, state);
        } else if (heap.size() == 0 || !heap.replace(key, namespace, state)) {
            if (residency.spillsNewEntries()) {
                layout.write(spilled, state);
            } else {
                // The entry is not on its way meanwhile, even if memory is used up.
                spilled.begin();
                try {
                    layout.delete(spilled);
                    heap.put(key, namespace, state);
                } finally {
                    spilled.end();
                }
            }
        }
    }

    void remove(K key, N namespace, SpilledLayout<K, N, S> layout) {
        accesses++;
        if (heap.remove(key, namespace) == null && spilled != null) {
            layout.delete(spilled);
        }
    }

    @Nullable
    S removeAndGet(K key, N namespace, SpilledLayout<K, N, S> layout) throws IOException {
        accesses++;
        S state = heap.remove(key, namespace);
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
            for (long address : addressesAt(cursor - heap.cursorEnd())) {
                layout.selectAt(spilled.entries(), address);
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
            heap.visit(cursor, e -> consumer.accept(e.key, e.namespace));
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

    private long[] addressesAt(int cursor) {
        Addresses addresses = new Addresses();
        spilled.entries().addressesAt(cursor, addresses);
        return addresses.toArray();
    }

    /** All keys as of now. */
    List<StateEntry<K, N, Void>> keys(SpilledLayout<K, N, S> layout) throws IOException {
        List<StateEntry<K, N, Void>> keys = new ArrayList<>(size());
        int end = cursorEnd();
        for (int cursor = 0; cursor < end; cursor++) {
            keysAt(
                    cursor,
                    layout,
                    (key, namespace) ->
                            keys.add(new StateEntry.SimpleStateEntry<>(key, namespace, null)));
        }
        return keys;
    }

    void startSpill(PartitionPool pool) {
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

    /** Moves about {@code entries} entries off-heap; returns how many it moved. */
    int spill(int entries, SpilledLayout<K, N, S> layout) throws IOException {
        int moved =
                heap.drain(
                        entries,
                        (key, namespace, state) -> {
                            layout.select(key, namespace);
                            writeWholly(state, layout);
                        });
        if (heap.size() == 0) {
            residency = residency.to(Residency.SPILLED);
        }
        return moved;
    }

    /** Leaves nothing of a state of which not all can be written: it is on the heap still. */
    private void writeWholly(S state, SpilledLayout<K, N, S> layout) throws IOException {
        boolean written = false;
        try {
            layout.write(spilled, state);
            written = true;
        } finally {
            if (!written) {
                layout.delete(spilled);
            }
        }
    }

    void startLoad() {
        residency = residency.to(Residency.LOADING);
        loadCursor = 0;
        loadFrom = 0;
    }

    /** Moves about {@code entries} entries onto the heap; returns how many it moved. */
    int load(int entries, SpilledLayout<K, N, S> layout) throws IOException {
        int moved = 0;
        while (moved < entries && spilled.size() > 0) {
            if (loadCursor >= spilled.entries().cursorEnd()) {
                loadCursor = 0;
                loadFrom = 0;
            }
            Addresses addresses = new Addresses();
            int wanted = entries - moved;
            int next = spilled.entries().addressesAt(loadCursor, loadFrom, wanted, addresses);
            long[] found = addresses.toArray();
            List<byte[]> keys = new ArrayList<>(found.length);
            for (long address : found) {
                spilled.entries().read(address);
                keys.add(spilled.entries().copyKey());
            }
            for (byte[] key : keys) {
                layout.selectBytes(key);
                S state = layout.read(spilled.entries());
                layout.readKey((k, n) -> heap.put(k, n, state));
                layout.delete(spilled);
            }
            moved += found.length;
            loadFrom = Math.max(0, next);
            if (next < 0) {
                loadCursor++;
            }
        }
        if (spilled.size() == 0) {
            spilled.close();
            spilled = null;
            residency = residency.to(Residency.ON_HEAP);
        }
        return moved;
    }

    /** Rewrites what is spilled with another layout. */
    void reencode(PartitionPool pool, SpilledLayout<K, N, S> from, SpilledLayout<K, N, S> to)
            throws IOException {
        PartitionedMap target = new PartitionedMap(pool, identity);
        PartitionedMap obsolete = target;
        try {
            for (int cursor = 0; cursor < spilled.entries().cursorEnd(); cursor++) {
                for (long address : addressesAt(cursor)) {
                    from.selectAt(spilled.entries(), address);
                    S state = from.read(spilled.entries());
                    from.readKey(to::select);
                    to.write(target, state);
                }
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
