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

import dev.dstl.endtoend.objectstore.job.SummingJob;
import dev.dstl.endtoend.objectstore.server.EmbeddedS3;
import dev.dstl.endtoend.objectstore.server.PluginFileSystems;
import dev.dstl.log.api.ChangelogWriter;
import dev.dstl.log.store.SegmentName;
import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The tool as started by operators, in a process of its own, accesses S3 through Flink's plugins.
 */
@Timeout(300)
class ToolOnS3ITCase {

    private static EmbeddedS3 server;
    private static org.apache.flink.core.fs.Path root;
    private static org.apache.flink.core.fs.Path checkpoint;

    @TempDir Path directory;

    @BeforeAll
    static void retainCheckpoint() throws Exception {
        server = EmbeddedS3.start();
        PluginFileSystems.use(server.endpoint().configuration());
        root = new org.apache.flink.core.fs.Path("s3://" + server.endpoint().bucket() + "/tool");
        checkpoint = new SummingJob("dstl", root).runUntilCheckpoint();
    }

    @AfterAll
    static void stopServer() {
        PluginFileSystems.reset();
        if (server != null) {
            server.close();
        }
    }

    @Test
    void inspect_showsTheStatesOfACheckpoint() throws Exception {
        Run run = run("inspect", checkpoint.toString());
        assertThat(run.exitCode).as(run.text).isZero();
        assertThat(run.text).contains("sum");
    }

    @Test
    void verify_readsEverySegment() throws Exception {
        Run run = run("verify", checkpoint.toString());
        assertThat(run.exitCode).as(run.text).isZero();
    }

    @Test
    void orphans_findsAndDeletesWhatNoCheckpointRefersTo() throws Exception {
        ChangelogStateHandleStreamImpl orphan;
        try (LogOnStore log = new LogOnStore(SummingJob.log(root))) {
            ChangelogWriter writer = log.writer();
            ObjectStoreContract.append(writer, "its checkpoint never completed");
            orphan = ObjectStoreContract.persist(writer);
        }
        org.apache.flink.core.fs.Path file = LogOnStore.named(List.of(orphan)).iterator().next();
        String[] search = {
            "orphans",
            SummingJob.log(root).toString(),
            "--checkpoints",
            SummingJob.checkpoints(root).toString(),
            "--min-age",
            "0s"
        };

        Run listed = run(search);
        assertThat(listed.text).contains(file.getName());
        assertThat(file.getFileSystem().exists(file)).isTrue();

        String[] delete = Arrays.copyOf(search, search.length + 3);
        delete[search.length] = "--delete";
        delete[search.length + 1] = "--jobs-ended";
        delete[search.length + 2] = SegmentName.of(file).orElseThrow().jobId().toHexString();
        Run deleted = run(delete);
        assertThat(deleted.exitCode).as(deleted.text).isZero();
        assertThat(file.getFileSystem().exists(file)).isFalse();
        assertThat(run("verify", checkpoint.toString()).exitCode).isZero();
    }

    @Test
    void wrongCredentials_areOneSentence() throws Exception {
        Run run =
                run(
                        server.endpoint().withWrongSecret().configuration(),
                        "verify",
                        checkpoint.toString());
        assertThat(run.exitCode).isEqualTo(1);
        assertThat(run.text.trim()).hasLineCount(1).contains(checkpoint.toString());
    }

    private Run run(String... arguments) throws Exception {
        return run(server.endpoint().configuration(), arguments);
    }

    private Run run(Configuration keys, String... arguments) throws Exception {
        List<String> command = new ArrayList<>();
        command.add(Paths.get("..", "bin", "dstl").toString());
        command.addAll(List.of(arguments));
        keys.toMap().forEach((key, value) -> command.add("-D" + key + "=" + value));
        File output = directory.resolve("output").toFile();
        ProcessBuilder builder =
                new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output);
        builder.environment().remove("FLINK_HOME");
        builder.environment().remove("FLINK_CONF_DIR");
        builder.environment().put("FLINK_PLUGINS_DIR", PluginFileSystems.directory().toString());
        Process process = builder.start();
        assertThat(process.waitFor(200, TimeUnit.SECONDS)).as("the tool ends").isTrue();
        return new Run(
                process.exitValue(),
                java.nio.file.Files.readString(output.toPath(), StandardCharsets.UTF_8));
    }

    private static final class Run {
        private final int exitCode;
        private final String text;

        private Run(int exitCode, String text) {
            this.exitCode = exitCode;
            this.text = text;
        }
    }
}
