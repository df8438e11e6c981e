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

/** A run of a changelog as the compaction sees it. Guarded by the changelog it belongs to. */
public interface CompactionInput {

    /** What an encoder takes per record while it orders them and looks for obsolete ones. */
    int ENCODER_BYTES_PER_RECORD = 40;

    /**
     * What records take in memory while they are compacted, in bytes.
     *
     * @param sizeBytes of the records alone
     */
    static long memoryBytes(long sizeBytes, int records) {
        return sizeBytes + (long) ENCODER_BYTES_PER_RECORD * records;
    }

    /** The first sequence number in it. */
    long sequence();

    /** How often its records were compacted. */
    int level();

    /**
     * Where it is durable.
     *
     * @throws IllegalStateException if it is not
     */
    BatchPosition position();

    /**
     * Bytes of its frame, positive.
     *
     * @throws IllegalStateException if it is not durable
     */
    default long frameBytes() {
        return position().frameBytes();
    }

    /** What it adds to the memory of a compaction, in bytes; an estimate, if it was compacted. */
    long memoryBytes();

    /**
     * Whether it may become part of a larger one.
     *
     * @param persists of the changelog so far; a run that could not be read backs off for some
     */
    boolean isCompactable(long persists);
}
