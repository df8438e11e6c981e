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
public final class SpilledView extends EntryStore implements AutoCloseable {

    /** Takes addresses. */
    public interface AddressConsumer {
        void accept(long address) throws IOException;
    }

    private final BlockPool pool;

    /** Bytes of entries in each block when the view was opened. */
    private final int[] used;

    private boolean closed;

    SpilledView(BlockPool pool, IndexTable[] tables, int depth, Block[] blocks, int size) {
        super(null);
        this.pool = pool;
        this.tables = tables;
        this.depth = depth;
        this.blocks = blocks;
        this.size = size;
        this.used = new int[blocks.length];
        pool.hold();
        for (int i = 0; i < tables.length; i++) {
            if (isFirstOfItsTable(i)) {
                tables[i].hold();
            }
        }
        for (int number = 0; number < blocks.length; number++) {
            if (blocks[number] != null) {
                used[number] = blocks[number].used;
                blocks[number].holdForView();
            }
        }
    }

    /**
     * Gives out the addresses of the entries, parts left out, in the order in which they lie in
     * memory and in files: reading them one after the other costs neither cache misses nor seeks,
     * and the index, in which each is looked up to see whether it lives, is small.
     */
    public void forEachAsItLies(AddressConsumer consumer) throws IOException {
        for (int number = 0; number < used.length; number++) {
            int offset = 0;
            while (offset < used[number]) {
                long address = EntryFormat.address(number, offset);
                read(address);
                offset += (int) EntryFormat.entryBytes(keyLength(), valueLength());
                if (!isPart() && livesAt(address)) {
                    consumer.accept(address);
                }
            }
        }
    }

    /** Whether the entry read last, at this address, is in the index. */
    private boolean livesAt(long address) {
        int hash = entryHash();
        return tables[tableIndex(hash)].indexOf(EntryFormat.slot(hash, address)) >= 0;
    }

    private boolean isFirstOfItsTable(int index) {
        return index == 0 || tables[index - 1] != tables[index];
    }

    /** Gives back what only this view still needs. May be called again. */
    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        for (int i = 0; i < tables.length; i++) {
            if (isFirstOfItsTable(i)) {
                tables[i].release();
            }
        }
        for (Block block : blocks) {
            if (block != null) {
                block.release();
            }
        }
        try {
            pool.release();
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot delete the spill directories", e);
        }
    }
}
