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

import static org.assertj.core.api.Assertions.fail;

import dev.dstl.benchmarks.cluster.ClusterClient;
import dev.dstl.benchmarks.cluster.ClusterException;
import dev.dstl.benchmarks.cluster.ProcessCluster;
import java.time.Duration;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.JobStatus;

/** Waits for a state of a job, also while no JobManager answers. */
final class JobWatch {

    private static final Duration PATIENCE = Duration.ofMinutes(3);

    private final ProcessCluster cluster;
    private final ClusterClient client;

    JobWatch(ProcessCluster cluster) {
        this.cluster = cluster;
        this.client = cluster.client();
    }

    /**
     * Returns when the condition holds; fails when that has become impossible or takes too long.
     */
    void await(JobID job, String what, Condition condition) throws Exception {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (true) {
            String state;
            boolean over = false;
            try {
                if (condition.holds()) {
                    return;
                }
                JobStatus status = client.status(job);
                over = status.isGloballyTerminalState() && !condition.holds();
                state = status + ": " + client.newestFailure(job).orElse("no failure");
            } catch (ClusterException noAnswer) {
                state = "not to be asked for: " + noAnswer.getMessage();
            }
            if (over || System.nanoTime() - deadline > 0 || cluster.deadProcess().isPresent()) {
                fail(
                        "No %s; the job %s is %s; %s; logs in %s",
                        what,
                        job,
                        state,
                        cluster.deadProcess().orElse("all processes are alive"),
                        cluster.logs());
            }
            Thread.sleep(50);
        }
    }

    /** A condition that is polled. */
    interface Condition {
        boolean holds() throws Exception;
    }
}
