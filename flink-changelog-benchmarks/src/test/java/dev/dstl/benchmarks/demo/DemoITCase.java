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
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The command on a small scale: a killed TaskManager, a verified result, a table. */
class DemoITCase {

    private static final String DIRECTORY = "dstl.demo.directory";

    @TempDir Path directory;
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();

    @BeforeEach
    void pointToDirectory() {
        System.setProperty(DIRECTORY, directory.resolve("demo").toString());
    }

    @AfterEach
    void forgetDirectory() {
        System.clearProperty(DIRECTORY);
    }

    @Test
    void orders_surviveAKilledProcess_withAndWithoutChangelog() throws Exception {
        Path checkpoints = directory.resolve("check points");

        assertThat(
                        run(
                                "--scale=0.01",
                                "--state-size=10mb",
                                "--seconds=6",
                                "--checkpoints=" + checkpoints,
                                "-Dexecution.checkpointing.interval=300ms"))
                .as(() -> text(out) + text(err))
                .isZero();

        assertThat(text(out))
                .contains("DSTL on RocksDB", "RocksDB, incremental")
                .contains("with SIGKILL", "all tasks process records again")
                .containsPattern("verified: all 16,\\d{3} rows exactly once")
                .containsPattern("result +exactly once +exactly once")
                .containsPattern("p50 +DSTL on RocksDB +#+ [0-9,]+\n +RocksDB, incremental +#+ ")
                .contains("Checkpoint durations over time: " + directory.resolve("demo.svg"));
        // Its text is drawn as paths, but each backend has a line in its color.
        assertThat(directory.resolve("demo.svg"))
                .content()
                .contains("<svg", "stroke:rgb(37,99,235)", "stroke:rgb(107,114,128)");
        assertThat(directory.resolve("demo")).isEmptyDirectory();
        assertThat(checkpoints).isEmptyDirectory();
    }

    @Test
    void wordsOfAnyFile_surviveAKilledProcess_onHashMap() throws Exception {
        assertThat(
                        run(
                                "--backend=changelog",
                                "--delegate=hashmap",
                                "--seconds=6",
                                "--input=" + text(),
                                "-Dexecution.checkpointing.interval=300ms"))
                .as(() -> text(out) + text(err))
                .isZero();

        assertThat(text(out)).contains("DSTL on HashMap").contains("rows exactly once");
    }

    @Test
    void jobThatCannotRun_saysWhyAndWhereTheLogsAre() throws Exception {
        assertThat(
                        run(
                                "--backend=plain",
                                "--scale=0.001",
                                "--seconds=5",
                                "-Dexecution.checkpointing.dir=nonsense://nowhere/at/all"))
                .isEqualTo(1);

        assertThat(text(err))
                .contains("The demo failed.")
                .contains("nonsense")
                .contains("Logs and results: " + directory);
        try (Stream<Path> logs = Files.walk(directory)) {
            assertThat(logs).anyMatch(file -> file.endsWith("jobmanager.log"));
        }
    }

    private Path text() throws Exception {
        Random random = new Random(1);
        StringBuilder text = new StringBuilder();
        for (int line = 0; line < 3000; line++) {
            for (int word = random.nextInt(9); word >= 0; word--) {
                text.append("word").append(random.nextInt(500)).append(' ');
            }
            text.append('\n');
        }
        return Files.writeString(directory.resolve("text"), text);
    }

    private int run(String... arguments) {
        return DemoMain.run(arguments, new PrintStream(out, true), new PrintStream(err, true));
    }

    private static String text(ByteArrayOutputStream bytes) {
        return bytes.toString(StandardCharsets.UTF_8);
    }
}
