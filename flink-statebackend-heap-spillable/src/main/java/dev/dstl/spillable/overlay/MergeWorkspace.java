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
import dev.dstl.spillable.partition.PartitionWriter;
import dev.dstl.spillable.partition.SealedPartition;
import dev.dstl.spillable.partition.StateIdentity;
import java.io.IOException;
import java.util.Arrays;
import javax.annotation.Nullable;
import org.apache.flink.core.memory.MemorySegment;

/** What merges use one after the other. Used by one thread at a time. */
final class MergeWorkspace {

    private static final int CELL_BITS = 30;
    private static final int CELL_MASK = (1 << CELL_BITS) - 1;
    private static final int FROM_ACTIVE = 2;
    private static final int FROM_FROZEN = 1;

    private final OverlayMemory memory;
    private final OffHeapBudget budget;
    private final PartitionWriter writer;
    @Nullable private MemorySegment image;

    /** Hash, made so that numbers sort as hashes do, layer and cell of each surviving entry. */
    private long[] survivors = new long[1024];

    private int count;
    private KeyHash hash;
    private byte[] key = new byte[64];
    private final byte[] scratch = new byte[Overlay.LONGEST_IN_CELL];

    MergeWorkspace(OverlayMemory memory, OffHeapBudget budget) {
        this.memory = memory;
        this.budget = budget;
        this.writer = new PartitionWriter(this::allocate);
    }

    private MemorySegment allocate(int bytes) {
        free();
        image = budget.allocate(bytes);
        return image;
    }

    private void free() {
        if (image != null) {
            budget.free(image);
            image = null;
        }
    }

    /**
     * Writes a sealed partition once more.
     *
     * @throws IOException if no directory takes it
     * @throws dev.dstl.spillable.partition.DamagedPartitionException if it is damaged
     */
    SealedPartition copy(SealedPartition sealed) throws IOException {
        sealed.check();
        try {
            return sealed.copyTo(memory.files(), allocate(sealed.length()));
        } finally {
            free();
        }
    }

    /**
     * Collects the entries that can be found in some layers, ordered by hash.
     *
     * @param keyHash by which they are found
     * @return their number
     * @throws dev.dstl.spillable.partition.DamagedPartitionException if the sealed layer is damaged
     */
    int collect(Layers layers, KeyHash keyHash) {
        hash = keyHash;
        count = 0;
        if (layers.sealed != null) {
            layers.sealed.check();
            collect(layers.sealed, layers);
        }
        collect(layers.frozen, FROM_FROZEN, layers.active);
        collect(layers.active, FROM_ACTIVE, null);
        Arrays.sort(survivors, 0, count);
        return count;
    }

    private void collect(SealedPartition sealed, Layers layers) {
        for (int cell = 0; cell < sealed.cells(); cell++) {
            int entry = sealed.entryAt(cell);
            if (entry != 0) {
                int entryHash = sealed.hashAt(cell);
                int at = sealed.base() + entry;
                if (!has(layers.frozen, sealed.segment(), at, entryHash)
                        && !has(layers.active, sealed.segment(), at, entryHash)) {
                    add(entryHash, 0, cell);
                }
            }
        }
    }

    private void collect(@Nullable Overlay overlay, int layer, @Nullable Overlay above) {
        if (overlay == null) {
            return;
        }
        for (int cell = 0; cell < overlay.cells(); cell++) {
            if (overlay.isUsed(cell) && !overlay.isRemoved(cell)) {
                int entryHash = overlay.hashOf(cell, hash, scratch);
                if (!has(above, overlay.segmentAt(cell), overlay.entryAt(cell), entryHash)) {
                    add(entryHash, layer, cell);
                }
            }
        }
    }

    private boolean has(@Nullable Overlay overlay, MemorySegment segment, int at, int entryHash) {
        if (overlay == null) {
            return false;
        }
        int word = EntryFormat.varintAt(segment, at);
        key = EntryFormat.copyKey(segment, at, key);
        return overlay.find(key, EntryFormat.keyLength(word), word, entryHash) >= 0;
    }

    private void add(int entryHash, int layer, int cell) {
        if (count == survivors.length) {
            survivors = Arrays.copyOf(survivors, count << 1);
        }
        survivors[count++] =
                ((long) (entryHash ^ Integer.MIN_VALUE) << 32) | ((long) layer << CELL_BITS) | cell;
    }

    /** Hash of an entry collected. */
    int hashOf(int position) {
        return (int) (survivors[position] >>> 32) ^ Integer.MIN_VALUE;
    }

    private static Overlay overlayOf(Layers layers, long survivor) {
        return layerOf(survivor) == FROM_ACTIVE ? layers.active : layers.frozen;
    }

    private static int layerOf(long survivor) {
        return (int) (survivor >>> CELL_BITS) & 3;
    }

    private static int cellOf(long survivor) {
        return (int) survivor & CELL_MASK;
    }

    /** Bytes of the entries collected in {@code [from, until)}. */
    long bytes(Layers layers, int from, int until) {
        long bytes = 0;
        for (int i = from; i < until; i++) {
            long one = survivors[i];
            if (layerOf(one) == 0) {
                bytes +=
                        EntryFormat.entryBytesAt(
                                layers.sealed.segment(),
                                layers.sealed.base() + layers.sealed.entryAt(cellOf(one)));
            } else {
                Overlay overlay = overlayOf(layers, one);
                bytes += overlay.lengthOf(cellOf(one));
            }
        }
        return bytes;
    }

    /**
     * Writes the entries collected in {@code [from, until)} as one partition.
     *
     * @throws IOException if no directory takes it
     */
    SealedPartition write(
            Layers layers, int from, int until, StateIdentity identity, int firstHash, int depth)
            throws IOException {
        writer.start(identity, hash, firstHash, depth);
        for (int i = from; i < until; i++) {
            long one = survivors[i];
            if (layerOf(one) == 0) {
                SealedPartition sealed = layers.sealed;
                writer.add(
                        hashOf(i), sealed.segment(), sealed.base() + sealed.entryAt(cellOf(one)));
            } else {
                Overlay overlay = overlayOf(layers, one);
                int cell = cellOf(one);
                writer.add(hashOf(i), overlay.segmentAt(cell), overlay.entryAt(cell));
            }
        }
        try {
            return writer.finish(memory.files());
        } finally {
            free();
        }
    }
}
