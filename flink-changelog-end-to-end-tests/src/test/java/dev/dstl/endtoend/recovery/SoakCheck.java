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

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.apache.flink.FlinkVersion;
import org.apache.flink.util.FileUtils;
import org.apache.flink.util.TimeUtils;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.CleanupMode;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.io.TempDirFactory;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs rounds of random disturbances. A round that fails ends the run; its directory is kept, and
 * the command that repeats the round is printed.
 *
 * <pre>
 *   -Dsoak.duration=1h   no round begins after that
 *   -Dsoak.seed=S        the first round has this seed, the next one S + 1, ...
 *   -Dsoak.rounds=N      at most so many rounds
 * </pre>
 */
class SoakCheck {

    private static final Logger LOG = LoggerFactory.getLogger(SoakCheck.class);
    private static final int DISTURBANCES = 12;

    @TempDir(factory = TempDirFactory.Standard.class, cleanup = CleanupMode.ON_SUCCESS)
    private Path directory;

    @Test
    void disturbedJobs_loseAndRepeatNothing() throws Exception {
        Duration duration = TimeUtils.parseDuration(System.getProperty("soak.duration", "1h"));
        long first = Long.getLong("soak.seed", System.currentTimeMillis());
        long rounds = Long.getLong("soak.rounds", Long.MAX_VALUE);
        long deadline = System.nanoTime() + duration.toNanos();
        long done = 0;
        while (done < rounds && System.nanoTime() - deadline < 0) {
            run(first + done);
            done++;
            LOG.info("{} rounds of the soak passed, the first with seed {}", done, first);
        }
        assertThat(done).as("rounds in %s", duration).isPositive();
    }

    private void run(long seed) throws Exception {
        boolean isNewest = FlinkVersion.current().isNewerVersionThan(FlinkVersion.v1_20);
        String again =
                String.format(
                        "bin/test %s %d -- -Dsoak.rounds=1",
                        isNewest ? "soak-newest" : "soak", seed);
        LOG.info("This round again: {}", again);
        Path round = Files.createDirectory(directory.resolve("round-" + seed));
        try {
            SoakRound.any(seed, DISTURBANCES, round).run(round);
        } catch (AssertionError e) {
            throw new AssertionError(again + "\n" + e.getMessage(), e);
        }
        FileUtils.deleteDirectory(round.toFile());
    }
}
