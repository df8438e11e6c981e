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

import dev.dstl.benchmarks.cluster.ClusterClient;
import dev.dstl.benchmarks.cluster.ClusterException;
import dev.dstl.benchmarks.cluster.CompletedCheckpoint;
import dev.dstl.benchmarks.cluster.ProcessCluster;
import dev.dstl.benchmarks.harness.RecoverySteps;
import dev.dstl.benchmarks.harness.RunFiles;
import dev.dstl.benchmarks.measurement.CheckpointSample;
import dev.dstl.benchmarks.measurement.HandleCount;
import dev.dstl.benchmarks.measurement.ProcessSample;
import dev.dstl.benchmarks.measurement.RunResult;
import dev.dstl.benchmarks.measurement.StoreTraffic;
import dev.dstl.benchmarks.probe.CheckpointProbe;
import dev.dstl.benchmarks.probe.MachineProbe;
import dev.dstl.benchmarks.probe.ProcessProbe;
import dev.dstl.benchmarks.progress.ProgressBoard;
import dev.dstl.benchmarks.simulated.store.RequestCounts;
import dev.dstl.benchmarks.simulated.store.RequestType;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;
import org.apache.flink.api.common.JobID;

/**
 * Measures one job on one running cluster: warms it up, observes it from outside during the window,
 * kills its TaskManager and measures the recovery. Used by one thread.
 */
final class BenchmarkRun {

    private static final Duration START_TIMEOUT = Duration.ofSeconds(60);
    private static final Duration CHECKPOINT_TIMEOUT = Duration.ofSeconds(60);
    private static final Duration RECOVERY_TIMEOUT = Duration.ofSeconds(90);
    private static final long LOOK_MILLIS = 20;
    private static final long SAMPLE_MILLIS = 1000;

    private final PlannedRun run;
    private final Duration warmUp;
    private final Duration window;
    private final ProcessCluster cluster;
    private final ClusterClient client;
    private final JobID job;
    private final RunFiles files;
    private final ProgressBoard board;
    private final RunWatch watch;
    private final RunResult result = new RunResult();

    /**
     * Creates a run of a job that has just been submitted.
     *
     * @param warmUp time from the first record to the start of the window
     * @param window how long the job is measured
     * @param cluster has one TaskManager; stays the caller's
     * @param watch notified of the progress
     */
    BenchmarkRun(
            PlannedRun run,
            Duration warmUp,
            Duration window,
            ProcessCluster cluster,
            JobID job,
            RunFiles files,
            ProgressBoard board,
            RunWatch watch) {
        this.run = run;
        this.warmUp = warmUp;
        this.window = window;
        this.cluster = cluster;
        this.client = cluster.client();
        this.job = job;
        this.files = files;
        this.board = board;
        this.watch = watch;
    }

    /**
     * Measures the job.
     *
     * @throws RunFailure if the job does not run, does not recover, or does not have the expected
     *     configuration
     */
    RunResult measure() throws RunFailure, ClusterException, IOException, InterruptedException {
        result.workload = run.workload().id();
        result.variant = run.variant().id();
        result.round = run.round();
        awaitFirstRecords();
        pass(warmUp, "warms up", () -> {});
        measureWindow();
        recover();
        return result;
    }

    private void awaitFirstRecords()
            throws RunFailure, ClusterException, IOException, InterruptedException {
        long deadline = System.nanoTime() + START_TIMEOUT.toNanos();
        while (!client.allTasksRun(job) || board.read().records() == 0) {
            requireHealth();
            if (System.nanoTime() > deadline) {
                throw new RunFailure(
                        "no record was read within " + START_TIMEOUT.toSeconds() + " s");
            }
            Thread.sleep(LOOK_MILLIS);
        }
    }

    private void measureWindow()
            throws RunFailure, ClusterException, IOException, InterruptedException {
        String taskManager = cluster.taskManagers().get(0);
        ProcessProbe process = ProcessProbe.of(cluster.pidOf(taskManager));
        RequestCounts requestsBefore = files.store().counts();
        Duration cpuTimeBefore = process.cpuTime();
        MachineProbe machine = new MachineProbe();
        Duration busyBefore = machine.busyTime();
        long failedBefore = client.failedCheckpoints(job);
        long recordsBefore = board.read().records();
        long beginMillis = System.currentTimeMillis();
        long beginNanos = System.nanoTime();

        pass(window, "measured", () -> sample(taskManager, process, beginMillis));
        awaitCheckpointAfter(beginMillis);

        result.records = board.read().records() - recordsBefore;
        result.windowSeconds = (System.nanoTime() - beginNanos) / 1e9;
        result.cpuSeconds = process.cpuTime().minus(cpuTimeBefore).toNanos() / 1e9;
        result.otherCpuSeconds =
                machine.busyTime().minus(busyBefore).toNanos() / 1e9 - result.cpuSeconds;
        result.traffic = traffic(files.store().counts().minus(requestsBefore));
        long endMillis = System.currentTimeMillis();
        for (CompletedCheckpoint checkpoint : client.checkpoints(job)) {
            if (completedWithin(checkpoint, beginMillis, endMillis)) {
                CheckpointSample sample = checkpoint.sample(beginMillis);
                client.addSteps(job, sample);
                result.checkpoints.add(sample);
            }
        }
        result.failedCheckpoints = client.failedCheckpoints(job) - failedBefore;
    }

    /**
     * Extends the window until a checkpoint completes, without which a slow machine has no results.
     */
    private void awaitCheckpointAfter(long beginMillis)
            throws RunFailure, ClusterException, InterruptedException {
        long deadline = System.nanoTime() + CHECKPOINT_TIMEOUT.toNanos();
        while (client.checkpoints(job).stream()
                .noneMatch(checkpoint -> completedAtMillis(checkpoint) >= beginMillis)) {
            requireHealth();
            if (System.nanoTime() > deadline) {
                throw new RunFailure(
                        "no checkpoint completed within the window and "
                                + CHECKPOINT_TIMEOUT.toSeconds()
                                + " s");
            }
            Thread.sleep(LOOK_MILLIS);
        }
    }

    private void recover() throws RunFailure, ClusterException, IOException, InterruptedException {
        watch.says("killed, recovers");
        RequestCounts requestsBefore = files.store().counts();
        long killedAtMillis = System.currentTimeMillis();
        cluster.killTaskManager(cluster.taskManagers().get(0));
        cluster.startTaskManager();
        lookIntoStore();
        long firstRecordAtMillis = awaitWorkAfter(killedAtMillis);
        result.recoveryTraffic = traffic(files.store().counts().minus(requestsBefore));
        result.recovery =
                RecoverySteps.between(killedAtMillis, client.taskStarts(job), firstRecordAtMillis);
    }

    /** Called while no task runs that could change the store. */
    private void lookIntoStore()
            throws RunFailure, ClusterException, IOException, InterruptedException {
        long[] objectsAndBytes = files.storedObjectsAndBytes();
        result.storedObjects = objectsAndBytes[0];
        result.storedBytes = objectsAndBytes[1];
        List<CompletedCheckpoint> completed = client.checkpoints(job);
        String pointer = completed.get(completed.size() - 1).path();
        HandleCount handles = CheckpointProbe.count(files.metadata(pointer));
        if (!handles.logStorages.equals(run.variant().changelog().storages())) {
            throw new RunFailure(
                    "the changelog of its checkpoints was written by "
                            + handles.logStorages
                            + ", not by "
                            + run.variant().changelog().storages());
        }
        result.handles = handles;
    }

    private long awaitWorkAfter(long killedAtMillis)
            throws RunFailure, ClusterException, IOException, InterruptedException {
        long deadline = System.nanoTime() + RECOVERY_TIMEOUT.toNanos();
        while (true) {
            OptionalLong firstRecord = board.read().worksAgainAtMillis(killedAtMillis);
            if (firstRecord.isPresent() && client.allTasksRun(job)) {
                return firstRecord.getAsLong();
            }
            if (System.nanoTime() > deadline) {
                throw new RunFailure(
                        "it had not recovered "
                                + RECOVERY_TIMEOUT.toSeconds()
                                + " s after the kill: "
                                + client.newestFailure(job).orElse("cause unknown"));
            }
            Thread.sleep(LOOK_MILLIS);
        }
    }

    private void pass(Duration length, String what, Look look)
            throws RunFailure, ClusterException, IOException, InterruptedException {
        long begin = System.nanoTime();
        for (long next = begin; next - begin < length.toNanos(); ) {
            requireHealth();
            look.once();
            watch.advanced(what, board.read().records());
            next = Math.min(next + SAMPLE_MILLIS * 1_000_000, begin + length.toNanos());
            long pause = next - System.nanoTime();
            if (pause > 0) {
                Thread.sleep(pause / 1_000_000, (int) (pause % 1_000_000));
            }
        }
    }

    private void requireHealth() throws RunFailure, ClusterException, InterruptedException {
        if (cluster.deadProcess().isPresent()) {
            throw new RunFailure(cluster.deadProcess().get());
        }
        if (client.newestFailure(job).isPresent()) {
            throw new RunFailure("the job failed: " + client.newestFailure(job).get());
        }
    }

    private void sample(String taskManager, ProcessProbe process, long beginMillis)
            throws ClusterException, IOException, InterruptedException {
        ProcessSample sample = new ProcessSample();
        sample.atMillis = System.currentTimeMillis() - beginMillis;
        sample.residentBytes = process.residentBytes();
        sample.openFiles = process.openFiles();
        sample.heapBytes = client.usedHeapBytes(taskManager).orElse(0);
        result.process.add(sample);
    }

    private static boolean completedWithin(
            CompletedCheckpoint checkpoint, long beginMillis, long endMillis) {
        long completed = completedAtMillis(checkpoint);
        return completed >= beginMillis && completed < endMillis;
    }

    private static long completedAtMillis(CompletedCheckpoint checkpoint) {
        return checkpoint.triggeredAtMillis() + checkpoint.durationMillis();
    }

    private static StoreTraffic traffic(RequestCounts counts) {
        StoreTraffic traffic = new StoreTraffic();
        for (RequestType type : RequestType.values()) {
            traffic.requests.put(type.name(), counts.requests(type));
        }
        traffic.bytesWritten = counts.bytesWritten();
        traffic.bytesRead = counts.bytesRead();
        return traffic;
    }

    /** An action that runs once per second. */
    private interface Look {
        void once() throws ClusterException, IOException, InterruptedException;
    }
}
