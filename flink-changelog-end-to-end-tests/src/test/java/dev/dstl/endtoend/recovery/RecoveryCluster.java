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

import dev.dstl.benchmarks.cluster.ClassPath;
import dev.dstl.benchmarks.cluster.ProcessCluster;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.flink.api.common.JobID;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.CoreOptions;
import org.apache.flink.configuration.ExternalizedCheckpointRetention;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.configuration.StateChangelogOptions;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.configuration.WebOptions;

/** The cluster that the tests of a class share, and the configuration of their jobs. */
final class RecoveryCluster implements AutoCloseable {

    private static final Pattern REFUSED_DELETE =
            Pattern.compile(
                    "problem occurred during asynchronous disposal of a shared state object: File"
                            + " State: sim://[^/]*/log/(\\S+\\.seg)");

    private final Path directory;
    private final Path log;
    private final Configuration configuration;
    private final ClassPath classPath;
    private final ProcessCluster cluster;
    private int jobs;

    RecoveryCluster(Path directory) throws Exception {
        this(directory, new Configuration());
    }

    /** Starts a cluster of two TaskManagers with two slots each. */
    RecoveryCluster(Path directory, Configuration settings) throws Exception {
        this(directory, directory.resolve("log"), settings);
    }

    /**
     * Starts the same cluster with its changelog anywhere.
     *
     * @param log where its files are; the settings say so to the cluster
     */
    RecoveryCluster(Path directory, Path log, Configuration settings) throws Exception {
        this(directory, log, settings, directory.resolve("plugins"), ClassPath.ofThisProcess());
    }

    /**
     * Starts the same cluster with plugins and a class path of its own.
     *
     * @param plugins need not exist
     * @param classPath of all processes
     */
    RecoveryCluster(Path directory, Configuration settings, Path plugins, ClassPath classPath)
            throws Exception {
        this(directory, directory.resolve("log"), settings, plugins, classPath);
    }

    private RecoveryCluster(
            Path directory, Path log, Configuration settings, Path plugins, ClassPath classPath)
            throws Exception {
        this.directory = directory;
        this.log = log;
        this.classPath = classPath;
        this.configuration = new Configuration();
        configuration.set(CoreOptions.DEFAULT_PARALLELISM, 2);
        configuration.set(TaskManagerOptions.NUM_TASK_SLOTS, 2);
        configuration.set(
                TaskManagerOptions.TASK_MANAGER_LOAD_BALANCE_MODE,
                TaskManagerOptions.TaskManagerLoadBalanceMode.SLOTS);
        configuration.set(RestartStrategyOptions.RESTART_STRATEGY, "fixed-delay");
        configuration.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_ATTEMPTS, 10);
        configuration.set(
                RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_DELAY, Duration.ofMillis(300));
        configuration.set(CheckpointingOptions.CHECKPOINTING_INTERVAL, Duration.ofMillis(300));
        configuration.set(
                CheckpointingOptions.CHECKPOINTS_DIRECTORY, checkpoints().toUri().toString());
        configuration.set(
                CheckpointingOptions.EXTERNALIZED_CHECKPOINT_RETENTION,
                ExternalizedCheckpointRetention.RETAIN_ON_CANCELLATION);
        configuration.set(CheckpointingOptions.INCREMENTAL_CHECKPOINTS, true);
        configuration.set(StateChangelogOptions.STATE_CHANGE_LOG_STORAGE, "dstl");
        // What the cluster says of a job has to be what is, not what was some seconds ago.
        configuration.set(WebOptions.REFRESH_INTERVAL, Duration.ofMillis(1));
        configuration.setString("state.changelog.dstl.dfs.base-path", log.toUri().toString());
        // Jobs of a few seconds, whose logs are restored with compacted runs.
        configuration.setString("state.changelog.dstl.compaction.min-runs", "2");
        configuration.addAll(settings);
        this.cluster =
                ProcessCluster.start(
                        directory.resolve("cluster"), classPath, plugins, configuration, 2);
    }

    /** Returns the directory of all checkpoints of all jobs. */
    Path checkpoints() {
        return directory.resolve("checkpoints");
    }

    /** Returns the directory of a job's checkpoints. */
    Path checkpointsOf(JobID job) {
        return checkpoints().resolve(job.toHexString());
    }

    ProcessCluster processes() {
        return cluster;
    }

    /** Kills all TaskManagers and starts as many with other settings. */
    void replaceTaskManagers(Configuration more) throws Exception {
        replaceTaskManagers(more, classPath);
    }

    /** Kills all TaskManagers and starts as many with other jars than the JobManager. */
    void replaceTaskManagers(Configuration more, ClassPath classPath) throws Exception {
        List<String> before = cluster.taskManagers();
        before.forEach(cluster::killTaskManager);
        for (String ignored : before) {
            cluster.startTaskManager(more, classPath);
        }
    }

    /**
     * How many lines with some texts there are in logs.
     *
     * @param process "jobmanager" or "taskmanager", for all of them, dead or alive
     */
    long logged(String process, String... texts) throws IOException {
        long count = 0;
        try (Stream<Path> files = Files.list(cluster.logs())) {
            for (Path file : files.collect(Collectors.toList())) {
                if (file.getFileName().toString().startsWith(process)) {
                    count += lines(file, texts);
                }
            }
        }
        return count;
    }

    /** Segments, relative to the base path, whose deletion the store refused the JobManager. */
    Set<String> segmentsLeftByTheJobManager() throws IOException {
        Set<String> left = new HashSet<>();
        try (Stream<Path> files = Files.list(cluster.logs())) {
            for (Path file : files.collect(Collectors.toList())) {
                if (file.getFileName().toString().startsWith("jobmanager")) {
                    Matcher refused = REFUSED_DELETE.matcher(Files.readString(file));
                    while (refused.find()) {
                        left.add(refused.group(1));
                    }
                }
            }
        }
        return left;
    }

    private static long lines(Path file, String... texts) throws IOException {
        try (Stream<String> lines = Files.lines(file)) {
            return lines.filter(line -> Arrays.stream(texts).allMatch(line::contains)).count();
        }
    }

    /** Creates a run on a backend; nothing is submitted yet. */
    OrderRun newRun(Backend backend) {
        return newRun(backend, OrderVolume.SMALL, new Configuration());
    }

    /** The same with another number of orders and settings of the job. */
    OrderRun newRun(Backend backend, OrderVolume volume, Configuration settings) {
        Configuration job = new Configuration(configuration);
        backend.configure(job);
        job.addAll(settings);
        return new OrderRun(cluster, job, volume, directory.resolve("job-" + ++jobs), log);
    }

    /** Creates a run that continues one of another cluster. */
    OrderRun newRunOf(OrderRun other, Backend backend) {
        Configuration job = new Configuration(configuration);
        backend.configure(job);
        return other.on(cluster, job, log);
    }

    @Override
    public void close() {
        cluster.close();
    }
}
