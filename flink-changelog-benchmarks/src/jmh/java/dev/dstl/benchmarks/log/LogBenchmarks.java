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

package dev.dstl.benchmarks.log;

import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.apache.flink.runtime.util.EnvironmentInformation;

/**
 * Runs the benchmarks of changelog storages and prints their table: {@code LogBenchmarks ROUNDS
 * FILE}. Each round measures each storage in turn, in JVMs of its own, with the seeds of the round;
 * the table shows medians.
 */
public final class LogBenchmarks {

    private final int rounds;
    private final PrintStream out;
    private final ResultTable table = new ResultTable();
    private final double loadAtStart =
            ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage();

    private LogBenchmarks(int rounds, PrintStream out) {
        this.rounds = rounds;
        this.out = out;
    }

    /** Prints the table to standard output and writes the values to a file. */
    public static void main(String[] arguments) throws Exception {
        if (arguments.length != 2) {
            throw new IllegalArgumentException(
                    "Give the number of rounds and the file for the JSON, not "
                            + String.join(" ", arguments));
        }
        int rounds = Integer.parseInt(arguments[0]);
        Path file = Paths.get(arguments[1]);
        LogBenchmarks benchmarks = new LogBenchmarks(rounds, System.out);
        benchmarks.run();
        Files.write(file, benchmarks.toJson().getBytes(StandardCharsets.UTF_8));
        System.out.println("Values of all rounds: " + file);
    }

    private void run() throws Exception {
        for (int round = 1; round <= rounds; round++) {
            for (MeasuredLog log : turns(round)) {
                out.printf("round %d of %d: %s%n", round, rounds, log);
                AppendRun.measure(log, table);
                MeasuredProcess.run(log, round, table);
            }
        }
        out.println();
        out.print(table.toText());
        out.printf(
                "%d cores, Flink %s, Java %s; load when it began: %.1f%s%n",
                cores(),
                EnvironmentInformation.getVersion(),
                Runtime.version(),
                loadAtStart,
                loadAtStart > cores() / 2.0 ? " - NOT a quiet machine" : "");
    }

    /** Alternates the order of the changelogs from round to round. */
    private static List<MeasuredLog> turns(int round) {
        List<MeasuredLog> logs = new ArrayList<>(List.of(MeasuredLog.values()));
        if (round % 2 == 0) {
            Collections.reverse(logs);
        }
        return logs;
    }

    private static int cores() {
        return Runtime.getRuntime().availableProcessors();
    }

    private String toJson() {
        return "{\n  \"date\": \""
                + Instant.now()
                + "\",\n  \"cores\": "
                + cores()
                + ",\n  \"loadAtStart\": "
                + loadAtStart
                + ",\n  \"flink\": \""
                + EnvironmentInformation.getVersion()
                + "\",\n  \"java\": \""
                + Runtime.version()
                + "\",\n  \"os\": \""
                + System.getProperty("os.name")
                + " "
                + System.getProperty("os.version")
                + "\",\n  \"rounds\": "
                + rounds
                + ",\n  \"results\": "
                + table.toJson()
                + "\n}\n";
    }
}
