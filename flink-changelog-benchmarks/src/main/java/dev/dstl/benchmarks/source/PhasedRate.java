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

package dev.dstl.benchmarks.source;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/**
 * An input in three phases. The first has no rate limit and builds up state; the second is spread
 * evenly over a given time and shows the job under a fixed load; the third again has no rate limit
 * and shows the maximum throughput. The third must be released by the observer of the job, and is
 * throttled until then.
 */
public final class PhasedRate implements Pace {

    private static final long serialVersionUID = 1L;

    /** Slow enough to wait for minutes, fast enough that all tasks receive records. */
    private static final int TRICKLE = 10;

    private final double steadyFrom;
    private final long steadyNanos;
    private final double sprintFrom;
    private final File release;
    private transient boolean released;
    private transient boolean preloaded;
    private transient long preloadNanos;

    /**
     * Creates a rate.
     *
     * @param steadyFrom start of the steady phase, in [0, sprintFrom)
     * @param steady duration of the part [steadyFrom, sprintFrom) of the input
     * @param sprintFrom start of the last phase, in (steadyFrom, 1]
     * @param release file on the machine of the sources that releases the last phase once it exists
     */
    public PhasedRate(double steadyFrom, Duration steady, double sprintFrom, Path release) {
        if (!(steadyFrom >= 0 && sprintFrom > steadyFrom && sprintFrom <= 1)) {
            throw new IllegalArgumentException(
                    "It must be 0 <= steadyFrom < sprintFrom <= 1: "
                            + steadyFrom
                            + ", "
                            + sprintFrom);
        }
        this.steadyFrom = steadyFrom;
        this.steadyNanos = steady.toNanos();
        this.sprintFrom = sprintFrom;
        this.release = release.toFile();
    }

    /** Releases the last phase. */
    public void release() throws IOException {
        Files.createFile(release.toPath());
    }

    @Override
    public long waitNanos(double startFraction, long elapsedNanos, double fraction) {
        if (fraction < steadyFrom || sprintsAt(fraction)) {
            return 0;
        }
        long preload = startFraction < steadyFrom ? preloadNanos(elapsedNanos) : 0;
        return nanosUntil(fraction) - nanosUntil(startFraction) - (elapsedNanos - preload);
    }

    @Override
    public boolean sprintsAt(double fraction) {
        if (fraction < sprintFrom) {
            return false;
        }
        released |= release.exists();
        return released;
    }

    /**
     * Returns how long this attempt took to reach the steady phase; first called when that starts.
     */
    private long preloadNanos(long elapsedNanos) {
        if (!preloaded) {
            preloaded = true;
            preloadNanos = elapsedNanos;
        }
        return preloadNanos;
    }

    /**
     * Returns the time from the start of the steady phase until a position, without the last phase.
     */
    private long nanosUntil(double fraction) {
        double late = Math.max(0, fraction - sprintFrom);
        double steady = Math.max(0, fraction - late - steadyFrom);
        return (long) (steadyNanos * (steady + TRICKLE * late) / (sprintFrom - steadyFrom));
    }
}
