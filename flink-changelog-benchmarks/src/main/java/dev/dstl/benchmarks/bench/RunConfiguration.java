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

package dev.dstl.benchmarks.bench;

import dev.dstl.benchmarks.simulated.SimulatedStoreOptions;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.CoreOptions;
import org.apache.flink.configuration.ExternalizedCheckpointRetention;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.MetricOptions;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.configuration.WebOptions;

/**
 * The configuration of the cluster and of the job of one run: the same for all variants but for
 * their own keys.
 */
final class RunConfiguration {

    private static final int SLOTS = 2;

    /** For RocksDB and the spillable heap; HashMap leaves it to the machine. */
    private static final MemorySize MANAGED_MEMORY = MemorySize.ofMebiBytes(1024);

    /** Little in flight, so that checkpoints show the backend and not a queue before it. */
    private static final Duration IN_FLIGHT = Duration.ofMillis(100);

    private static final Duration RESTART_DELAY = Duration.ofMillis(500);
    private static final int RESTARTS = 3;
    private static final Duration PUT_P50 = Duration.ofMillis(30);
    private static final Duration PUT_P99 = Duration.ofMillis(150);
    private static final double TAIL_FRACTION = 0.002;
    private static final Duration TAIL = Duration.ofSeconds(3);
    private static final MemorySize BANDWIDTH = new MemorySize(100_000_000);
    private static final Duration AGE_OF_ANSWERS = Duration.ofMillis(10);
    private static final Duration METRIC_AGE = Duration.ofSeconds(2);

    private RunConfiguration() {}

    static Configuration of(PlannedRun run, Mode mode, RunFiles files) {
        Configuration all = new Configuration();
        all.set(CoreOptions.DEFAULT_PARALLELISM, SLOTS);
        all.set(TaskManagerOptions.NUM_TASK_SLOTS, SLOTS);
        all.set(TaskManagerOptions.TASK_HEAP_MEMORY, run.variant().heap(run.workload().heap()));
        all.set(TaskManagerOptions.MANAGED_MEMORY_SIZE, MANAGED_MEMORY);
        all.set(TaskManagerOptions.BUFFER_DEBLOAT_ENABLED, true);
        all.set(TaskManagerOptions.BUFFER_DEBLOAT_TARGET, IN_FLIGHT);
        all.set(RestartStrategyOptions.RESTART_STRATEGY, "fixed-delay");
        all.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_ATTEMPTS, RESTARTS);
        all.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_DELAY, RESTART_DELAY);
        all.set(
                CheckpointingOptions.EXTERNALIZED_CHECKPOINT_RETENTION,
                ExternalizedCheckpointRetention.RETAIN_ON_CANCELLATION);
        // A failed checkpoint is a figure, not the end of the run.
        all.set(CheckpointingOptions.TOLERABLE_FAILURE_NUMBER, Integer.MAX_VALUE);
        // What the REST endpoint says is what is so now, not what was so seconds ago.
        all.set(WebOptions.REFRESH_INTERVAL, AGE_OF_ANSWERS);
        all.set(MetricOptions.METRIC_FETCHER_UPDATE_INTERVAL, METRIC_AGE);
        all.set(SimulatedStoreOptions.DIRECTORY, files.storeRoot().toString());
        all.set(SimulatedStoreOptions.SEED, (long) run.round());
        all.set(SimulatedStoreOptions.LATENCY_P50, PUT_P50);
        all.set(SimulatedStoreOptions.LATENCY_P99, PUT_P99);
        all.set(SimulatedStoreOptions.TAIL_FRACTION, TAIL_FRACTION);
        all.set(SimulatedStoreOptions.TAIL_LATENCY, TAIL);
        all.set(SimulatedStoreOptions.BANDWIDTH, BANDWIDTH);
        all.addAll(run.variant().configuration(files.storeUri(), mode.materializationInterval()));
        return all;
    }

    /** What the report says about all runs. */
    static Map<String, String> description(Mode mode, int rounds) {
        Map<String, String> settings = new LinkedHashMap<>();
        settings.put("mode", mode.option());
        settings.put("rounds", Integer.toString(rounds));
        settings.put("warm-up", seconds(mode.warmUp()));
        settings.put("measured window", seconds(mode.window()));
        settings.put("checkpoint interval", seconds(Variant.CHECKPOINT_INTERVAL));
        settings.put("rare checkpoints", seconds(mode.materializationInterval()));
        settings.put("materialization interval", seconds(mode.materializationInterval()));
        settings.put("cluster", "1 JobManager and 1 TaskManager process, " + SLOTS + " slots");
        settings.put("managed memory", MANAGED_MEMORY.getMebiBytes() + " MiB");
        settings.put(
                "simulated store",
                "request p50 "
                        + PUT_P50.toMillis()
                        + " ms, p99 "
                        + PUT_P99.toMillis()
                        + " ms, "
                        + TAIL_FRACTION * 100
                        + " % at "
                        + seconds(TAIL)
                        + ", "
                        + BANDWIDTH.getBytes() / 1_000_000
                        + " MB/s per stream, on the local disk");
        return settings;
    }

    private static String seconds(Duration duration) {
        return duration.toSeconds() + " s";
    }
}
