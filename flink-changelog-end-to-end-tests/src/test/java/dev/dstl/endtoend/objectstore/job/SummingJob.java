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

package dev.dstl.endtoend.objectstore.job;

import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.apache.flink.api.common.JobExecutionResult;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.connector.source.util.ratelimit.RateLimiterStrategy;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.ExternalizedCheckpointRetention;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.configuration.StateBackendOptions;
import org.apache.flink.configuration.StateChangelogOptions;
import org.apache.flink.connector.datagen.source.DataGeneratorSource;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.core.fs.FileStatus;
import org.apache.flink.core.fs.Path;
import org.apache.flink.runtime.testutils.CommonTestUtils;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.util.CloseableIterator;

/**
 * Sums numbers per key in this JVM and fails once, after some checkpoints. Waits for a checkpoint
 * after every part of its input, so that the number of checkpoints does not depend on speed. Runs
 * with whichever changelog is on the class path.
 */
public final class SummingJob {

    private static final int KEYS = 200;
    private static final int PARTS = 25;
    private static final int RECORDS = 100_000;
    private static final int PARALLELISM = 2;

    private final Configuration configuration = new Configuration();

    /**
     * A job that is not yet started.
     *
     * @param storage the identifier of the storage of the changelog
     * @param root where log and checkpoints go, in two directories
     * @param more further keys
     */
    public SummingJob(String storage, Path root, Configuration more) {
        configuration.set(StateBackendOptions.STATE_BACKEND, "rocksdb");
        configuration.set(CheckpointingOptions.INCREMENTAL_CHECKPOINTS, true);
        configuration.set(StateChangelogOptions.ENABLE_STATE_CHANGE_LOG, true);
        configuration.set(StateChangelogOptions.STATE_CHANGE_LOG_STORAGE, storage);
        configuration.setString("state.changelog.dstl.dfs.base-path", log(root).toString());
        configuration.set(
                StateChangelogOptions.PERIODIC_MATERIALIZATION_INTERVAL, Duration.ofMillis(500));
        configuration.set(CheckpointingOptions.CHECKPOINTS_DIRECTORY, checkpoints(root).toString());
        configuration.set(CheckpointingOptions.FS_SMALL_FILE_THRESHOLD, MemorySize.ZERO);
        configuration.set(
                CheckpointingOptions.EXTERNALIZED_CHECKPOINT_RETENTION,
                ExternalizedCheckpointRetention.RETAIN_ON_CANCELLATION);
        configuration.set(RestartStrategyOptions.RESTART_STRATEGY, "fixed-delay");
        configuration.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_ATTEMPTS, 1);
        configuration.set(
                RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_DELAY, Duration.ofMillis(1));
        configuration.addAll(more);
    }

    /** Creates a job without additional configuration. */
    public SummingJob(String storage, Path root) {
        this(storage, root, new Configuration());
    }

    /** Returns the base path of a job with this root. */
    public static Path log(Path root) {
        return new Path(root, "log");
    }

    /** Returns the checkpoint directory of a job with this root. */
    public static Path checkpoints(Path root) {
        return new Path(root, "checkpoints");
    }

    /** Runs the job to its end and returns its result. */
    @SuppressWarnings("try") // close() is declared with Exception by Flink
    public Map<Long, Long> run() throws Exception {
        SumUntilFailure.arm();
        try (StreamExecutionEnvironment environment = environment()) {
            Map<Long, Long> sums = new TreeMap<>();
            try (CloseableIterator<Tuple2<Long, Long>> results =
                    sums(environment, RECORDS).executeAndCollect()) {
                while (results.hasNext()) {
                    Tuple2<Long, Long> result = results.next();
                    if (sums.put(result.f0, result.f1) != null) {
                        throw new AssertionError("Key " + result.f0 + " came twice");
                    }
                }
            }
            return sums;
        }
    }

    /** Runs the job until it has a few checkpoints, cancels it and returns the retained one. */
    @SuppressWarnings("try") // close() is declared with Exception by Flink
    public Path runUntilCheckpoint() throws Exception {
        SumUntilFailure.disarm();
        try (StreamExecutionEnvironment environment = environment()) {
            sums(environment, Long.MAX_VALUE - 1).sinkTo(new DiscardingSink<>());
            JobClient job = environment.executeAsync();
            CommonTestUtils.waitUntilCondition(() -> SumUntilFailure.checkpoints() > 3);
            cancel(job);
            return retained(
                    new Path(configuration.get(CheckpointingOptions.CHECKPOINTS_DIRECTORY)));
        }
    }

    private static void cancel(JobClient job) throws Exception {
        CompletableFuture<JobExecutionResult> result = job.getJobExecutionResult();
        job.cancel().get();
        try {
            throw new AssertionError("Not cancelled, but finished: " + result.get());
        } catch (ExecutionException cancelled) {
            return;
        }
    }

    /** Returns the only retained checkpoint, {@code job id/chk-number}. */
    private static Path retained(Path checkpoints) throws IOException {
        for (FileStatus job : checkpoints.getFileSystem().listStatus(checkpoints)) {
            for (FileStatus part : checkpoints.getFileSystem().listStatus(job.getPath())) {
                if (part.getPath().getName().startsWith("chk-")) {
                    return part.getPath();
                }
            }
        }
        throw new AssertionError("No retained checkpoint below " + checkpoints);
    }

    private StreamExecutionEnvironment environment() {
        StreamExecutionEnvironment environment =
                StreamExecutionEnvironment.createLocalEnvironment(PARALLELISM, configuration);
        environment.enableCheckpointing(50);
        return environment;
    }

    private static DataStream<Tuple2<Long, Long>> sums(
            StreamExecutionEnvironment environment, long records) {
        return environment
                .fromSource(
                        new DataGeneratorSource<>(
                                number -> number,
                                records,
                                RateLimiterStrategy.perCheckpoint(RECORDS / PARTS),
                                Types.LONG),
                        WatermarkStrategy.noWatermarks(),
                        "numbers")
                .keyBy(number -> number % KEYS)
                .process(new SumUntilFailure());
    }

    /** Whether a task failed during the last run, as it must. */
    public static boolean hasFailed() {
        return SumUntilFailure.hasFailed();
    }

    /** Returns the expected result. */
    public static Map<Long, Long> expected() {
        Map<Long, Long> sums = new TreeMap<>();
        for (long number = 0; number < RECORDS; number++) {
            sums.merge(number % KEYS, number, Long::sum);
        }
        return sums;
    }
}
