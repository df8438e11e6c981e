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
import static org.awaitility.Awaitility.await;

import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.Callable;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.JobStatus;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.CheckpointListener;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.connector.source.util.ratelimit.RateLimiterStrategy;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.CoreOptions;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.configuration.StateChangelogOptions;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.connector.datagen.source.DataGeneratorSource;
import org.apache.flink.runtime.jobgraph.JobGraph;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.minicluster.MiniClusterConfiguration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.util.Collector;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A session cluster in this process runs short jobs on each backend, which finish, fail or are
 * cancelled, and keeps nothing of them. {@code -Dshort-jobs.count=N} runs that many. Incremental
 * checkpoints of Flink's RocksDB without DSTL, which run in the same cluster, leave a shared file
 * now and then if the job ends while it is uploaded; those are counted.
 */
class ShortJobsITCase {

    private static final Logger LOG = LoggerFactory.getLogger(ShortJobsITCase.class);

    private static final Duration PATIENCE = Duration.ofMinutes(2);
    private static final int CHECKPOINTS = 4;

    @TempDir private Path directory;

    @TempDir private Path checkpointsOfFlink;

    /** How a job ends. */
    private enum End {
        FINISHED(CHECKPOINTS),
        FAILED(1_000_000),
        CANCELED(1_000_000);

        /** The source waits for a checkpoint after each part of its input. */
        private final int parts;

        End(int parts) {
            this.parts = parts;
        }
    }

    @Test
    @SuppressWarnings("try") // close() is declared with Exception by Flink
    void jobsOfEachBackend_leaveNoThreadFileMappingOrObject() throws Exception {
        int kinds = Backend.values().length * End.values().length;
        int count = Math.max(2 * kinds, Integer.getInteger("short-jobs.count", 0));
        Map<JobStatus, Integer> ended = new EnumMap<>(JobStatus.class);
        Leftovers before = null;
        try (MiniCluster cluster = cluster()) {
            cluster.start();
            for (int job = 0; job < count; job++) {
                if (job == kinds) {
                    before = Leftovers.ofThisProcess(directory);
                }
                Backend backend = Backend.values()[job % Backend.values().length];
                End end = End.values()[job / Backend.values().length % End.values().length];
                run(cluster, backend, end);
                ended.merge(JobStatus.valueOf(end.name()), 1, Integer::sum);
            }
            Leftovers.verifyNoMoreThan(before, directory, PATIENCE);
        }
        LOG.info(
                "{} jobs: {}; files that Flink's RocksDB left: {}",
                count,
                ended,
                CheckpointFiles.filesBelow(checkpointsOfFlink).size());
    }

    private MiniCluster cluster() {
        Configuration configuration = new Configuration();
        configuration.set(TaskManagerOptions.MANAGED_MEMORY_SIZE, MemorySize.ofMebiBytes(128));
        configuration.set(CoreOptions.TMP_DIRS, directory.resolve("tmp").toString());
        configuration.setString(
                "state.changelog.dstl.dfs.base-path",
                directory.resolve(Leftovers.CHANGELOGS).toUri().toString());
        configuration.set(StateChangelogOptions.STATE_CHANGE_LOG_STORAGE, "dstl");
        return new MiniCluster(
                new MiniClusterConfiguration.Builder()
                        .setConfiguration(configuration)
                        .setNumTaskManagers(1)
                        .setNumSlotsPerTaskManager(2)
                        .build());
    }

    private void run(MiniCluster cluster, Backend backend, End end) throws Exception {
        JobID job = cluster.submitJob(graph(backend, end)).get().getJobID();
        if (end == End.CANCELED) {
            until(
                    () ->
                            cluster.getExecutionGraph(job)
                                            .get()
                                            .getCheckpointStatsSnapshot()
                                            .getCounts()
                                            .getNumberOfCompletedCheckpoints()
                                    >= CHECKPOINTS);
            cluster.cancelJob(job).get();
        }
        until(() -> cluster.getJobStatus(job).get().isGloballyTerminalState());
        assertThat(cluster.getJobStatus(job).get())
                .as("status of a job on %s", backend)
                .isEqualTo(JobStatus.valueOf(end.name()));
    }

    private static void until(Callable<Boolean> condition) {
        await().atMost(PATIENCE)
                .pollInterval(Duration.ofMillis(10))
                .pollInSameThread()
                .until(condition);
    }

    private Path checkpoints(Backend backend) {
        return backend == Backend.ROCKSDB
                ? checkpointsOfFlink
                : directory.resolve(Leftovers.CHECKPOINTS);
    }

    private JobGraph graph(Backend backend, End end) {
        Configuration configuration = new Configuration();
        backend.configure(configuration);
        configuration.set(
                StateChangelogOptions.PERIODIC_MATERIALIZATION_INTERVAL, Duration.ofMillis(50));
        configuration.set(StateChangelogOptions.STATE_CHANGE_LOG_STORAGE, "dstl");
        configuration.set(CheckpointingOptions.CHECKPOINTING_INTERVAL, Duration.ofMillis(20));
        configuration.set(CheckpointingOptions.INCREMENTAL_CHECKPOINTS, true);
        configuration.set(
                CheckpointingOptions.CHECKPOINTS_DIRECTORY,
                checkpoints(backend).resolve(backend + "-" + end).toUri().toString());
        // Segments and files instead of bytes in the metadata.
        configuration.set(CheckpointingOptions.FS_SMALL_FILE_THRESHOLD, MemorySize.ZERO);
        configuration.setString("state.changelog.dstl.inline-threshold", "0 b");
        configuration.setString("execution.checkpointing.local-backup.enabled", "true");
        configuration.setString("execution.state-recovery.from-local", "true");
        configuration.set(RestartStrategyOptions.RESTART_STRATEGY, "none");
        StreamExecutionEnvironment environment = new StreamExecutionEnvironment(configuration);
        environment.setParallelism(2);
        environment
                .fromSource(
                        new DataGeneratorSource<>(
                                number -> number,
                                (long) end.parts * Count.RECORDS,
                                RateLimiterStrategy.perCheckpoint(Count.RECORDS),
                                Types.LONG),
                        WatermarkStrategy.noWatermarks(),
                        "numbers")
                .keyBy(number -> number % Count.KEYS, Types.LONG)
                .process(new Count(end == End.FAILED))
                .sinkTo(new DiscardingSink<>());
        JobGraph graph = environment.getStreamGraph().getJobGraph();
        graph.setJobID(new JobID());
        return graph;
    }

    /** Counts numbers by their last digits, and fails after some checkpoints if it has to. */
    private static final class Count extends KeyedProcessFunction<Long, Long, Long>
            implements CheckpointListener {
        private static final long serialVersionUID = 1L;

        static final int KEYS = 100;
        static final int RECORDS = 500;

        private final boolean fails;
        private transient ValueState<Long> count;
        private transient MapState<Long, String> numbers;
        private transient int checkpoints;

        private Count(boolean fails) {
            this.fails = fails;
        }

        @Override
        public void open(OpenContext context) {
            count = getRuntimeContext().getState(new ValueStateDescriptor<>("count", Types.LONG));
            numbers =
                    getRuntimeContext()
                            .getMapState(
                                    new MapStateDescriptor<>("numbers", Types.LONG, Types.STRING));
        }

        @Override
        public void processElement(Long number, Context context, Collector<Long> out)
                throws Exception {
            if (fails && checkpoints >= CHECKPOINTS) {
                throw new IllegalStateException("A failure of the test's own");
            }
            Long before = count.value();
            if (before == null) {
                context.timerService().registerEventTimeTimer(Long.MAX_VALUE);
            }
            count.update(before == null ? 1 : before + 1);
            numbers.put(number % 1_000, "number " + number);
        }

        @Override
        public void onTimer(long time, OnTimerContext context, Collector<Long> out)
                throws Exception {
            out.collect(count.value());
        }

        @Override
        public void notifyCheckpointComplete(long checkpointId) {
            checkpoints++;
        }
    }
}
