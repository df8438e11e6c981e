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

import com.google.errorprone.annotations.concurrent.GuardedBy;

/**
 * The time that compactions wait for an answer of the store. Doubles when it turns out to be too
 * short, and returns to a multiple of the latest response times. Thread-safe.
 */
final class CompactionTimeout {

    private static final int MAX_FACTOR = 64;

    /** Multiple of the slowest response time of the last successful compaction. */
    private static final int MARGIN = 4;

    private final long leastNanos;

    @GuardedBy("this")
    private long nanos;

    /**
     * Creates a timeout.
     *
     * @param leastNanos initial and minimum value
     */
    CompactionTimeout(long leastNanos) {
        this.leastNanos = leastNanos;
        this.nanos = leastNanos;
    }

    /** Returns the age in nanoseconds at which a request is abandoned. */
    synchronized long nanos() {
        return nanos;
    }

    /** Reports that a request was abandoned because of this timeout. */
    synchronized void expired() {
        nanos = Math.min(2 * nanos, MAX_FACTOR * leastNanos);
    }

    /**
     * Reports that a compaction succeeded.
     *
     * @param longestNanos duration of its slowest request
     */
    synchronized void sufficed(long longestNanos) {
        nanos = Math.max(leastNanos, Math.min(nanos, MARGIN * longestNanos));
    }
}
