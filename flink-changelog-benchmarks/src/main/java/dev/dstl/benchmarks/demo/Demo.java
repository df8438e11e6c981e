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

package dev.dstl.benchmarks.demo;

import dev.dstl.benchmarks.cluster.ClusterException;
import dev.dstl.benchmarks.cluster.ProcessCluster;
import dev.dstl.benchmarks.display.Display;
import dev.dstl.benchmarks.progress.ProgressBoard;
import dev.dstl.benchmarks.report.ComparisonTable;
import dev.dstl.benchmarks.report.RunReport;
import dev.dstl.benchmarks.source.SteadyThenSprint;
import dev.dstl.benchmarks.verification.ResultFiles;
import dev.dstl.benchmarks.verification.Verdict;
import dev.dstl.benchmarks.verification.Verification;
import dev.dstl.benchmarks.workload.WorkloadJob;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.apache.flink.configuration.Configuration;

/** Runs the variants one after the other, verifies each, and prints the table. For one thread. */
final class Demo {

    /** The part of the input that comes at a steady rate; the rest shows the throughput. */
    private static final double STEADY_SHARE = 0.7;

    private final DemoOptions options;
    private final Path home;
    private final Path plugins;
    private final Display display;
    private final PrintStream out;

    /**
     * Creates a demo.
     *
     * @param home the directory of this run, for everything it writes
     * @param plugins Flink's plugins directory
     */
    Demo(DemoOptions options, Path home, Path plugins, Display display, PrintStream out) {
        this.options = options;
        this.home = home;
        this.plugins = plugins;
        this.display = display;
        this.out = out;
    }

    /** Runs everything; true if each record came exactly once in every variant. */
    boolean run() throws DemoFailure, ClusterException, IOException, InterruptedException {
        Scenario scenario = options.scenario();
        Duration steady = Duration.ofSeconds(options.seconds());
        CheckpointLocation location = options.checkpoints(home);
        out.println("Input: " + scenario.description());
        Map<String, String> expected = scenario.model().expectedRows();
        List<RunReport> reports = new ArrayList<>();
        boolean holds = true;
        for (Variant variant : options.variants()) {
            RunDirectory directory = new RunDirectory(home.resolve(variant.name()));
            out.println();
            out.println(variant.label());
            CheckpointLocation storage =
                    location.resolve(home.getFileName() + "-" + variant.name());
            storage.prepare();
            RunReport.Builder report = run(variant, scenario, steady, directory, storage);
            Verdict verdict = verify(expected, directory);
            holds &= verdict.holds();
            reports.add(report.result(verdict.holds() ? "exactly once" : "WRONG").build());
            if (verdict.holds() && !options.keep() && storage.directory().isPresent()) {
                RunDirectory.delete(storage.directory().get());
            }
        }
        out.println();
        out.println(new ComparisonTable(reports).text());
        return holds;
    }

    private RunReport.Builder run(
            Variant variant,
            Scenario scenario,
            Duration steady,
            RunDirectory directory,
            CheckpointLocation storage)
            throws DemoFailure, ClusterException, IOException, InterruptedException {
        Configuration configuration = variant.configuration(storage.uri(), options.configuration());
        SteadyThenSprint pace =
                new SteadyThenSprint(steady, STEADY_SHARE, directory.path().resolve("sprint"));
        ProgressBoard board = new ProgressBoard(directory.progress());
        long start = System.nanoTime();
        try (ProcessCluster cluster =
                ProcessCluster.start(
                        directory.cluster(), plugins, configuration, Variant.TASK_MANAGERS)) {
            display.say(
                    String.format(
                            Locale.ROOT,
                            "  a JobManager and %d TaskManager processes are up after %.1f s",
                            Variant.TASK_MANAGERS,
                            (System.nanoTime() - start) / 1e9));
            return new VariantRun(variant, cluster, display, STEADY_SHARE / 2, pace, board)
                    .run(
                            new WorkloadJob(scenario.workload(), pace, board, directory.results()),
                            configuration);
        } finally {
            display.close();
        }
    }

    private Verdict verify(Map<String, String> expected, RunDirectory directory)
            throws IOException {
        Verification verification = new Verification(expected);
        new ResultFiles(directory.results()).forEachRow(verification::row);
        Verdict verdict = verification.verdict();
        out.println((verdict.holds() ? "  verified: " : "  VERIFICATION FAILED\n") + verdict);
        return verdict;
    }
}
