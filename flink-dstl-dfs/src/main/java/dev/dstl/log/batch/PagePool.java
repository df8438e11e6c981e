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
 * Pages for records that are not sealed and encoded yet. Keeps a bounded number of free pages while
 * the memory is not needed elsewhere; the garbage collector frees the others. Last in, first out,
 * since the page returned last is most likely in the CPU caches. Thread safe; no method blocks.
 */
public final class PagePool {

    /** Bytes of a page, a power of two. */
    public static final int PAGE_BYTES = 1 << PagedBytes.PAGE_BITS;

    private static final long MAX_SHARED_FREE_BYTES = 64L << 20;

    private static final PagePool SHARED =
            new PagePool(MAX_SHARED_FREE_BYTES, ProcessMemory.shared());

    private final IdleObjects<byte[]> free;

    /**
     * A pool of its own, which nothing but its bound limits.
     *
     * @param maxFreeBytes how much the pool keeps for later at most; what is in use does not count
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
     * A pool that keeps pages only as long as there is memory for them.
     *
     * @param maxFreeBytes how much the pool keeps for later at most; what is in use does not count
     */
    public PagePool(long maxFreeBytes, ProcessMemory memory) {
        if (maxFreeBytes < 0) {
            throw new IllegalArgumentException("maxFreeBytes is negative: " + maxFreeBytes);
        }
        int maxFreePages = (int) Math.min(Integer.MAX_VALUE, maxFreeBytes / PAGE_BYTES);
        free = new IdleObjects<>(maxFreePages, page -> PAGE_BYTES, memory);
        memory.addCache(free::drop);
    }

    /** The one of this process. */
    public static PagePool shared() {
        return SHARED;
    }

    /** A page of {@link #PAGE_BYTES} with any content; the caller's until given back. */
    byte[] take() {
        byte[] page = free.poll();
        return page == null ? new byte[PAGE_BYTES] : page;
    }

    /** Takes a page back that nobody uses any more. */
    void give(byte[] page) {
        free.offer(page);
    }

    /**
     * Frees the pages that were not needed since the last call. Does nothing if that was less than
     * a period ago.
     *
     * @param nowNanos of a clock that all callers share
     */
    public void trim(long nowNanos, long periodNanos) {
        free.trim(nowNanos, periodNanos);
    }

    /** Bytes kept for later, about, if other threads take and give. */
    public long freeBytes() {
        return (long) free.count() * PAGE_BYTES;
    }
}
