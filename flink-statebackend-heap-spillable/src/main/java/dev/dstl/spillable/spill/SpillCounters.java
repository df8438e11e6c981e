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

package dev.dstl.spillable.spill;

/**
 * What the scheduler did and what is where. Written on the task thread, read by any thread that
 * reports metrics.
 */
public final class SpillCounters {

    private volatile long heapEntries;
    private volatile long spilledEntries;
    private volatile int heapGroups;
    private volatile int spilledGroups;
    private volatile long heapBytes;
    private volatile long timers;
    private volatile long timerBytes;
    private volatile long movedOut;
    private volatile long movedOutBytes;
    private volatile long movedIn;
    private volatile long refusals;
    private volatile long longestPauseNanos;

    void placed(long onHeap, long spilled, int groupsOnHeap, int groupsSpilled, long bytesOnHeap) {
        heapEntries = onHeap;
        spilledEntries = spilled;
        heapGroups = groupsOnHeap;
        spilledGroups = groupsSpilled;
        heapBytes = bytesOnHeap;
    }

    void timers(long count, long bytes) {
        timers = count;
        timerBytes = bytes;
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // one writer
    void spilled(long entries, long bytes) {
        movedOut += entries;
        movedOutBytes += bytes;
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // one writer
    void loaded(long entries) {
        movedIn += entries;
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // one writer
    void refused() {
        refusals++;
    }

    void paused(long nanos) {
        longestPauseNanos = Math.max(longestPauseNanos, nanos);
    }

    /** Entries on the heap. */
    public long heapEntries() {
        return heapEntries;
    }

    /** Entries off-heap. */
    public long spilledEntries() {
        return spilledEntries;
    }

    /** Key groups of all states that have all their entries on the heap. */
    public int heapGroups() {
        return heapGroups;
    }

    /** Key groups of all states that have entries off-heap or are about to. */
    public int spilledGroups() {
        return spilledGroups;
    }

    /** Estimated bytes of the entries on the heap. */
    public long heapBytes() {
        return heapBytes;
    }

    /** Timers, all of which are on the heap. */
    public long timers() {
        return timers;
    }

    /** Estimated bytes of the timers. */
    public long timerBytes() {
        return timerBytes;
    }

    /** Entries spilled so far. */
    public long movedOut() {
        return movedOut;
    }

    /** Bytes that spilled entries have taken off-heap so far, when they were spilled. */
    public long movedOutBytes() {
        return movedOutBytes;
    }

    /** Entries loaded back so far. */
    public long movedIn() {
        return movedIn;
    }

    /** Requests dropped so far because there was no room for spilled state. */
    public long refusals() {
        return refusals;
    }

    /** Longest time for which the task thread moved state between two records, in nanoseconds. */
    public long longestPauseNanos() {
        return longestPauseNanos;
    }
}
