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

package dev.dstl.log.segment;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.concurrent.TimeUnit;

/** How fast a store answers reads, from which follows which of them are slow. Thread-safe. */
final class AnswerTimes {

    /** Before anything was read: connecting, too, takes its time. */
    private static final long FIRST_EARLY_RETRY_MILLIS = 1_000;

    private static final long MIN_EARLY_RETRY_MILLIS = 300;
    private static final int EARLY_RETRY_FACTOR = 4;

    private final long firstEarlyRetryMillis;
    private final long minEarlyRetryMillis;

    /** 0 until a request was answered. */
    @GuardedBy("this")
    private long slowestNanos;

    AnswerTimes() {
        this(FIRST_EARLY_RETRY_MILLIS, MIN_EARLY_RETRY_MILLIS);
    }

    /**
     * Creates answer times with other bounds, in milliseconds.
     *
     * @param firstEarlyRetryMillis time after which a request is slow while none was answered
     * @param minEarlyRetryMillis least time after which a later one is slow
     */
    AnswerTimes(long firstEarlyRetryMillis, long minEarlyRetryMillis) {
        this.firstEarlyRetryMillis = firstEarlyRetryMillis;
        this.minEarlyRetryMillis = minEarlyRetryMillis;
    }

    /** Returns the time without a byte after which a request is slow, in milliseconds. */
    synchronized long earlyRetryMillis() {
        return slowestNanos == 0
                ? firstEarlyRetryMillis
                : Math.max(
                        minEarlyRetryMillis,
                        EARLY_RETRY_FACTOR * TimeUnit.NANOSECONDS.toMillis(slowestNanos));
    }

    /**
     * Reports that the store has answered a request.
     *
     * @param nanos time that it took
     */
    synchronized void answered(long nanos) {
        slowestNanos = Math.max(slowestNanos, Math.max(1, nanos));
    }
}
