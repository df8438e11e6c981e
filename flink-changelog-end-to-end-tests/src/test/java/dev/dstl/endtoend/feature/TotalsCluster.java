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

package dev.dstl.endtoend.feature;

import static org.awaitility.Awaitility.await;

import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.Callable;
import javax.annotation.Nullable;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.JobStatus;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.runtime.checkpoint.CompletedCheckpointStats;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.minicluster.MiniClusterConfiguration;

/** A cluster in this process that runs a {@link TotalsJob} until its state is final. */
final class TotalsCluster implements AutoCloseable {

    private static final Duration PATIENCE = Duration.ofMinutes(2);

    private final TotalsJob totals;
    private final MiniCluster cluster;

    TotalsCluster(TotalsJob totals) throws Exception {
        this.totals = totals;
        Configuration configuration = new Configuration(totals.configuration());
        this.cluster =
                new MiniCluster(
                        new MiniClusterConfiguration.Builder()
                                .setConfiguration(configuration)
                                .setNumTaskManagers(1)
                                .setNumSlotsPerTaskManager(2)
                                .build());
        cluster.start();
    }

    /** Submits the job and waits for a checkpoint with the final state. */
    JobID run() throws Exception {
        JobID job = cluster.submitJob(totals.graph()).get().getJobID();
        awaitUnlessFailed(job, totals::restsNow);
        long rest = System.currentTimeMillis();
        awaitUnlessFailed(
                job,
                () -> {
                    CompletedCheckpointStats newest = newestCheckpoint(job);
                    return newest != null && newest.getTriggerTimestamp() > rest;
                });
        return job;
    }

    String savepoint(JobID job, Path target, SavepointFormatType format) throws Exception {
        return cluster.triggerSavepoint(job, target.toUri().toString(), false, format).get();
    }

    /** Cancels the job and returns the path of its last checkpoint. */
    String cancel(JobID job) throws Exception {
        cluster.cancelJob(job).get();
        awaitUnlessFailed(job, () -> cluster.getJobStatus(job).get() == JobStatus.CANCELED);
        return newestCheckpoint(job).getExternalPath();
    }

    @Nullable
    private CompletedCheckpointStats newestCheckpoint(JobID job) throws Exception {
        return cluster.getExecutionGraph(job)
                .get()
                .getCheckpointStatsSnapshot()
                .getHistory()
                .getLatestCompletedCheckpoint();
    }

    private void awaitUnlessFailed(JobID job, Callable<Boolean> condition) {
        await().atMost(PATIENCE)
                .pollInSameThread()
                .failFast(() -> cluster.getJobStatus(job).get() == JobStatus.FAILED)
                .until(condition);
    }

    @Override
    public void close() {
        cluster.closeAsync().join();
    }
}
