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
 * is memory for all its records; otherwise the changelog tries again later. Thread safe.
 */
final class CompactionMemory {

    /** The share of the limit that a compaction may take at most is one in so many. */
    private static final int LIMIT_SHARE = 2;

    private final JobMemory memory;

    @GuardedBy("this")
    private final IdentityHashMap<List<? extends CompactionInput>, Long> reserved =
            new IdentityHashMap<>();

    CompactionMemory(JobMemory memory) {
        this.memory = memory;
    }

    /** What the records of a compaction may take, of so much in flight. */
    static long mostBytes(long maxInFlightBytes) {
        return maxInFlightBytes / LIMIT_SHARE;
    }

    /**
     * Reserves what the records of all inputs take.
     *
     * @return whether there is room for them now; then they have to be ended later
     */
    synchronized boolean admit(List<? extends CompactionInput> inputs) {
        long bytes = inputs.stream().mapToLong(CompactionInput::memoryBytes).sum();
        if (!memory.tryReserve(MemoryUse.COMPACTION, bytes)) {
            return false;
        }
        reserved.put(inputs, bytes);
        return true;
    }

    /** Of the inputs there is only a frame of so many bytes left. */
    synchronized void encoded(List<? extends CompactionInput> inputs, long bytes) {
        Long before = reserved.get(inputs);
        if (before != null && bytes < before) {
            reserved.put(inputs, bytes);
            memory.release(MemoryUse.COMPACTION, before - bytes);
        }
    }

    /** Nothing is left of the inputs. Nothing happens if they have ended before. */
    synchronized void ended(List<? extends CompactionInput> inputs) {
        Long bytes = reserved.remove(inputs);
        if (bytes != null) {
            memory.release(MemoryUse.COMPACTION, bytes);
        }
    }
}
