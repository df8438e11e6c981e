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

import dev.dstl.benchmarks.comparison.SampleResults;
import dev.dstl.benchmarks.measurement.BenchmarkResults;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BenchMainTest {

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
    void help_saysWhatThereIs() {
        assertThat(run("--help")).isZero();
        assertThat(text(out))
                .contains("--quick", "--full", "--workload", "--variant", "--from")
                .contains("word-count-limited-heap", "dstl-spillable");
    }

    @Test
    void misuse_isOneSentenceAndExitCode2() {
        assertThat(run("--variant=theirs")).isEqualTo(2);
        assertThat(text(err)).contains("--variant theirs is unknown").contains("./bench --help");
    }

    @Test
    void otherLineOfFlinkThanOnTheClassPath_isMisuse() {
        assertThat(run("--flink=1.19")).isEqualTo(2);
        assertThat(text(err)).contains("--flink must be 1.20 or 2.3, but is 1.19.");

        assertThat(run("--flink=2.3")).isEqualTo(2);
        assertThat(text(err))
                .contains("--flink is 2.3, but the class path has Flink 1.20.")
                .contains("Start it with ./bench.");
    }

    @Test
    void resultsThatAreNotThere_areMisuse() {
        assertThat(run("--from=" + directory.resolve("nothing.json"))).isEqualTo(2);
        assertThat(text(err)).contains("nothing.json");
    }

    @Test
    void reportOfEarlierResults_needsNoRun() throws Exception {
        Path results = directory.resolve("results.json");
        SampleResults.twoRounds().write(results);
        Path report = directory.resolve("report");

        assertThat(run("--from=" + results, "--out=" + report)).as(() -> text(err)).isZero();

        assertThat(report.resolve("index.html")).content().contains("DSTL on RocksDB");
        assertThat(text(out)).contains("throughput, records/s").contains("Report: " + report);
    }

    @Test
    void resultsOfSeveralBenchmarks_areRoundsOfOneReport() throws Exception {
        Path first = directory.resolve("first.json");
        Path second = directory.resolve("second.json");
        SampleResults.twoRounds().write(first);
        SampleResults.twoRounds().write(second);
        Path report = directory.resolve("report");

        assertThat(run("--from=" + first, "--from=" + second, "--out=" + report))
                .as(() -> text(err))
                .isZero();

        assertThat(text(out)).containsPattern("DSTL on RocksDB +1,800 +1,200 +2,400 +1.20 +2.00");
    }

    @Test
    void resultsOfDifferentVersions_doNotFitIntoOneReport() throws Exception {
        Path first = directory.resolve("first.json");
        Path second = directory.resolve("second.json");
        BenchmarkResults results = SampleResults.twoRounds();
        results.versions.put("commit", "aaaa");
        results.write(first);
        results.versions.put("commit", "bbbb");
        results.write(second);

        assertThat(run("--from=" + first, "--from=" + second)).isEqualTo(1);

        assertThat(text(err))
                .contains("Only results of the same versions fit into one report")
                .contains(first + " and " + second + " have {commit=aaaa} and {commit=bbbb}");
    }

    private int run(String... arguments) {
        return BenchMain.run(arguments, new PrintStream(out, true), new PrintStream(err, true));
    }

    private static String text(ByteArrayOutputStream bytes) {
        return bytes.toString(StandardCharsets.UTF_8);
    }
}
