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
import dev.dstl.benchmarks.harness.RecoverySteps;
import dev.dstl.benchmarks.measurement.CheckpointSample;
import dev.dstl.benchmarks.measurement.RecoverySample;
import dev.dstl.benchmarks.progress.Progress;
import dev.dstl.benchmarks.progress.ProgressBoard;
import dev.dstl.benchmarks.report.RunReport;
import dev.dstl.benchmarks.source.PhasedRate;
import java.io.IOException;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Collectors;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.JobStatus;
import org.apache.flink.runtime.jobgraph.JobGraph;

/**
 * One run of the workload on one backend: waits until the job has built up its state, kills a
 * TaskManager under steady load, measures what follows, and releases the rest of the input once the
 * job has recovered. Used by one thread.
 */
final class DemoRun {

    /** In a shorter time, the rate varied by a factor of three between runs. */
    private static final long MIN_SPRINT_MILLIS = 5_000;

    private static final long LOOK_MILLIS = 50;
    private static final int LOOKS_PER_QUESTION = 5;
    private static final int CHECKPOINTS_BEFORE_KILL = 2;

    /** Progress of the run. */
    private enum Phase {
        PRELOAD,
        STEADY,
        KILLED,
        WORKS_AGAIN,
        CAUGHT_UP
    }

    private final String label;
    private final ProcessCluster cluster;
    private final ClusterClient client;
    private final Display display;
    private final Scenario scenario;
    private final PhasedRate rate;
    private final ProgressBoard board;
    private final long startNanos = System.nanoTime();

    private Phase phase = Phase.PRELOAD;
    private Progress progress;
    private List<CompletedCheckpoint> checkpoints = List.of();
    private long killedAtMillis;
    private long recordsAtKill;
    private long preloadedAtMillis;
    private long steadySinceMillis = Long.MAX_VALUE;
    private RecoverySample recovery = new RecoverySample();
    private long caughtUpMillis;
    private String lastFailure = "";

    DemoRun(
            String label,
            ProcessCluster cluster,
            Display display,
            Scenario scenario,
            PhasedRate rate,
            ProgressBoard board) {
        this.label = label;
        this.cluster = cluster;
        this.client = cluster.client();
        this.display = display;
        this.scenario = scenario;
        this.rate = rate;
        this.board = board;
    }

    /**
     * Runs the job to its end.
     *
     * @return results; the rows are not verified yet
     * @throws DemoFailure if the job failed, or ended before a TaskManager was killed
     */
    RunReport.Builder run(JobGraph job)
            throws DemoFailure, ClusterException, IOException, InterruptedException {
        JobID id = client.submit(job);
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
        return report();
    }

    /** Polls the cluster; returns false when the job has finished. */
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
        if (killedAtMillis == 0 && checkpoints.isEmpty()) {
            // Nothing has worked yet, so more attempts would only hide the reason for minutes.
            throw new DemoFailure("The job failed before its first checkpoint: " + failure);
        }
        if (killedAtMillis == 0 || phase == Phase.CAUGHT_UP) {
            say("the job failed and restarts: %s", failure.lines().findFirst().orElse(failure));
        }
    }

    private void advance(JobID id) throws ClusterException, IOException, InterruptedException {
        switch (phase) {
            case PRELOAD:
                if (progress.slowestFraction() >= scenario.steadyFrom()) {
                    preloaded();
                }
                break;
            case STEADY:
                beginWindow();
                if (progress.slowestFraction() >= scenario.killAt()
                        && steadyCheckpoints(Long.MAX_VALUE).size() >= CHECKPOINTS_BEFORE_KILL) {
                    kill(id);
                }
                break;
            case KILLED:
                OptionalLong firstRecord = progress.worksAgainAtMillis(killedAtMillis);
                if (firstRecord.isPresent() && client.allTasksRun(id)) {
                    worksAgain(id, firstRecord.getAsLong());
                }
                break;
            case WORKS_AGAIN:
                if (progress.records() >= recordsAtKill) {
                    caughtUpMillis = System.currentTimeMillis() - killedAtMillis;
                    phase = Phase.CAUGHT_UP;
                    rate.release();
                    say("caught up, %.1f s after the kill", caughtUpMillis / 1e3);
                }
                break;
            case CAUGHT_UP:
                break;
        }
    }

    private void preloaded() {
        preloadedAtMillis = System.currentTimeMillis();
        phase = Phase.STEADY;
        if (scenario.steadyFrom() > 0) {
            say("the state is built up after %,d records; steady load begins", progress.records());
        }
    }

    /**
     * The window starts with the first checkpoint of the steady load, which still contains earlier
     * changes.
     */
    private void beginWindow() {
        if (steadySinceMillis == Long.MAX_VALUE) {
            checkpoints.stream()
                    .filter(one -> one.triggeredAtMillis() >= preloadedAtMillis)
                    .findFirst()
                    .ifPresent(
                            one ->
                                    steadySinceMillis =
                                            one.triggeredAtMillis() + one.durationMillis());
        }
    }

    private void worksAgain(JobID id, long firstRecordAtMillis)
            throws ClusterException, InterruptedException {
        recovery =
                RecoverySteps.between(killedAtMillis, client.taskStarts(id), firstRecordAtMillis);
        phase = Phase.WORKS_AGAIN;
        say("all tasks process records again, %.1f s after the kill", recovery.totalMillis() / 1e3);
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
        if (phase == Phase.PRELOAD) {
            state += ", building up state";
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

    private RunReport.Builder report() {
        return new RunReport.Builder(label)
                .steadyCheckpoints(
                        steadyCheckpoints(progress.sprintStartedAtMillis().orElse(Long.MAX_VALUE)))
                .sizes(
                        checkpoints.stream()
                                .mapToLong(CompletedCheckpoint::checkpointedBytes)
                                .sum(),
                        checkpoints.stream()
                                .mapToLong(CompletedCheckpoint::fullBytes)
                                .max()
                                .orElse(0))
                .recovery(recovery, caughtUpMillis)
                .throughput(progress.sprintRecordsPerSecond(MIN_SPRINT_MILLIS));
    }

    private List<CheckpointSample> steadyCheckpoints(long untilMillis) {
        return checkpoints.stream()
                .filter(one -> one.triggeredAtMillis() >= steadySinceMillis)
                .filter(one -> one.triggeredAtMillis() < untilMillis)
                .map(one -> one.sample(steadySinceMillis))
                .collect(Collectors.toList());
    }
}
