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

package dev.dstl.spillable;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.jar.JarOutputStream;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.RichMapFunction;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.connector.source.util.ratelimit.RateLimiterStrategy;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.configuration.StateBackendOptions;
import org.apache.flink.connector.datagen.source.DataGeneratorSource;
import org.apache.flink.runtime.jobgraph.JobGraph;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.minicluster.MiniClusterConfiguration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The backend comes from the job's own jar, through Flink's class loader that asks the jar first,
 * although a copy lies on the cluster's class path as well. A class in a package of Flink's would
 * not get at that package there.
 */
class FatJarTest {

    private static final long RECORDS = 80_000;
    private static final long KEYS = 20_000;

    /** The source waits for a checkpoint after so many records. */
    private static final int RECORDS_PER_CHECKPOINT = 8_000;

    @TempDir Path directory;

    @Test
    void theBackendFromTheJobsOwnJar_spillsCheckpointsAndRestores() throws Exception {
        Path disk = Files.createDirectory(directory.resolve("disk"));
        Configuration config = new Configuration();
        config.set(StateBackendOptions.STATE_BACKEND, SpillableStateBackendFactory.class.getName());
        config.set(CheckpointingOptions.CHECKPOINTING_INTERVAL, Duration.ofMillis(50));
        config.set(
                CheckpointingOptions.CHECKPOINTS_DIRECTORY,
                directory.resolve("checkpoints").toUri().toString());
        config.set(RestartStrategyOptions.RESTART_STRATEGY, "fixed-delay");
        config.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_DELAY, Duration.ZERO);
        config.setString("state.backend.spillable.directories", disk.toString());
        config.setString("state.backend.spillable.load-start.ratio", "0.0001");
        config.setString("state.backend.spillable.load-end.ratio", "0.0002");
        config.setString("state.backend.spillable.spill-end.ratio", "0.0003");
        config.setString("state.backend.spillable.spill-start.ratio", "0.0004");
        config.setString("state.backend.spillable.trigger-interval", "10ms");
        Observed.clear();
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment(config);
        env.setParallelism(1);
        env.fromSource(
                        new DataGeneratorSource<>(
                                number -> number,
                                RECORDS,
                                RateLimiterStrategy.perCheckpoint(RECORDS_PER_CHECKPOINT),
                                Types.LONG),
                        WatermarkStrategy.noWatermarks(),
                        "numbers")
                .keyBy(i -> i % KEYS)
                .map(new CountingMap(disk.toString()))
                .sinkTo(new DiscardingSink<>());
        JobGraph job = env.getStreamGraph().getJobGraph();
        job.addJar(new org.apache.flink.core.fs.Path(jar().toUri()));

        MiniCluster cluster =
                new MiniCluster(
                        new MiniClusterConfiguration.Builder()
                                .withRandomPorts()
                                .setNumTaskManagers(1)
                                .setNumSlotsPerTaskManager(1)
                                .build());
        try {
            cluster.start();
            cluster.executeJobBlocking(job);
        } finally {
            cluster.close();
        }

        assertThat(Observed.LOADERS)
                .as("class loaders of the backend, one per attempt")
                .hasSize(2)
                .allSatisfy(name -> assertThat(name).contains("ChildFirstClassLoader"));
        assertThat(Observed.SPILLING_ATTEMPTS).containsExactlyInAnyOrder(0, 1);
        assertThat(Observed.COUNTS).hasSize((int) KEYS);
        assertThat(Observed.COUNTS.values()).containsOnly(RECORDS / KEYS);
        assertThat(disk).isEmptyDirectory();
    }

    private Path jar() throws Exception {
        Path classes =
                Paths.get(
                        SpillableStateBackend.class
                                .getProtectionDomain()
                                .getCodeSource()
                                .getLocation()
                                .toURI());
        if (Files.isRegularFile(classes)) {
            return classes;
        }
        Path jar = directory.resolve("job.jar");
        try (OutputStream file = Files.newOutputStream(jar);
                JarOutputStream out = new JarOutputStream(file);
                Stream<Path> files = Files.walk(classes)) {
            for (Path source : (Iterable<Path>) files.filter(Files::isRegularFile)::iterator) {
                out.putNextEntry(new ZipEntry(classes.relativize(source).toString()));
                Files.copy(source, out);
                out.closeEntry();
            }
        }
        return jar;
    }

    /** Observations of the function, which runs in this JVM, on the cluster's class path. */
    private static final class Observed {

        static final Set<String> LOADERS = ConcurrentHashMap.newKeySet();
        static final Set<Integer> SPILLING_ATTEMPTS = ConcurrentHashMap.newKeySet();
        static final Map<Long, Long> COUNTS = new ConcurrentHashMap<>();

        static void clear() {
            LOADERS.clear();
            SPILLING_ATTEMPTS.clear();
            COUNTS.clear();
        }
    }

    /** Counts, fails once after something was spilled and checkpointed. */
    private static final class CountingMap extends RichMapFunction<Long, Long>
            implements org.apache.flink.api.common.state.CheckpointListener {

        private static final long serialVersionUID = 1;

        private final String disk;
        private transient ValueState<Long> count;
        private transient long records;

        CountingMap(String disk) {
            this.disk = disk;
        }

        @Override
        public void open(org.apache.flink.api.common.functions.OpenContext context) {
            count = getRuntimeContext().getState(new ValueStateDescriptor<>("count", Types.LONG));
        }

        @Override
        public Long map(Long record) throws IOException {
            Long before = count.value();
            long now = before == null ? 1 : before + 1;
            count.update(now);
            ClassLoader loader = count.getClass().getClassLoader();
            int attempt = getRuntimeContext().getTaskInfo().getAttemptNumber();
            Observed.LOADERS.add(attempt + " " + loader.getClass().getName());
            Observed.COUNTS.put(record % KEYS, now);
            if (++records % RECORDS_PER_CHECKPOINT == 0) {
                // Says what is live, which is what spilling goes by.
                System.gc();
                if (hasSpilled()) {
                    Observed.SPILLING_ATTEMPTS.add(attempt);
                }
            }
            return now;
        }

        private boolean hasSpilled() {
            String[] found = Paths.get(disk).toFile().list();
            return found != null && found.length > 0;
        }

        @Override
        public void notifyCheckpointComplete(long checkpointId) {
            if (hasSpilled()
                    && records > RECORDS / 3
                    && getRuntimeContext().getTaskInfo().getAttemptNumber() == 0) {
                throw new IllegalStateException("restart from checkpoint " + checkpointId);
            }
        }
    }
}
