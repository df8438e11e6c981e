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

import dev.dstl.benchmarks.harness.ClusterSettings;
import dev.dstl.benchmarks.harness.RunFiles;
import dev.dstl.benchmarks.measurement.BenchmarkResults;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.MetricOptions;
import org.apache.flink.configuration.ResourceManagerOptions;
import org.apache.flink.configuration.TaskManagerOptions;

/**
 * The configuration of cluster and job of one run, which differs between variants only in their own
 * keys.
 */
final class RunConfiguration {

    /** For RocksDB and the spillable heap; HashMap leaves it unused. */
    private static final MemorySize MANAGED_MEMORY = MemorySize.ofMebiBytes(1024);

    private static final Duration LONGEST_RUN = Duration.ofDays(2);
    private static final Duration METRIC_AGE = Duration.ofSeconds(2);

    private RunConfiguration() {}

    static Configuration of(PlannedRun run, Mode mode, RunFiles files, Map<String, String> given) {
        Configuration all = ClusterSettings.common();
        all.set(TaskManagerOptions.TASK_HEAP_MEMORY, run.variant().heap(run.workload().heap()));
        all.set(TaskManagerOptions.MANAGED_MEMORY_SIZE, MANAGED_MEMORY);
        all.set(MetricOptions.METRIC_FETCHER_UPDATE_INTERVAL, METRIC_AGE);
        // After that, a job that has lost its TaskManager would fail instead of waiting for
        // another.
        all.set(ResourceManagerOptions.STANDALONE_CLUSTER_STARTUP_PERIOD_TIME, LONGEST_RUN);
        all.addAll(ClusterSettings.store(files.storeRoot(), run.round()));
        all.addAll(run.variant().configuration(files.storeUri(), mode.materializationInterval()));
        all.addAll(Configuration.fromMap(given));
        return all;
    }

    /** Returns the settings of all runs, for the report. */
    static Map<String, String> description(
            Mode mode, int rounds, Duration window, Map<String, String> given) {
        Map<String, String> settings = new LinkedHashMap<>();
        settings.put("mode", mode.option());
        settings.put(BenchmarkResults.ROUNDS, Integer.toString(rounds));
        settings.put("warm-up", seconds(mode.warmUp()));
        settings.put("measured window", seconds(window));
        settings.put("checkpoint interval", seconds(Variant.CHECKPOINT_INTERVAL));
        settings.put("rare checkpoints", seconds(mode.materializationInterval()));
        settings.put("materialization interval", seconds(mode.materializationInterval()));
        settings.put(
                "cluster",
                "1 JobManager and 1 TaskManager process, " + ClusterSettings.SLOTS + " slots");
        settings.put(
                "jobmanager.io-pool.size", String.valueOf(ClusterSettings.JOB_MANAGER_IO_THREADS));
        settings.put("managed memory", MANAGED_MEMORY.getMebiBytes() + " MiB");
        settings.put("simulated store", ClusterSettings.describeStore() + ", on the local disk");
        settings.putAll(given);
        return settings;
    }

    private static String seconds(Duration duration) {
        return duration.toSeconds() + " s";
    }
}
