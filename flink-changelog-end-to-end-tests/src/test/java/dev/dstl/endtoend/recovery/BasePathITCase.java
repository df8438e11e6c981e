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
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.time.Duration;
import org.apache.flink.api.common.JobStatus;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Behaviour with a base path that cannot be used. */
class BasePathITCase {

    private static final String KEY = "state.changelog.dstl.dfs.base-path";
    private static final String RELATIVE = "'" + KEY + "' is 'shared/log', a relative path: ";

    @TempDir static Path directory;
    private static RecoveryCluster cluster;

    @BeforeAll
    static void startCluster() throws Exception {
        Configuration settings = new Configuration();
        settings.setString(KEY, "shared/log");
        settings.setString("state.changelog.dstl.inline-threshold", "0 b");
        settings.set(CheckpointingOptions.CHECKPOINTING_TIMEOUT, Duration.ofSeconds(3));
        settings.set(RestartStrategyOptions.RESTART_STRATEGY, "exponential-delay");
        cluster = new RecoveryCluster(directory, settings);
    }

    @AfterAll
    static void stopCluster() {
        if (cluster != null) {
            cluster.close();
        }
    }

    /** One test for several cases, since starting clusters takes long. */
    @Test
    void relativePath_endsANewJobAtOnce_fileInTheWayWaits_andNeitherHarmsAJobThatHasCheckpoints()
            throws Exception {
        ClusterClient client = cluster.processes().client();
        OrderRun refused =
                cluster.newRun(Backend.CHANGELOG_ON_HASHMAP, OrderVolume.SLOW, new Configuration());
        refused.submit();
        refused.awaitStatus(JobStatus.FAILED);
        assertThat(client.failureOf(refused.job()))
                .as("what flink run prints")
                .get()
                .asString()
                .contains("MisconfigurationException: " + RELATIVE, "Set it to an absolute one");
        assertThat(client.newestFailure(refused.job())).get().asString().contains(RELATIVE);

        Path log = Files.createFile(directory.resolve("in-the-way"));
        Configuration file = new Configuration();
        file.setString(KEY, log.toUri().toString());
        cluster.replaceTaskManagers(file);
        OrderRun run =
                cluster.newRun(Backend.CHANGELOG_ON_HASHMAP, OrderVolume.SLOW, new Configuration());
        run.submit();
        run.awaitRunning();
        run.await(
                "line of the JobManager",
                () -> cluster.logged("jobmanager", "'" + KEY + "' is 'file:", " s: ") > 0);
        assertThat(cluster.logged("taskmanager", "WARN", "'" + KEY + "' is 'file:", "so far"))
                .isPositive();
        Files.delete(log);
        run.awaitCheckpoints(1);
        assertThat(client.newestFailure(run.job())).isEmpty();

        cluster.replaceTaskManagers(new Configuration());
        run.await(
                "failure because of the relative path",
                () -> client.newestFailure(run.job()).orElse("").contains(RELATIVE));
        run.await(
                "checkpoint that is kept",
                () -> Files.exists(Paths.get(URI.create(newestCheckpoint(run) + "/_metadata"))));
        assertThat(client.status(run.job()))
                .as("%s", client.newestFailure(run.job()))
                .isIn(JobStatus.RESTARTING, JobStatus.RUNNING, JobStatus.FAILING);
        cluster.replaceTaskManagers(file);
        run.awaitCheckpoints(1);
        run.finish();
        run.verify();
    }

    private static String newestCheckpoint(OrderRun run) throws Exception {
        ClusterClient client = cluster.processes().client();
        return client.checkpoints(run.job()).stream()
                .reduce((older, newer) -> newer)
                .orElseThrow()
                .path();
    }
}
