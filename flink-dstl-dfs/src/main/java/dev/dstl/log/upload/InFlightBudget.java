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

package dev.dstl.log.upload;

import dev.dstl.log.memory.JobMemory;
import dev.dstl.log.memory.MemoryUse;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.flink.runtime.io.AvailabilityProvider;

/**
 * The bytes of a job that are sealed and not durable. Reserving never fails, since a checkpoint
 * must not be blocked. Instead, the budget becomes unavailable when the changelog memory of the
 * process is used up, and tasks stop reading input until it is available again. Thread-safe.
 */
public final class InFlightBudget implements AvailabilityProvider {

    private final JobMemory memory;
    private final AtomicLong reservedBytes = new AtomicLong();

    /**
     * Creates a budget that shares its memory with no other job.
     *
     * @param limitBytes reserved bytes at which tasks stop reading input, at least 1
     */
    public InFlightBudget(long limitBytes) {
        this(JobMemory.alone(limitBytes));
    }

    /** Creates a budget that is part of a job's memory. */
    public InFlightBudget(JobMemory memory) {
        this.memory = memory;
    }

    /** Returns the changelog memory of the job. */
    public JobMemory memory() {
        return memory;
    }

    /** Reserves bytes. Never fails. */
    public void reserve(long bytes) {
        memory.reserve(MemoryUse.IN_FLIGHT, bytes);
        reservedBytes.addAndGet(bytes);
    }

    /**
     * Releases bytes, and wakes the tasks if that frees enough.
     *
     * @throws IllegalStateException if fewer bytes are reserved
     */
    public void release(long bytes) {
        memory.release(MemoryUse.IN_FLIGHT, bytes);
        reservedBytes.addAndGet(-bytes);
    }

    /** Returns the reserved bytes. */
    public long reservedBytes() {
        return reservedBytes.get();
    }

    @Override
    public CompletableFuture<?> getAvailableFuture() {
        return memory.getAvailableFuture();
    }
}
