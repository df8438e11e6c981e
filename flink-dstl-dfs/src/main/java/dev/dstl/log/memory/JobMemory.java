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

package dev.dstl.log.memory;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.flink.runtime.io.AvailabilityProvider;

/**
 * The changelog memory of one job, and whether its tasks may read input.
 *
 * <p>Thread-safe. Every reservation must be released, even after {@link #close}.
 */
public final class JobMemory implements AvailabilityProvider, AutoCloseable {

    private final ProcessMemory process;
    private final long configuredLimitBytes;
    private final AtomicLong reservedBytes = new AtomicLong();
    private final AtomicLong activeBytes = new AtomicLong();
    private final List<Runnable> caches = new ArrayList<>();
    private final List<Runnable> listeners = new CopyOnWriteArrayList<>();
    private final List<Runnable> yielding = new CopyOnWriteArrayList<>();

    private volatile CompletableFuture<?> available = AVAILABLE;
    private volatile boolean closed;

    JobMemory(ProcessMemory process, long configuredLimitBytes) {
        this.process = process;
        this.configuredLimitBytes = configuredLimitBytes;
    }

    /**
     * Creates the memory of a job that shares it with no other job.
     *
     * @param limitBytes memory limit, at least 1
     */
    public static JobMemory alone(long limitBytes) {
        return new ProcessMemory().join(limitBytes);
    }

    long configuredLimitBytes() {
        return configuredLimitBytes;
    }

    /** Returns the memory that this job shares with the other jobs of the process. */
    public ProcessMemory process() {
        return process;
    }

    /** Reserves memory that cannot be refused; may exceed the limit. */
    public void reserve(MemoryUse use, long bytes) {
        reservedBytes.addAndGet(bytes);
        if (use == MemoryUse.ACTIVE) {
            activeBytes.addAndGet(bytes);
        }
        process.reserve(use, bytes);
    }

    /**
     * Reserves memory for a use that is optional or can wait.
     *
     * @return false if nothing was reserved
     */
    public boolean tryReserve(MemoryUse use, long bytes) {
        if (!process.tryReserve(use, bytes)) {
            return false;
        }
        reservedBytes.addAndGet(bytes);
        return true;
    }

    /**
     * Releases reserved memory.
     *
     * @throws IllegalStateException if fewer bytes are reserved
     */
    public void release(MemoryUse use, long bytes) {
        long left = reservedBytes.addAndGet(-bytes);
        if (left < 0) {
            reservedBytes.addAndGet(bytes);
            throw new IllegalStateException(
                    "Cannot release " + bytes + " bytes of " + (left + bytes));
        }
        if (use == MemoryUse.ACTIVE) {
            activeBytes.addAndGet(-bytes);
        }
        process.release(use, bytes);
    }

    /** Returns the bytes that active batches of this job hold. */
    long activeBytes() {
        return activeBytes.get();
    }

    /** Returns the bytes reserved by this job, for all uses. */
    public long reservedBytes() {
        return reservedBytes.get();
    }

    /** Returns whether batches should be sealed early because memory is short. */
    public boolean isTight() {
        return process.isTight();
    }

    /**
     * Registers a cache until the job ends.
     *
     * @param drop frees the cache; called on any thread, must not block
     */
    public void addCache(Runnable drop) {
        synchronized (caches) {
            caches.add(drop);
        }
        process.addCache(drop);
    }

    /**
     * Registers an action that runs when tasks of this job are stopped, or those of another job
     * while active batches of this one hold much, to seal them.
     *
     * @param listener called on any thread, including task threads; must not block
     */
    public void whenShort(Runnable listener) {
        listeners.add(listener);
    }

    /**
     * Registers an action that frees what is reserved for {@link MemoryUse#LOCAL_COPIES}, because
     * another use of any job needs it.
     *
     * @param free called on any thread, including task threads; must not block
     */
    public void whenRefused(Runnable free) {
        yielding.add(free);
    }

    void freeCopies() {
        yielding.forEach(Runnable::run);
    }

    void tellShort() {
        listeners.forEach(Runnable::run);
    }

    /** Tasks call this after each record, so it allocates nothing while the job is available. */
    @Override
    public CompletableFuture<?> getAvailableFuture() {
        if (closed || process.allows(reservedBytes)) {
            return AVAILABLE;
        }
        CompletableFuture<?> waiting;
        boolean isNew = false;
        synchronized (this) {
            if (available == AVAILABLE && !closed) {
                available = new CompletableFuture<>();
                process.stopped.incrementAndGet();
                isNew = true;
            }
            waiting = available;
        }
        // A release in between did not see that this task waits.
        wakeIfAvailable();
        if (isNew && !waiting.isDone()) {
            process.tellShort(this);
        }
        return waiting;
    }

    void wakeIfAvailable() {
        if (available == AVAILABLE || !process.allows(reservedBytes)) {
            return;
        }
        wake();
    }

    private void wake() {
        CompletableFuture<?> waiting;
        synchronized (this) {
            waiting = available;
            if (waiting == AVAILABLE) {
                return;
            }
            available = AVAILABLE;
            process.stopped.decrementAndGet();
        }
        waiting.complete(null);
    }

    /** Ends the job: it no longer takes part in sharing the limit, and waiting tasks are woken. */
    @Override
    public void close() {
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
        }
        process.leave(this);
        synchronized (caches) {
            caches.forEach(
                    drop -> {
                        process.removeCache(drop);
                        drop.run();
                    });
            caches.clear();
        }
        listeners.clear();
        yielding.clear();
        wake();
    }
}
