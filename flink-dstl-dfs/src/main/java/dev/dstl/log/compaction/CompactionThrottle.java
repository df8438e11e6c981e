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
import dev.dstl.log.execution.Timers;
import java.util.concurrent.TimeUnit;

/**
 * Limits compactions that save bytes but are not necessary to a thirtieth of the time of one
 * thread, with pauses of at most half an hour. Counts the time of reading; encoding takes about as
 * long again. Thread-safe.
 */
final class CompactionThrottle {

    /** Length of the pause after a compaction, as a multiple of its duration. */
    private static final int PAUSE = 29;

    /** Reads that were slow for an hour say nothing about the store a day later. */
    private static final long LONGEST_PAUSE_NANOS = TimeUnit.MINUTES.toNanos(30);

    private final Timers timers;

    @GuardedBy("this")
    private long pauseEndNanos;

    /** Creates a throttle without a pause. */
    CompactionThrottle(Timers timers) {
        this.timers = timers;
        this.pauseEndNanos = timers.nanoTime();
    }

    /** Returns whether the last pause is over. */
    synchronized boolean hasTime() {
        return timers.nanoTime() - pauseEndNanos >= 0;
    }

    /**
     * Reports that a compaction has read its inputs.
     *
     * @param startNanos when the read began
     */
    synchronized void worked(long startNanos) {
        long now = timers.nanoTime();
        // Adds to the pause that earlier compactions still require.
        long from = now - pauseEndNanos > 0 ? now : pauseEndNanos;
        long pause = from - now + PAUSE * (now - startNanos);
        pauseEndNanos = now + Math.min(pause, LONGEST_PAUSE_NANOS);
    }
}
