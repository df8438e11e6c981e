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

package dev.dstl.tool;

import static org.assertj.core.api.Assertions.assertThat;

import dev.dstl.changelog.fixture.GuardedFileSystem;
import dev.dstl.tool.fixture.WrittenCheckpoint;
import dev.dstl.tool.fixture.WrittenLog;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DstlTest extends ToolTest {

    @Test
    void withoutACommand_theCommandsAreNamed() {
        dstl().fails(2, "inspect, verify, orphans or doctor");
    }

    @Test
    void anUnknownCommand_isAUsageError() {
        dstl("compact", directory).fails(2, "compact", "dstl --help");
    }

    @Test
    void anUnknownOption_isAUsageError() {
        dstl("inspect", directory, "--frames").fails(2, "--frames", "dstl inspect --help");
    }

    @Test
    void aMissingParameter_isAUsageError() {
        dstl("verify").fails(2, "CHECKPOINT");
    }

    @Test
    void tooManyParameters_areAUsageError() {
        dstl("verify", directory, directory).fails(2, "Unmatched argument");
    }

    @Test
    void noRowsAtAll_areAUsageError() {
        dstl("inspect", directory, "--top", 0).fails(2, "--top must be at least 1, found 0");
    }

    @ParameterizedTest
    @ValueSource(strings = {"60", "an hour", "-1h", "1 fortnight", "106751991168d"})
    void anAgeThatIsNone_isAUsageError(String age) {
        dstl("orphans", directory, "--without-checkpoints", "--min-age", age)
                .fails(2, "--min-age", "a number and a unit", age);
    }

    @Test
    void aConfigurationThatIsNotThere_isAUsageError() {
        dstl("inspect", directory, "--conf-dir", directory.resolve("conf"))
                .fails(2, "conf", "does not describe an existing directory");
    }

    @Test
    void outputThatCannotBeWritten_isAFailure() throws Exception {
        try (WrittenLog log = new WrittenLog(basePath())) {
            Path checkpoint = WrittenCheckpoint.of(checkpoints(), 7, log.writeSome());
            StringWriter err = new StringWriter();

            int exitCode =
                    Dstl.run(
                            new PrintWriter(new FullDisk(), false, StandardCharsets.UTF_8),
                            new PrintWriter(err, true),
                            "verify",
                            checkpoint.toString(),
                            "--json");

            assertThat(err.toString()).isEqualTo("The output could not be written completely.\n");
            assertThat(exitCode).isEqualTo(1);
        }
    }

    @Test
    void numbersAreTheSameInEveryLocale() throws Exception {
        Locale before = Locale.getDefault();
        Locale.setDefault(Locale.forLanguageTag("ar-EG-u-nu-arab"));
        try (WrittenLog log = new WrittenLog(basePath())) {
            Path checkpoint = WrittenCheckpoint.of(checkpoints(), 7, log.writeSome());

            assertThat(dstl("verify", checkpoint).isFine().out())
                    .contains("id          7", "segments    1,");
        } finally {
            Locale.setDefault(before);
        }
    }

    private static final class FullDisk extends OutputStream {

        @Override
        public void write(int unused) throws IOException {
            throw new IOException("No space left on device");
        }
    }

    @Test
    void help_isPrintedAndFine() {
        assertThat(dstl("--help").isFine().out()).contains("inspect", "verify", "orphans");
        assertThat(dstl("orphans", "--help").isFine().out())
                .contains("BASE_PATH", "--min-age", "--delete", "1h");
    }

    @Test
    void version_namesCommitAndLine() {
        assertThat(dstl("--version").isFine().out())
                .matches("dstl \\S+ \\(commit \\S+, for Flink 1\\.20\\)\\R");
    }

    @Test
    void aSchemeWithoutFileSystem_asksForThePlugin() {
        dstl("inspect", "s3://bucket/file").fails(1, "s3://bucket/file", "plugin");
    }

    @Test
    void whatIsNoPath_isRefused() {
        dstl("inspect", "").fails(1, "is not a path");
    }

    @Test
    void configuration_comesFromTheDirectoryAndTheCommandLine() throws Exception {
        Path conf = Files.createDirectory(directory.resolve("conf"));
        Files.writeString(
                conf.resolve("config.yaml"), "guarded.endpoint: file\nguarded.region: here\n");

        dstl("inspect", directory, "--conf-dir", conf, "-Dguarded.endpoint=option");

        assertThat(GuardedFileSystem.configured("guarded.endpoint")).contains("option");
        assertThat(GuardedFileSystem.configured("guarded.region")).contains("here");
    }

    @Test
    void theStackTrace_comesOnDemandOnly() {
        assertThat(dstl("inspect", "s3://bucket/file").err()).doesNotContain("\tat ");
        assertThat(dstl("inspect", "s3://bucket/file", "--verbose").err())
                .contains("plugin", "\tat dev.dstl.tool");
    }
}
