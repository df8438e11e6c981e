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

package dev.dstl.benchmarks.bench;

import dev.dstl.benchmarks.comparison.ComparisonText;
import dev.dstl.benchmarks.display.Display;
import dev.dstl.benchmarks.harness.LauncherProperties;
import dev.dstl.benchmarks.harness.RunDirectory;
import dev.dstl.benchmarks.harness.RunFiles;
import dev.dstl.benchmarks.measurement.BenchmarkResults;
import dev.dstl.benchmarks.measurement.MachineDescription;
import dev.dstl.benchmarks.page.ReportPage;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;
import org.apache.flink.runtime.util.EnvironmentInformation;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;

/** The command {@code ./bench}. */
public final class BenchMain {

    private static final int DONE = 0;
    private static final int FAILED = 1;
    private static final int MISUSED = 2;

    private static final LauncherProperties PROPERTIES = new LauncherProperties("bench");

    private BenchMain() {}

    /**
     * Runs the benchmarks. System properties: {@code dstl.bench.directory} (everything that is
     * written), {@code dstl.bench.built-in} (the jars of Flink's built-in changelog), {@code
     * dstl.bench.plugins} (Flink's plugins), {@code dstl.bench.commit} (the commit that was built),
     * {@code dstl.bench.spent-seconds} (duration of the build), {@code dstl.bench.columns} (width
     * of the terminal, if there is one).
     */
    public static void main(String[] arguments) {
        int exitCode = run(arguments, System.out, System.err);
        // Not a plain return: a client thread of Flink's may linger.
        System.exit(exitCode);
    }

    static int run(String[] arguments, PrintStream out, PrintStream err) {
        BenchOptions options = new BenchOptions();
        CommandLine line = new CommandLine(options);
        try {
            line.parseArgs(arguments);
            if (options.helpWanted()) {
                line.usage(out);
                return DONE;
            }
            options.check();
        } catch (ParameterException e) {
            err.println(e.getMessage());
            err.println("See ./bench --help.");
            return MISUSED;
        }
        Path home = PROPERTIES.path("directory", "target/bench");
        Path work = home;
        try {
            work = RunDirectory.create(home);
            LauncherProperties.logTo(work.resolve("bench.log"));
            Path report = Files.createDirectories(options.out(home.resolve("report")));
            boolean asExpected = true;
            if (!options.from().isEmpty()) {
                write(BenchmarkResults.readAll(options.from()), report, out);
            } else {
                BenchmarkResults results = describe(options, arguments);
                asExpected = run(options, results, work, out);
                results.write(report.resolve("results.json"));
                write(results, report, out);
            }
            if (asExpected && !options.keep()) {
                RunFiles.delete(work);
            } else {
                out.println("Logs: " + work);
            }
            return asExpected ? DONE : FAILED;
        } catch (IOException e) {
            err.println("The benchmark failed. " + e);
            err.println("Logs: " + work);
            return FAILED;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return FAILED;
        }
    }

    private static boolean run(
            BenchOptions options, BenchmarkResults results, Path work, PrintStream out)
            throws IOException, InterruptedException {
        try (Display display = PROPERTIES.display(out)) {
            Bench bench =
                    new Bench(
                            options.mode(),
                            options.window(),
                            options.configuration(),
                            Duration.ofSeconds(Integer.getInteger("dstl.bench.spent-seconds", 0)),
                            work,
                            PROPERTIES.path("built-in", "target/built-in"),
                            PROPERTIES.path("plugins", "plugins"),
                            display);
            return bench.run(options.plan(), results);
        }
    }

    private static void write(BenchmarkResults results, Path report, PrintStream out)
            throws IOException {
        ReportPage.write(results, report);
        out.println(ComparisonText.headlines(results));
        out.println("Report: " + report.resolve("index.html"));
    }

    private static BenchmarkResults describe(BenchOptions options, String[] arguments)
            throws IOException {
        BenchmarkResults results = new BenchmarkResults();
        results.command = ("./bench " + String.join(" ", arguments)).trim();
        results.date =
                OffsetDateTime.now(ZoneId.systemDefault())
                        .truncatedTo(ChronoUnit.SECONDS)
                        .toString();
        results.machine = MachineDescription.ofThisMachine();
        results.versions.put("Flink", EnvironmentInformation.getVersion());
        results.versions.put("commit", System.getProperty("dstl.bench.commit", "unknown"));
        results.settings.putAll(
                RunConfiguration.description(
                        options.mode(),
                        options.rounds(),
                        options.window(),
                        options.configuration()));
        for (BenchmarkWorkload workload : BenchmarkWorkload.values()) {
            results.workloads.put(workload.id(), workload.description());
        }
        for (Variant variant : Variant.values()) {
            results.variants.put(variant.id(), variant.description());
        }
        return results;
    }
}
