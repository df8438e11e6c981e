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

/**
 * The target of compaction for one changelog. Thread-safe: the task sets the base, compaction reads
 * it.
 */
public final class CompactionGoal {

    private final int runLimit;
    private volatile long baseBytes;

    /**
     * Creates a goal for a base of unknown size.
     *
     * @param runLimit number of runs to stay below where there is time, at least 2
     */
    public CompactionGoal(int runLimit) {
        this.runLimit = runLimit;
    }

    /**
     * Sets the size of the current base.
     *
     * @param bytes total size of its files, not negative
     */
    public void setBaseBytes(long bytes) {
        baseBytes = bytes;
    }

    int runLimit() {
        return runLimit;
    }

    /** Returns the size of the base in bytes; 0 while it is unknown. */
    long baseBytes() {
        return baseBytes;
    }
}
