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

package dev.dstl.endtoend.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.flink.runtime.testutils.CommonTestUtils;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Follows docs/quickstart.md to the letter, on a copy of the Flink distribution that {@code
 * -Dflink.home} names, and kills its TaskManager. Takes port 8081, as the page does.
 */
@Timeout(300)
class QuickstartCheck {

    @TempDir private Path directory;
    private Path flink;

    @BeforeEach
    void copyDistribution() throws Exception {
        String home = System.getProperty("flink.home");
        assertThat(home).as("-Dflink.home").isNotEmpty();
        flink = directory.resolve("flink");
        bash("cp -r '" + Paths.get(home).toAbsolutePath() + "' '" + flink + "'");
    }

    @AfterEach
    void stop() throws Exception {
        bash("\"$FLINK_HOME/bin/taskmanager.sh\" stop-all; \"$FLINK_HOME/bin/stop-cluster.sh\"");
    }

    @Test
    void pageGetsAChangelogJobRunning_whichSurvivesAKill() throws Exception {
        String page = Documentation.page("quickstart.md").replace("/tmp/flink", directory + "/job");
        // What builds the jars has run before this test.
        bash(blockWith(page, "cp dstl-flink"));
        Files.writeString(
                flink.resolve("conf/config.yaml"),
                Files.readString(flink.resolve("conf/config.yaml"))
                        + "\n"
                        + Documentation.blocks(page, "yaml").get(0));
        bash(blockWith(page, "start-cluster.sh"));
        awaitCheckpoints(5);
        assertThat(bash(blockWith(page, "grep 'State changes of job'")))
                .contains("go to file:" + directory + "/job/changelog/");

        bash("kill -9 $(pgrep -f \"$FLINK_HOME.*TaskManagerRunner\")");
        int checkpoints = completedCheckpoints();
        bash("\"$FLINK_HOME/bin/taskmanager.sh\" start");
        awaitCheckpoints(checkpoints + 3);
        assertThat(log("taskexecutor")).contains("Replayed ");
    }

    private static String blockWith(String page, String text) {
        List<String> blocks =
                Stream.of(page.split("```bash\\R"))
                        .skip(1)
                        .map(block -> block.substring(0, block.indexOf("```")))
                        .filter(block -> block.contains(text))
                        .collect(Collectors.toList());
        assertThat(blocks).as("commands with " + text).hasSize(1);
        return blocks.get(0);
    }

    private void awaitCheckpoints(int count) throws Exception {
        CommonTestUtils.waitUntilCondition(() -> completedCheckpoints() >= count);
    }

    private int completedCheckpoints() throws IOException {
        return log("standalonesession").split("Completed checkpoint", -1).length - 1;
    }

    private String log(String process) throws IOException {
        StringBuilder text = new StringBuilder();
        try (Stream<Path> files = Files.list(flink.resolve("log"))) {
            for (Path file : files.sorted().collect(Collectors.toList())) {
                String name = file.getFileName().toString();
                if (name.contains(process) && name.endsWith(".log")) {
                    text.append(Files.readString(file));
                }
            }
        }
        return text.toString();
    }

    private String bash(String commands) throws Exception {
        File output = Files.createTempFile(directory, "output", ".txt").toFile();
        ProcessBuilder process =
                new ProcessBuilder("bash", "-uc", commands)
                        .directory(Documentation.ROOT.toFile())
                        .redirectErrorStream(true)
                        .redirectOutput(output);
        process.environment().put("FLINK_HOME", flink.toString());
        Process running = process.start();
        assertThat(running.waitFor(2, TimeUnit.MINUTES)).as(commands).isTrue();
        String printed = Files.readString(output.toPath());
        assertThat(running.exitValue()).as("%s%n%s", commands, printed).isZero();
        return printed;
    }
}
