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

import dev.dstl.benchmarks.cluster.ClassPath;
import dev.dstl.benchmarks.cluster.ClusterClient;
import dev.dstl.benchmarks.simulated.store.RequestType;
import dev.dstl.endtoend.objectstore.front.FrontFault;
import dev.dstl.endtoend.objectstore.front.StoreFront;
import dev.dstl.endtoend.objectstore.server.EmbeddedS3;
import dev.dstl.endtoend.objectstore.server.PluginFileSystems;
import java.nio.file.Path;
import java.time.Duration;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * S3 through Flink's plugin, whose exceptions no other process can deserialize: a bucket that does
 * not exist yet, a missing permission, a host that refuses and one that hangs.
 */
class UnusableBucketITCase {

    private static final String COMPLAINT =
            "'state.changelog.dstl.dfs.base-path' is 's3://later/log', where no state changes could be"
                    + " stored ";

    @TempDir static Path directory;
    private static EmbeddedS3 server;
    private static StoreFront front;
    private static RecoveryCluster cluster;

    @BeforeAll
    static void startCluster() throws Exception {
        server = EmbeddedS3.start();
        front = StoreFront.of(server.endpoint().address());
        Configuration settings = server.endpoint().at(front.address()).configuration();
        settings.setString("s3.max-error-retries", "0");
        settings.setString("state.changelog.dstl.dfs.base-path", "s3://later/log");
        settings.setString("state.changelog.dstl.inline-threshold", "0 b");
        settings.set(CheckpointingOptions.CHECKPOINTING_TIMEOUT, Duration.ofSeconds(4));
        settings.set(RestartStrategyOptions.RESTART_STRATEGY, "exponential-delay");
        cluster =
                new RecoveryCluster(
                        directory,
                        settings,
                        PluginFileSystems.directory(),
                        ClassPath.ofThisProcess());
    }

    @AfterAll
    static void stopCluster() throws Exception {
        if (cluster != null) {
            cluster.close();
        }
        if (front != null) {
            front.close();
        }
        if (server != null) {
            server.close();
        }
    }

    @Test
    void jobGoesOnByItself_onceBucketRightsAndHostAreThere() throws Exception {
        ClusterClient client = cluster.processes().client();
        OrderRun run =
                cluster.newRun(Backend.CHANGELOG_ON_HASHMAP, OrderVolume.SLOW, new Configuration());
        run.submit();
        run.awaitRunning();
        awaitDeclined(run, "NoSuchBucket");
        assertThat(cluster.logged("taskmanager", "WARN", COMPLAINT + "so far: ", "NoSuchBucket"))
                .isPositive();
        server.createBucket("later");
        run.awaitCheckpoints(1);
        assertThat(client.newestFailure(run.job())).as("failures of the job").isEmpty();

        front.fail(FrontFault.FORBIDDEN, RequestType.PUT, key -> true, Integer.MAX_VALUE);
        run.killTaskManager();
        run.awaitRestores(1);
        awaitDeclined(run, "AccessDenied");
        front.heal();
        run.awaitCheckpoints(1);

        front.fail(FrontFault.RESET, RequestType.PUT, key -> true, Integer.MAX_VALUE);
        run.killTaskManager();
        run.awaitRestores(2);
        awaitDeclined(run, "SdkClientException");
        front.heal();
        run.awaitCheckpoints(1);

        front.fail(FrontFault.HOLD, RequestType.PUT, key -> true, Integer.MAX_VALUE);
        run.killTaskManager();
        run.awaitRestores(3);
        awaitDeclined(run, "no request was answered");
        front.heal();
        front.releaseHeld();
        run.awaitCheckpoints(1);
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
