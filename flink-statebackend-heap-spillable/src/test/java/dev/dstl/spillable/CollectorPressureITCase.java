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

package dev.dstl.spillable;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** State that does not fit on the heap, with each garbage collector of every JDK 17. */
class CollectorPressureITCase {

    /** Number of words; each takes about 130 bytes on the heap. */
    private static final String WORDS = "700000";

    private static final String HEAP = "-Xmx72m";

    @TempDir Path directory;

    @ParameterizedTest
    @ValueSource(strings = {"G1GC", "ParallelGC", "SerialGC", "ZGC"})
    void stateLargerThanTheHeapInOneKeyGroup_isSpilledInTime(String collector) throws Exception {
        assumeTrue(
                !collector.equals("ZGC") || Runtime.version().feature() >= 15,
                "ZGC was an experiment before Java 15");
        try (ChildProcess run =
                ChildProcess.start(
                        directory,
                        Collections.emptyList(),
                        Arrays.asList(HEAP, "-XX:+Use" + collector),
                        CountingProcess.class,
                        "spillable",
                        WORDS,
                        "state.backend.spillable.trigger-interval=200ms")) {
            assertThat(run.awaitExit()).as(run.output()).isZero();
            assertThat(run.figure("spilledEntries")).isGreaterThan(100_000);
            assertThat(run.figure("refusedSpillsTotal")).isZero();
        }
    }

    @Test
    void theSameStateAsObjects_doesNotFit() throws Exception {
        try (ChildProcess run =
                ChildProcess.start(
                        directory,
                        Collections.emptyList(),
                        // Where it hardly does anything but collect it ends, instead of going on so
                        // for minutes.
                        Arrays.asList(
                                HEAP,
                                "-XX:+UseParallelGC",
                                "-XX:GCTimeLimit=80",
                                "-XX:GCHeapFreeLimit=20"),
                        CountingProcess.class,
                        "hashmap",
                        WORDS)) {
            assertThat(run.awaitExit()).as(run.output()).isNotZero();
            assertThat(run.output()).contains("OutOfMemoryError");
        }
    }
}
