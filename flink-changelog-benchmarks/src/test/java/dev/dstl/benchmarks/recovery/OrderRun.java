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

package dev.dstl.benchmarks.recovery;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import dev.dstl.benchmarks.cluster.ClusterClient;
import dev.dstl.benchmarks.cluster.CompletedCheckpoint;
import dev.dstl.benchmarks.cluster.ProcessCluster;
import dev.dstl.benchmarks.progress.ProgressBoard;
import dev.dstl.benchmarks.verification.OrderModel;
import dev.dstl.benchmarks.verification.ResultFiles;
import dev.dstl.benchmarks.verification.Verdict;
import dev.dstl.benchmarks.verification.Verification;
import dev.dstl.benchmarks.workload.WorkloadJob;
import dev.dstl.benchmarks.workload.orders.OrderInput;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.JobStatus;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.StateChangelogOptions;
import org.apache.flink.core.execution.RestoreMode;
import org.apache.flink.runtime.jobgraph.JobGraph;
import org.apache.flink.runtime.jobgraph.SavepointRestoreSettings;

/** The order workload as a test drives it: one result, possibly from several jobs in turn. */
final class OrderRun {

    private static final double SCALE = 0.01;
    private static final Map<String, String> EXPECTED = new OrderModel(SCALE).expectedRows();
    private static final Duration PATIENCE = Duration.ofMinutes(3);

    private final ProcessCluster cluster;
    private final ClusterClient client;
    private final Configuration configuration;
    private final Path directory;
    private final Path log;
    private final GatedPace pace;
    private final FailingOrderWorkload workload;
    private final ProgressBoard board;
    private JobID job;

    /**
     * Creates a run.
     *
     * @param directory for the result and what a test and its job tell each other
     * @param log where the cluster's log storage puts its files
     */
    OrderRun(ProcessCluster cluster, Configuration configuration, Path directory, Path log) {
        this.log = log;
        this.cluster = cluster;
        this.client = cluster.client();
        this.configuration = configuration;
        this.directory = createdDirectory(directory);
        this.pace = new GatedPace(directory.resolve("gate"));
        this.workload = new FailingOrderWorkload(new OrderInput(SCALE), directory.resolve("fuse"));
        this.board = new ProgressBoard(directory.resolve("progress"));
    }

    void submit() throws Exception {
        job = client.submit(graph());
    }

    void submitFrom(RetainedCheckpoint checkpoint, RestoreMode mode) throws Exception {
        JobGraph graph = graph();
        graph.setSavepointRestoreSettings(
                SavepointRestoreSettings.forPath(checkpoint.path(), false, mode));
        job = client.submit(graph);
    }

    /** Waits until the job has read new records and then completed some checkpoints. */
    void awaitCheckpoints(int count) throws Exception {
        long records = board.read().records();
        await("new records", () -> board.read().records() > records);
        int before = client.checkpoints(job).size();
        await(count + " checkpoints", () -> client.checkpoints(job).size() >= before + count);
    }

    /** Kills a TaskManager that runs tasks of the job, and starts another. */
    void killTaskManager() throws Exception {
        await("running tasks", () -> client.allTasksRun(job));
        cluster.killTaskManager(client.taskManagersOf(job).iterator().next());
        cluster.startTaskManager();
    }

    void failTask() throws Exception {
        workload.failOnce();
    }

    /** Waits until the job has been restored that many times. */
    void awaitRestores(long count) throws Exception {
        await(count + " restores", () -> client.restores(job) >= count && client.allTasksRun(job));
    }

    /** Cancels the job and says where its newest retained checkpoint is. */
    RetainedCheckpoint cancel() throws Exception {
        client.cancel(job);
        awaitStatus(JobStatus.CANCELED);
        List<CompletedCheckpoint> checkpoints = client.checkpoints(job);
        boolean logs = configuration.get(StateChangelogOptions.ENABLE_STATE_CHANGE_LOG);
        return new RetainedCheckpoint(
                checkpoints.get(checkpoints.size() - 1).path(),
                logs ? log.resolve(job.toHexString()) : null);
    }

    /** Lets the rest of the input come at once and waits for the end. */
    void finish() throws Exception {
        pace.open();
        awaitStatus(JobStatus.FINISHED);
    }

    void verify() throws IOException {
        Verification verification = new Verification(EXPECTED);
        new ResultFiles(directory.resolve("results")).forEachRow(verification::row);
        Verdict verdict = verification.verdict();
        assertThat(verdict.deviations()).as("deviations").isEmpty();
        assertThat(verdict.expectedRows()).isGreaterThan(15_000);
    }

    private JobGraph graph() {
        return new WorkloadJob(workload, pace, board, directory.resolve("results"))
                .graph(directory.getFileName().toString(), configuration);
    }

    private void awaitStatus(JobStatus wanted) throws Exception {
        await("status " + wanted, () -> client.status(job) == wanted);
    }

    private void await(String what, Condition condition) throws Exception {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (!condition.holds()) {
            JobStatus status = client.status(job);
            boolean over = status.isGloballyTerminalState() && !condition.holds();
            if (over || System.nanoTime() - deadline > 0 || cluster.deadProcess().isPresent()) {
                fail(
                        "No %s; the job is %s: %s; %s; logs in %s",
                        what,
                        status,
                        client.newestFailure(job).orElse("no failure"),
                        cluster.deadProcess().orElse("all processes are alive"),
                        cluster.logs());
            }
            Thread.sleep(50);
        }
    }

    private static Path createdDirectory(Path directory) {
        try {
            return Files.createDirectories(directory);
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    /** Something that is asked of the cluster again and again. */
    private interface Condition {
        boolean holds() throws Exception;
    }
}
