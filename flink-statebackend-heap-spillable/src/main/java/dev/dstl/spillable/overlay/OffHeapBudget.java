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

import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntFunction;
import org.apache.flink.core.memory.MemorySegment;
import org.apache.flink.core.memory.MemorySegmentFactory;

/**
 * How much off-heap memory one backend may use, and what it uses, in bytes: the slabs of overlays
 * and the buffers of merges. Used by any thread.
 */
public final class OffHeapBudget {

    private final long limitBytes;
    private final AtomicLong usedBytes = new AtomicLong();
    private final Runnable onRelease;
    private final IntFunction<MemorySegment> allocation;

    /**
     * @param limitBytes over 0
     * @param onRelease gives back what was reserved for the budget; called once, by any thread
     */
    public OffHeapBudget(long limitBytes, Runnable onRelease) {
        this(limitBytes, onRelease, MemorySegmentFactory::allocateOffHeapUnsafeMemory);
    }

    /**
     * @param allocation takes so many bytes from the operating system
     */
    OffHeapBudget(long limitBytes, Runnable onRelease, IntFunction<MemorySegment> allocation) {
        this.limitBytes = limitBytes;
        this.onRelease = onRelease;
        this.allocation = allocation;
    }

    /** Nothing is used any more. */
    public void release() {
        onRelease.run();
    }

    /** Bytes that the backend is to stay below. */
    public long limitBytes() {
        return limitBytes;
    }

    /** Bytes taken from the operating system, those that only a running snapshot holds included. */
    public long usedBytes() {
        return usedBytes.get();
    }

    /**
     * Takes memory from the operating system.
     *
     * @throws OutOfMemoryError if there is none; it does not count as used then
     */
    MemorySegment allocate(int bytes) {
        MemorySegment segment = allocation.apply(bytes);
        usedBytes.addAndGet(bytes);
        return segment;
    }

    /** Gives back what {@link #allocate} took. */
    void free(MemorySegment segment) {
        usedBytes.addAndGet(-segment.size());
        segment.free();
    }
}
