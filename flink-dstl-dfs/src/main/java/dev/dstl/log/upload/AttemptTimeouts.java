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
import java.util.Arrays;
import java.util.concurrent.TimeUnit;

/**
 * Decides when an attempt is timed out: at upload.timeout, but not before three times the slowest
 * recent upload of similar size. An attempt that is slow because the link is shared or the store is
 * distant does not time out. An upload that took {@value #OUTLIER} times as long as the median has
 * hung, and counts with that duration. Learns from the first success on. Thread-safe.
 */
final class AttemptTimeouts {

    /** Enough to include a slow one in ten, few enough to forget a bad minute. */
    private static final int LATEST = 16;

    private static final int PATIENCE = 3;

    /**
     * The slowest tenth of requests is rarely slower, while hanging requests are answered after
     * minutes.
     */
    private static final int OUTLIER = 10;

    private final RetryPolicy policy;

    @GuardedBy("this")
    private final long[][] nanos = new long[SizeClass.COUNT][LATEST];

    @GuardedBy("this")
    private final long[][] bytes = new long[SizeClass.COUNT][LATEST];

    @GuardedBy("this")
    private final int[] next = new int[SizeClass.COUNT];

    /** Number of uploads that are kept, at most {@link #LATEST}. */
    @GuardedBy("this")
    private final int[] known = new int[SizeClass.COUNT];

    AttemptTimeouts(RetryPolicy policy) {
        this.policy = policy;
    }

    /**
     * Reports that an attempt succeeded, whether it won or not. An attempt that had timed out
     * counts with its timeout, so that a connection that was dead for an hour does not extend the
     * timeouts of all others.
     *
     * @param writtenBytes size of the segment
     * @param tookNanos duration of the attempt
     */
    synchronized void succeeded(long writtenBytes, long tookNanos) {
        long limit = timeoutMillis(writtenBytes);
        if (limit == 0) {
            return;
        }
        int sizeClass = SizeClass.of(writtenBytes);
        int slot = next[sizeClass];
        next[sizeClass] = (slot + 1) % LATEST;
        known[sizeClass] = Math.max(known[sizeClass], slot + 1);
        nanos[sizeClass][slot] = Math.min(tookNanos, TimeUnit.MILLISECONDS.toNanos(limit));
        bytes[sizeClass][slot] = weight(writtenBytes);
    }

    /**
     * Returns the age in milliseconds at which an attempt times out; 0 for never.
     *
     * @param segmentBytes size of its segment
     */
    synchronized long timeoutMillis(long segmentBytes) {
        long configured = policy.timeoutMillis(segmentBytes);
        return configured == 0
                ? 0
                : Math.max(
                        configured,
                        PATIENCE
                                * TimeUnit.NANOSECONDS.toMillis(
                                        neededNanos(
                                                segmentBytes,
                                                TimeUnit.MILLISECONDS.toNanos(configured))));
    }

    /**
     * Returns the duration of the slowest recent upload of that size, or extrapolates from the
     * throughput of the nearest size.
     *
     * @param usualNanos duration up to which an upload did not hang
     */
    @GuardedBy("this")
    private long neededNanos(long segmentBytes, long usualNanos) {
        int sizeClass = nearestKnown(SizeClass.of(segmentBytes));
        if (sizeClass < 0) {
            return 0;
        }
        double[] needed = new double[known[sizeClass]];
        for (int i = 0; i < needed.length; i++) {
            double larger = (double) weight(segmentBytes) / bytes[sizeClass][i];
            needed[i] = nanos[sizeClass][i] * Math.max(1, larger);
        }
        Arrays.sort(needed);
        double median = needed[needed.length / 2];
        return (long)
                Math.min(
                        needed[needed.length - 1], Math.max((double) usualNanos, OUTLIER * median));
    }

    /**
     * Small segments all take about as long; with timeouts proportional to their size, all would
     * wait.
     */
    private static long weight(long segmentBytes) {
        return Math.max(SizeClass.SMALLEST_BYTES, segmentBytes);
    }

    @GuardedBy("this")
    private int nearestKnown(int sizeClass) {
        for (int distance = 0; distance < SizeClass.COUNT; distance++) {
            if (isKnown(sizeClass - distance)) {
                return sizeClass - distance;
            }
            if (isKnown(sizeClass + distance)) {
                return sizeClass + distance;
            }
        }
        return -1;
    }

    @GuardedBy("this")
    private boolean isKnown(int sizeClass) {
        return sizeClass >= 0 && sizeClass < SizeClass.COUNT && known[sizeClass] > 0;
    }
}
