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
 * How many requests may be made that are not strictly needed. Every request that is needed earns a
 * fraction of one; what is not spent is kept, but not for long, so that a store that grows slow as
 * a whole is not asked twice for everything. Thread safe.
 */
final class ExtraRequestBudget {

    private static final double MAX_SAVED = 10;

    private final double earnedPerRequest;

    @GuardedBy("this")
    private double saved;

    /**
     * Starts with nothing.
     *
     * @param earnedPerRequest extra requests per needed one, 0 for none
     */
    ExtraRequestBudget(double earnedPerRequest) {
        this.earnedPerRequest = earnedPerRequest;
    }

    /** A needed request is made. */
    synchronized void earn() {
        saved = Math.min(MAX_SAVED, saved + earnedPerRequest);
    }

    /** Takes one extra request out, if there is one. */
    synchronized boolean trySpend() {
        if (saved < 1) {
            return false;
        }
        saved--;
        return true;
    }

    /** Takes one extra request out that is made in any case; later ones have to wait for it. */
    synchronized void spend() {
        saved = Math.max(-MAX_SAVED, saved - 1);
    }

    /** An extra request that was paid for is not made after all. */
    synchronized void giveBack() {
        saved = Math.min(MAX_SAVED, saved + 1);
    }
}
