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

package dev.dstl.endtoend.objectstore;

import static org.assertj.core.api.Assertions.assertThat;

import dev.dstl.benchmarks.demo.DemoMain;
import dev.dstl.endtoend.objectstore.server.EmbeddedS3;
import dev.dstl.endtoend.objectstore.server.PluginFileSystems;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The demo as in the README, with everything durable on S3. */
class DemoOnS3ITCase {

    private static final String DIRECTORY = "dstl.demo.directory";
    private static final String PLUGINS = "dstl.demo.plugins";

    @TempDir Path directory;

    @BeforeEach
    void pointToDirectories() {
        System.setProperty(DIRECTORY, directory.resolve("demo").toString());
        System.setProperty(PLUGINS, PluginFileSystems.directory().toString());
    }

    @AfterEach
    void forgetDirectories() {
        System.clearProperty(DIRECTORY);
        System.clearProperty(PLUGINS);
    }

    @Test
    void orders_surviveAKilledProcess_withLogAndCheckpointsOnS3() throws Exception {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (EmbeddedS3 server = EmbeddedS3.start()) {
            List<String> arguments =
                    new ArrayList<>(
                            List.of(
                                    "--backend=changelog",
                                    "--scale=0.01",
                                    "--state-size=10mb",
                                    "--seconds=6",
                                    "--checkpoints=s3://" + server.endpoint().bucket() + "/demo",
                                    "-Dexecution.checkpointing.interval=300ms"));
            server.endpoint()
                    .configuration()
                    .toMap()
                    .forEach((key, value) -> arguments.add("-D" + key + "=" + value));
            PrintStream printed = new PrintStream(out, true, StandardCharsets.UTF_8);

            int exitCode = DemoMain.run(arguments.toArray(new String[0]), printed, printed);

            String text = out.toString(StandardCharsets.UTF_8);
            assertThat(exitCode).as(text).isZero();
            assertThat(text)
                    .contains("with SIGKILL", "all tasks process records again")
                    .containsPattern("verified: all 16,\\d{3} rows exactly once");
        }
    }
}
