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
import javax.annotation.Nullable;
import org.apache.flink.core.memory.MemorySegment;
import org.apache.flink.core.memory.MemorySegmentFactory;

/**
 * How much off-heap memory one backend may use, and what it uses, in bytes: the slabs of overlays
 * and the buffers of merges. Used by any thread.
 */
public final class OffHeapBudget {

    private final AtomicLong usedBytes = new AtomicLong();
    private final Runnable onRelease;
    private final IntFunction<MemorySegment> allocation;

    /** Of which the budget is a part; null if it is not shared. */
    @Nullable private final SlotMemory slot;

    private volatile long limitBytes;
    private volatile boolean retired;

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
        this(null, onRelease, allocation);
        this.limitBytes = limitBytes;
    }

    /**
     * @param slot gives it a limit
     */
    OffHeapBudget(SlotMemory slot, Runnable onRelease) {
        this(slot, onRelease, MemorySegmentFactory::allocateOffHeapUnsafeMemory);
    }

    private OffHeapBudget(
            @Nullable SlotMemory slot, Runnable onRelease, IntFunction<MemorySegment> allocation) {
        this.slot = slot;
        this.onRelease = onRelease;
        this.allocation = allocation;
    }

    /** The backend is closed; only what views and merges still use counts from now on. */
    void retire() {
        retired = true;
        tellSlot();
    }

    boolean isRetired() {
        return retired;
    }

    /** Nothing is used any more. */
    public void release() {
        if (slot != null) {
            slot.leave(this);
        }
        onRelease.run();
    }

    /**
     * Bytes that the backend is to stay below. Changes while other backends of the slot come, go or
     * use more than their part; what is used then follows.
     */
    public long limitBytes() {
        return limitBytes;
    }

    void limitTo(long bytes) {
        limitBytes = bytes;
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
        tellSlot();
        return segment;
    }

    /** Gives back what {@link #allocate} took. */
    void free(MemorySegment segment) {
        usedBytes.addAndGet(-segment.size());
        segment.free();
        tellSlot();
    }

    private void tellSlot() {
        if (slot != null) {
            slot.changed();
        }
    }
}
