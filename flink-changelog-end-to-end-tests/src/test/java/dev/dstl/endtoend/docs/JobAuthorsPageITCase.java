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

import dev.dstl.benchmarks.cluster.ClassPath;
import dev.dstl.benchmarks.harness.Changelog;
import java.io.File;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The test of a job on docs/job-authors.md, run in a process of its own as a reader would. */
@Timeout(300)
class JobAuthorsPageITCase {

    private static final String TEST = "NumberOrdersTest";
    private static final Path BUILT_IN_JARS = Path.of("target", "built-in");

    @TempDir Path directory;

    @BeforeEach
    void compile() throws Exception {
        JavaSnippets snippets = JavaSnippets.of(Documentation.page("job-authors.md"));
        assertThat(snippets.names()).contains(TEST);
        assertThat(snippets.compile(directory)).isEmpty();
    }

    @Test
    void theTestPasses() throws Exception {
        Run run = run(Changelog.DSTL.classPath(BUILT_IN_JARS));

        assertThat(run.exitCode).as(run.text).isZero();
        assertThat(run.text).contains("1 tests successful", "DSTL ", "runs job ");
    }

    @Test
    void theTestFailsWithoutDstl() throws Exception {
        Run run = run(Changelog.BUILT_IN.classPath(BUILT_IN_JARS));

        assertThat(run.exitCode).as(run.text).isEqualTo(1);
        assertThat(run.text).contains("1 tests failed", "Changelog storage is null");
    }

    private Run run(ClassPath classPath) throws Exception {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
                .filter(argument -> argument.startsWith("--add-opens"))
                .forEach(command::add);
        command.add("-Xmx512m");
        command.add("-Djava.io.tmpdir=" + directory);
        command.add("org.junit.platform.console.ConsoleLauncher");
        command.add("execute");
        command.add("--select-class=" + TEST);
        command.add("--fail-if-no-tests");
        command.add("--disable-banner");
        File output = directory.resolve("output").toFile();
        ProcessBuilder builder =
                new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output);
        builder.environment().put("CLASSPATH", directory + File.pathSeparator + classPath.text());
        Process process = builder.start();
        try {
            assertThat(process.waitFor(2, TimeUnit.MINUTES)).as("the test ends").isTrue();
        } finally {
            process.destroyForcibly();
        }
        return new Run(process.exitValue(), Files.readString(output.toPath()));
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
