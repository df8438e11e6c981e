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

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The changelog memory of all jobs of a process and its limit. Jobs register and unregister; the
 * largest limit of the registered jobs applies.
 *
 * <p>A quarter of the limit is guaranteed to the jobs in equal shares: a job below its share is
 * never stopped. A job above it is stopped as soon as the remaining memory is needed for the shares
 * of the others. So all jobs together stay within the limit, and none can starve another. Where
 * jobs stop is thus the limit for one job, and approaches three quarters of it for many.
 *
 * <p>Records that must be kept are always granted memory; from there on, tasks stop reading input.
 * Optional or deferrable uses are refused above three quarters of it. Copies that wait for a local
 * disk are given up where that makes room for another use. They are also given up, and caches
 * dropped, where input stops, so that as much is reserved as stops input if and only if it stops.
 *
 * <pre>
 *   0                                      3/4 stop                stop      limit
 *   |---------------------------------------|------------------------|---------|
 *   |  compaction, copies, caches: granted  |  refused               |  caches dropped,
 *   |  input goes on                        |                        |  copies given up,
 *   |                                       |                        |  input of jobs above
 *   |                                       |                        |  their share stops
 * </pre>
 *
 * <p>Thread-safe. Reserving and releasing take no lock unless a job is stopped.
 */
public final class ProcessMemory {

    private static final ProcessMemory SHARED = new ProcessMemory();

    /** Fraction of the bytes that stop input above which optional uses are refused. */
    private static final double REFUSABLE_SHARE = 0.75;

    /** Fraction of the limit above which batches are sealed early. */
    private static final double TIGHT_SHARE = 0.5;

    /**
     * Divisor of the limit for what the active batches of all tasks hold together before they are
     * sealed early. Below it that would free little: where compaction holds the memory, small
     * batches would only give it more to compact.
     */
    private static final int ACTIVE_SHARE = 8;

    /** Divisor of the limit for the part that is guaranteed to the jobs in equal shares. */
    private static final int OWN_SHARE = 4;

    /** All uses but caches and restores. */
    private final AtomicLong neededBytes = new AtomicLong();

    private final Map<MemoryUse, AtomicLong> reservedByUse = new EnumMap<>(MemoryUse.class);
    private final List<JobMemory> jobs = new CopyOnWriteArrayList<>();
    private final List<Runnable> caches = new CopyOnWriteArrayList<>();

    /** Number of jobs whose tasks are stopped. */
    final AtomicInteger stopped = new AtomicInteger();

    private volatile Limits limits = new Limits(0, 0);

    /** Creates memory without jobs, for tests and tools. See {@link #shared()}. */
    public ProcessMemory() {
        for (MemoryUse use : MemoryUse.values()) {
            reservedByUse.put(use, new AtomicLong());
        }
    }

    /** Returns the memory of this process. */
    public static ProcessMemory shared() {
        return SHARED;
    }

    /**
     * Adds a job.
     *
     * @param limitBytes limit configured for the job, at least 1
     * @return to be closed when the job ends
     */
    public JobMemory join(long limitBytes) {
        JobMemory job = new JobMemory(this, limitBytes);
        synchronized (this) {
            jobs.add(job);
            updateLimits();
        }
        wakeStopped();
        return job;
    }

    void leave(JobMemory job) {
        boolean last;
        synchronized (this) {
            jobs.remove(job);
            updateLimits();
            last = jobs.isEmpty();
        }
        if (last) {
            dropCaches();
        }
        wakeStopped();
    }

    @GuardedBy("this")
    private void updateLimits() {
        long limitBytes = jobs.stream().mapToLong(JobMemory::configuredLimitBytes).max().orElse(0);
        limits = new Limits(limitBytes, jobs.size());
    }

    /**
     * Registers a cache.
     *
     * @param drop frees the cache; called on any thread, must not block
     */
    public void addCache(Runnable drop) {
        caches.add(drop);
    }

    void removeCache(Runnable drop) {
        caches.remove(drop);
    }

    private void dropCaches() {
        caches.forEach(Runnable::run);
    }

    /** Reserves memory that cannot be refused. */
    void reserve(MemoryUse use, long bytes) {
        reservedByUse.get(use).addAndGet(bytes);
        long needed = neededBytes.addAndGet(bytes);
        if (needed >= limits.stopBytes && reservedBytes(MemoryUse.LOCAL_COPIES) > 0) {
            jobs.forEach(JobMemory::freeCopies);
        }
        long idle = reservedBytes(MemoryUse.IDLE);
        if (idle > 0 && needed + idle >= limits.stopBytes) {
            dropCaches();
        }
    }

    /**
     * Reserves memory for a use that is optional or can wait. Caches are dropped to make room, and
     * copies that wait for a local disk, except for another one. Always granted while there is no
     * job.
     *
     * @return false if nothing was reserved
     */
    boolean tryReserve(MemoryUse use, long bytes) {
        Limits current = limits;
        long needed = neededBytes.addAndGet(bytes);
        if (needed > current.refusableBytes && copiesMakeRoom(use, needed, current)) {
            needed = neededBytes.get();
        }
        if (needed > current.refusableBytes && current.jobs > 0) {
            neededBytes.addAndGet(-bytes);
            // Other jobs may have been stopped by this short-lived reservation.
            wakeStopped();
            return false;
        }
        reservedByUse.get(use).addAndGet(bytes);
        if (needed + reservedBytes(MemoryUse.IDLE) > current.refusableBytes) {
            dropCaches();
        }
        return true;
    }

    /** Gives up copies if enough of them wait for a local disk; returns whether any were. */
    private boolean copiesMakeRoom(MemoryUse use, long needed, Limits current) {
        long copies = reservedBytes(MemoryUse.LOCAL_COPIES);
        boolean enough = copies > 0 && needed - copies <= current.refusableBytes;
        if (!enough || use == MemoryUse.LOCAL_COPIES) {
            return false;
        }
        jobs.forEach(JobMemory::freeCopies);
        return true;
    }

    /**
     * Releases reserved memory, and wakes tasks if there is room for them now.
     *
     * @throws IllegalStateException if fewer bytes are reserved for that use
     */
    void release(MemoryUse use, long bytes) {
        takeAway(use, bytes);
        neededBytes.addAndGet(-bytes);
        wakeStopped();
    }

    private void takeAway(MemoryUse use, long bytes) {
        long left = reservedByUse.get(use).addAndGet(-bytes);
        if (left < 0) {
            reservedByUse.get(use).addAndGet(bytes);
            throw new IllegalStateException(
                    String.format("Cannot release %d bytes of %d (%s)", bytes, left + bytes, use));
        }
    }

    /**
     * Reserves memory for a cache. Never granted while there is no job.
     *
     * @return false if nothing was reserved
     */
    public boolean tryKeep(long bytes) {
        long idle = reservedByUse.get(MemoryUse.IDLE).addAndGet(bytes);
        if (neededBytes.get() + idle > limits.refusableBytes) {
            reservedByUse.get(MemoryUse.IDLE).addAndGet(-bytes);
            return false;
        }
        return true;
    }

    /** Releases memory of a cache. */
    public void take(long bytes) {
        takeAway(MemoryUse.IDLE, bytes);
    }

    /**
     * Reserves memory for state changes that are read and not yet replayed. It has a limit of its
     * own: a job that restores has no other state changes in memory yet, and should not stop those
     * that run.
     *
     * @param limitBytes limit for all restores of the process together
     * @return false if nothing was reserved
     */
    public boolean tryReserveForRestore(long bytes, long limitBytes) {
        AtomicLong reserved = reservedByUse.get(MemoryUse.RESTORE);
        if (reserved.addAndGet(bytes) > limitBytes) {
            reserved.addAndGet(-bytes);
            return false;
        }
        return true;
    }

    /** Releases memory of a restore. */
    public void releaseOfRestore(long bytes) {
        takeAway(MemoryUse.RESTORE, bytes);
    }

    /**
     * Reserves memory for data that a compaction fetches ahead, which counts for no job.
     *
     * @return false if nothing was reserved
     */
    public boolean tryReserveReadAhead(long bytes) {
        return tryReserve(MemoryUse.READ_AHEAD, bytes);
    }

    /** Releases memory of fetched data. */
    public void releaseReadAhead(long bytes) {
        release(MemoryUse.READ_AHEAD, bytes);
    }

    void wakeStopped() {
        if (stopped.get() > 0) {
            jobs.forEach(JobMemory::wakeIfAvailable);
        }
    }

    /**
     * Asks the tasks of a stopped job to seal their active batches. Those of another job are asked
     * where this frees much; otherwise each stop would cost it a write and a run.
     */
    void tellShort(JobMemory stopped) {
        boolean tight = isTight();
        Limits current = limits;
        long much = current.limitBytes / ACTIVE_SHARE / Math.max(1, current.jobs);
        for (JobMemory job : jobs) {
            if (job == stopped || (tight && job.activeBytes() >= much)) {
                job.tellShort();
            }
        }
    }

    /** Returns whether a job with so many reserved bytes may read input. */
    boolean allows(AtomicLong bytesOfJob) {
        Limits current = limits;
        return neededBytes.get() < current.stopBytes || bytesOfJob.get() < current.ownBytes;
    }

    /**
     * Returns whether so much is reserved that batches should be sealed early. Copies that wait for
     * a local disk make way, so they do not count.
     */
    boolean isTight() {
        Limits current = limits;
        return current.jobs > 0
                && neededBytes.get() - reservedBytes(MemoryUse.LOCAL_COPIES) >= current.tightBytes
                && reservedBytes(MemoryUse.ACTIVE) >= current.limitBytes / ACTIVE_SHARE;
    }

    /** Returns the bytes reserved for all uses that the limit applies to. */
    public long reservedBytes() {
        return neededBytes.get() + reservedBytes(MemoryUse.IDLE);
    }

    /** Returns the bytes reserved for one use. */
    public long reservedBytes(MemoryUse use) {
        return reservedByUse.get(use).get();
    }

    /**
     * Returns the {@link #reservedBytes()} at which the input of jobs above their share stops: from
     * three quarters of the limit to the limit; 0 while there is no job.
     */
    public long stopBytes() {
        return limits.stopBytes;
    }

    private static final class Limits {
        private final long limitBytes;
        private final int jobs;
        private final long ownBytes;
        private final long stopBytes;
        private final long refusableBytes;
        private final long tightBytes;

        private Limits(long limitBytes, int jobs) {
            this.limitBytes = limitBytes;
            this.jobs = jobs;
            // One byte, so that a job without reservations is never stopped.
            this.ownBytes = Math.max(1, limitBytes / OWN_SHARE / Math.max(1, jobs));
            this.stopBytes = limitBytes - Math.max(0, jobs - 1) * (ownBytes - 1);
            this.refusableBytes = (long) (REFUSABLE_SHARE * stopBytes);
            this.tightBytes = (long) (TIGHT_SHARE * limitBytes);
        }
    }
}
