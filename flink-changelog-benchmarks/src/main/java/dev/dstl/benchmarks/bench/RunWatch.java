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

package dev.dstl.benchmarks.bench;

import dev.dstl.benchmarks.display.Display;
import java.util.Locale;

/** Shows the progress of a run and of the whole benchmark. Used by one thread. */
final class RunWatch {

    private static final double NANOS_PER_SECOND = 1e9;

    private final Display display;
    private final String name;
    private final int before;
    private final int runs;
    private final double expectedSeconds;
    private final long startNanos = System.nanoTime();
    private long lastRecords;
    private long lastNanos = startNanos;

    /**
     * Starts with the run.
     *
     * @param before number of runs that are done
     * @param runs number of runs of the benchmark
     * @param expectedSeconds expected duration of this run
     */
    RunWatch(Display display, String name, int before, int runs, double expectedSeconds) {
        this.display = display;
        this.name = name;
        this.before = before;
        this.runs = runs;
        this.expectedSeconds = expectedSeconds;
    }

    /** Shows the progress of the job. */
    void advanced(String what, long records) {
        long now = System.nanoTime();
        double rate =
                (records - lastRecords) / Math.max(1e-9, (now - lastNanos) / NANOS_PER_SECOND);
        lastRecords = records;
        lastNanos = now;
        says(String.format(Locale.ROOT, "%s, %,.0f records/s", what, rate));
    }

    /** Shows another activity. */
    void says(String what) {
        double seconds = (System.nanoTime() - startNanos) / NANOS_PER_SECOND;
        double fraction = (before + Math.min(0.99, seconds / expectedSeconds)) / runs;
        display.progress(
                fraction, String.format(Locale.ROOT, "%d/%d %s: %s", before + 1, runs, name, what));
    }
}
