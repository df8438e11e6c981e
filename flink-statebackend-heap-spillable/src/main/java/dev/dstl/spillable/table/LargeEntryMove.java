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

import dev.dstl.spillable.layout.SlicedRead;
import dev.dstl.spillable.layout.SlicedWrite;
import dev.dstl.spillable.layout.SpilledLayout;
import dev.dstl.spillable.overlay.PartitionedMap;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import javax.annotation.Nullable;

/**
 * The large entry of a key group that moves in slices, if there is one, and what is left to be
 * removed of those before. Task thread only.
 *
 * <p>The entry stays where it was, for reads, changes and snapshots, until all of it is copied;
 * changes meanwhile are copied as well. If it is replaced or removed, the move is cancelled.
 */
final class LargeEntryMove<K, N, S> {

    /** With more changes between two slices the copy is begun anew when there is time for it. */
    private static final int MOST_CHANGES = 1 << 16;

    private static final int PARTS_PER_STEP = 16;

    /** Parts of an entry that has no head. */
    private static final class Leftover {
        final byte[] key;
        int parts;

        Leftover(byte[] key, int parts) {
            this.key = key;
            this.parts = parts;
        }
    }

    private K key;
    private N namespace;
    private byte[] keyBytes;
    @Nullable private SlicedWrite<S> write;
    @Nullable private SlicedRead<S> read;
    @Nullable private Deque<Leftover> leftovers;

    boolean isWriting() {
        return write != null;
    }

    boolean isReading() {
        return read != null;
    }

    /** Starts to move the entry, which the layout has selected, unless one step does it. */
    boolean startWrite(
            HeapEntry<K, N, S> entry, HeapMap<K, N, S> heap, SpilledLayout<K, N, S> layout) {
        // If the job has changed its key object, the entry is not found again.
        boolean isFound = heap.peek(entry.key, entry.namespace) == entry.state;
        write = isFound ? layout.slicedWrite(entry.state) : null;
        if (write == null) {
            return false;
        }
        key = entry.key;
        namespace = entry.namespace;
        keyBytes = layout.copySelected();
        return true;
    }

    /** Starts to move the entry, which the layout has selected, unless one step does it. */
    boolean startRead(byte[] selected, PartitionedMap spilled, SpilledLayout<K, N, S> layout)
            throws IOException {
        SlicedRead<S> copy = layout.slicedRead(spilled.entries());
        if (copy == null) {
            return false;
        }
        layout.readKey(
                (newKey, newNamespace) -> {
                    key = newKey;
                    namespace = newNamespace;
                });
        keyBytes = selected;
        read = copy;
        return true;
    }

    /** Copies a slice off-heap; returns the state if that was the last one, else null. */
    @Nullable
    S writeSlice(HeapMap<K, N, S> heap, PartitionedMap spilled, SpilledLayout<K, N, S> layout)
            throws IOException {
        SlicedWrite<S> copy = write;
        S state = heap.peek(key, namespace);
        if (state == null) {
            // The job has changed its key object.
            cancel();
            return null;
        }
        boolean done = false;
        boolean failed = true;
        try {
            layout.selectBytes(keyBytes);
            if (copy.write(spilled, state, 1)) {
                // The entry is on one side all the time, even if memory is used up.
                spilled.begin();
                try {
                    copy.finish(spilled);
                    heap.discard(key, namespace);
                    write = null;
                    done = true;
                } finally {
                    spilled.end();
                }
            }
            failed = false;
        } finally {
            if (failed) {
                cancel();
            }
        }
        return done ? state : null;
    }

    /**
     * Spills another state of the entry that is being copied off-heap, which the layout has
     * selected, wholly and at once: begun anew each time, the copy of an entry that the job
     * replaces often would never end.
     *
     * @return false if it cannot be serialized, and stays on the heap
     */
    boolean replace(
            S state, HeapMap<K, N, S> heap, PartitionedMap spilled, SpilledLayout<K, N, S> layout)
            throws IOException {
        cancel();
        // The entry is on one side all the time, even if memory is used up.
        spilled.begin();
        try {
            layout.writeWholly(spilled, state);
            heap.discard(key, namespace);
            return true;
        } catch (IOException e) {
            heap.put(key, namespace, state);
            return false;
        } finally {
            spilled.end();
        }
    }

    /** Copies a slice onto the heap; returns the state if that was the last one, else null. */
    @Nullable
    S readSlice(HeapMap<K, N, S> heap, PartitionedMap spilled, SpilledLayout<K, N, S> layout)
            throws IOException {
        S state = null;
        boolean failed = true;
        try {
            layout.selectBytes(keyBytes);
            if (layout.exists(spilled.entries())) {
                state = read.read(spilled.entries(), 1);
            } else {
                // It went with its last user entry.
                cancel();
            }
            failed = false;
        } finally {
            if (failed) {
                cancel();
            }
        }
        if (state == null) {
            return null;
        }
        spilled.begin();
        try {
            heap.put(key, namespace, state);
            addLeftover(layout.deleteHead(spilled));
            read = null;
        } finally {
            spilled.end();
        }
        return state;
    }

    /** A user key of a map was set or removed. */
    void changed(K changedKey, N changedNamespace, Object userKey) {
        if (!isOf(changedKey, changedNamespace)) {
            return;
        }
        int pending = write != null ? write.changed(userKey) : read.changed(userKey);
        if (pending > MOST_CHANGES) {
            cancel();
        }
    }

    /** An entry gets another state or is removed. */
    void replaced(K changedKey, N changedNamespace) {
        if (isOf(changedKey, changedNamespace)) {
            cancel();
        }
    }

    /** Whether this is the entry that moves. */
    boolean isOf(K otherKey, N otherNamespace) {
        return (write != null || read != null)
                && key.equals(otherKey)
                && namespace.equals(otherNamespace);
    }

    /** Leaves the entry where it is. */
    void cancel() {
        if (write != null) {
            addLeftover(write.parts());
        }
        write = null;
        read = null;
    }

    private void addLeftover(int parts) {
        if (parts > 0) {
            if (leftovers == null) {
                leftovers = new ArrayDeque<>();
            }
            leftovers.add(new Leftover(keyBytes, parts));
        }
    }

    boolean hasLeftovers() {
        return leftovers != null && !leftovers.isEmpty();
    }

    /**
     * Removes some parts. An entry of the same key that has come since keeps its own: it writes
     * each part when it gets it, so it never reads one that was left.
     */
    void removeLeftovers(PartitionedMap spilled, SpilledLayout<K, N, S> layout) throws IOException {
        Leftover leftover = leftovers.peek();
        int from = Math.max(0, leftover.parts - PARTS_PER_STEP);
        layout.selectBytes(leftover.key);
        layout.deleteParts(spilled, from, leftover.parts);
        leftover.parts = from;
        if (from == 0) {
            leftovers.remove();
        }
    }

    /** The parts are gone with the map they were in. */
    void forgetLeftovers() {
        cancel();
        leftovers = null;
    }
}
