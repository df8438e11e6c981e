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

package dev.dstl.changelog.differential;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.dstl.changelog.differential.schema.TypeFamily;
import dev.dstl.changelog.differential.world.Coverage;
import dev.dstl.changelog.differential.world.Storage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * Runs seeds {@code [differential.first, differential.first + differential.count)}. The first one
 * that fails is written to a file step by step, and also reduced to as few steps as possible.
 */
class DifferentialTest {

    private static final long FIRST = Long.getLong("differential.first", 0);
    private static final long COUNT = Long.getLong("differential.count", 115);
    private static final int ENOUGH_FAILURES = Integer.getInteger("differential.failures", 5);

    /** Number of seeds from which on every condition must have occurred. */
    private static final long ENOUGH_SEEDS = 115;

    private static DifferentialRun run;

    @BeforeAll
    static void run() throws Exception {
        long start = System.nanoTime();
        run = DifferentialRun.of(FIRST, COUNT, ENOUGH_FAILURES);
        long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
        System.out.printf("%s, in %d ms%n", run, millis);
    }

    @Test
    void everyJobFindsTheStateThatItHasOnAPlainBackend() throws Exception {
        if (!run.failures().isEmpty()) {
            writeDown(run.failures().get(0));
        }
        assertThat(
                        run.failures().stream()
                                .map(DifferentialResult::toString)
                                .collect(Collectors.joining("\n")))
                .isEmpty();
    }

    /** Without all conditions, the other test would prove nothing. */
    @Test
    void everyConditionOccurs() {
        assumeThat(COUNT).as("seeds").isGreaterThanOrEqualTo(ENOUGH_SEEDS);
        assertThat(run.coverage())
                .containsKeys(Coverage.values())
                .containsKeys(Storage.values())
                .containsKeys(TypeFamily.values());
    }

    private static void writeDown(DifferentialResult failing) throws Exception {
        write(failing, "");
        write(Shrinking.of(failing), "-shrunk");
    }

    private static void write(DifferentialResult failing, String suffix) throws IOException {
        Path file =
                Paths.get(
                        "target",
                        "differential",
                        "seed-" + failing.history().seed() + suffix + ".txt");
        Files.createDirectories(file.getParent());
        Files.writeString(file, failing.story());
        System.out.printf("What happened is in %s%n", file.toAbsolutePath());
    }
}
