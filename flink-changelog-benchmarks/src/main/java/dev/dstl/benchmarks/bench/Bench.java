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

import dev.dstl.benchmarks.cluster.ClassPath;
import dev.dstl.benchmarks.cluster.ClusterException;
import dev.dstl.benchmarks.cluster.ProcessCluster;
import dev.dstl.benchmarks.display.Display;
import dev.dstl.benchmarks.harness.RunFiles;
import dev.dstl.benchmarks.measurement.BenchmarkResults;
import dev.dstl.benchmarks.measurement.RunResult;
import dev.dstl.benchmarks.progress.ProgressBoard;
import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.apache.flink.api.common.JobID;
import org.apache.flink.configuration.Configuration;

/**
 * Runs all planned benchmarks, one after the other, each on a cluster of its own. Used by one
 * thread.
 */
final class Bench {

    private static final Duration STARTS_AND_RECOVERY = Duration.ofSeconds(14);

    private final Mode mode;
    private final Duration window;
    private final Map<String, String> given;
    private final Duration spent;
    private final Path home;
    private final Path builtInJars;
    private final Path plugins;
    private final Display display;

    /**
     * Creates a benchmark.
     *
     * @param window how long each run is measured
     * @param configuration keys of Flink's configuration for all runs
     * @param spent time of the mode's budget that the build has used
     * @param home directory for everything that runs write
     * @param builtInJars directory of the jars of Flink's built-in changelog
     * @param plugins Flink's plugins directory, which need not exist
     */
    Bench(
            Mode mode,
            Duration window,
            Map<String, String> configuration,
            Duration spent,
            Path home,
            Path builtInJars,
            Path plugins,
            Display display) {
        this.mode = mode;
        this.window = window;
        this.given = configuration;
        this.spent = spent;
        this.home = home;
        this.builtInJars = builtInJars;
        this.plugins = plugins;
        this.display = display;
    }

    /**
     * Makes the runs.
     *
     * @param results receives the results, and the runs that were left out
     * @return whether every run has results, or failed where its variant may fail
     */
    boolean run(List<PlannedRun> runs, BenchmarkResults results)
            throws IOException, InterruptedException {
        long start = System.nanoTime();
        long expectedSeconds = expected(mode, window).toSeconds();
        boolean asExpected = true;
        for (int i = 0; i < runs.size(); i++) {
            PlannedRun run = runs.get(i);
            long seconds = spent.plus(Duration.ofNanos(System.nanoTime() - start)).toSeconds();
            if (mode.budget().isPresent()
                    && seconds + expectedSeconds > mode.budget().get().toSeconds()) {
                results.leftOut.add(run + ": " + seconds + " s have passed, no time is left");
                continue;
            }
            RunWatch watch =
                    new RunWatch(
                            display,
                            run.workload().id() + " on " + run.variant().id(),
                            i,
                            runs.size(),
                            expectedSeconds);
            RunResult result = run(run, watch);
            results.runs.add(result);
            asExpected &= result.hasFigures() || run.workload().mayFailOn(run.variant());
            display.say(summary(run, result));
        }
        return asExpected;
    }

    private RunResult run(PlannedRun run, RunWatch watch) throws IOException, InterruptedException {
        RunFiles files = new RunFiles(home.resolve(run.name()));
        RunFiles.delete(files.directory());
        watch.says("starts");
        Configuration configuration = RunConfiguration.of(run, mode, files, given);
        ClassPath classPath = run.variant().classPath(builtInJars);
        ProgressBoard board = new ProgressBoard(files.progress());
        try (ProcessCluster cluster =
                ProcessCluster.start(files.cluster(), classPath, plugins, configuration, 1)) {
            JobID job =
                    cluster.client()
                            .submit(
                                    run.workload()
                                            .job(mode)
                                            .graph(run.name(), configuration, board));
            return new BenchmarkRun(run, mode.warmUp(), window, cluster, job, files, board, watch)
                    .measure();
        } catch (RunFailure | ClusterException e) {
            return failure(run, e.getMessage());
        } catch (IOException e) {
            return failure(run, e.toString());
        } finally {
            files.deleteBulk();
        }
    }

    private RunResult failure(PlannedRun run, String reason) {
        RunResult failed = new RunResult();
        failed.workload = run.workload().id();
        failed.variant = run.variant().id();
        failed.round = run.round();
        // Others read it too, to whom this machine's directories say nothing.
        failed.failure = reason.replace(home + File.separator, "");
        return failed;
    }

    /**
     * Returns the expected duration of a run with its cluster, on a machine that is not too slow.
     */
    static Duration expected(Mode mode, Duration window) {
        return mode.warmUp().plus(window).plus(STARTS_AND_RECOVERY);
    }

    private static String summary(PlannedRun run, RunResult result) {
        if (!result.hasFigures()) {
            return "  " + run + ": FAILED, " + result.failure;
        }
        return String.format(
                Locale.ROOT,
                "  %s: %,.0f records/s, %d checkpoints, recovered in %.1f s",
                run,
                result.recordsPerSecond(),
                result.checkpoints.size(),
                result.recovery.totalMillis() / 1e3);
    }
}
