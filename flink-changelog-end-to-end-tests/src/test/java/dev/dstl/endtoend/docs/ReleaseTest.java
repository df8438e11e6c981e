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
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Requirements of a release. */
class ReleaseTest {

    private static final Pattern NO_RELEASE =
            Pattern.compile("(?i)not (yet )?released|no release yet|until there is a release");

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
                .contains("bin/release --dry-run", "bin/reproducible", "bin/version X.Y.Z");
    }

    @Test
    void pomsAndPagesHaveOneVersion() throws Exception {
        assertThat(run(Documentation.ROOT, "bin/version", "--check")).isEmpty();
    }

    @Test
    void aVersionThatPagesContradictIsNotReleased(@TempDir Path copy) throws Exception {
        copyWhatHasTheVersion(copy);
        Path pom = copy.resolve("pom.xml");
        Files.writeString(
                pom, Files.readString(pom).replaceFirst(Pattern.quote(Poms.version()), "12.34.56"));

        assertThat(refusal(copy, "bin/release", "--dry-run"))
                .contains("docs/quickstart.md:cp dstl-flink/target/", "docs/job-authors.md:")
                .contains("docs/managed-services.md:", "dstl-flink/pom.xml: " + Poms.version())
                .contains("CHANGELOG.md: no entry '## 12.34.56 (20'");
    }

    @Test
    void theVersionOfAReleaseAndOfTheNextSnapshotIsSetEverywhere(@TempDir Path copy)
            throws Exception {
        copyWhatHasTheVersion(copy);
        Path readme = copy.resolve("README.md");
        String unreleased = Files.readString(readme) + "1.0 is not released yet.\n";
        String release = Poms.version().replace("-SNAPSHOT", "");
        Files.writeString(readme, unreleased);

        assertThat(refusal(copy, "bin/version", release)).contains("README.md:").contains("1.0 is");
        for (String page : List.of("README.md", "docs/compatibility.md")) {
            Path file = copy.resolve(page);
            Files.writeString(file, NO_RELEASE.matcher(Files.readString(file)).replaceAll(""));
        }
        assertThat(run(copy, "bin/version", release)).isEmpty();
        assertThat(Files.readString(copy.resolve("docs/quickstart.md")))
                .contains(
                        "git clone --branch v" + release + " https://",
                        "-" + release + ".jar",
                        "<version>" + release + "</version>");
        assertThat(Files.readString(copy.resolve("CHANGELOG.md")))
                .containsPattern("(?m)^## " + Pattern.quote(release) + " \\(20\\d\\d-");

        assertThat(run(copy, "bin/version", "12.34.0-SNAPSHOT")).isEmpty();
        assertThat(Files.readString(copy.resolve("docs/quickstart.md")))
                .contains("git clone https://");
        assertThat(Files.readString(copy.resolve("docs/job-authors.md")))
                .contains("<version>12.34.0-SNAPSHOT</version>");
        assertThat(Files.readString(copy.resolve("CHANGELOG.md")))
                .contains("\n## 12.34.0 (unreleased)\n", "\n## " + release + " (20");
        assertThat(run(copy, "bin/version", "--check")).isEmpty();
    }

    private static void copyWhatHasTheVersion(Path copy) throws Exception {
        List<Path> files = new ArrayList<>(Documentation.pages());
        for (String file :
                List.of("pom.xml", "README.md", "CHANGELOG.md", "bin/version", "bin/release")) {
            files.add(Documentation.ROOT.resolve(file));
        }
        Poms.modules().forEach(m -> files.add(Documentation.ROOT.resolve(m).resolve("pom.xml")));
        for (Path file : files) {
            Path target = copy.resolve(Documentation.ROOT.relativize(file).toString());
            Files.createDirectories(target.getParent());
            Files.copy(file, target, StandardCopyOption.REPLACE_EXISTING);
        }
    }

    @Test
    void anUnknownArgumentIsRefused() throws Exception {
        assertThat(refusal("bin/release", "--dryrun")).contains("Unknown argument: --dryrun");
        assertThat(refusal("bin/reproducible", "--once")).contains("Unknown argument: --once");
        assertThat(refusal("bin/version", "next")).contains("next is no version");
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
        return refusal(Documentation.ROOT, script, arguments);
    }

    private static String refusal(Path root, String script, String... arguments) throws Exception {
        return run(root, false, script, arguments);
    }

    /** What a script prints that succeeds. */
    private static String run(Path root, String script, String... arguments) throws Exception {
        return run(root, true, script, arguments);
    }

    private static String run(Path root, boolean succeeds, String script, String... arguments)
            throws Exception {
        ProcessBuilder process =
                new ProcessBuilder("bash", script)
                        .directory(root.toFile())
                        .redirectErrorStream(true);
        process.command().addAll(List.of(arguments));
        process.environment().remove("MAVEN_GPG_KEY");
        Process running = process.start();
        String printed =
                new String(running.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(running.waitFor(1, TimeUnit.MINUTES)).isTrue();
        assertThat(running.exitValue() == 0).as(printed).isEqualTo(succeeds);
        return printed;
    }
}
