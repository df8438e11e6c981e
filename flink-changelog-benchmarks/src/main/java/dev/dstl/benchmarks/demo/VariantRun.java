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

import dev.dstl.benchmarks.cluster.ClusterClient;
import dev.dstl.benchmarks.cluster.ClusterException;
import dev.dstl.benchmarks.cluster.CompletedCheckpoint;
import dev.dstl.benchmarks.cluster.ProcessCluster;
import dev.dstl.benchmarks.display.Display;
import dev.dstl.benchmarks.progress.Progress;
import dev.dstl.benchmarks.progress.ProgressBoard;
import dev.dstl.benchmarks.report.Percentiles;
import dev.dstl.benchmarks.report.RunReport;
import dev.dstl.benchmarks.source.SteadyThenSprint;
import dev.dstl.benchmarks.workload.WorkloadJob;
import java.io.IOException;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.JobStatus;
import org.apache.flink.configuration.Configuration;

/**
 * One run of the workload on one backend: watches the job, kills a TaskManager on the way, measures
 * what follows, and lets the rest of the input come at once when the job has recovered. For one
 * thread.
 */
final class VariantRun {

    private static final long LOOK_MILLIS = 50;
    private static final int LOOKS_PER_QUESTION = 5;
    private static final int CHECKPOINTS_BEFORE_KILL = 2;

    /** What has been done to the job. */
    private enum Phase {
        STEADY,
        KILLED,
        WORKS_AGAIN,
        CAUGHT_UP
    }

    private final Variant variant;
    private final ProcessCluster cluster;
    private final ClusterClient client;
    private final Display display;
    private final double killFraction;
    private final SteadyThenSprint pace;
    private final ProgressBoard board;
    private final long startNanos = System.nanoTime();

    private Phase phase = Phase.STEADY;
    private Progress progress;
    private List<CompletedCheckpoint> checkpoints = List.of();
    private long killedAtMillis;
    private long recordsAtKill;
    private long firstRecordMillis;
    private long caughtUpMillis;
    private String lastFailure = "";

    VariantRun(
            Variant variant,
            ProcessCluster cluster,
            Display display,
            double killFraction,
            SteadyThenSprint pace,
            ProgressBoard board) {
        this.variant = variant;
        this.cluster = cluster;
        this.client = cluster.client();
        this.display = display;
        this.killFraction = killFraction;
        this.pace = pace;
        this.board = board;
    }

    /**
     * Runs the job to its end.
     *
     * @return the figures; the result has not been looked at
     * @throws DemoFailure if the job failed for good or ended before anything could be killed
     */
    RunReport.Builder run(WorkloadJob job, Configuration configuration)
            throws DemoFailure, ClusterException, IOException, InterruptedException {
        JobID id = client.submit(job.graph("dstl-demo-" + variant.name(), configuration));
        for (long look = 0; ; look++) {
            progress = board.read();
            if (look % LOOKS_PER_QUESTION == 0 && !goesOn(id)) {
                break;
            }
            advance(id);
            display.progress(progress.fraction(), state());
            Thread.sleep(LOOK_MILLIS);
        }
        if (phase != Phase.CAUGHT_UP) {
            throw new DemoFailure(
                    "The input ended before a TaskManager was killed and had recovered;"
                            + " give it more time with --seconds.");
        }
        return figures();
    }

    /** Asks the cluster; false when the job has finished. */
    private boolean goesOn(JobID id) throws DemoFailure, ClusterException, InterruptedException {
        Optional<String> dead = cluster.deadProcess();
        if (dead.isPresent()) {
            throw new DemoFailure(dead.get());
        }
        JobStatus status = client.status(id);
        checkpoints = client.checkpoints(id);
        Optional<String> failure = client.newestFailure(id);
        if (status.isGloballyTerminalState() && status != JobStatus.FINISHED) {
            throw new DemoFailure("The job is " + status + ": " + failure.orElse("cause unknown"));
        }
        if (failure.isPresent() && !failure.get().equals(lastFailure)) {
            lastFailure = failure.get();
            unlessExpected(lastFailure);
        }
        return status != JobStatus.FINISHED;
    }

    private void unlessExpected(String failure) throws DemoFailure {
        if (phase == Phase.STEADY && checkpoints.isEmpty()) {
            // Nothing has worked yet, so more attempts would only hide the reason for minutes.
            throw new DemoFailure("The job failed before its first checkpoint: " + failure);
        }
        if (phase == Phase.STEADY || phase == Phase.CAUGHT_UP) {
            say("the job failed and restarts: %s", failure.lines().findFirst().orElse(failure));
        }
    }

    private void advance(JobID id) throws ClusterException, IOException, InterruptedException {
        switch (phase) {
            case STEADY:
                if (progress.fraction() >= killFraction
                        && checkpoints.size() >= CHECKPOINTS_BEFORE_KILL) {
                    kill(id);
                }
                break;
            case KILLED:
                progress.worksAgainAtMillis(killedAtMillis).ifPresent(this::worksAgain);
                break;
            case WORKS_AGAIN:
                if (progress.records() >= recordsAtKill) {
                    caughtUpMillis = System.currentTimeMillis() - killedAtMillis;
                    phase = Phase.CAUGHT_UP;
                    pace.release();
                    say("it is where it was, %.1f s after the kill", caughtUpMillis / 1e3);
                }
                break;
            case CAUGHT_UP:
                break;
        }
    }

    private void worksAgain(long atMillis) {
        firstRecordMillis = atMillis - killedAtMillis;
        phase = Phase.WORKS_AGAIN;
        say("the whole job works again, %.1f s after the kill", firstRecordMillis / 1e3);
    }

    private void kill(JobID id) throws ClusterException, InterruptedException {
        String victim = client.taskManagersOf(id).stream().findFirst().orElse(null);
        if (victim == null || !client.allTasksRun(id)) {
            return;
        }
        recordsAtKill = progress.records();
        killedAtMillis = System.currentTimeMillis();
        cluster.killTaskManager(victim);
        phase = Phase.KILLED;
        String replacement = cluster.startTaskManager();
        say("killed %s with SIGKILL, started %s in its place", victim, replacement);
    }

    private void say(String format, Object... values) {
        double seconds = (System.nanoTime() - startNanos) / 1e9;
        display.say(
                String.format(Locale.ROOT, "  %5.1f s  ", seconds)
                        + String.format(Locale.ROOT, format, values));
    }

    private String state() {
        String state = String.format(Locale.ROOT, "%,d records", progress.records());
        if (phase == Phase.KILLED) {
            return state + ", recovering";
        }
        if (!checkpoints.isEmpty()) {
            CompletedCheckpoint last = checkpoints.get(checkpoints.size() - 1);
            state +=
                    String.format(
                            Locale.ROOT,
                            ", checkpoint %d took %,d ms",
                            last.id(),
                            last.durationMillis());
        }
        return state;
    }

    private RunReport.Builder figures() {
        long steadyUntil = progress.sprintStartedAtMillis().orElse(Long.MAX_VALUE);
        return new RunReport.Builder(variant.label())
                .steadyCheckpoints(
                        Percentiles.of(
                                checkpoints.stream()
                                        .filter(one -> one.triggeredAtMillis() < steadyUntil)
                                        .mapToLong(CompletedCheckpoint::durationMillis)),
                        Percentiles.of(
                                checkpoints.stream()
                                        .filter(one -> one.triggeredAtMillis() < steadyUntil)
                                        .mapToLong(CompletedCheckpoint::checkpointedBytes)))
                .sizes(
                        checkpoints.stream()
                                .mapToLong(CompletedCheckpoint::checkpointedBytes)
                                .sum(),
                        checkpoints.stream()
                                .mapToLong(CompletedCheckpoint::fullBytes)
                                .max()
                                .orElse(0))
                .recovery(firstRecordMillis, caughtUpMillis)
                .throughput(progress.sprintRecordsPerSecond());
    }
}
