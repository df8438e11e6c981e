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
 * The first part of an input evenly over a given time, the rest as fast as the job takes it: the
 * first shows the job under a load that does not depend on how fast it is, the second how fast it
 * is. The rest has to be released by whoever watches the job, and only trickles until then.
 */
public final class SteadyThenSprint implements Pace {

    private static final long serialVersionUID = 1L;

    /** Slow enough to wait for minutes, fast enough that all tasks see records. */
    private static final int TRICKLE = 10;

    private final long steadyNanos;
    private final double sprintFrom;
    private final File release;
    private transient boolean released;

    /**
     * Creates a pace.
     *
     * @param steady how long the part [0, sprintFrom) of the input takes
     * @param sprintFrom in (0, 1]
     * @param release a file on the machine of the sources; the sprint may come once it exists
     */
    public SteadyThenSprint(Duration steady, double sprintFrom, Path release) {
        if (!(sprintFrom > 0 && sprintFrom <= 1)) {
            throw new IllegalArgumentException("sprintFrom must be in (0, 1]: " + sprintFrom);
        }
        this.steadyNanos = steady.toNanos();
        this.sprintFrom = sprintFrom;
        this.release = release.toFile();
    }

    /** Lets the sprint come. */
    public void release() throws IOException {
        Files.createFile(release.toPath());
    }

    @Override
    public long waitNanos(double startFraction, long elapsedNanos, double fraction) {
        return sprintsAt(fraction)
                ? 0
                : nanosUntil(fraction) - nanosUntil(startFraction) - elapsedNanos;
    }

    @Override
    public boolean sprintsAt(double fraction) {
        if (fraction < sprintFrom) {
            return false;
        }
        released |= release.exists();
        return released;
    }

    /** From the beginning of the input, without a sprint. */
    private long nanosUntil(double fraction) {
        double late = Math.max(0, fraction - sprintFrom);
        double steady = fraction - late;
        return (long) (steadyNanos * (steady + TRICKLE * late) / sprintFrom);
    }
}
