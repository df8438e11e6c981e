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
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;

/**
 * A JVM that measures one changelog storage in one round, so that its code is not compiled for the
 * use of another one. Prints a line {@code MEASURE=value} for every measure.
 */
final class MeasuredProcess {

    private static final int LARGE_PERSIST_BYTES = 64 << 10;
    private static final int SMALL_PERSIST_BYTES = 10 << 10;
    private static final int LARGE_PERSISTS_PER_JOB = 170;
    private static final int SMALL_PERSISTS_PER_JOB = 120;
    private static final int SHARED_FLUSHES = 40;
    private static final int WARM_UP_SECONDS = 3;
    private static final int THROUGHPUT_SECONDS = 6;
    private static final long BYTES_PER_SECOND_PER_STREAM = 100_000_000;

    private MeasuredProcess() {}

    /** Runs the process and adds what it measured to {@code table}. */
    static void run(MeasuredLog log, int round, ResultTable table)
            throws IOException, InterruptedException {
        Process process =
                new ProcessBuilder(command(log, round))
                        .redirectError(ProcessBuilder.Redirect.INHERIT)
                        .start();
        try (BufferedReader lines =
                new BufferedReader(
                        new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                int equals = line.indexOf('=');
                Measure measure = Measure.valueOf(line.substring(0, equals));
                table.add(measure, log, Double.parseDouble(line.substring(equals + 1)));
            }
        }
        int exitCode = process.waitFor();
        if (exitCode != 0) {
            throw new IOException(
                    "Measuring "
                            + log
                            + " in round "
                            + round
                            + " ended with exit code "
                            + exitCode);
        }
    }

    private static List<String> command(MeasuredLog log, int round) {
        List<String> command = new ArrayList<>();
        command.add(Paths.get(System.getProperty("java.home"), "bin", "java").toString());
        command.add("-Xms2g");
        command.add("-Xmx2g");
        String logging = System.getProperty("log4j2.configurationFile");
        if (logging != null) {
            command.add("-Dlog4j2.configurationFile=" + logging);
        }
        command.add("-cp");
        command.add(System.getProperty("java.class.path"));
        command.add(MeasuredProcess.class.getName());
        command.add(log.name());
        command.add(Integer.toString(round));
        return command;
    }

    public static void main(String[] arguments) throws Exception {
        MeasuredLog log = MeasuredLog.valueOf(arguments[0]);
        int round = Integer.parseInt(arguments[1]);
        MeasureSink sink = print(System.out);
        StoreProfile tailed =
                StoreProfile.builder().seed(round).latencyMillis(30, 150).tail(0.002, 3000).build();
        PersistRun.Persists large =
                new PersistRun(log, LARGE_PERSIST_BYTES, LARGE_PERSISTS_PER_JOB, tailed).measure();
        sink.add(Measure.PERSIST_P50, large.millis(0.5));
        sink.add(Measure.PERSIST_P99, large.millis(0.99));
        sink.add(Measure.PERSIST_P999, large.millis(0.999));
        sink.add(Measure.PERSIST_REQUESTS, large.requestsPerPersist());
        sink.add(Measure.PERSIST_EXTRA_PUTS, large.extraPutPercent());
        PersistRun.Persists small =
                new PersistRun(log, SMALL_PERSIST_BYTES, SMALL_PERSISTS_PER_JOB, tailed).measure();
        sink.add(Measure.SMALL_P50, small.millis(0.5));
        sink.add(Measure.SMALL_P99, small.millis(0.99));
        sink.add(Measure.SMALL_REQUESTS, small.requestsPerPersist());
        StoreProfile paced =
                StoreProfile.builder()
                        .seed(round)
                        .latencyMillis(30, 150)
                        .bytesPerSecond(BYTES_PER_SECOND_PER_STREAM)
                        .build();
        SharedFlushRun.measure(log, paced, SHARED_FLUSHES, sink);
        ThroughputRun.measure(log, paced, WARM_UP_SECONDS, (measure, value) -> {});
        ThroughputRun.measure(log, paced, THROUGHPUT_SECONDS, sink);
        System.exit(0);
    }

    private static MeasureSink print(PrintStream out) {
        return (measure, value) -> out.println(measure.name() + "=" + value);
    }
}
