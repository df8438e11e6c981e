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

import java.io.UncheckedIOException;

/**
 * Looks into a {@link PartitionedMap} from another thread while the task changes it, for queries.
 *
 * <p>Each entry is found and copied as it was at one moment, or finding it fails. A state of
 * several entries may change between them, of which {@link #requireNotReplaced} tells the worst; a
 * reader must take any exception as a reason to look again.
 */
public final class ForeignView implements AutoCloseable {

    private final ReplacedStates replaced;
    private final ForeignReader entries;

    ForeignView(
            OverlayMemory memory,
            ReplacedStates replaced,
            EntryReader live,
            ChangeSequence changes) {
        this.replaced = replaced;
        this.entries = new ForeignReader(memory, live, changes);
    }

    /** Finds entries; belongs to the view. */
    public EntryReader entries() {
        return entries;
    }

    /** Begins a read of which the rest is done later. */
    void startLooking() {
        entries.startLooking();
    }

    /**
     * What to keep before a state is read, for {@link #requireNotReplaced}.
     *
     * @param hash of the key of the state
     */
    public int replacements(int hash) {
        return replaced.of(hash).current();
    }

    /**
     * To be called when the state has been read.
     *
     * @throws IllegalStateException if it was removed or replaced meanwhile, or may have been
     */
    public void requireNotReplaced(int hash, int replacements) {
        if (!replaced.of(hash).isStill(replacements)) {
            throw new IllegalStateException("The state was replaced while it was read");
        }
    }

    /**
     * Lets memory that was given up meanwhile go.
     *
     * @throws UncheckedIOException if the view was the last to need the spill directories and they
     *     cannot be deleted
     */
    @Override
    public void close() {
        entries.close();
    }
}
