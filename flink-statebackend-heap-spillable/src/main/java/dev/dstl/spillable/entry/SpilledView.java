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

    private final BlockPool pool;
    private boolean closed;

    SpilledView(BlockPool pool, IndexTable[] tables, int depth, Block[] blocks, int size) {
        this.pool = pool;
        this.tables = tables;
        this.depth = depth;
        this.blocks = blocks;
        this.size = size;
        pool.hold();
        for (int i = 0; i < tables.length; i++) {
            if (isFirstOfItsTable(i)) {
                tables[i].hold();
            }
        }
        for (Block block : blocks) {
            if (block != null) {
                block.holdForView();
            }
        }
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
