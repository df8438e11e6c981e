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

import java.io.IOException;
import java.io.UncheckedIOException;

/**
 * Looks into a {@link PartitionedMap} from another thread while the task changes it, for queries.
 *
 * <p>Memory that the task gives up meanwhile stays until the view is closed, so a read never
 * touches freed memory. What is read may be torn; a reader must take any exception as a reason to
 * look again.
 */
public final class ForeignView implements AutoCloseable {

    private final OverlayMemory memory;
    private final EntryReader entries;

    ForeignView(OverlayMemory memory, EntryReader live) {
        this.memory = memory;
        // First keep memory, then look at what there is: the reverse order could look at less.
        memory.enterForeign();
        this.entries = live.shared();
    }

    /** Reads the entries; belongs to the view. */
    public EntryReader entries() {
        return entries;
    }

    /**
     * Lets memory that was given up meanwhile go.
     *
     * @throws UncheckedIOException if the view was the last to need the spill directories and they
     *     cannot be deleted
     */
    @Override
    public void close() {
        try {
            memory.leaveForeign();
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot delete the spill directories", e);
        }
    }
}
