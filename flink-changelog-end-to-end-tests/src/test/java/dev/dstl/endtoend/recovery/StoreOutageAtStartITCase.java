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
import dev.dstl.benchmarks.simulated.StoreDirectory;
import dev.dstl.benchmarks.simulated.store.Outage;
import java.net.URI;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.time.Duration;
import java.util.List;
import org.apache.flink.api.common.JobStatus;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The store of the changelog is unavailable while a job, or a process of it, starts. The job
 * starts, reports why its checkpoints fail, and continues by itself when the store is available
 * again.
 */
class StoreOutageAtStartITCase {

    private static final String COMPLAINT =
            "'state.changelog.dstl.dfs.base-path' is 'sim://store/log', where no state changes could be"
                    + " stored ";

    @TempDir static Path directory;
    private static StoreDirectory store;
    private static RecoveryCluster cluster;

    @BeforeAll
    static void startCluster() throws Exception {
        store = new StoreDirectory(directory.resolve("stores"), "store");
        Configuration settings = new Configuration();
        settings.setString("sim.directory", directory.resolve("stores").toString());
        settings.setString("state.changelog.dstl.dfs.base-path", "sim://store/log");
        // Small logs would not need the store for a while.
        settings.setString("state.changelog.dstl.inline-threshold", "0 b");
        settings.set(CheckpointingOptions.CHECKPOINTING_TIMEOUT, Duration.ofSeconds(3));
        // Flink's own choice for a job with checkpoints.
        settings.set(RestartStrategyOptions.RESTART_STRATEGY, "exponential-delay");
        cluster = new RecoveryCluster(directory, settings);
    }

    @AfterAll
    static void stopCluster() {
        if (cluster != null) {
            cluster.close();
        }
    }

    @AfterEach
    void endOutage() throws Exception {
        store.outage().end();
    }

    @ParameterizedTest
    @CsvSource({
        "HANGING, no request was answered",
        "THROTTLING, 503 Slow Down",
        "REFUSED, Connection refused",
        "NO_BUCKET, 404 NoSuchBucket",
        "FORBIDDEN, 403 AccessDenied",
        "READ_ONLY, Read-only file system",
        "FULL, No space left on device"
    })
    void jobThatIsSubmittedMeanwhile_runs_saysWhyItHasNoCheckpoints_andHasThemAfterwards(
            Outage outage, String reason) throws Exception {
        store.outage().begin(outage);
        OrderRun run =
                cluster.newRun(Backend.CHANGELOG_ON_HASHMAP, OrderVolume.SLOW, new Configuration());
        run.submit();
        run.awaitRunning();
        awaitDeclined(run, reason);
        if (outage != Outage.HANGING) {
            assertThat(cluster.logged("taskmanager", "WARN", COMPLAINT + "so far: ", reason))
                    .isPositive();
        }

        store.outage().end();
        run.awaitCheckpoints(1);
        ClusterClient client = cluster.processes().client();
        assertThat(client.newestFailure(run.job())).as("failures of the job").isEmpty();
        assertThat(client.checkpointFailures(run.job())).contains("Task local checkpoint failure.");
        run.discard();
    }

    @Test
    void taskManagerKilledWhileTheDiskIsFull_isRestored_andNothingIsLostOrDeleted()
            throws Exception {
        OrderRun run =
                cluster.newRun(Backend.CHANGELOG_ON_ROCKSDB, OrderVolume.SLOW, new Configuration());
        run.submit();
        run.awaitCheckpoints(2);
        store.outage().begin(Outage.FULL);
        run.killTaskManager();
        run.awaitRestores(1);
        awaitDeclined(run, "No space left on device");
        ClusterClient client = cluster.processes().client();
        assertThat(client.status(run.job())).isEqualTo(JobStatus.RUNNING);
        List<CompletedCheckpoint> completed = client.checkpoints(run.job());
        assertThat(Paths.get(URI.create(completed.get(completed.size() - 1).path())))
                .isDirectoryContaining("glob:**_metadata");

        store.outage().end();
        run.awaitCheckpoints(2);
        run.killTaskManager();
        run.awaitRestores(2);
        run.finish();
        run.verify();
    }

    /** Waits for another checkpoint that is declined for {@code reason}. */
    private static void awaitDeclined(OrderRun run, String reason) throws Exception {
        long before = cluster.logged("jobmanager", COMPLAINT + "for ", reason);
        run.await(
                "line of the JobManager about " + reason,
                () -> cluster.logged("jobmanager", COMPLAINT + "for ", reason) > before);
    }
}
