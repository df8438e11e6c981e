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

package dev.dstl.endtoend.recovery;

import dev.dstl.benchmarks.source.Pace;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/**
 * A slow input until the gate is opened, then without a rate limit: a test acts while records flow,
 * takes the time it needs, and then lets the job finish quickly.
 */
final class GatedPace implements Pace {

    private static final long serialVersionUID = 1L;

    private final File gate;
    private final long wholeInputNanos;

    /**
     * Creates a pace.
     *
     * @param wholeInput how long the input would take if the gate were never opened
     */
    GatedPace(Path gate, Duration wholeInput) {
        this.gate = gate.toFile();
        this.wholeInputNanos = wholeInput.toNanos();
    }

    void open() throws IOException {
        Files.createFile(gate.toPath());
    }

    @Override
    public long waitNanos(double startFraction, long elapsedNanos, double fraction) {
        long early = (long) (wholeInputNanos * (fraction - startFraction)) - elapsedNanos;
        return early > 0 && !gate.exists() ? early : 0;
    }

    @Override
    public boolean sprintsAt(double fraction) {
        return gate.exists();
    }
}
