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
import dev.dstl.benchmarks.harness.Backend;
import dev.dstl.benchmarks.harness.Changelog;
import dev.dstl.benchmarks.harness.ClusterSettings;
import dev.dstl.benchmarks.harness.Delegate;
import dev.dstl.benchmarks.harness.RunFiles;
import dev.dstl.benchmarks.progress.ProgressBoard;
import dev.dstl.benchmarks.report.ComparisonBars;
import dev.dstl.benchmarks.report.ComparisonTable;
import dev.dstl.benchmarks.report.RunReport;
import dev.dstl.benchmarks.source.PhasedRate;
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
import java.util.Optional;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.runtime.util.EnvironmentInformation;

/**
 * Runs the backends one after the other, verifies their results, and compares them. Used by one
 * thread.
 */
final class Demo {

    /** Each has slots for all tasks, so that recovery does not wait for a new process. */
    private static final int TASK_MANAGERS = 2;

    private static final Duration CHECKPOINT_INTERVAL = Duration.ofSeconds(1);
    private static final MemorySize MANAGED_MEMORY = MemorySize.ofMebiBytes(512);
    private static final long STORE_SEED = 1;

    private final DemoOptions options;
    private final Path home;
    private final Path plugins;
    private final Display display;
    private final PrintStream out;

    /**
     * Creates a demo.
     *
     * @param home directory of this run, for all files but the picture
     * @param plugins Flink's plugins directory
     */
    Demo(DemoOptions options, Path home, Path plugins, Display display, PrintStream out) {
        this.options = options;
        this.home = home;
        this.plugins = plugins;
        this.display = display;
        this.out = out;
    }

    /**
     * Runs the demo.
     *
     * @param picture SVG file to write
     * @return whether every record was counted exactly once on every backend
     */
    boolean run(Path picture)
            throws DemoFailure, ClusterException, IOException, InterruptedException {
        Scenario scenario = options.scenario();
        Optional<CheckpointLocation> location = options.checkpoints();
        out.println("Flink: " + EnvironmentInformation.getVersion());
        out.println("Input: " + scenario.description());
        out.println(
                location.isPresent()
                        ? "Checkpoints: " + location.get().uri()
                        : "Checkpoints: simulated object store, "
                                + ClusterSettings.describeStore());
        Map<String, String> expected = scenario.model().expectedRows();
        List<RunReport> reports = new ArrayList<>();
        DurationChart chart = new DurationChart();
        boolean holds = true;
        for (Backend backend : options.backends()) {
            String name = name(backend);
            RunFiles files = new RunFiles(home.resolve(name));
            CheckpointLocation storage =
                    location.map(all -> all.resolve(home.getFileName() + "-" + name))
                            .orElseGet(() -> CheckpointLocation.simulated(files));
            storage.prepare();
            Configuration configuration = configuration(backend, storage, files);
            String label = label(backend, configuration);
            out.println();
            out.println(label);
            RunReport.Builder builder = run(label, backend, configuration, scenario, files);
            Verdict verdict = verify(expected, files);
            holds &= verdict.holds();
            RunReport report = builder.result(verdict.holds() ? "exactly once" : "WRONG").build();
            reports.add(report);
            chart.add(backend, report);
            if (verdict.holds() && !options.keep() && storage.directory().isPresent()) {
                RunFiles.delete(storage.directory().get());
            }
        }
        out.println();
        out.println(new ComparisonTable(reports).text());
        out.println();
        out.println(new ComparisonBars(reports).text());
        chart.write(picture);
        out.println();
        out.println("Checkpoint durations over time: " + picture);
        return holds;
    }

    private RunReport.Builder run(
            String label,
            Backend backend,
            Configuration configuration,
            Scenario scenario,
            RunFiles files)
            throws DemoFailure, ClusterException, IOException, InterruptedException {
        PhasedRate rate = scenario.rate(Duration.ofSeconds(options.seconds()), files.release());
        ProgressBoard board = new ProgressBoard(files.progress());
        long start = System.nanoTime();
        try (ProcessCluster cluster =
                ProcessCluster.start(
                        files.cluster(),
                        // Only Flink's built-in changelog, which is not run here, needs a folder.
                        backend.classPath(home),
                        plugins,
                        configuration,
                        TASK_MANAGERS)) {
            display.say(
                    String.format(
                            Locale.ROOT,
                            "  a JobManager and %d TaskManager processes are up after %.1f s",
                            TASK_MANAGERS,
                            (System.nanoTime() - start) / 1e9));
            return new DemoRun(label, cluster, display, scenario, rate, board)
                    .run(
                            new WorkloadJob(scenario.workload(), rate, board, files.results())
                                    .graph("dstl-demo-" + name(backend), configuration));
        } finally {
            display.close();
        }
    }

    private Configuration configuration(
            Backend backend, CheckpointLocation storage, RunFiles files) {
        Configuration all = ClusterSettings.common();
        all.set(TaskManagerOptions.MANAGED_MEMORY_SIZE, MANAGED_MEMORY);
        all.set(
                TaskManagerOptions.TASK_MANAGER_LOAD_BALANCE_MODE,
                TaskManagerOptions.TaskManagerLoadBalanceMode.SLOTS);
        all.addAll(ClusterSettings.store(files.storeRoot(), STORE_SEED));
        all.addAll(backend.configuration(storage.uri(), CHECKPOINT_INTERVAL));
        options.configuration().forEach(all::setString);
        return all;
    }

    private Verdict verify(Map<String, String> expected, RunFiles files) throws IOException {
        Verification verification = new Verification(expected);
        new ResultFiles(files.results()).forEachRow(verification::row);
        Verdict verdict = verification.verdict();
        out.println((verdict.holds() ? "  verified: " : "  VERIFICATION FAILED\n") + verdict);
        return verdict;
    }

    /** Returns a short name for files. */
    private static String name(Backend backend) {
        return backend.changelog() == Changelog.NONE ? "plain" : "dstl";
    }

    /** Returns a label with the backend and its checkpoints. */
    private static String label(Backend backend, Configuration configuration) {
        if (backend.changelog() != Changelog.NONE) {
            return "DSTL on " + backend.delegate().label();
        }
        boolean incremental =
                backend.delegate() == Delegate.ROCKSDB
                        && configuration.get(CheckpointingOptions.INCREMENTAL_CHECKPOINTS);
        return backend.delegate().label() + (incremental ? ", incremental" : ", full");
    }
}
