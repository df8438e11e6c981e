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

package dev.dstl.endtoend.recovery;

import static org.assertj.core.api.Assertions.assertThat;

import dev.dstl.benchmarks.cluster.ClusterClient;
import dev.dstl.benchmarks.cluster.CompletedCheckpoint;
import dev.dstl.benchmarks.cluster.ProcessCluster;
import dev.dstl.benchmarks.progress.ProgressBoard;
import dev.dstl.benchmarks.verification.ResultFiles;
import dev.dstl.benchmarks.verification.Verdict;
import dev.dstl.benchmarks.verification.Verification;
import dev.dstl.benchmarks.workload.Workload;
import dev.dstl.benchmarks.workload.WorkloadJob;
import dev.dstl.endtoend.recovery.upgrade.JobVersion;
import dev.dstl.endtoend.recovery.upgrade.TalliedWorkload;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import javax.annotation.Nullable;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.JobStatus;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.CoreOptions;
import org.apache.flink.configuration.StateChangelogOptions;
import org.apache.flink.core.execution.RestoreMode;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.runtime.jobgraph.JobGraph;
import org.apache.flink.runtime.jobgraph.SavepointRestoreSettings;

/** The order workload as controlled by a test: one result, possibly from several jobs in turn. */
final class OrderRun {

    private final ProcessCluster cluster;
    private final ClusterClient client;
    private final JobWatch watch;
    private final Configuration configuration;
    private final OrderVolume volume;
    private final Path directory;
    private final Path log;
    private final GatedPace pace;
    private final FailingOrderWorkload workload;
    private final Map<JobID, Long> abortedByCancellation = new HashMap<>();
    private final RestoredCheckpoints restored = new RestoredCheckpoints();
    private final List<JobID> withoutDstl = new ArrayList<>();
    private ProgressBoard board;
    @Nullable private JobVersion version;
    private JobID job;
    private int jobs;

    /**
     * Creates a run.
     *
     * @param directory for the result and what a test and its job tell each other
     * @param log where the cluster's log storage puts its files
     */
    OrderRun(
            ProcessCluster cluster,
            Configuration configuration,
            OrderVolume volume,
            Path directory,
            Path log) {
        this.log = log;
        this.cluster = cluster;
        this.client = cluster.client();
        this.watch = new JobWatch(cluster);
        this.configuration = configuration;
        this.volume = volume;
        this.directory = createdDirectory(directory);
        this.pace = new GatedPace(directory.resolve("gate"), volume.wholeInput());
        this.workload = new FailingOrderWorkload(volume.input(), directory.resolve("fuse"));
    }

    /**
     * The same input and result on another cluster.
     *
     * @param otherLog where that cluster's log storage puts its files
     */
    OrderRun on(ProcessCluster other, Configuration otherConfiguration, Path otherLog) {
        OrderRun there = new OrderRun(other, otherConfiguration, volume, directory, otherLog);
        there.jobs = jobs;
        return there;
    }

    /** Sets the state backend of jobs submitted from now on. */
    void setBackend(Backend backend) {
        backend.configure(configuration);
    }

    /** Sets the parallelism of jobs submitted from now on; at most 4. */
    void setParallelism(int parallelism) {
        configuration.set(CoreOptions.DEFAULT_PARALLELISM, parallelism);
    }

    /**
     * Gives the jobs that are submitted from now on an operator with state of versioned classes.
     *
     * @param newVersion at least that of the jobs before
     */
    void setVersion(JobVersion newVersion) {
        version = newVersion;
    }

    void submit() throws Exception {
        submit(graph());
    }

    private void submit(JobGraph graph) throws Exception {
        job = client.submit(graph);
        if (Backend.isFlinksAlone(configuration)) {
            withoutDstl.add(job);
        }
    }

    void submitFrom(RetainedCheckpoint checkpoint, RestoreMode mode) throws Exception {
        submitRestored(checkpoint.path(), mode);
        restored.add(Paths.get(URI.create(checkpoint.path())), mode);
    }

    /** Submits a job that restores a savepoint. */
    void submitFrom(String path, RestoreMode mode) throws Exception {
        submitRestored(path, mode);
        restored.addSavepoint();
    }

    private void submitRestored(String path, RestoreMode mode) throws Exception {
        JobGraph graph = graph();
        graph.setSavepointRestoreSettings(SavepointRestoreSettings.forPath(path, false, mode));
        submit(graph);
    }

    /**
     * Waits until the job has read new records and then completed some checkpoints that began after
     * this call. What failed before this call is over then.
     */
    void awaitCheckpoints(int count) throws Exception {
        long began = System.currentTimeMillis();
        long records = board.read().records();
        watch.await(job, "new records", () -> board.read().records() > records);
        watch.await(
                job,
                count + " checkpoints",
                () ->
                        client.checkpoints(job).stream()
                                        .filter(done -> done.triggeredAtMillis() > began)
                                        .count()
                                >= count);
    }

    /** Kills a TaskManager that runs tasks of the job, and starts another. */
    void killTaskManager() throws Exception {
        watch.await(job, "running tasks", () -> client.allTasksRun(job));
        cluster.killTaskManager(client.taskManagersOf(job).iterator().next());
        cluster.startTaskManager();
    }

    /** Kills TaskManagers in any state of the job, and starts as many others. */
    void killTaskManagers(int count) throws Exception {
        List<String> all = new ArrayList<>(cluster.taskManagers());
        for (String taskManager : all.subList(0, count)) {
            cluster.killTaskManager(taskManager);
        }
        for (int i = 0; i < count; i++) {
            cluster.startTaskManager();
        }
    }

    /** Kills the JobManager and starts another, which must recover the job. */
    void killJobManager() throws Exception {
        cluster.killJobManager();
        cluster.startJobManager();
    }

    /** Makes a task fail; returns when it has. */
    void failTask() throws Exception {
        letTaskFail();
        awaitTaskFailure();
    }

    /** Makes a task fail as soon as one runs. */
    void letTaskFail() throws IOException {
        workload.failOnce();
    }

    /** Returns when a task has failed since {@link #letTaskFail}. */
    void awaitTaskFailure() throws Exception {
        watch.await(job, "failure of a task", workload::hasFailed);
    }

    /** Waits until the job has been restored {@code count} times. */
    void awaitRestores(long count) throws Exception {
        watch.await(
                job,
                count + " restores",
                () -> client.restores(job) >= count && client.allTasksRun(job));
    }

    /** Waits until all tasks run. */
    void awaitRunning() throws Exception {
        watch.await(job, "running tasks", () -> client.allTasksRun(job));
    }

    /** Waits until a condition of the test holds. */
    void await(String what, JobWatch.Condition condition) throws Exception {
        watch.await(job, what, condition);
    }

    JobID job() {
        return job;
    }

    /** Takes a savepoint that is not used. */
    void savepoint(SavepointFormatType format) throws Exception {
        assertThat(client.savepoint(job, savepoints(), format)).isNotEmpty();
    }

    /** Stops the job with a savepoint and returns its path. */
    String stopWithSavepoint(SavepointFormatType format) throws Exception {
        String path = client.stopWithSavepoint(job, savepoints(), format);
        awaitStatus(JobStatus.FINISHED);
        return path;
    }

    /** Cancels the job and returns its newest retained checkpoint. */
    RetainedCheckpoint cancel() throws Exception {
        client.cancel(job);
        awaitStatus(JobStatus.CANCELED);
        List<CompletedCheckpoint> checkpoints = client.checkpoints(job);
        CompletedCheckpoint retained = checkpoints.get(checkpoints.size() - 1);
        if (client.hasFailedCheckpointAfter(job, retained.id())) {
            abortedByCancellation.put(job, retained.triggeredAtMillis());
        }
        boolean logs = configuration.get(StateChangelogOptions.ENABLE_STATE_CHANGE_LOG);
        return new RetainedCheckpoint(
                retained.path(), logs ? log.resolve(job.toHexString()) : null);
    }

    /**
     * Returns the jobs whose cancellation aborted a checkpoint, with the time at which the retained
     * one had begun, in milliseconds since the epoch. Flink deletes no file that only the aborted
     * checkpoint names.
     */
    Map<JobID, Long> abortedByCancellation() {
        return abortedByCancellation;
    }

    /** Returns the jobs that had Flink's state backend alone. */
    List<JobID> jobsWithoutDstl() {
        return withoutDstl;
    }

    /** Returns the checkpoints that jobs have restored. */
    RestoredCheckpoints restoredCheckpoints() {
        return restored;
    }

    /** Cancels the job, with or without checkpoints. */
    void discard() throws Exception {
        client.cancel(job);
        awaitStatus(JobStatus.CANCELED);
    }

    /** Releases the rest of the input and waits for the end of the job. */
    void finish() throws Exception {
        pace.open();
        AtomicLong seen = new AtomicLong(-1);
        while (seen.get() < board.read().records()) {
            seen.set(board.read().records());
            // A slow backend may take its time, as long as it goes on.
            watch.await(
                    job,
                    "more records, nor the end",
                    () ->
                            board.read().records() > seen.get()
                                    || client.status(job) == JobStatus.FINISHED);
        }
        awaitStatus(JobStatus.FINISHED);
    }

    void verify() throws IOException {
        Verification verification = new Verification(volume.expectedRows());
        new ResultFiles(directory.resolve("results")).forEachRow(verification::row);
        Verdict verdict = verification.verdict();
        assertThat(verdict.deviations()).as("deviations").isEmpty();
        assertThat(verdict.expectedRows()).isGreaterThan(15_000);
    }

    /** Each job has its own board, since a board's slots depend on the parallelism. */
    private JobGraph graph() throws IOException {
        board = new ProgressBoard(directory.resolve("progress-" + ++jobs));
        Workload versioned = version == null ? workload : new TalliedWorkload(workload);
        JobGraph graph =
                new WorkloadJob(versioned, pace, board, directory.resolve("results"))
                        .graph(directory.getFileName() + "-" + jobs, configuration);
        if (version != null) {
            graph.addJar(
                    new org.apache.flink.core.fs.Path(
                            version.jar(directory.resolve("jars")).toUri()));
        }
        return graph;
    }

    private String savepoints() {
        return savepointDirectory().toUri().toString();
    }

    /** Returns the directory of all savepoints of the run. */
    Path savepointDirectory() {
        return directory.resolve("savepoints");
    }

    /** Waits until the job has a status. */
    void awaitStatus(JobStatus wanted) throws Exception {
        watch.await(job, "status " + wanted, () -> client.status(job) == wanted);
    }

    private static Path createdDirectory(Path directory) {
        try {
            return Files.createDirectories(directory);
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }
}
