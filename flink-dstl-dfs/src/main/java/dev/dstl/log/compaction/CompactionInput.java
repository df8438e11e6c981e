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

import dev.dstl.log.commit.BatchPosition;

/** A run of a changelog, as seen by compaction. Guarded by the lock of its changelog. */
public interface CompactionInput {

    /**
     * Memory that the encoder needs per record to sort records and find obsolete ones, in bytes.
     */
    int ENCODER_BYTES_PER_RECORD = 40;

    /**
     * Returns the memory that records take while they are compacted, in bytes.
     *
     * @param sizeBytes size of the records alone
     * @param records number of the records
     */
    static long memoryBytes(long sizeBytes, int records) {
        return sizeBytes + (long) ENCODER_BYTES_PER_RECORD * records;
    }

    /** Returns the first sequence number of the run. */
    long sequence();

    /** Returns how often the records of the run were compacted. */
    int level();

    /**
     * Returns the position of the durable run.
     *
     * @throws IllegalStateException if the run is not durable
     */
    BatchPosition position();

    /**
     * Returns the length of the run's frame in bytes, positive.
     *
     * @throws IllegalStateException if the run is not durable
     */
    default long frameBytes() {
        return position().frameBytes();
    }

    /**
     * Returns the memory that a compaction needs for the records of the run, in bytes; an estimate
     * if the run was compacted before.
     */
    long memoryBytes();

    /**
     * Returns whether the run may be an input of a compaction.
     *
     * @param persists number of persists of the changelog so far; a run that could not be read
     *     backs off for some of them
     */
    boolean isCompactable(long persists);
}
