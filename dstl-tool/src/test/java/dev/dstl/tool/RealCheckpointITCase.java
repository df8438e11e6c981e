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

import static java.nio.file.StandardCopyOption.COPY_ATTRIBUTES;
import static org.assertj.core.api.Assertions.assertThat;

import dev.dstl.tool.fixture.CountingJob;
import dev.dstl.tool.fixture.ToolRun;
import dev.dstl.tool.fixture.WrittenLog;
import java.io.File;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The tool on checkpoints of a cluster, also through {@code bin/dstl} and the shipped jar. */
class RealCheckpointITCase extends ToolTest {

    private static final Path SCRIPT = Path.of("..", "bin", "dstl").toAbsolutePath().normalize();

    @TempDir static Path cluster;

    private static Path log;
    private static String checkpoint;

    @BeforeAll
    static void runAJob() throws Exception {
        log = cluster.resolve("log");
        checkpoint =
                CountingJob.runUntilCheckpoint(
                        log.toUri().toString(), cluster.resolve("checkpoints").toUri().toString());
    }

    @Test
    void aRealCheckpoint_isIntact_andItsStatesHaveNames() throws Exception {
        dstl("verify", checkpoint).isFine();

        JsonNode json = dstl("inspect", checkpoint, "--json").isFine().json();

        assertThat(json.get("records").asLong()).isGreaterThan(CountingJob.KEYS);
        assertThat(json.get("changelogs")).hasSize(CountingJob.PARALLELISM);
        assertThat(json.get("states").findValuesAsText("name"))
                .contains("count", "latest")
                .anyMatch(name -> name.contains("timers"));
    }

    @Test
    void theScript_runsTheShippedJar_withNothingButWhatLiesInLib() throws Exception {
        Path flinkHome = flinkHome();

        ToolRun verified = run(SCRIPT, flinkHome, "verify", checkpoint).isFine();
        ToolRun inspected = run(SCRIPT, flinkHome, "inspect", checkpoint, "--json").isFine();
        ToolRun refused = run(SCRIPT, flinkHome, "inspect", cluster.toString());
        ToolRun misused = run(SCRIPT, flinkHome, "verify");

        assertThat(verified.out()).contains("every segment is intact");
        assertThat(inspected.json().get("states").findValuesAsText("name")).contains("count");
        refused.fails(1, "has no _metadata");
        misused.fails(2, "CHECKPOINT");
    }

    /** As of jobs that cron starts. */
    @Test
    void theScriptInTheLocaleC_findsFilesOfAnyName() throws Exception {
        Path named = Files.createDirectories(directory.resolve("Prüfung 1"));
        Path source = Path.of(URI.create(checkpoint));
        Files.copy(source.resolve("_metadata"), named.resolve("_metadata"));
        Path script = Files.createFile(directory.resolve("script"));
        Files.writeString(script, "#!/bin/sh\nLC_ALL=C exec \"$@\"\n");
        assertThat(script.toFile().setExecutable(true)).isTrue();

        ToolRun verified =
                run(script, flinkHome(), SCRIPT.toString(), "verify", named.toString()).isFine();

        assertThat(verified.out()).contains("every segment is intact", "Prüfung 1");
    }

    @Test
    void theScriptThroughALink_findsTheJarBesideIt() throws Exception {
        Path installed = Files.createDirectories(directory.resolve("installed"));
        Files.copy(SCRIPT, installed.resolve("dstl"), COPY_ATTRIBUTES);
        Path jar = runnableJar();
        Files.copy(jar, installed.resolve(jar.getFileName()));
        Path bin = Files.createDirectories(directory.resolve("bin"));
        Path link = Files.createSymbolicLink(bin.resolve("dstl"), Path.of("../installed/dstl"));

        ToolRun verified = run(link, flinkHome(), "verify", checkpoint).isFine();
        ToolRun version = run(link, null, "--version").isFine();

        assertThat(verified.out()).contains("every segment is intact");
        assertThat(version.out()).startsWith("dstl ").contains("for Flink 1.20");
    }

    @Test
    void theScriptWithoutItsJar_saysWhereItBelongs() throws Exception {
        Path installed = Files.createDirectories(directory.resolve("installed"));
        Path script = Files.copy(SCRIPT, installed.resolve("dstl"), COPY_ATTRIBUTES);

        run(script, flinkHome(), "--help").fails(1, "no dstl-tool-*-all.jar", installed.toString());
    }

    @Test
    void withoutFlink_theToolAsksForIt() throws Exception {
        Path installed = Files.createDirectories(directory.resolve("installed"));
        Path script = Files.copy(SCRIPT, installed.resolve("dstl"), COPY_ATTRIBUTES);
        Path jar = runnableJar();
        Files.copy(jar, installed.resolve(jar.getFileName()));

        run(script, null, "verify", checkpoint).fails(1, "set FLINK_HOME");
        run(script, null, "doctor", flinkHome().toString())
                .fails(1, "is not the directory of a Flink");
        run(script, installed, "verify", checkpoint)
                .fails(1, "FLINK_HOME is '" + installed + "'", installed.resolve("lib").toString());
    }

    @Test
    void whatADeadProcessLeft_isDeleted_andTheCheckpointStaysWhole() throws Exception {
        Path orphan;
        try (WrittenLog dead = new WrittenLog(log)) {
            orphan = fileOf(dead.writeSome());
        }

        ToolRun run =
                dstl(
                        "orphans",
                        log,
                        "--checkpoints",
                        cluster.resolve("checkpoints"),
                        "--min-age",
                        "0s",
                        "--delete",
                        "--jobs-ended",
                        jobOf(orphan),
                        "--json");

        assertThat(run.isFine().json().get("orphans").findValuesAsText("file"))
                .anyMatch(file -> file.endsWith(orphan.toString()));
        assertThat(orphan).doesNotExist();
        dstl("verify", checkpoint).isFine();
    }

    /** Creates a Flink distribution from the class path, without the tool and DSTL. */
    private Path flinkHome() throws Exception {
        Path lib = Files.createDirectories(directory.resolve("flink").resolve("lib"));
        String classPath = System.getProperty("java.class.path");
        int links = 0;
        for (String entry : List.of(classPath.split(File.pathSeparator, -1))) {
            Path jar = Path.of(entry).toAbsolutePath();
            String name = jar.getFileName().toString();
            if (name.endsWith(".jar") && !name.startsWith("picocli") && !name.startsWith("dstl")) {
                // Artifacts of different groups may have the same name.
                Files.createSymbolicLink(lib.resolve(String.format("%03d-%s", links, name)), jar);
                links++;
            }
        }
        return lib.getParent();
    }

    private static Path runnableJar() throws Exception {
        try (Stream<Path> files = Files.list(Path.of("target"))) {
            return files.filter(file -> file.toString().endsWith("-all.jar"))
                    .findFirst()
                    .orElseThrow();
        }
    }

    private ToolRun run(Path script, Path flinkHome, String... arguments) throws Exception {
        List<String> command = new ArrayList<>();
        command.add(script.toString());
        command.addAll(List.of(arguments));
        Path out = directory.resolve("out");
        Path err = directory.resolve("err");
        ProcessBuilder builder =
                new ProcessBuilder(command)
                        .redirectOutput(out.toFile())
                        .redirectError(err.toFile());
        builder.environment().keySet().removeIf(name -> name.startsWith("FLINK_"));
        if (flinkHome != null) {
            builder.environment().put("FLINK_HOME", flinkHome.toString());
        }
        builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
        Process process = builder.start();
        assertThat(process.waitFor(2, TimeUnit.MINUTES)).as("the script ends").isTrue();
        return new ToolRun(
                process.exitValue(),
                Files.readString(out, StandardCharsets.UTF_8),
                Files.readString(err, StandardCharsets.UTF_8));
    }
}
