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

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Requirements of a release. */
class ReleaseTest {

    @ParameterizedTest
    @ValueSource(
            strings = {
                "name",
                "description",
                "url",
                "licenses",
                "developers",
                "scm",
                "issueManagement"
            })
    void thePomSaysWhatMavenCentralAsksFor(String element) {
        assertThat(Documentation.text(Documentation.ROOT.resolve("pom.xml")))
                .containsPattern("\\R  <" + element + "[ >]");
    }

    @Test
    void theChangelogHasAnEntryForTheNextRelease() {
        String release = Poms.version().replace("-SNAPSHOT", "");

        assertThat(Documentation.text(Documentation.ROOT.resolve("CHANGELOG.md")))
                .containsPattern("(?m)^## " + release.replace(".", "\\.") + " \\(");
    }

    @Test
    void contributorsAreToldTheCommandsOfARelease() {
        assertThat(Documentation.text(Documentation.ROOT.resolve("CONTRIBUTING.md")))
                .contains("bin/release --dry-run", "bin/reproducible");
    }

    @Test
    void anUnknownArgumentIsRefused() throws Exception {
        assertThat(refusal("bin/release", "--dryrun")).contains("Unknown argument: --dryrun");
        assertThat(refusal("bin/reproducible", "--once")).contains("Unknown argument: --once");
    }

    @Test
    void aDirectoryWithOtherFilesIsNotDeleted(@TempDir Path directory) throws Exception {
        Path other =
                Files.createFile(Files.createDirectory(directory.resolve("files")).resolve("a"));

        assertThat(refusal("bin/release", "--dry-run", "--output", directory.toString()))
                .contains("is not empty and holds no release");
        assertThat(other).exists();
    }

    @Test
    void nothingIsReleasedWithoutAKey() throws Exception {
        assertThat(refusal("bin/release"))
                .containsAnyOf(
                        "is a snapshot",
                        "not committed",
                        "has no tag",
                        "no entry",
                        "origin is",
                        "MAVEN_GPG_KEY is not set");
    }

    /** What a script prints when it refuses. */
    private static String refusal(String script, String... arguments) throws Exception {
        ProcessBuilder process =
                new ProcessBuilder("bash", script)
                        .directory(Documentation.ROOT.toFile())
                        .redirectErrorStream(true);
        process.command().addAll(List.of(arguments));
        process.environment().remove("MAVEN_GPG_KEY");
        Process running = process.start();
        String printed =
                new String(running.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(running.waitFor(1, TimeUnit.MINUTES)).isTrue();
        assertThat(running.exitValue()).as(printed).isNotZero();
        return printed;
    }
}
