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
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.flink.core.memory.MemorySegmentFactory;

/**
 * Finds entries of a {@link PartitionedMap} from another thread than the task's, which goes on
 * changing it, and copies them: what is read of an entry was its key and value at one moment.
 *
 * <p>Memory and extents that the task gives up are kept only while the reader looks for an entry
 * and copies it. So neither a long query nor one that waits keeps anything.
 */
final class ForeignReader extends EntryReader implements AutoCloseable {

    private static final int LOOKS_IN_A_ROW = 50;
    private static final long PAUSE_NANOS = TimeUnit.MICROSECONDS.toNanos(20);
    private static final long MOST_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private final OverlayMemory memory;
    private final EntryReader live;
    private final ChangeSequence changes;
    private boolean looking;

    /**
     * @param changes of the partitions of {@code live}
     */
    ForeignReader(OverlayMemory memory, EntryReader live, ChangeSequence changes) {
        super(live.keyHash(), new Layers[1], null);
        this.memory = memory;
        this.live = live;
        this.changes = changes;
    }

    /** Keeps what the task gives up; false if so much is kept already that readers have to wait. */
    boolean startLooking() {
        if (!looking && memory.takesReaders()) {
            memory.enterForeign();
            looking = true;
        }
        return looking;
    }

    /**
     * What the task has given up meanwhile may go; to be called again is harmless.
     *
     * @throws UncheckedIOException if this reader was the last to need the spill directories and
     *     they cannot be deleted
     */
    @Override
    public void close() {
        if (looking) {
            looking = false;
            try {
                memory.leaveForeign();
            } catch (IOException e) {
                throw new UncheckedIOException("Cannot delete the spill directories", e);
            }
        }
    }

    /**
     * {@inheritDoc}
     *
     * @throws IllegalStateException if the map changes faster than the entry can be copied
     */
    @Override
    public long find(byte[] key, int keyLength, int hash, boolean part) {
        long start = System.nanoTime();
        for (int looks = 1; ; looks++) {
            int before = changes.current();
            try {
                // First keep memory, then look at what there is.
                if (ChangeSequence.isQuiet(before) && startLooking()) {
                    takeDirectory(live);
                    long address = super.find(key, keyLength, hash, part);
                    // A length of two halves must not become that of a copy.
                    if (changes.isStill(before)) {
                        if (address != 0) {
                            goToCopy();
                        }
                        if (changes.isStill(before)) {
                            return address;
                        }
                    }
                }
            } catch (RuntimeException e) {
                if (changes.isStill(before)) {
                    throw e;
                }
            } finally {
                close();
            }
            if (looks < LOOKS_IN_A_ROW) {
                Thread.onSpinWait();
            } else if (System.nanoTime() - start < MOST_NANOS) {
                LockSupport.parkNanos(PAUSE_NANOS);
            } else {
                throw new IllegalStateException("The state changes faster than it can be read");
            }
        }
    }

    private void goToCopy() {
        byte[] copy = new byte[entryBytes()];
        copy(valueOffset() + valueLength() - copy.length, copy, copy.length);
        goTo(MemorySegmentFactory.wrap(copy), 0);
    }

    /** What is known of a key changes without this reader being told. */
    @Override
    public long find(byte[] key, int keyLength, int hash, boolean part, Presence presence) {
        return find(key, keyLength, hash, part);
    }
}
