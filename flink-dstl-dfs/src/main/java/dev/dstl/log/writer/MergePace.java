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

package dev.dstl.log.writer;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.dstl.log.execution.Timers;

/**
 * Keeps merges that are worth it, but not necessary, within a thirtieth of the time of one thread.
 * Counts reading; encoding takes about as much once more. Thread safe.
 */
final class MergePace {

    /** How long to rest, in times of what was worked. */
    private static final int REST = 29;

    private final Timers timers;

    @GuardedBy("this")
    private long restedNanos;

    /** Begins rested. */
    MergePace(Timers timers) {
        this.timers = timers;
        this.restedNanos = timers.nanoTime();
    }

    synchronized boolean isRested() {
        return timers.nanoTime() - restedNanos >= 0;
    }

    /**
     * A merge was read.
     *
     * @param startNanos when that began
     */
    synchronized void worked(long startNanos) {
        long now = timers.nanoTime();
        // What earlier merges owe is not forgotten.
        long from = now - restedNanos > 0 ? now : restedNanos;
        restedNanos = from + REST * (now - startNanos);
    }
}
