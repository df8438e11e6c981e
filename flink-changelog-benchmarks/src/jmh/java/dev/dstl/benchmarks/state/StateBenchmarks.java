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

package dev.dstl.benchmarks.state;

import dev.dstl.benchmarks.cluster.ClassPath;
import dev.dstl.benchmarks.harness.Changelog;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.runtime.util.EnvironmentInformation;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.SerializationFeature;

/**
 * Runs the benchmarks of keyed state and prints their table: {@code StateBenchmarks ROUNDS BUILT_IN
 * FILE}, with the directory of Flink's jars and the JSON file to write. Each round measures each
 * changelog in turn, in processes that have no other on their class path.
 */
public final class StateBenchmarks {

    private final int rounds;
    private final Path builtInJars;
    private final StateTable table = new StateTable();
    private final double loadAtStart =
            ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage();

    private StateBenchmarks(int rounds, Path builtInJars) {
        this.rounds = rounds;
        this.builtInJars = builtInJars;
    }

    /** Prints the table to standard output and writes the values to a file. */
    public static void main(String[] arguments) throws Exception {
        if (arguments.length != 3) {
            throw new IllegalArgumentException(
                    "Give the number of rounds, the folder of Flink's jars and the file for the"
                            + " JSON, not "
                            + String.join(" ", arguments));
        }
        StateBenchmarks benchmarks =
                new StateBenchmarks(Integer.parseInt(arguments[0]), Paths.get(arguments[1]));
        benchmarks.run();
        File file = new File(arguments[2]);
        new ObjectMapper()
                .enable(SerializationFeature.INDENT_OUTPUT)
                .writeValue(file, benchmarks.toJson());
        System.out.println("Values of all rounds: " + file);
    }

    private void run() throws Exception {
        for (int round = 1; round <= rounds; round++) {
            List<Changelog> turns = new ArrayList<>(List.of(Changelog.values()));
            if (round % 2 == 0) {
                Collections.reverse(turns);
            }
            for (Changelog changelog : turns) {
                System.out.printf("round %d of %d: %s%n", round, rounds, changelog);
                measure(changelog);
            }
        }
        System.out.println();
        System.out.print(table.toText());
        System.out.printf(
                "%d cores, Flink %s, Java %s; load when it began: %.1f%n",
                Runtime.getRuntime().availableProcessors(),
                EnvironmentInformation.getVersion(),
                Runtime.version(),
                loadAtStart);
    }

    private static List<String> command(Changelog changelog, ClassPath classPath) {
        List<String> command = new ArrayList<>();
        command.add(Paths.get(System.getProperty("java.home"), "bin", "java").toString());
        String logging = System.getProperty("log4j2.configurationFile");
        if (logging != null) {
            command.add("-Dlog4j2.configurationFile=" + logging);
        }
        command.add("-cp");
        command.add(classPath.text());
        command.add(StateProcess.class.getName());
        command.add(changelog.name());
        return command;
    }

    private Map<String, Object> toJson() {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("date", Instant.now().toString());
        json.put("cores", Runtime.getRuntime().availableProcessors());
        json.put("loadAtStart", loadAtStart);
        json.put("flink", EnvironmentInformation.getVersion());
        json.put("java", Runtime.version().toString());
        json.put("rounds", rounds);
        json.put("results", table.toJson());
        return json;
    }

    private void measure(Changelog changelog) throws IOException, InterruptedException {
        Process process =
                new ProcessBuilder(command(changelog, changelog.classPath(builtInJars)))
                        .redirectError(ProcessBuilder.Redirect.INHERIT)
                        .start();
        try (BufferedReader lines =
                new BufferedReader(
                        new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            lines.lines()
                    .forEach(
                            line ->
                                    table.add(
                                            StateMeasure.ofLine(line),
                                            changelog,
                                            StateMeasure.valueOfLine(line)));
        }
        int exitCode = process.waitFor();
        if (exitCode != 0) {
            throw new IOException("Measuring " + changelog + " ended with exit code " + exitCode);
        }
    }
}
