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

package dev.dstl.benchmarks.cluster;

import dev.dstl.benchmarks.measurement.CheckpointSample;
import java.io.IOException;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.JobStatus;
import org.apache.flink.client.deployment.StandaloneClusterId;
import org.apache.flink.client.program.rest.RestClusterClient;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.RestOptions;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.runtime.clusterframework.types.ResourceID;
import org.apache.flink.runtime.execution.ExecutionState;
import org.apache.flink.runtime.jobgraph.JobGraph;
import org.apache.flink.runtime.jobgraph.JobVertexID;
import org.apache.flink.runtime.rest.RestClient;
import org.apache.flink.runtime.rest.messages.EmptyRequestBody;
import org.apache.flink.runtime.rest.messages.JobExceptionsHeaders;
import org.apache.flink.runtime.rest.messages.JobExceptionsInfoWithHistory.RootExceptionInfo;
import org.apache.flink.runtime.rest.messages.JobMessageParameters;
import org.apache.flink.runtime.rest.messages.JobVertexDetailsHeaders;
import org.apache.flink.runtime.rest.messages.JobVertexMessageParameters;
import org.apache.flink.runtime.rest.messages.MessageHeaders;
import org.apache.flink.runtime.rest.messages.MessageParameters;
import org.apache.flink.runtime.rest.messages.ResponseBody;
import org.apache.flink.runtime.rest.messages.checkpoints.CheckpointStatistics.CompletedCheckpointStatistics;
import org.apache.flink.runtime.rest.messages.checkpoints.CheckpointStatistics.FailedCheckpointStatistics;
import org.apache.flink.runtime.rest.messages.checkpoints.CheckpointingStatistics;
import org.apache.flink.runtime.rest.messages.checkpoints.CheckpointingStatisticsHeaders;
import org.apache.flink.runtime.rest.messages.checkpoints.SubtaskCheckpointStatistics;
import org.apache.flink.runtime.rest.messages.checkpoints.SubtaskCheckpointStatistics.CompletedSubtaskCheckpointStatistics;
import org.apache.flink.runtime.rest.messages.checkpoints.TaskCheckpointMessageParameters;
import org.apache.flink.runtime.rest.messages.checkpoints.TaskCheckpointStatisticsHeaders;
import org.apache.flink.runtime.rest.messages.job.JobDetailsInfo;
import org.apache.flink.runtime.rest.messages.job.JobExceptionsMessageParameters;
import org.apache.flink.runtime.rest.messages.job.SubtaskExecutionAttemptDetailsInfo;
import org.apache.flink.runtime.rest.messages.job.metrics.TaskManagerMetricsHeaders;
import org.apache.flink.runtime.rest.messages.job.metrics.TaskManagerMetricsMessageParameters;
import org.apache.flink.util.SerializedThrowable;

/**
 * A client of a cluster's REST endpoint. Every call waits for the answer and is repeated until a
 * timeout, since the JobManager may not be up yet. Used by one thread.
 */
public final class ClusterClient implements AutoCloseable {

    private static final Duration ANSWER_TIMEOUT = Duration.ofSeconds(60);
    private static final String HEAP_USED = "Status.JVM.Memory.Heap.Used";

    private final String host;
    private final int port;
    private final ExecutorService executor;
    private final RestClient rest;
    private final RestClusterClient<StandaloneClusterId> cluster;

    private ClusterClient(Configuration configuration) throws Exception {
        this.host = configuration.get(RestOptions.ADDRESS);
        this.port = configuration.get(RestOptions.PORT);
        this.executor =
                Executors.newSingleThreadExecutor(
                        task -> {
                            Thread thread = new Thread(task, "cluster-client");
                            thread.setDaemon(true);
                            return thread;
                        });
        this.rest = new RestClient(configuration, executor);
        this.cluster = new RestClusterClient<>(configuration, StandaloneClusterId.getInstance());
    }

    static ClusterClient connect(Configuration configuration) throws ClusterException {
        try {
            return new ClusterClient(configuration);
        } catch (Exception e) {
            throw new ClusterException("Cannot make a client of the cluster: " + e, e);
        }
    }

    /** Returns the number of registered TaskManagers; 0 while the JobManager does not answer. */
    int registeredTaskManagers() throws InterruptedException {
        try {
            return cluster.getClusterOverview()
                    .get(2, TimeUnit.SECONDS)
                    .getNumTaskManagersConnected();
        } catch (ExecutionException | TimeoutException notUpYet) {
            return 0;
        }
    }

    /** Submits a job and waits until its initialization has ended or failed. */
    public JobID submit(JobGraph graph) throws ClusterException, InterruptedException {
        JobID job = answer("submit the job", submission(graph));
        while (status(job) == JobStatus.INITIALIZING) {
            Thread.sleep(50);
        }
        return job;
    }

    /** The method takes a JobGraph in Flink 1 and what a JobGraph implements in Flink 2. */
    @SuppressWarnings("unchecked")
    private CompletableFuture<JobID> submission(JobGraph graph) throws ClusterException {
        try {
            for (Method method : RestClusterClient.class.getMethods()) {
                if (method.getName().equals("submitJob") && !method.isBridge()) {
                    return (CompletableFuture<JobID>) method.invoke(cluster, graph);
                }
            }
            throw new NoSuchMethodException("RestClusterClient.submitJob");
        } catch (ReflectiveOperationException e) {
            throw new ClusterException("Cannot submit jobs to this version of Flink: " + e, e);
        }
    }

    /** Returns the status of a job. */
    public JobStatus status(JobID job) throws ClusterException, InterruptedException {
        return answer("ask for the job's status", cluster.getJobStatus(job));
    }

    /** Returns whether every task of the job runs or has finished. */
    public boolean allTasksRun(JobID job) throws ClusterException, InterruptedException {
        JobDetailsInfo details = answer("ask for the job", cluster.getJobDetails(job));
        return details.getJobStatus() == JobStatus.RUNNING
                && details.getJobVertexInfos().stream()
                        .allMatch(
                                vertex ->
                                        vertex.getTasksPerState().get(ExecutionState.RUNNING)
                                                        + vertex.getTasksPerState()
                                                                .get(ExecutionState.FINISHED)
                                                == vertex.getParallelism());
    }

    /** Returns the ids of the TaskManagers that run tasks of the job, sorted. */
    public Set<String> taskManagersOf(JobID job) throws ClusterException, InterruptedException {
        Set<String> ids = new TreeSet<>();
        JobDetailsInfo details = answer("ask for the job", cluster.getJobDetails(job));
        for (JobDetailsInfo.JobVertexDetailsInfo vertex : details.getJobVertexInfos()) {
            subtasks(job, vertex.getJobVertexID()).stream()
                    .filter(subtask -> subtask.getStatus() == ExecutionState.RUNNING)
                    .forEach(subtask -> ids.add(subtask.getTaskmanagerId()));
        }
        return ids;
    }

    /** Returns all completed checkpoints of the job without savepoints, oldest first. */
    public List<CompletedCheckpoint> checkpoints(JobID job)
            throws ClusterException, InterruptedException {
        return statistics(job).getHistory().stream()
                .filter(CompletedCheckpointStatistics.class::isInstance)
                .map(CompletedCheckpointStatistics.class::cast)
                .filter(checkpoint -> !checkpoint.isSavepoint())
                .map(
                        checkpoint ->
                                new CompletedCheckpoint(
                                        checkpoint.getId(),
                                        checkpoint.getTriggerTimestamp(),
                                        checkpoint.getDuration(),
                                        checkpoint.getCheckpointedSize(),
                                        checkpoint.getStateSize(),
                                        checkpoint.getExternalPath()))
                .sorted(Comparator.comparingLong(CompletedCheckpoint::id))
                .collect(Collectors.toList());
    }

    /**
     * Returns whether the job had a checkpoint that failed or was aborted and that is newer than
     * one that the JobManager still remembers.
     *
     * @param id exclusive
     */
    public boolean hasFailedCheckpointAfter(JobID job, long id)
            throws ClusterException, InterruptedException {
        return statistics(job).getHistory().stream()
                .filter(FailedCheckpointStatistics.class::isInstance)
                .anyMatch(checkpoint -> checkpoint.getId() > id);
    }

    /**
     * Adds the durations of a checkpoint's steps to a sample.
     *
     * @param sample sample of a completed checkpoint that the JobManager still remembers
     */
    public void addSteps(JobID job, CheckpointSample sample)
            throws ClusterException, InterruptedException {
        CompletedSubtaskCheckpointStatistics last = null;
        JobDetailsInfo details = answer("ask for the job", cluster.getJobDetails(job));
        for (JobDetailsInfo.JobVertexDetailsInfo vertex : details.getJobVertexInfos()) {
            for (SubtaskCheckpointStatistics subtask :
                    subtasks(job, sample.id, vertex.getJobVertexID())) {
                if (subtask instanceof CompletedSubtaskCheckpointStatistics) {
                    CompletedSubtaskCheckpointStatistics one =
                            (CompletedSubtaskCheckpointStatistics) subtask;
                    if (last == null || one.getAckTimestamp() > last.getAckTimestamp()) {
                        last = one;
                    }
                }
            }
        }
        if (last != null) {
            sample.barrierMillis =
                    last.getStartDelay() + last.getAlignment().getAlignmentDuration();
            sample.synchronousMillis = last.getCheckpointDuration().getSyncDuration();
            sample.asynchronousMillis = last.getCheckpointDuration().getAsyncDuration();
        }
    }

    private List<SubtaskCheckpointStatistics> subtasks(
            JobID job, long checkpointId, JobVertexID vertex)
            throws ClusterException, InterruptedException {
        return request(
                        "ask for a checkpoint",
                        TaskCheckpointStatisticsHeaders.getInstance(),
                        new TaskOfCheckpoint(job, checkpointId, vertex))
                .getSubtaskCheckpointStatistics();
    }

    /**
     * Returns the number of failed checkpoints of the job, including those that a failure of the
     * job cancelled.
     */
    public long failedCheckpoints(JobID job) throws ClusterException, InterruptedException {
        return statistics(job).getCounts().getNumberFailedCheckpoints();
    }

    /** Returns the messages of failed checkpoints that the web interface shows, newest first. */
    public List<String> checkpointFailures(JobID job)
            throws ClusterException, InterruptedException {
        return statistics(job).getHistory().stream()
                .filter(FailedCheckpointStatistics.class::isInstance)
                .map(FailedCheckpointStatistics.class::cast)
                .map(failed -> String.valueOf(failed.getFailureMessage()))
                .collect(Collectors.toList());
    }

    /**
     * Returns the exception that {@code flink run} prints for a failed job, with all causes.
     *
     * @return empty if the job ended in another way
     */
    public Optional<String> failureOf(JobID job) throws ClusterException, InterruptedException {
        return answer("ask for the job's result", cluster.requestJobResult(job))
                .getSerializedThrowable()
                .map(SerializedThrowable::getFullStringifiedStackTrace);
    }

    /** Returns how often the job was restored from a checkpoint or savepoint. */
    public long restores(JobID job) throws ClusterException, InterruptedException {
        return statistics(job).getCounts().getNumberRestoredCheckpoints();
    }

    /** Returns the start times of the running attempts of all tasks. */
    public List<TaskStart> taskStarts(JobID job) throws ClusterException, InterruptedException {
        List<TaskStart> starts = new ArrayList<>();
        JobDetailsInfo details = answer("ask for the job", cluster.getJobDetails(job));
        for (JobDetailsInfo.JobVertexDetailsInfo vertex : details.getJobVertexInfos()) {
            for (SubtaskExecutionAttemptDetailsInfo subtask :
                    subtasks(job, vertex.getJobVertexID())) {
                starts.add(TaskStart.of(subtask));
            }
        }
        return starts;
    }

    /** Returns the heap usage that a TaskManager's JVM last reported, in bytes. */
    public OptionalLong usedHeapBytes(String taskManager)
            throws ClusterException, InterruptedException {
        TaskManagerMetricsMessageParameters parameters = new TaskManagerMetricsMessageParameters();
        parameters.taskManagerIdParameter.resolve(new ResourceID(taskManager));
        parameters.metricsFilterParameter.resolve(List.of(HEAP_USED));
        return request(
                        "ask for the heap of " + taskManager,
                        TaskManagerMetricsHeaders.getInstance(),
                        parameters)
                .getMetrics()
                .stream()
                .filter(metric -> metric.getId().equals(HEAP_USED) && metric.getValue() != null)
                .mapToLong(metric -> Long.parseLong(metric.getValue()))
                .findFirst();
    }

    /** Cancels a job, without waiting for the end. */
    public void cancel(JobID job) throws ClusterException, InterruptedException {
        answer("cancel the job", cluster.cancel(job));
    }

    /**
     * Takes a savepoint.
     *
     * @return path of the savepoint
     */
    public String savepoint(JobID job, String directory, SavepointFormatType format)
            throws ClusterException, InterruptedException {
        return answer("take a savepoint", cluster.triggerSavepoint(job, directory, format));
    }

    /**
     * Stops a job with a savepoint; it processes no record after it.
     *
     * @return path of the savepoint
     */
    public String stopWithSavepoint(JobID job, String directory, SavepointFormatType format)
            throws ClusterException, InterruptedException {
        return answer(
                "stop the job with a savepoint",
                cluster.stopWithSavepoint(job, false, directory, format));
    }

    /** Returns the latest failure of the job with its causes. */
    public Optional<String> newestFailure(JobID job) throws ClusterException, InterruptedException {
        JobExceptionsMessageParameters parameters = new JobExceptionsMessageParameters();
        parameters.jobPathParameter.resolve(job);
        List<RootExceptionInfo> failures =
                request(
                                "ask for the job's failures",
                                JobExceptionsHeaders.getInstance(),
                                parameters)
                        .getExceptionHistory()
                        .getEntries();
        return failures.stream()
                .findFirst()
                .map(failure -> StackTraceSummary.of(failure.getStacktrace()));
    }

    @Override
    public void close() {
        cluster.close();
        rest.closeAsync().completeOnTimeout(null, 2, TimeUnit.SECONDS).join();
        executor.shutdownNow();
    }

    private Collection<SubtaskExecutionAttemptDetailsInfo> subtasks(JobID job, JobVertexID vertex)
            throws ClusterException, InterruptedException {
        JobVertexMessageParameters parameters = new JobVertexMessageParameters();
        parameters.jobPathParameter.resolve(job);
        parameters.jobVertexIdPathParameter.resolve(vertex);
        return request("ask for the job's tasks", JobVertexDetailsHeaders.getInstance(), parameters)
                .getSubtasks();
    }

    private CheckpointingStatistics statistics(JobID job)
            throws ClusterException, InterruptedException {
        JobMessageParameters parameters = new JobMessageParameters();
        parameters.jobPathParameter.resolve(job);
        return request(
                "ask for the job's checkpoints",
                CheckpointingStatisticsHeaders.getInstance(),
                parameters);
    }

    private <P extends ResponseBody, U extends MessageParameters> P request(
            String purpose, MessageHeaders<EmptyRequestBody, P, U> headers, U parameters)
            throws ClusterException, InterruptedException {
        try {
            return answer(
                    purpose,
                    rest.sendRequest(
                            host, port, headers, parameters, EmptyRequestBody.getInstance()));
        } catch (IOException e) {
            throw new ClusterException("Could not " + purpose + ": " + e.getMessage(), e);
        }
    }

    private static <T> T answer(String purpose, CompletableFuture<T> future)
            throws ClusterException, InterruptedException {
        try {
            return future.get(ANSWER_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException e) {
            throw new ClusterException(
                    "Could not " + purpose + ": " + StackTraceSummary.of(e.getCause()), e);
        } catch (TimeoutException e) {
            throw new ClusterException(
                    "Could not " + purpose + ": no answer in " + ANSWER_TIMEOUT.toSeconds() + " s",
                    e);
        }
    }

    /** Names a task of a checkpoint. */
    private static final class TaskOfCheckpoint extends TaskCheckpointMessageParameters {
        TaskOfCheckpoint(JobID job, long checkpointId, JobVertexID vertex) {
            jobPathParameter.resolve(job);
            checkpointIdPathParameter.resolve(checkpointId);
            jobVertexIdPathParameter.resolve(vertex);
        }
    }
}
