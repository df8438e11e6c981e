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

package dev.dstl.benchmarks.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Errors in the command line are reported before anything is started. */
class DemoMainTest {

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();

    @Test
    void help_showsEveryOptionAndIsNoFailure() {
        assertThat(run("--help")).isZero();

        assertThat(text(out))
                .contains(
                        "--backend",
                        "--delegate",
                        "--flink",
                        "--checkpoints",
                        "--input",
                        "--scale",
                        "--seconds",
                        "--state-size",
                        "--svg",
                        "-D",
                        "--keep",
                        "--help");
        assertThat(text(err)).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "--backend=unknown | --backend",
                "--delegate=forst | --delegate must be rocksdb, hashmap or spillable, but is forst.",
                "--flink=1.19 | --flink must be 1.20 or 2.3, but is 1.19.",
                "--flink=2.3 | --flink is 2.3, but the class path has Flink 1.20.",
                "--scale=0 | --scale must be above 0 and at most 2, but is 0.0.",
                "--scale=NaN | --scale must be above 0 and at most 2, but is NaN.",
                "--scale=much | --scale",
                "--state-size=much | --state-size must be a size such as 300mb, but is much.",
                "--state-size=5gb | --state-size must be at most 4gb, but is 5gb.",
                "--seconds=1 | --seconds must be between 5 and 86400, but is 1.",
                "--input=/no/such/file | --input must name a readable file, but /no/such/file is",
                "--checkpoints=hdfs://a/b | but hdfs://a/b starts with hdfs://.",
                "--frobnicate | Unknown option: '--frobnicate'",
                "extra | Unmatched argument at index 0: 'extra'",
            })
    void wrongOption_givesOneSentenceAndExitCode2(String argument, String message) {
        assertThat(run(argument)).isEqualTo(2);

        assertThat(text(err)).contains(message).endsWith("See ./demo --help.\n").hasLineCount(2);
        assertThat(text(out)).isEmpty();
    }

    @Test
    void moreStateThanFewOrdersCanHold_isRefused() {
        assertThat(run("--scale=0.001", "--state-size=4gb")).isEqualTo(2);

        assertThat(text(err))
                .contains("--state-size 4gb is too much for the orders of --scale 0.001")
                .contains("Raise --scale.");
    }

    @Test
    void emptyInput_isRefused(@TempDir Path directory) throws Exception {
        Path empty = Files.createFile(directory.resolve("empty"));

        assertThat(run("--input", empty.toString())).isEqualTo(2);

        assertThat(text(err)).contains("--input must name a file with words in it");
    }

    private int run(String... arguments) {
        return DemoMain.run(arguments, new PrintStream(out, true), new PrintStream(err, true));
    }

    private static String text(ByteArrayOutputStream bytes) {
        return bytes.toString(StandardCharsets.UTF_8);
    }
}
