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

package dev.dstl.log.writer;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.dstl.log.memory.JobMemory;
import dev.dstl.log.memory.MemoryUse;
import java.util.IdentityHashMap;
import java.util.List;

/**
 * What merges take of the memory of the job, by run. A run is only merged if there is room for all
 * its records; otherwise a later checkpoint asks again. Thread safe.
 */
final class MergeMemory {

    /** The share of the limit that a merge may take at most is one in so many. */
    private static final int LIMIT_SHARE = 2;

    private final JobMemory memory;

    @GuardedBy("this")
    private final IdentityHashMap<List<TailBatch>, Long> reserved = new IdentityHashMap<>();

    MergeMemory(JobMemory memory) {
        this.memory = memory;
    }

    /** What the records of a merge may take, of so much in flight. */
    static long mostBytes(long maxInFlightBytes) {
        return maxInFlightBytes / LIMIT_SHARE;
    }

    /**
     * Reserves what the records of a run take.
     *
     * @return the run, to be ended later; empty if there is no room for it now
     */
    synchronized List<TailBatch> admit(List<TailBatch> run) {
        long bytes = run.stream().mapToLong(TailBatch::memoryBytes).sum();
        if (run.isEmpty() || !memory.tryReserve(MemoryUse.MERGES, bytes)) {
            return List.of();
        }
        reserved.put(run, bytes);
        return run;
    }

    /** Of a run there is only a segment of so many bytes left. */
    synchronized void encoded(List<TailBatch> run, long bytes) {
        Long before = reserved.get(run);
        if (before != null && bytes < before) {
            reserved.put(run, bytes);
            memory.release(MemoryUse.MERGES, before - bytes);
        }
    }

    /** Nothing is left of a run. Nothing happens if it has ended before. */
    synchronized void ended(List<TailBatch> run) {
        Long bytes = reserved.remove(run);
        if (bytes != null) {
            memory.release(MemoryUse.MERGES, bytes);
        }
    }
}
