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

import static org.assertj.core.api.Assertions.assertThat;

import dev.dstl.benchmarks.measurement.BenchmarkResults;
import dev.dstl.benchmarks.measurement.RunResult;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The command on the smallest scale, with Flink's built-in changelog and DSTL in separate
 * processes.
 */
class BenchITCase {

    private static final String DIRECTORY = "dstl.bench.directory";

    @TempDir Path directory;
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();

    @BeforeEach
    void pointToDirectory() {
        System.setProperty(DIRECTORY, directory.resolve("bench").toString());
    }

    @AfterEach
    void forgetDirectory() {
        System.clearProperty(DIRECTORY);
    }

    @Test
    void smoke_measuresBuiltInAndDstl_andWritesTheReport() throws Exception {
        Path report = directory.resolve("report");

        int exitCode =
                BenchMain.run(
                        new String[] {"--smoke", "--out=" + report},
                        new PrintStream(out, true),
                        new PrintStream(err, true));

        assertThat(exitCode).as(() -> text(out) + text(err)).isZero();
        BenchmarkResults results = BenchmarkResults.read(report.resolve("results.json"));
        assertThat(results.runs)
                .extracting(run -> run.variant)
                .containsExactly("builtin-rocksdb", "dstl-rocksdb");
        assertThat(results.leftOut).isEmpty();
        assertThat(results.runs).allSatisfy(BenchITCase::hasFigures);
        // What wrote the changelog shows that each saw its own changelog.
        assertThat(results.runs)
                .extracting(run -> String.join(" ", run.handles.logStorages))
                .containsExactly("filesystem", "dstl");
        assertThat(Files.readString(report.resolve("index.html")))
                .contains(
                        "Flink's changelog on RocksDB",
                        "DSTL on RocksDB",
                        "checkpoint duration, slowest");
        assertThat(report.resolve("new-keys-duration.svg")).isNotEmptyFile();
        assertThat(report.resolve("new-keys-recovery.png")).isNotEmptyFile();
        assertThat(text(out)).contains("DSTL on RocksDB", "throughput, records/s");
    }

    private static void hasFigures(RunResult run) {
        assertThat(run.failure).isEmpty();
        assertThat(run.records).isPositive();
        assertThat(run.cpuSeconds).isPositive();
        assertThat(run.checkpoints)
                .isNotEmpty()
                .allSatisfy(
                        checkpoint ->
                                assertThat(checkpoint.asynchronousMillis)
                                        .isBetween(0L, checkpoint.durationMillis))
                .anySatisfy(checkpoint -> assertThat(checkpoint.asynchronousMillis).isPositive());
        assertThat(run.traffic.requests("PUT")).isPositive();
        assertThat(run.storedBytes).isPositive();
        assertThat(run.handles.perSubtask).isPositive();
        assertThat(run.recovery.totalMillis()).isPositive();
        assertThat(run.process).isNotEmpty();
    }

    private static String text(ByteArrayOutputStream bytes) {
        return bytes.toString(StandardCharsets.UTF_8);
    }
}
