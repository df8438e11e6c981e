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

import dev.dstl.log.memory.IdleObjects;
import dev.dstl.log.memory.ProcessMemory;

/**
 * Pages for records that are not yet sealed and encoded. Retains a bounded number of free pages as
 * long as the memory is not needed elsewhere; other returned pages are left to the garbage
 * collector. Last in, first out, since the page returned last is most likely in the CPU caches.
 * Thread-safe; no method blocks.
 */
public class PagePool {

    /** Size of a page in bytes, a power of two. */
    public static final int PAGE_BYTES = 1 << PagedBytes.PAGE_BITS;

    private static final long MAX_SHARED_FREE_BYTES = 64L << 20;

    private static final PagePool SHARED =
            new PagePool(MAX_SHARED_FREE_BYTES, ProcessMemory.shared());

    private final IdleObjects<byte[]> free;

    /**
     * Creates a pool that accounts for its memory alone.
     *
     * @param maxFreeBytes size of the free pages to retain at most; pages in use do not count
     */
    public PagePool(long maxFreeBytes) {
        this(maxFreeBytes, unlimited());
    }

    private static ProcessMemory unlimited() {
        ProcessMemory memory = new ProcessMemory();
        memory.join(Long.MAX_VALUE);
        return memory;
    }

    /**
     * Creates a pool that retains pages only while the process has memory for them.
     *
     * @param maxFreeBytes size of the free pages to retain at most; pages in use do not count
     */
    public PagePool(long maxFreeBytes, ProcessMemory memory) {
        if (maxFreeBytes < 0) {
            throw new IllegalArgumentException("maxFreeBytes is negative: " + maxFreeBytes);
        }
        int maxFreePages = (int) Math.min(Integer.MAX_VALUE, maxFreeBytes / PAGE_BYTES);
        free = new IdleObjects<>(maxFreePages, page -> PAGE_BYTES, memory);
        memory.addCache(free::drop);
    }

    /** Returns the pool of this process. */
    public static PagePool shared() {
        return SHARED;
    }

    /**
     * Takes a page of {@link #PAGE_BYTES} with arbitrary content. The caller owns it until it
     * returns it.
     */
    byte[] take() {
        byte[] page = free.poll();
        return page == null ? new byte[PAGE_BYTES] : page;
    }

    /** Returns a page that is no longer used. */
    void give(byte[] page) {
        free.offer(page);
    }

    /**
     * Frees the pages that were not needed since the last call. Has no effect if that call was less
     * than a period ago.
     *
     * @param nowNanos current time of a clock that all callers share
     */
    public void trim(long nowNanos, long periodNanos) {
        free.trim(nowNanos, periodNanos);
    }

    /** Returns the approximate size of the free pages in bytes. */
    public long freeBytes() {
        return (long) free.count() * PAGE_BYTES;
    }
}
