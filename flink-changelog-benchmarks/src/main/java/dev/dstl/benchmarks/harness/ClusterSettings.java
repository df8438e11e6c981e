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

package dev.dstl.benchmarks.harness;

import dev.dstl.benchmarks.simulated.SimulatedStoreOptions;
import java.nio.file.Path;
import java.time.Duration;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.CoreOptions;
import org.apache.flink.configuration.ExternalizedCheckpointRetention;
import org.apache.flink.configuration.JobManagerOptions;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.configuration.WebOptions;

/** Configuration that all backends share, so that runs differ in the backend only. */
public final class ClusterSettings {

    /** Slots of a TaskManager; also the parallelism of the job. */
    public static final int SLOTS = 2;

    /**
     * Small network buffers, so that checkpoints do not measure a queue in front of the backend.
     */
    private static final Duration IN_FLIGHT = Duration.ofMillis(100);

    /** Long enough to notice that a process is dead before tasks are deployed to it again. */
    private static final Duration RESTART_DELAY = Duration.ofMillis(500);

    private static final int RESTARTS = 3;

    /**
     * The default is the number of CPUs. With two, the files that a materialization frees occupied
     * both threads for so long that the next checkpoint began 450 ms late.
     */
    public static final int JOB_MANAGER_IO_THREADS = 16;

    private static final Duration AGE_OF_ANSWERS = Duration.ofMillis(10);

    private static final Duration REQUEST_P50 = Duration.ofMillis(30);
    private static final Duration REQUEST_P99 = Duration.ofMillis(150);
    private static final double TAIL_FRACTION = 0.002;
    private static final Duration TAIL = Duration.ofSeconds(3);
    private static final MemorySize BANDWIDTH = new MemorySize(100_000_000);

    private ClusterSettings() {}

    /** Returns the keys for slots, restarts and the REST endpoint. */
    public static Configuration common() {
        Configuration all = new Configuration();
        all.set(CoreOptions.DEFAULT_PARALLELISM, SLOTS);
        all.set(TaskManagerOptions.NUM_TASK_SLOTS, SLOTS);
        all.set(TaskManagerOptions.BUFFER_DEBLOAT_ENABLED, true);
        all.set(TaskManagerOptions.BUFFER_DEBLOAT_TARGET, IN_FLIGHT);
        all.set(JobManagerOptions.JOB_MANAGER_IO_POOL_SIZE, JOB_MANAGER_IO_THREADS);
        all.set(RestartStrategyOptions.RESTART_STRATEGY, "fixed-delay");
        all.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_ATTEMPTS, RESTARTS);
        all.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_DELAY, RESTART_DELAY);
        all.set(
                CheckpointingOptions.EXTERNALIZED_CHECKPOINT_RETENTION,
                ExternalizedCheckpointRetention.RETAIN_ON_CANCELLATION);
        // A failed checkpoint is a result, not the end of the run.
        all.set(CheckpointingOptions.TOLERABLE_FAILURE_NUMBER, Integer.MAX_VALUE);
        // What the REST endpoint says is what is so now, not what was so seconds ago.
        all.set(WebOptions.REFRESH_INTERVAL, AGE_OF_ANSWERS);
        return all;
    }

    /**
     * Returns the keys of the simulated object store.
     *
     * @param root local directory that contains the objects of all stores
     * @param seed seed of the latencies
     */
    public static Configuration store(Path root, long seed) {
        Configuration keys = new Configuration();
        keys.set(SimulatedStoreOptions.DIRECTORY, root.toString());
        keys.set(SimulatedStoreOptions.SEED, seed);
        keys.set(SimulatedStoreOptions.LATENCY_P50, REQUEST_P50);
        keys.set(SimulatedStoreOptions.LATENCY_P99, REQUEST_P99);
        keys.set(SimulatedStoreOptions.TAIL_FRACTION, TAIL_FRACTION);
        keys.set(SimulatedStoreOptions.TAIL_LATENCY, TAIL);
        keys.set(SimulatedStoreOptions.BANDWIDTH, BANDWIDTH);
        return keys;
    }

    /** Returns a description of the simulated object store. */
    public static String describeStore() {
        return "request p50 "
                + REQUEST_P50.toMillis()
                + " ms, p99 "
                + REQUEST_P99.toMillis()
                + " ms, "
                + TAIL_FRACTION * 100
                + " % at "
                + TAIL.toSeconds()
                + " s, "
                + BANDWIDTH.getBytes() / 1_000_000
                + " MB/s per stream";
    }
}
