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
 * An input in three phases. The first comes as fast as the job takes it and builds up state; the
 * second comes evenly over a given time and shows the job under a load that does not depend on how
 * fast it is; the rest again comes as fast as the job takes it and shows how fast it is. The rest
 * has to be released by the observer of the job, and is throttled until then.
 */
public final class PhasedRate implements Pace {

    private static final long serialVersionUID = 1L;

    /** Slow enough to wait for minutes, fast enough that all tasks see records. */
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
     * @param steadyFrom where the steady phase begins, in [0, sprintFrom)
     * @param steady how long the part [steadyFrom, sprintFrom) of the input takes
     * @param sprintFrom where the last phase begins, in (steadyFrom, 1]
     * @param release a file on the machine of the sources; the last phase may come once it exists
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

    /** Lets the last phase come. */
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

    /** How long this attempt took to the steady phase, asked first when it begins. */
    private long preloadNanos(long elapsedNanos) {
        if (!preloaded) {
            preloaded = true;
            preloadNanos = elapsedNanos;
        }
        return preloadNanos;
    }

    /** From the beginning of the steady phase, without a sprint. */
    private long nanosUntil(double fraction) {
        double late = Math.max(0, fraction - sprintFrom);
        double steady = Math.max(0, fraction - late - steadyFrom);
        return (long) (steadyNanos * (steady + TRICKLE * late) / (sprintFrom - steadyFrom));
    }
}
