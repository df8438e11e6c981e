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

import java.util.concurrent.atomic.AtomicLong;

/**
 * How much off-heap memory one backend may use, and what it uses, in bytes. Index tables go first;
 * the blocks in memory get what is left of the limit. Used by any thread.
 */
public final class OffHeapBudget {

    private final long limitBytes;
    private final AtomicLong indexBytes = new AtomicLong();
    private final AtomicLong blockBytes = new AtomicLong();

    private final Runnable onRelease;

    /**
     * @param limitBytes over 0
     * @param onRelease gives back what was reserved for the budget; called once, by any thread
     */
    public OffHeapBudget(long limitBytes, Runnable onRelease) {
        this.limitBytes = limitBytes;
        this.onRelease = onRelease;
    }

    /** Nothing is used any more. */
    void release() {
        onRelease.run();
    }

    /** Bytes that index tables and blocks together are to stay below. */
    public long limitBytes() {
        return limitBytes;
    }

    /** Bytes of index tables, including those that only a running snapshot still holds. */
    public long indexBytes() {
        return indexBytes.get();
    }

    /** Bytes of blocks in memory, including those that only a running snapshot still holds. */
    public long blockBytes() {
        return blockBytes.get();
    }

    /**
     * What index tables leave for blocks in memory, at least a quarter of the limit: the index of
     * what is spilled already grows with it, and blocks of a few entries would waste the disk.
     */
    long blockLimitBytes() {
        return Math.max(limitBytes / 4, limitBytes - indexBytes.get());
    }

    /** Whether there is room to spill more; what is spilled already may always grow. */
    public boolean hasRoom() {
        return indexBytes.get() < limitBytes - limitBytes / 8;
    }

    void addIndex(long bytes) {
        indexBytes.addAndGet(bytes);
    }

    void addBlock(long bytes) {
        blockBytes.addAndGet(bytes);
    }
}
