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

package dev.dstl.benchmarks.page;

import static org.assertj.core.api.Assertions.assertThat;

import dev.dstl.benchmarks.comparison.SampleResults;
import dev.dstl.benchmarks.measurement.BenchmarkResults;
import dev.dstl.benchmarks.measurement.RunResult;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ReportPageTest {

    @TempDir Path directory;

    @Test
    void everyPicture_isThereAsSvgAndAsPng() throws Exception {
        ReportPage.write(SampleResults.twoRounds(), directory);

        String page = page();
        for (String name :
                new String[] {
                    "duration",
                    "duration-cdf",
                    "amplification",
                    "throughput",
                    "processor",
                    "recovery"
                }) {
            Path svg = directory.resolve("words-" + name + ".svg");
            assertThat(page).contains("src=\"" + svg.getFileName() + "\"");
            assertThat(svg).content().contains("<svg");
            assertThat(directory.resolve("words-" + name + ".png")).isNotEmptyFile();
        }
    }

    @Test
    void whatIsWorse_isMarkedAsPlainlyAsWhatIsBetter() throws Exception {
        BenchmarkResults results = SampleResults.empty();
        results.runs.add(SampleResults.run("builtin-rocksdb", 1, 1000, 100));
        results.runs.add(SampleResults.run("dstl-rocksdb", 1, 500, 50));

        ReportPage.write(results, directory);

        assertThat(page())
                .contains("<td class=\"worse\">0.50</td>")
                .contains("<td class=\"better\">0.50</td>");
    }

    @Test
    void failuresAndTextOfOthers_areShownAsText() throws Exception {
        BenchmarkResults results = SampleResults.twoRounds();
        RunResult failed = SampleResults.run("dstl-rocksdb", 3, 1, 1);
        failed.failure = "lost <everything> & more";
        results.runs.add(failed);
        results.leftOut.add("words on nothing");

        ReportPage.write(results, directory);

        assertThat(page())
                .contains("Failed: DSTL on RocksDB, round 3")
                .contains("lost &lt;everything&gt; &amp; more")
                .contains("words on nothing")
                .contains("./bench --quick");
    }

    @Test
    void resultsWithoutARun_stillGiveAPage() throws Exception {
        ReportPage.write(SampleResults.empty(), directory);

        assertThat(page()).contains("./bench --quick");
    }

    private String page() throws Exception {
        return Files.readString(directory.resolve("index.html"));
    }
}
