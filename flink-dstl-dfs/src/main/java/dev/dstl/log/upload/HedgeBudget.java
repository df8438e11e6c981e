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

package dev.dstl.log.upload;

import com.google.errorprone.annotations.concurrent.GuardedBy;

/**
 * The budget for hedged attempts, in requests and in bytes. Every regular request earns a fraction
 * of a request and of its bytes. Savings are capped, so that a store that is slow as a whole does
 * not get every request twice. Thread-safe.
 */
final class HedgeBudget {

    private static final double MAX_SAVED = 10;

    /** Decay factor of the largest segment size. */
    private static final double FORGETTING = 0.99;

    private final double earnedPerRequest;

    @GuardedBy("this")
    private double saved;

    @GuardedBy("this")
    private double savedBytes;

    /** Size of the largest recent segment. */
    @GuardedBy("this")
    private double largestBytes;

    /**
     * Creates an empty budget.
     *
     * @param earnedPerRequest hedged requests per regular request, and hedged bytes per regular
     *     byte; 0 disables hedging
     */
    HedgeBudget(double earnedPerRequest) {
        this.earnedPerRequest = earnedPerRequest;
    }

    /** Earns budget for a regular request. */
    synchronized void earn(long bytes) {
        largestBytes = Math.max((double) bytes, largestBytes * FORGETTING);
        add(earnedPerRequest, earnedPerRequest * bytes);
    }

    /** Spends budget for one request, if there is enough. */
    synchronized boolean trySpend(long bytes) {
        if (saved < 1 || savedBytes < bytes) {
            return false;
        }
        add(-1, -(double) bytes);
        return true;
    }

    /** Spends budget for a request that is sent in any case. The budget may become negative. */
    synchronized void spend(long bytes) {
        largestBytes = Math.max((double) bytes, largestBytes);
        add(-1, -(double) bytes);
    }

    /** Refunds a request that was not sent. */
    synchronized void giveBack(long bytes) {
        add(1, (double) bytes);
    }

    @GuardedBy("this")
    private void add(double requests, double bytes) {
        saved = Math.max(-MAX_SAVED, Math.min(MAX_SAVED, saved + requests));
        double maxBytes = MAX_SAVED * largestBytes;
        savedBytes = Math.max(-maxBytes, Math.min(maxBytes, savedBytes + bytes));
    }
}
