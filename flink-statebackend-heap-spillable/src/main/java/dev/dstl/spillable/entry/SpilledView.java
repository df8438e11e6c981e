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

import java.io.IOException;
import java.io.UncheckedIOException;

/**
 * The entries of a {@link SpilledMap} as they were when the view was opened. Opened on the task
 * thread, read and closed by one other.
 */
public final class SpilledView implements AutoCloseable {

    /** Takes addresses; may read the entry, which the view's reader stands at. */
    public interface AddressConsumer {
        /**
         * @param address of an entry, valid as long as the view is open
         * @throws IOException passed on to the caller of {@link #forEachAsItLies}
         */
        void accept(long address) throws IOException;
    }

    private final OffHeapMemory memory;
    private final EntryReader entries;
    private final int size;

    /** Bytes of entries in each block when the view was opened. */
    private final int[] used;

    private boolean closed;

    /**
     * @param entries belongs to the view
     */
    SpilledView(OffHeapMemory memory, EntryReader entries, int size) {
        this.memory = memory;
        this.entries = entries;
        this.size = size;
        this.used = new int[entries.blockNumberEnd()];
        memory.hold();
        for (int i = 0; i < entries.cursorEnd(); i++) {
            if (entries.isFirstOfItsTable(i)) {
                entries.tableAt(i).hold();
            }
        }
        for (int number = 0; number < used.length; number++) {
            Block block = entries.block(number);
            if (block != null) {
                used[number] = block.used;
                block.holdForView();
            }
        }
    }

    /** Reads the entries; belongs to the view and holds nothing once that is closed. */
    public EntryReader entries() {
        return entries;
    }

    /** Number of entries, parts not counted. */
    public int size() {
        return size;
    }

    /**
     * Hands over the addresses of the entries, without parts, in the order in which they lie in
     * memory and in files: reading them one after the other costs neither cache misses nor seeks,
     * and the index, in which each is looked up to see whether it lives, is small.
     *
     * @throws IOException if {@code consumer} does
     */
    public void forEachAsItLies(AddressConsumer consumer) throws IOException {
        for (int number = 0; number < used.length; number++) {
            int offset = 0;
            while (offset < used[number]) {
                long address = EntryFormat.address(number, offset);
                entries.read(address);
                offset += entries.entryBytes();
                if (!entries.isPart() && entries.livesAt(address)) {
                    consumer.accept(address);
                }
            }
        }
    }

    /**
     * Gives back what only this view still needs. May be called again, on any thread.
     *
     * @throws UncheckedIOException if the view was the last to need the spill directories and they
     *     cannot be deleted
     */
    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        entries.releaseTables();
        for (int number = 0; number < used.length; number++) {
            Block block = entries.block(number);
            if (block != null) {
                block.release();
            }
        }
        try {
            memory.release();
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot delete the spill directories", e);
        }
    }
}
