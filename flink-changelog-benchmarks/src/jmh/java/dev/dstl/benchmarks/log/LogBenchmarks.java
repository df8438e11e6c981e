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

import dev.dstl.benchmarks.simulated.store.StoreProfile;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * Runs the benchmarks of the log and prints their table: {@code LogBenchmarks ROUNDS FILE}. Each
 * round measures every log, in turns, each with the seeds of the round; the table has the medians.
 */
public final class LogBenchmarks {

    private static final int LARGE_PERSIST_BYTES = 64 << 10;
    private static final int SMALL_PERSIST_BYTES = 10 << 10;
    private static final int LARGE_PERSISTS_PER_JOB = 170;
    private static final int SMALL_PERSISTS_PER_JOB = 40;
    private static final int SHARED_FLUSHES = 40;
    private static final int THROUGHPUT_SECONDS = 6;
    private static final long BYTES_PER_SECOND_PER_STREAM = 100_000_000;

    private final int rounds;
    private final PrintStream out;
    private final ResultTable table = new ResultTable();

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
                measure(log, round);
            }
        }
        out.println();
        out.print(table.toText());
    }

    /** Every other round starts with the other log, so that none always goes first. */
    private static List<MeasuredLog> turns(int round) {
        List<MeasuredLog> logs = new ArrayList<>(List.of(MeasuredLog.values()));
        if (round % 2 == 0) {
            Collections.reverse(logs);
        }
        return logs;
    }

    private void measure(MeasuredLog log, int round) throws Exception {
        AppendRun.measure(log, table);
        StoreProfile tailed =
                StoreProfile.builder().seed(round).latencyMillis(30, 150).tail(0.002, 3000).build();
        PersistRun.Latencies large =
                new PersistRun(log, LARGE_PERSIST_BYTES, LARGE_PERSISTS_PER_JOB, tailed).measure();
        table.add(Measure.PERSIST_P50, log, large.millis(0.5));
        table.add(Measure.PERSIST_P99, log, large.millis(0.99));
        table.add(Measure.PERSIST_P999, log, large.millis(0.999));
        table.add(Measure.PERSIST_REQUESTS, log, large.requestsPerPersist());
        PersistRun.Latencies small =
                new PersistRun(log, SMALL_PERSIST_BYTES, SMALL_PERSISTS_PER_JOB, tailed).measure();
        table.add(Measure.SMALL_P50, log, small.millis(0.5));
        table.add(Measure.SMALL_P99, log, small.millis(0.99));
        table.add(Measure.SMALL_REQUESTS, log, small.requestsPerPersist());
        StoreProfile paced =
                StoreProfile.builder()
                        .seed(round)
                        .latencyMillis(30, 150)
                        .bytesPerSecond(BYTES_PER_SECOND_PER_STREAM)
                        .build();
        SharedFlushRun.measure(log, paced, SHARED_FLUSHES, table);
        ThroughputRun.measure(log, paced, THROUGHPUT_SECONDS, table);
    }

    private String toJson() {
        return "{\n  \"date\": \""
                + Instant.now()
                + "\",\n  \"cores\": "
                + Runtime.getRuntime().availableProcessors()
                + ",\n  \"java\": \""
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
