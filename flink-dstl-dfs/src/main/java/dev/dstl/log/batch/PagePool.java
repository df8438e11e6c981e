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

package dev.dstl.log.batch;

import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Pages for records that are not sealed and encoded yet. Keeps a bounded number of free pages and
 * leaves the rest to the garbage collector. The page given back last is taken first, since it is
 * the likeliest to be in a cache, and the others leave the caches to the job's state. Thread safe;
 * no method blocks.
 */
public final class PagePool {

    /** Bytes of a page, a power of two. */
    public static final int PAGE_BYTES = 1 << PagedBytes.PAGE_BITS;

    private final int maxFreePages;
    private final ConcurrentLinkedDeque<byte[]> free = new ConcurrentLinkedDeque<>();
    private final AtomicInteger freePages = new AtomicInteger();

    /**
     * @param maxFreeBytes how much the pool keeps for later at most; what is in use does not count
     */
    public PagePool(long maxFreeBytes) {
        if (maxFreeBytes < 0) {
            throw new IllegalArgumentException("maxFreeBytes is negative: " + maxFreeBytes);
        }
        this.maxFreePages = (int) Math.min(Integer.MAX_VALUE, maxFreeBytes / PAGE_BYTES);
    }

    /** A page of {@link #PAGE_BYTES} with any content; the caller's until given back. */
    byte[] take() {
        byte[] page = free.pollFirst();
        if (page == null) {
            return new byte[PAGE_BYTES];
        }
        freePages.decrementAndGet();
        return page;
    }

    /** Takes a page back that nobody uses any more. */
    void give(byte[] page) {
        if (freePages.incrementAndGet() <= maxFreePages) {
            free.addFirst(page);
        } else {
            freePages.decrementAndGet();
        }
    }

    /** Bytes kept for later, about, if other threads take and give. */
    public long freeBytes() {
        return (long) freePages.get() * PAGE_BYTES;
    }
}
