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

package dev.dstl.changelog.sorting;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.dstl.log.api.ReplayMemory;

/**
 * The memory of records that are sorted together. Each part's memory is released when the last of
 * its records was applied or the replay ends. Thread-safe.
 */
final class SortRun {

    /** Used without a reservation, so that a restore always makes progress. */
    private static final long UNASKED_BYTES = 1 << 20;

    private final ReplayMemory memory;

    /** Number of parts, plus one while parts are added. */
    @GuardedBy("this")
    private int users = 1;

    @GuardedBy("this")
    private long grantedBytes;

    @GuardedBy("this")
    private long unaskedBytes;

    /** Of all parts, released ones included. */
    @GuardedBy("this")
    private long addedBytes;

    @GuardedBy("this")
    private long releasedBytes;

    SortRun(ReplayMemory memory) {
        this.memory = memory;
    }

    /** Reserves more memory; false if the run should end here. */
    synchronized boolean grow(long bytes) {
        unaskedBytes += bytes;
        if (memory.tryReserve(unaskedBytes)) {
            grantedBytes += unaskedBytes;
            unaskedBytes = 0;
        }
        return unaskedBytes <= UNASKED_BYTES;
    }

    /** Returns memory that {@link #grow} added. */
    synchronized void shrink(long bytes) {
        long unasked = Math.min(bytes, unaskedBytes);
        unaskedBytes -= unasked;
        giveBack(bytes - unasked);
    }

    @GuardedBy("this")
    private void giveBack(long bytes) {
        grantedBytes -= bytes;
        if (bytes > 0) {
            memory.release(bytes);
        }
    }

    /** Adds a part that must be released. */
    synchronized void addPart(long bytes) {
        users++;
        addedBytes += bytes;
    }

    /**
     * Releases a part, or ends adding parts.
     *
     * @param bytes as the part was added with, 0 to end adding parts
     */
    synchronized void release(long bytes) {
        users--;
        releasedBytes += bytes;
        giveBack(users == 0 ? grantedBytes : Math.min(bytes, grantedBytes));
        notifyAll();
    }

    /** Waits until parts with half of the memory are released. */
    synchronized void awaitHalf() throws InterruptedException {
        while (users > 0 && releasedBytes < addedBytes / 2) {
            wait();
        }
    }

    /** Waits until all parts are released. */
    synchronized void awaitAll() throws InterruptedException {
        while (users > 0) {
            wait();
        }
    }
}
