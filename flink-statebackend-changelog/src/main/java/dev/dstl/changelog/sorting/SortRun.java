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

import dev.dstl.log.api.ReplayMemory;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The memory of records that are sorted together; released when the last of them was applied or the
 * replay ends. Grows on one thread; thread-safe afterwards.
 */
final class SortRun {

    /** Used without a reservation, so that a restore always makes progress. */
    private static final long UNASKED_BYTES = 1 << 20;

    private final ReplayMemory memory;

    /** Number of parts, plus one while parts are added. */
    private final AtomicInteger users = new AtomicInteger(1);

    private final CountDownLatch released = new CountDownLatch(1);
    private long grantedBytes;
    private long unaskedBytes;

    SortRun(ReplayMemory memory) {
        this.memory = memory;
    }

    /** Reserves more memory; false if the run should end here. */
    boolean grow(long bytes) {
        if (memory.tryReserve(bytes)) {
            grantedBytes += bytes;
        } else {
            unaskedBytes += bytes;
        }
        return unaskedBytes <= UNASKED_BYTES;
    }

    /** Returns memory that {@link #grow} added. */
    void shrink(long bytes) {
        long unasked = Math.min(bytes, unaskedBytes);
        unaskedBytes -= unasked;
        grantedBytes -= bytes - unasked;
        if (bytes > unasked) {
            memory.release(bytes - unasked);
        }
    }

    /** Adds a part that must be released. */
    void addPart() {
        users.incrementAndGet();
    }

    /** Releases a part, or ends adding parts. */
    void release() {
        if (users.decrementAndGet() == 0) {
            if (grantedBytes > 0) {
                memory.release(grantedBytes);
            }
            released.countDown();
        }
    }

    /** Waits until all parts are released. */
    void awaitRelease() throws InterruptedException {
        released.await();
    }
}
