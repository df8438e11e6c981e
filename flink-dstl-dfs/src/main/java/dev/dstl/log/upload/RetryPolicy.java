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

import dev.dstl.log.config.DstlSettings;
import dev.dstl.log.config.RetryMode;

/** Decides when an upload is retried, and when the waiting checkpoint fails. Immutable. */
final class RetryPolicy {

    /** Without second attempts, an attempt this old is given up; more than any slow store needs. */
    private static final long HANG_MILLIS = 60_000;

    private static final int THROTTLED_DOUBLINGS = 2;

    private static final long LARGE_BYTES = 8 << 20;

    private final RetryMode mode;
    private final int maxFailures;
    private final long retryDelayMillis;
    private final long maxRetryDelayMillis;
    private final long timeoutMillis;

    RetryPolicy(DstlSettings settings) {
        mode = settings.retryMode();
        maxFailures = settings.maxFailedAttempts();
        retryDelayMillis = settings.retryDelayMillis();
        maxRetryDelayMillis = settings.maxRetryDelayMillis();
        timeoutMillis = settings.attemptTimeoutMillis();
    }

    /** Whether that many failures decline the checkpoint. */
    boolean givesUpAfter(int failures) {
        switch (mode) {
            case NONE:
                return failures >= 1;
            case FIXED:
                return failures >= maxFailures;
            default:
                return false;
        }
    }

    /**
     * How long to wait after a failure. A store that asks for fewer requests gets them, whatever
     * the policy.
     *
     * @param failures at least 1
     * @param throttled whether the store said that there were too many requests
     * @param random in {@code [0, 1)}; spreads the attempts of many TaskManagers
     */
    long retryDelayMillis(int failures, boolean throttled, double random) {
        if (mode != RetryMode.UNTIL_SUCCESS && !throttled) {
            return retryDelayMillis;
        }
        int doublings = Math.min(failures - 1 + (throttled ? THROTTLED_DOUBLINGS : 0), 30);
        long delay = Math.min(maxRetryDelayMillis, Math.max(1, retryDelayMillis) << doublings);
        return (long) (delay * (0.5 + random / 2));
    }

    /** How long an upload is suspended unless a checkpoint needs it earlier, in ms. */
    long suspensionMillis() {
        return Math.max(1, maxRetryDelayMillis);
    }

    /**
     * Age below which no attempt counts as timed out; 0 for never. Large segments have longer,
     * since their bytes take time; with defaults only compactions write such, for which no
     * checkpoint waits.
     */
    long timeoutMillis(long segmentBytes) {
        return timeoutMillis * scale(segmentBytes);
    }

    /** Whether an attempt may get another one beside it. */
    boolean allowsSecondAttempts() {
        return mode != RetryMode.NONE && timeoutMillis > 0;
    }

    /** Age at which an attempt is given up if {@linkplain #allowsSecondAttempts it is alone}. */
    long hangMillis(long segmentBytes) {
        return HANG_MILLIS * scale(segmentBytes);
    }

    private static long scale(long segmentBytes) {
        return Math.max(1, segmentBytes / LARGE_BYTES);
    }
}
