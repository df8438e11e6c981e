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
import static org.assertj.core.api.Assertions.fail;

import dev.dstl.benchmarks.cluster.ClusterClient;
import dev.dstl.benchmarks.cluster.ProcessCluster;
import dev.dstl.benchmarks.progress.ProgressBoard;
import dev.dstl.benchmarks.verification.ResultFiles;
import dev.dstl.benchmarks.verification.Verdict;
import dev.dstl.benchmarks.verification.Verification;
import dev.dstl.benchmarks.workload.WorkloadJob;
import dev.dstl.spillable.SpillableStateBackendFactory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.JobStatus;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.CoreOptions;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.configuration.StateBackendOptions;
import org.apache.flink.configuration.StateChangelogOptions;
import org.apache.flink.configuration.TaskManagerOptions;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * An end-to-end job whose state does not fit on the heap, before and after its process is killed.
 */
class StateLargerThanHeapITCase {

    /** About 130 bytes each, on a heap of 128 MB of which a third is in use otherwise. */
    private static final long WORDS = 1_000_000;

    private static final Duration PATIENCE = Duration.ofMinutes(4);

    @TempDir Path directory;

    @ParameterizedTest(name = "changelog: {0}")
    @ValueSource(booleans = {false, true})
    void stateThatWouldNotFit_isSpilled_andRestoredAfterAKill(boolean changelog) throws Exception {
        CountTwiceWorkload workload = new CountTwiceWorkload(WORDS);
        ProgressBoard board =
                new ProgressBoard(Files.createDirectory(directory.resolve("progress")));
        GatedPace pace = new GatedPace(directory.resolve("gate"), Duration.ofMinutes(2));
        pace.open();
        Configuration configuration = configuration(changelog);
        try (ProcessCluster cluster =
                ProcessCluster.start(
                        directory.resolve("cluster"),
                        directory.resolve("plugins"),
                        configuration,
                        1)) {
            ClusterClient client = cluster.client();
            JobID job =
                    client.submit(
                            new WorkloadJob(workload, pace, board, directory.resolve("results"))
                                    .graph("larger than the heap", configuration));
            await(
                    cluster,
                    job,
                    () ->
                            board.read().records() > WORDS * 1.1
                                    && !client.checkpoints(job).isEmpty());
            cluster.killTaskManager(cluster.taskManagers().get(0));
            String restarted = cluster.startTaskManager();
            await(cluster, job, () -> client.status(job) == JobStatus.FINISHED);

            assertThat(client.restores(job)).isEqualTo(1);
            assertThat(Files.readString(cluster.logs().resolve(restarted + ".log")))
                    .containsAnyOf(spills(changelog))
                    .doesNotContain("OutOfMemoryError");
        }
        Verification verification = new Verification(workload.expectedRows());
        new ResultFiles(directory.resolve("results")).forEachRow(verification::row);
        Verdict verdict = verification.verdict();
        assertThat(verdict.deviations()).as("deviations").isEmpty();
    }

    /**
     * A snapshot spills as it is read. With a changelog the last one may still have fitted, and the
     * changelog is replayed onto a heap that fills up as it does with any other record.
     */
    private static String[] spills(boolean changelog) {
        String whileRestoring = "The heap has no room for more restored state";
        return changelog
                ? new String[] {whileRestoring, "of state on the heap spills about"}
                : new String[] {whileRestoring};
    }

    private Configuration configuration(boolean changelog) throws IOException {
        Configuration all = new Configuration();
        all.set(CoreOptions.DEFAULT_PARALLELISM, 1);
        all.set(TaskManagerOptions.FRAMEWORK_HEAP_MEMORY, MemorySize.ofMebiBytes(64));
        all.set(TaskManagerOptions.TASK_HEAP_MEMORY, MemorySize.ofMebiBytes(64));
        all.set(RestartStrategyOptions.RESTART_STRATEGY, "fixed-delay");
        all.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_ATTEMPTS, 10);
        all.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_DELAY, Duration.ofMillis(300));
        all.set(CheckpointingOptions.CHECKPOINTING_INTERVAL, Duration.ofSeconds(1));
        all.set(
                CheckpointingOptions.CHECKPOINTS_DIRECTORY,
                directory.resolve("checkpoints").toUri().toString());
        all.set(StateBackendOptions.STATE_BACKEND, SpillableStateBackendFactory.class.getName());
        all.setString("state.backend.spillable.trigger-interval", "200ms");
        all.set(StateChangelogOptions.ENABLE_STATE_CHANGE_LOG, changelog);
        all.set(StateChangelogOptions.STATE_CHANGE_LOG_STORAGE, "dstl");
        all.set(StateChangelogOptions.PERIODIC_MATERIALIZATION_INTERVAL, Duration.ofSeconds(3));
        all.setString(
                "state.changelog.dstl.dfs.base-path", directory.resolve("log").toUri().toString());
        return all;
    }

    private static void await(ProcessCluster cluster, JobID job, Condition condition)
            throws Exception {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (!condition.holds()) {
            JobStatus status = cluster.client().status(job);
            if ((status.isGloballyTerminalState() && !condition.holds())
                    || System.nanoTime() - deadline > 0
                    || cluster.deadProcess().isPresent()) {
                fail(
                        "The job is %s: %s; %s; logs in %s",
                        status,
                        cluster.client().newestFailure(job).orElse("no failure"),
                        cluster.deadProcess().orElse("all processes are alive"),
                        cluster.logs());
            }
            Thread.sleep(50);
        }
    }

    /** A condition that is polled. */
    private interface Condition {
        boolean holds() throws Exception;
    }
}
