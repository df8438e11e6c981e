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

import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.CoreOptions;
import org.apache.flink.configuration.HeartbeatManagerOptions;
import org.apache.flink.configuration.JobManagerOptions;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.RestOptions;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.configuration.WebOptions;

/**
 * A standalone Flink cluster without a Flink distribution: one JobManager process and any number of
 * TaskManager processes on 127.0.0.1, with the class path of this process or another one. Kills are
 * real kills.
 *
 * <p>Owns its processes, which end with {@link #close()}, with this process, and when this process
 * is killed. Owns only logs and temporary files in its directory. Used by one thread.
 */
public final class ProcessCluster implements AutoCloseable {

    private static final String LOCALHOST = "127.0.0.1";
    private static final int FIRST_PORT = 10_240;

    /** Default of Linux. */
    private static final int FIRST_EPHEMERAL_PORT = 32_768;

    private static final int PORT_ATTEMPTS = 100;
    private static final Duration START_TIMEOUT = Duration.ofMinutes(3);
    private static final long JOB_MANAGER_HEAP_MEBIBYTES = 512;

    private final Path directory;
    private final ClassPath classPath;
    private final Configuration configuration;
    private final Path plugins;
    private final Map<String, ClusterProcess> taskManagers = new LinkedHashMap<>();
    private final Thread shutdownHook = new Thread(this::killAll, "kill-cluster");
    private ClusterProcess jobManager;
    private ClusterClient client;
    private int started;

    private ProcessCluster(
            Path directory, ClassPath classPath, Configuration configuration, Path plugins) {
        this.directory = directory;
        this.classPath = classPath;
        this.configuration = configuration;
        this.plugins = plugins;
    }

    /**
     * Starts a cluster with the class path of this process and waits until all TaskManagers have
     * registered.
     *
     * @throws ClusterException if a process ends or the cluster is not complete before a timeout;
     *     all processes are ended then
     */
    public static ProcessCluster start(
            Path directory, Path plugins, Configuration settings, int taskManagers)
            throws ClusterException, InterruptedException {
        return start(directory, ClassPath.ofThisProcess(), plugins, settings, taskManagers);
    }

    /**
     * Starts a cluster with another class path and waits until all TaskManagers have registered.
     *
     * @param directory directory for logs, configuration and temporary files
     * @param classPath class path of all processes
     * @param plugins Flink's plugins directory, which need not exist
     * @param settings keys of {@code config.yaml} besides addresses, ports and memory
     * @throws ClusterException if a process ends or the cluster is not complete before a timeout;
     *     all processes are ended then
     */
    public static ProcessCluster start(
            Path directory,
            ClassPath classPath,
            Path plugins,
            Configuration settings,
            int taskManagers)
            throws ClusterException, InterruptedException {
        Path absolute = directory.toAbsolutePath();
        ProcessCluster cluster = null;
        try {
            cluster =
                    new ProcessCluster(
                            absolute,
                            classPath,
                            addressed(settings, absolute.resolve("tmp")),
                            plugins.toAbsolutePath());
            cluster.startProcesses(taskManagers);
            return cluster;
        } catch (IOException e) {
            closeAfterFailure(cluster);
            throw new ClusterException("The cluster did not start: " + e.getMessage(), e);
        } catch (ClusterException | InterruptedException | RuntimeException e) {
            closeAfterFailure(cluster);
            throw e;
        }
    }

    /** Returns the client of this cluster, which is closed with it. */
    public ClusterClient client() {
        return client;
    }

    /** Returns the ids of the TaskManagers that were started and not killed. */
    public List<String> taskManagers() {
        return new ArrayList<>(taskManagers.keySet());
    }

    /** Returns the directory of the logs of all processes. */
    public Path logs() {
        return directory.resolve("logs");
    }

    /**
     * Starts another TaskManager without waiting for its registration.
     *
     * @return id of the TaskManager, which is also the name of its log
     */
    public String startTaskManager() throws ClusterException {
        return startTaskManager(new Configuration());
    }

    /**
     * Starts another TaskManager with a different configuration, without waiting for its
     * registration.
     *
     * @param more keys that add to or replace those of the other TaskManagers
     * @return id of the TaskManager, which is also the name of its log
     */
    public String startTaskManager(Configuration more) throws ClusterException {
        return startTaskManager(more, classPath);
    }

    /**
     * Starts another TaskManager with a different configuration and class path, without waiting for
     * its registration.
     *
     * @param more keys that add to or replace those of the other TaskManagers
     * @param itsClassPath class path of this process only
     * @return id of the TaskManager, which is also the name of its log
     */
    public String startTaskManager(Configuration more, ClassPath itsClassPath)
            throws ClusterException {
        String id = "taskmanager-" + ++started;
        Configuration own = new Configuration(configuration);
        own.addAll(more);
        own.set(TaskManagerOptions.TASK_MANAGER_RESOURCE_ID, id);
        MemorySize heap =
                own.get(TaskManagerOptions.TASK_HEAP_MEMORY)
                        .add(own.get(TaskManagerOptions.FRAMEWORK_HEAP_MEMORY));
        taskManagers.put(
                id,
                start(
                        id,
                        ClusterProcessMain.Role.TASK_MANAGER,
                        heap.getMebiBytes(),
                        own,
                        itsClassPath));
        return id;
    }

    /** Kills a TaskManager with SIGKILL and waits until it is gone. */
    public void killTaskManager(String id) {
        ClusterProcess process = taskManagers.remove(id);
        if (process == null) {
            throw new IllegalArgumentException(
                    "No TaskManager " + id + "; there are " + taskManagers.keySet());
        }
        process.kill();
    }

    /**
     * Kills the JobManager with SIGKILL and waits until it is gone. The TaskManagers stay. Only
     * with high availability does the next JobManager know the jobs.
     */
    public void killJobManager() {
        jobManager.kill();
        jobManager = null;
    }

    /** Starts a JobManager in place of a killed one, without waiting for it to be ready. */
    public void startJobManager() throws ClusterException {
        jobManager =
                start(
                        "jobmanager",
                        ClusterProcessMain.Role.JOB_MANAGER,
                        JOB_MANAGER_HEAP_MEBIBYTES,
                        configuration,
                        classPath);
    }

    /** Returns the process id of a TaskManager that was started and not killed. */
    public long pidOf(String taskManager) {
        return taskManagers.get(taskManager).pid();
    }

    /**
     * Returns why the cluster cannot work any more: a process that ended unexpectedly, and the end
     * of its log.
     */
    public Optional<String> deadProcess() {
        List<ClusterProcess> all = new ArrayList<>(taskManagers.values());
        if (jobManager != null) {
            all.add(jobManager);
        }
        return all.stream()
                .filter(process -> !process.isAlive())
                .map(ClusterProcess::obituary)
                .findFirst();
    }

    /** Ends all processes. */
    @Override
    public void close() {
        if (client != null) {
            client.close();
            client = null;
        }
        killAll();
        try {
            Runtime.getRuntime().removeShutdownHook(shutdownHook);
        } catch (IllegalStateException shuttingDown) {
            return;
        }
    }

    private void startProcesses(int count)
            throws IOException, ClusterException, InterruptedException {
        Runtime.getRuntime().addShutdownHook(shutdownHook);
        startJobManager();
        for (int i = 0; i < count; i++) {
            startTaskManager();
        }
        client = ClusterClient.connect(configuration);
        awaitTaskManagers(count);
    }

    private void awaitTaskManagers(int count) throws ClusterException, InterruptedException {
        long deadline = System.nanoTime() + START_TIMEOUT.toNanos();
        while (client.registeredTaskManagers() < count) {
            Optional<String> dead = deadProcess();
            if (dead.isPresent()) {
                throw new ClusterException("The cluster did not start: " + dead.get());
            }
            if (System.nanoTime() > deadline) {
                throw new ClusterException(
                        "The cluster was not complete within "
                                + START_TIMEOUT.toSeconds()
                                + " s; its logs are in "
                                + logs());
            }
            Thread.sleep(50);
        }
    }

    private ClusterProcess start(
            String name,
            ClusterProcessMain.Role role,
            long heapMebibytes,
            Configuration own,
            ClassPath itsClassPath)
            throws ClusterException {
        try {
            Path conf = directory.resolve("conf").resolve(name);
            ConfigurationDirectory.write(conf, own);
            return ClusterProcess.start(
                    name,
                    role,
                    heapMebibytes,
                    conf,
                    itsClassPath,
                    plugins,
                    logs().resolve(name + ".log"));
        } catch (IOException e) {
            throw new ClusterException("Cannot start " + name + ": " + e.getMessage(), e);
        }
    }

    private void killAll() {
        taskManagers.values().forEach(ClusterProcess::kill);
        if (jobManager != null) {
            jobManager.kill();
        }
    }

    private static void closeAfterFailure(ProcessCluster cluster) {
        if (cluster != null) {
            cluster.close();
        }
    }

    private static Configuration addressed(Configuration settings, Path temporary)
            throws IOException {
        Configuration all = new Configuration();
        all.set(JobManagerOptions.ADDRESS, LOCALHOST);
        all.set(JobManagerOptions.BIND_HOST, LOCALHOST);
        all.set(RestOptions.ADDRESS, LOCALHOST);
        all.set(RestOptions.BIND_ADDRESS, LOCALHOST);
        all.set(TaskManagerOptions.HOST, LOCALHOST);
        all.set(TaskManagerOptions.BIND_HOST, LOCALHOST);
        int[] ports = freePorts();
        all.set(JobManagerOptions.PORT, ports[0]);
        all.set(RestOptions.PORT, ports[1]);
        all.set(RestOptions.BIND_PORT, Integer.toString(ports[1]));
        all.set(CoreOptions.TMP_DIRS, temporary.toString());
        // What Flink's shell scripts would have derived from the size of the process.
        all.set(TaskManagerOptions.CPU_CORES, 1.0);
        all.set(TaskManagerOptions.FRAMEWORK_HEAP_MEMORY, MemorySize.ofMebiBytes(128));
        all.set(TaskManagerOptions.FRAMEWORK_OFF_HEAP_MEMORY, MemorySize.ofMebiBytes(128));
        all.set(TaskManagerOptions.JVM_METASPACE, MemorySize.ofMebiBytes(256));
        all.set(TaskManagerOptions.JVM_OVERHEAD_MIN, MemorySize.ofMebiBytes(192));
        all.set(TaskManagerOptions.JVM_OVERHEAD_MAX, MemorySize.ofMebiBytes(192));
        all.set(TaskManagerOptions.TASK_HEAP_MEMORY, MemorySize.ofMebiBytes(512));
        all.set(TaskManagerOptions.TASK_OFF_HEAP_MEMORY, MemorySize.ofMebiBytes(64));
        all.set(TaskManagerOptions.NETWORK_MEMORY_MIN, MemorySize.ofMebiBytes(64));
        all.set(TaskManagerOptions.NETWORK_MEMORY_MAX, MemorySize.ofMebiBytes(64));
        all.set(TaskManagerOptions.MANAGED_MEMORY_SIZE, MemorySize.ofMebiBytes(256));
        // A killed process is noticed by refused connections, long before the timeout.
        all.set(HeartbeatManagerOptions.HEARTBEAT_INTERVAL, Duration.ofMillis(250));
        all.set(WebOptions.CHECKPOINTS_HISTORY_SIZE, 10_000);
        all.addAll(settings);
        return all;
    }

    /**
     * Returns two free ports. They are below the range from which Linux assigns ports to outgoing
     * connections and to servers without a fixed port, the JobManager's own among them: such a port
     * might be in use before the JobManager binds it.
     */
    private static int[] freePorts() throws IOException {
        int first = freePort();
        int second = freePort();
        while (second == first) {
            second = freePort();
        }
        return new int[] {first, second};
    }

    private static int freePort() throws IOException {
        for (int attempt = 1; ; attempt++) {
            int port = ThreadLocalRandom.current().nextInt(FIRST_PORT, FIRST_EPHEMERAL_PORT);
            try (ServerSocket free = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
                return free.getLocalPort();
            } catch (BindException taken) {
                if (attempt == PORT_ATTEMPTS) {
                    throw taken;
                }
            }
        }
    }
}
