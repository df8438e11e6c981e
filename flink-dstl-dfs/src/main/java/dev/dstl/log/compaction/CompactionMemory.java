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

package dev.dstl.log.compaction;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.dstl.log.memory.JobMemory;
import dev.dstl.log.memory.MemoryUse;
import java.util.IdentityHashMap;
import java.util.List;

/**
 * The memory of the job that compactions have reserved, by input. A compaction starts only if there
 * is memory for all its records; otherwise it is tried again later. Thread-safe.
 */
final class CompactionMemory {

    /** Divisor of the memory limit for the maximum size of one compaction. */
    private static final int LIMIT_SHARE = 2;

    private final JobMemory memory;

    @GuardedBy("this")
    private final IdentityHashMap<List<? extends CompactionInput>, Long> reserved =
            new IdentityHashMap<>();

    CompactionMemory(JobMemory memory) {
        this.memory = memory;
    }

    /**
     * Returns the maximum size of the records of one compaction, in bytes.
     *
     * @param maxInFlightBytes the memory limit
     */
    static long mostBytes(long maxInFlightBytes) {
        return maxInFlightBytes / LIMIT_SHARE;
    }

    /**
     * Reserves memory for the records of all inputs.
     *
     * @return whether the memory was reserved; then {@link #ended} must follow
     */
    synchronized boolean admit(List<? extends CompactionInput> inputs) {
        long bytes = inputs.stream().mapToLong(CompactionInput::memoryBytes).sum();
        if (!memory.tryReserve(MemoryUse.COMPACTION, bytes)) {
            return false;
        }
        try {
            reserved.put(inputs, bytes);
        } catch (Throwable t) {
            memory.release(MemoryUse.COMPACTION, bytes);
            throw t;
        }
        return true;
    }

    /**
     * Extends a reservation because the records take more than was estimated. Never refused: the
     * records are in memory, and the size of a compaction is limited.
     *
     * @param bytes memory of the records that were read so far
     */
    synchronized void grew(List<? extends CompactionInput> inputs, long bytes) {
        Long before = reserved.get(inputs);
        if (before != null && bytes > before) {
            reserved.put(inputs, bytes);
            memory.reserve(MemoryUse.COMPACTION, bytes - before);
        }
    }

    /**
     * Reduces a reservation to the size of the frame that remains once the records are encoded.
     *
     * @param bytes size of the frame
     */
    synchronized void encoded(List<? extends CompactionInput> inputs, long bytes) {
        Long before = reserved.get(inputs);
        if (before != null && bytes < before) {
            reserved.put(inputs, bytes);
            memory.release(MemoryUse.COMPACTION, before - bytes);
        }
    }

    /** Releases a reservation. Has no effect the second time. */
    synchronized void ended(List<? extends CompactionInput> inputs) {
        Long bytes = reserved.remove(inputs);
        if (bytes != null) {
            memory.release(MemoryUse.COMPACTION, bytes);
        }
    }
}
