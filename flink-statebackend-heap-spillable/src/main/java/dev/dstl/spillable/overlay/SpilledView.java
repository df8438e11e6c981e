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

import dev.dstl.spillable.partition.StateIdentity;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import javax.annotation.Nullable;

/**
 * The entries of a {@link PartitionedMap} as they were when the view was opened. Opened on the task
 * thread, read and closed by one other.
 *
 * <p>Overlays that only the view holds may be merged into files as long as nobody has looked at the
 * view, so that memory does not depend on how many snapshots wait for being written.
 */
public final class SpilledView extends MergeOwner implements AutoCloseable {

    /** Takes addresses; may read the entry, which the view's reader stands at. */
    public interface AddressConsumer {
        /**
         * @param address of an entry, valid as long as the view is open
         * @throws IOException passed on to the caller of {@link #forEachAsItLies}
         */
        void accept(long address) throws IOException;
    }

    private final OverlayMemory memory;
    private final EntryReader entries;
    private final int size;
    private final long liveBytes;
    private final StateIdentity identity;
    private boolean closed;

    /** Whether somebody reads the view, whose addresses stay what they are from then on. */
    private boolean isRead;

    private int mergeCursor;
    private boolean merging;

    /**
     * @param entries belongs to the view, which releases its layers
     */
    SpilledView(
            OverlayMemory memory,
            EntryReader entries,
            int size,
            long liveBytes,
            StateIdentity identity) {
        this.memory = memory;
        this.entries = entries;
        this.size = size;
        this.liveBytes = liveBytes;
        this.identity = identity;
        memory.hold();
    }

    /** Reads the entries; belongs to the view and holds nothing once that is closed. */
    public EntryReader entries() {
        markRead();
        return entries;
    }

    private synchronized void markRead() {
        isRead = true;
    }

    /** Number of entries, parts not counted. */
    public int size() {
        return size;
    }

    /** Bytes of the entries, parts included. */
    public long liveBytes() {
        return liveBytes;
    }

    /**
     * The partitions in the order of their hashes, for a snapshot that takes them as they are. The
     * sealed ones belong to the view.
     */
    public List<RestoredPartition> partitions() {
        markRead();
        List<RestoredPartition> partitions = new ArrayList<>();
        for (int i = 0; i < entries.cursorEnd(); i++) {
            if (entries.isFirstOfItsPartition(i)) {
                Layers layers = entries.layersAt(i);
                partitions.add(
                        new RestoredPartition(layers.depth, layers.firstHash, layers.sealed));
            }
        }
        return partitions;
    }

    /**
     * Hands over what was put and removed since the {@link #partitions()} were sealed, each key
     * once.
     *
     * @throws IOException if {@code consumer} does
     */
    public void forEachChange(ChangeConsumer consumer) throws IOException {
        markRead();
        for (int i = 0; i < entries.cursorEnd(); i++) {
            if (entries.isFirstOfItsPartition(i)) {
                entries.layersAt(i).forEachChange(entries.keyHash(), consumer);
            }
        }
    }

    /**
     * Hands over the addresses of the entries, without parts, partition by partition in the order
     * in which they lie.
     *
     * @throws IOException if {@code consumer} does, or if the entries are not as many as there were
     * @throws dev.dstl.spillable.partition.DamagedPartitionException if a partition is damaged
     */
    public void forEachAsItLies(AddressConsumer consumer) throws IOException {
        Walk walk = walk();
        for (long address = walk.next(); address != 0; address = walk.next()) {
            entries.read(address);
            consumer.accept(address);
        }
    }

    /** Starts at the first entry. */
    public Walk walk() {
        markRead();
        return new Walk();
    }

    /**
     * Goes from entry to entry, without parts, partition by partition in the order in which they
     * lie. All that a snapshot writes goes this way: it compares all checksums, those compared
     * before too, and counts.
     */
    public final class Walk {
        private final Addresses addresses = new Addresses();
        private int cursor;
        private int given;
        private int found;

        private Walk() {}

        /**
         * The address of the next entry, valid as long as the view is open; 0 if there are no more.
         *
         * @throws IOException if the entries are not as many as there were
         * @throws dev.dstl.spillable.partition.DamagedPartitionException if a partition is damaged
         */
        public long next() throws IOException {
            while (given == addresses.count()) {
                if (cursor == entries.cursorEnd()) {
                    requireAll();
                    return 0;
                }
                enter(cursor++);
            }
            return addresses.get(given++);
        }

        private void enter(int position) {
            addresses.clear();
            given = 0;
            if (!entries.isFirstOfItsPartition(position)) {
                return;
            }
            Layers layers = entries.layersAt(position);
            if (layers.sealed != null) {
                layers.sealed.check();
            }
            entries.addressesAt(position, addresses);
            found += addresses.count();
        }

        private void requireAll() throws IOException {
            if (found != size) {
                throw new IOException(
                        String.format(
                                "Spilled state is damaged (%s): it has %d entries, %d were put.",
                                identity, found, size));
            }
        }
    }

    /** Whether the view was closed. */
    synchronized boolean isClosed() {
        return closed;
    }

    /**
     * Starts a merge of overlays that only this view holds, if there are any and nobody reads the
     * view.
     *
     * @return null if there are none
     */
    @Nullable
    synchronized PartitionMerge startMerge() {
        if (closed || isRead || merging) {
            return null;
        }
        for (; mergeCursor < entries.cursorEnd(); mergeCursor++) {
            Layers layers = entries.layersAt(mergeCursor);
            if (entries.isFirstOfItsPartition(mergeCursor)
                    && layers.active != null
                    && !layers.active.isShared()) {
                merging = true;
                return new PartitionMerge(
                        this, layers, layers.held(), identity, entries.keyHash(), memory);
            }
        }
        // Overlays that the map still has may be the view's alone some time later.
        mergeCursor = 0;
        return null;
    }

    @Override
    synchronized void merged(PartitionMerge merge) {
        merging = false;
        if (closed || isRead || merge.failure != null) {
            merge.discard();
            return;
        }
        replace(merge.target, merge.parts);
        merge.discard();
    }

    /** Takes over what a merge of the very layers that the view has made of them. */
    synchronized void replaceIfSame(LivePartition partition, List<PartitionMerge.Part> parts) {
        if (closed || isRead || entries.cursorEnd() == 0) {
            return;
        }
        Layers layers = entries.layersAt(entries.index(partition.firstHash));
        boolean same =
                layers.depth == partition.depth
                        && layers.sealed == partition.sealed
                        && (layers.active == null
                                ? layers.frozen == partition.frozen
                                : layers.frozen == null && layers.active == partition.frozen);
        if (same && partition.frozen != null) {
            replace(layers, parts);
        }
    }

    /** Whether the view is being read and has an overlay of a partition. */
    synchronized boolean keeps(LivePartition partition, Overlay overlay) {
        if (closed || !isRead) {
            return false;
        }
        Layers layers = entries.layersAt(entries.index(partition.firstHash));
        return layers.active == overlay || layers.frozen == overlay;
    }

    private void replace(Layers layers, List<PartitionMerge.Part> parts) {
        for (PartitionMerge.Part part : parts) {
            Layers one = new Layers(part.depth, part.firstHash);
            one.sealed = part.sealed;
            if (part.sealed != null) {
                part.sealed.hold();
            }
            entries.place(one);
        }
        layers.release(memory);
        mergeCursor = 0;
    }

    /**
     * Gives back what only this view still needs. May be called again, on any thread.
     *
     * @throws UncheckedIOException if the view was the last to need the spill directories and they
     *     cannot be deleted
     */
    @Override
    public synchronized void close() {
        if (closed) {
            return;
        }
        closed = true;
        for (int i = 0; i < entries.cursorEnd(); i++) {
            if (entries.isFirstOfItsPartition(i)) {
                entries.layersAt(i).release(memory);
            }
        }
        entries.clear();
        try {
            memory.release();
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot delete the spill directories", e);
        }
    }
}
