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

package dev.dstl.benchmarks.simulated.store;

import java.util.concurrent.TimeUnit;

/** A token bucket that holds at most one second's worth of requests. Thread-safe. */
final class RequestRateLimit {

    private static final double NANOS_PER_SECOND = TimeUnit.SECONDS.toNanos(1);

    private final StoreTime time;
    private final int requestsPerSecond;
    private double tokens;
    private long refilledAtNanos;

    /**
     * Creates a limit.
     *
     * @param requestsPerSecond 0 for no limit
     */
    RequestRateLimit(StoreTime time, int requestsPerSecond) {
        this.time = time;
        this.requestsPerSecond = requestsPerSecond;
        this.tokens = requestsPerSecond;
        this.refilledAtNanos = time.nanoTime();
    }

    /** Takes a token; returns whether there was one. */
    boolean admits() {
        return requestsPerSecond == 0 || tryTake();
    }

    private synchronized boolean tryTake() {
        long now = time.nanoTime();
        double refill = (now - refilledAtNanos) / NANOS_PER_SECOND * requestsPerSecond;
        tokens = Math.min(requestsPerSecond, tokens + refill);
        refilledAtNanos = now;
        if (tokens < 1) {
            return false;
        }
        tokens--;
        return true;
    }
}
