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

package dev.dstl.log.simulation.cluster;

/** Bounds of a changelog after compaction that had enough time. Immutable. */
public final class CompactionBounds {

    /** Memory that an encoder needs per record. */
    private static final long BYTES_PER_RECORD = 40;

    private final long maxBytes;
    private final long maxMemoryBytes;
    private final int runLimit;

    /**
     * @param maxBytes that become one run, in frames
     * @param maxMemoryBytes that become one run, in records
     */
    CompactionBounds(long maxBytes, long maxMemoryBytes, int runLimit) {
        this.maxBytes = maxBytes;
        this.maxMemoryBytes = maxMemoryBytes;
        this.runLimit = runLimit;
    }

    /** Worst case: above the limit, no two neighbours fit into one run. */
    public long mostRuns(LogHandle changelog) {
        long memoryBytes = changelog.recordBytes() + BYTES_PER_RECORD * changelog.records();
        return runLimit + 2 * changelog.bytes() / maxBytes + 2 * memoryBytes / maxMemoryBytes;
    }
}
