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
import java.util.concurrent.TimeUnit;

/**
 * Decides when a slow attempt gets a hedged attempt, before it times out: at a quantile of the
 * recent latencies of segments of similar size, if the hedge budget allows it. Learns from every
 * attempt that succeeds, and from those that were cancelled because they were slow. Deterministic.
 * Thread-safe.
 */
final class Hedging {

    /**
     * Maximum lifetime of a hedge, as a multiple of the age at which it was started. A hedge serves
     * if one request is slow; if the hedge is slow as well, the cause is another one.
     */
    private static final int LIFETIME = 2;

    private final HedgeBudget budget;
    private final boolean enabled;
    private final double quantile;
    private final long minDelayMillis;
    private final long timeoutMillis;
    private final LatencyWindow[] windows = new LatencyWindow[SizeClass.COUNT];

    Hedging(DstlSettings settings) {
        budget = new HedgeBudget(settings.hedgeBudget());
        timeoutMillis = settings.attemptTimeoutMillis();
        enabled =
                settings.retryMode() != RetryMode.NONE
                        && timeoutMillis > 0
                        && settings.hedgeBudget() > 0;
        quantile = settings.hedgeQuantile();
        minDelayMillis = settings.minHedgeDelayMillis();
        for (int i = 0; i < SizeClass.COUNT; i++) {
            windows[i] = new LatencyWindow();
        }
    }

    /**
     * Reports the duration of an attempt that succeeded, or the age of a slow attempt that was
     * cancelled.
     */
    void took(long bytes, long nanos) {
        windows[SizeClass.of(bytes)].add(nanos);
    }

    /**
     * Returns the age in milliseconds at which an attempt is hedged, lower than the timeout; 0 for
     * never.
     *
     * @param bytes size of its segment
     */
    long delayMillis(long bytes) {
        if (!enabled) {
            return 0;
        }
        long nanos = windows[SizeClass.of(bytes)].quantileNanos(quantile);
        if (nanos == LatencyWindow.UNKNOWN) {
            return 0;
        }
        // Rounded up: an attempt that is not slower than the quantile is not hedged.
        long millis = TimeUnit.NANOSECONDS.toMillis(nanos) + 1;
        long delay = Math.max(millis, minDelayMillis);
        return delay < timeoutMillis ? delay : 0;
    }

    /**
     * Returns the age in milliseconds at which a hedge is cancelled, because it is as slow as the
     * attempt that it was to overtake and takes bandwidth from it.
     *
     * @param delayMillis age of the other attempt when the hedge was started
     */
    static long lifetimeMillis(long delayMillis) {
        return LIFETIME * delayMillis;
    }

    /** Returns the budget for hedges. */
    HedgeBudget budget() {
        return budget;
    }
}
