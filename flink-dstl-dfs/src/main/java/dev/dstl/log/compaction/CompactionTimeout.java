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
 * How long compactions wait for an answer of the store. What is too short for the store doubles,
 * and falls back to a few times of what it lately needed. Thread safe.
 */
final class CompactionTimeout {

    private static final int MAX_FACTOR = 64;

    /** In times of what the store lately needed. */
    private static final int MARGIN = 4;

    private final long leastNanos;

    @GuardedBy("this")
    private long nanos;

    /**
     * @param leastNanos where to begin, and never to fall below
     */
    CompactionTimeout(long leastNanos) {
        this.leastNanos = leastNanos;
        this.nanos = leastNanos;
    }

    /** Age at which a request is given up. */
    synchronized long nanos() {
        return nanos;
    }

    /** A request was given up at that age. */
    synchronized void expired() {
        nanos = Math.min(2 * nanos, MAX_FACTOR * leastNanos);
    }

    /**
     * A compaction got what it asked for.
     *
     * @param longestNanos what its slowest request took
     */
    synchronized void sufficed(long longestNanos) {
        nanos = Math.max(leastNanos, Math.min(nanos, MARGIN * longestNanos));
    }
}
