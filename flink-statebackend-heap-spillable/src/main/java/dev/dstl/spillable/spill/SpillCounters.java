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

    public long heapEntries() {
        return heapEntries;
    }

    public long spilledEntries() {
        return spilledEntries;
    }

    public int heapGroups() {
        return heapGroups;
    }

    public int spilledGroups() {
        return spilledGroups;
    }

    public long heapBytes() {
        return heapBytes;
    }

    public long movedOut() {
        return movedOut;
    }

    public long movedOutBytes() {
        return movedOutBytes;
    }

    public long movedIn() {
        return movedIn;
    }

    public long refusals() {
        return refusals;
    }

    public long longestPauseNanos() {
        return longestPauseNanos;
    }
}
