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

/** Decides when an upload is retried and when waiting checkpoints are declined. Immutable. */
final class RetryPolicy {

    /** No store that is merely slow needs so long for a response. */
    private static final long HANG_MILLIS = 60_000;

    /**
     * Throughput of the slowest link on which an attempt does not count as hanging, for clients
     * that take all bytes at once and send them when the file is closed.
     */
    private static final long SLOWEST_BYTES_PER_SECOND = 64 << 10;

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

    /** Returns whether the given number of failures declines waiting checkpoints. */
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
     * Returns the delay before the next attempt, in milliseconds. With any policy, the delay is
     * longer if the store asks for fewer requests.
     *
     * @param failures number of failed attempts, at least 1
     * @param throttled whether the store rejected the last attempt because of too many requests
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

    /**
     * Returns how long an upload stays suspended unless a checkpoint needs it earlier, in
     * milliseconds.
     */
    long suspensionMillis() {
        return Math.max(1, maxRetryDelayMillis);
    }

    /**
     * Returns the age in milliseconds before which no attempt times out; 0 for never. Higher for
     * large segments, since their bytes take time; with the defaults, only compaction writes such
     * segments, and no checkpoint waits for these.
     */
    long timeoutMillis(long segmentBytes) {
        return timeoutMillis * scale(segmentBytes);
    }

    /** Returns whether an attempt may get a second, concurrent attempt. */
    boolean allowsSecondAttempts() {
        return mode != RetryMode.NONE && timeoutMillis > 0;
    }

    /**
     * Returns for how many milliseconds an attempt may make no progress before it is given up, if
     * {@linkplain #allowsSecondAttempts second attempts} are not allowed.
     *
     * @param liveBytes size of all segments that are being written, since they share the link
     */
    long hangMillis(long liveBytes) {
        return HANG_MILLIS + liveBytes * 1_000 / SLOWEST_BYTES_PER_SECOND;
    }

    private static long scale(long segmentBytes) {
        return Math.max(1, segmentBytes / LARGE_BYTES);
    }
}
