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

package dev.dstl.flink;

import static org.assertj.core.api.Assertions.assertThat;

import dev.dstl.benchmarks.cluster.ClusterClient;
import dev.dstl.benchmarks.cluster.ProcessCluster;
import dev.dstl.endtoend.feature.OrderQueries;
import dev.dstl.log.testing.FileTree;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.connector.source.lib.NumberSequenceSource.NumberSequenceSplit;
import org.apache.flink.api.connector.source.util.ratelimit.RateLimiter;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.GlobalConfiguration;
import org.apache.flink.configuration.RestOptions;
import org.apache.flink.connector.datagen.source.DataGeneratorSource;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.types.Row;
import org.apache.flink.util.CloseableIterator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** SQL with local recovery on a cluster of processes, one of which is killed. */
@Timeout(180)
class TableJobOnProcessesITCase {

    private static final long ORDERS = 10_000;
    private static final Duration PATIENCE = Duration.ofMinutes(1);
    private static final Pattern WRITER =
            Pattern.compile("State changes of job \\S+ go to file:(\\S+)");

    @TempDir Path directory;

    @Test
    void killedTaskManager_changesNoResult_andTheOtherOneRestoresFromItsLocalDisk()
            throws Exception {
        Path gate = directory.resolve("gate");
        try (ProcessCluster cluster =
                ProcessCluster.start(
                        directory.resolve("cluster"),
                        directory.resolve("plugins"),
                        configuration(),
                        2)) {
            StreamExecutionEnvironment environment =
                    StreamExecutionEnvironment.createRemoteEnvironment(
                            "127.0.0.1", remote().get(RestOptions.PORT), remote());
            CloseableIterator<Row> changes =
                    OrderQueries.changes(environment, numbers(environment, gate)).collectAsync();
            JobID job = environment.executeAsync("orders").getJobID();
            CompletableFuture<Map<String, Integer>> found =
                    CompletableFuture.supplyAsync(() -> OrderQueries.finalRows(changes));
            ClusterClient client = cluster.client();
            await("running tasks", found, () -> client.allTasksRun(job));
            awaitRest(client, job, found);

            assertThat(client.taskManagersOf(job)).hasSize(2);
            Path survivor = writerOf(cluster.logs().resolve("taskmanager-2.log"));
            Path aside = directory.resolve("aside");
            Files.move(survivor, aside);
            cluster.killTaskManager("taskmanager-1");
            cluster.startTaskManager();
            await("restore", found, () -> client.restores(job) >= 1 && client.allTasksRun(job));
            moveBack(aside, survivor);
            Files.createFile(gate);

            assertThat(found.get(PATIENCE.toSeconds(), TimeUnit.SECONDS))
                    .hasSizeGreaterThan(4_000)
                    .isEqualTo(inBatchMode());
            assertThat(client.restores(job)).as("restores").isEqualTo(1);
            assertThat(Files.readString(cluster.logs().resolve("taskmanager-2.log")))
                    .contains("Replayed ")
                    .doesNotContain("cannot be read");
        }
    }

    private Configuration configuration() {
        Configuration cluster = new Configuration();
        cluster.setString("parallelism.default", "2");
        cluster.setString("taskmanager.numberOfTaskSlots", "2");
        cluster.setString("taskmanager.load-balance.mode", "SLOTS");
        cluster.setString("restart-strategy.type", "fixed-delay");
        cluster.setString("restart-strategy.fixed-delay.attempts", "10");
        cluster.setString("restart-strategy.fixed-delay.delay", "300 ms");
        cluster.setString("state.backend.type", "rocksdb");
        cluster.setString("state.changelog.enabled", "true");
        cluster.setString("state.changelog.storage", "dstl");
        cluster.setString("state.changelog.dstl.dfs.base-path", log().toUri().toString());
        cluster.setString("state.changelog.dstl.inline-threshold", "0 b");
        cluster.setString("execution.checkpointing.interval", "200 ms");
        cluster.setString(
                "execution.checkpointing.dir", directory.resolve("checkpoints").toUri().toString());
        cluster.setString("execution.checkpointing.local-backup.enabled", "true");
        cluster.setString("execution.state-recovery.from-local", "true");
        cluster.setString("web.refresh-interval", "1");
        return cluster;
    }

    /** The cluster's configuration, with the port of its JobManager. */
    private Configuration remote() {
        return GlobalConfiguration.loadConfiguration(
                directory.resolve("cluster/conf/jobmanager").toString());
    }

    private Path log() {
        return directory.resolve("log");
    }

    private static DataStream<Long> numbers(StreamExecutionEnvironment environment, Path gate) {
        String file = gate.toString();
        return environment.fromSource(
                new DataGeneratorSource<>(
                        number -> number, ORDERS, parallelism -> new Gate(file), Types.LONG),
                WatermarkStrategy.noWatermarks(),
                "numbers");
    }

    @SuppressWarnings("try") // The iterator may be interrupted when it is closed.
    private static Map<String, Integer> inBatchMode() throws Exception {
        Configuration batch = new Configuration();
        batch.setString("execution.runtime-mode", "BATCH");
        StreamExecutionEnvironment environment =
                StreamExecutionEnvironment.createLocalEnvironment(1, batch);
        try (CloseableIterator<Row> changes =
                OrderQueries.changes(environment, environment.fromSequence(0, ORDERS - 1))
                        .executeAndCollect()) {
            return OrderQueries.finalRows(changes);
        }
    }

    /**
     * Waits until five checkpoints in a row added no segment. Then the last one names no segment
     * whose local copy was not complete yet.
     */
    private void awaitRest(ClusterClient client, JobID job, CompletableFuture<?> found)
            throws Exception {
        Set<Path> segments = new TreeSet<>();
        int[] since = {0};
        await(
                "checkpoints without state changes",
                found,
                () -> {
                    Set<Path> now = segments();
                    int checkpoints = client.checkpoints(job).size();
                    if (now.isEmpty() || segments.addAll(now)) {
                        since[0] = checkpoints;
                    }
                    return checkpoints >= since[0] + 5;
                });
    }

    private Set<Path> segments() throws IOException {
        return FileTree.files(log()).stream()
                .filter(file -> file.toString().endsWith(".seg"))
                .collect(Collectors.toSet());
    }

    /** Returns the directory of the changelogs of a TaskManager. */
    private static Path writerOf(Path log) throws IOException {
        Matcher line = WRITER.matcher(Files.readString(log));
        assertThat(line.find()).as("line of the changelog in %s", log).isTrue();
        return Path.of(line.group(1));
    }

    /** The TaskManager may have begun new segments in the meantime. */
    private static void moveBack(Path aside, Path directory) throws IOException {
        Files.createDirectories(directory);
        List<Path> all;
        try (Stream<Path> files = Files.list(aside)) {
            all = files.collect(Collectors.toList());
        }
        for (Path file : all) {
            Files.move(file, directory.resolve(file.getFileName()));
        }
    }

    private static void await(String what, CompletableFuture<?> found, Callable<Boolean> condition)
            throws Exception {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (!condition.call()) {
            assertThat(System.nanoTime() - deadline).as("too late: %s", what).isNegative();
            try {
                assertThat(found.getNow(null)).as("result before %s", what).isNull();
            } catch (CompletionException e) {
                throw new AssertionError("The job failed before " + what, e);
            }
            Thread.sleep(50);
        }
    }

    /** The rate limiter of a source that holds back most records until a file exists. */
    private static final class Gate implements RateLimiter<NumberSequenceSplit> {

        private final Path file;
        private long passed;

        Gate(String file) {
            this.file = Path.of(file);
        }

        @Override
        public CompletionStage<Void> acquire(int records) {
            passed += records;
            if (passed < ORDERS / 8 || Files.exists(file)) {
                return CompletableFuture.completedFuture(null);
            }
            Executor later = CompletableFuture.delayedExecutor(10, TimeUnit.MILLISECONDS);
            return CompletableFuture.runAsync(() -> {}, later).thenCompose(none -> acquire(0));
        }
    }
}
