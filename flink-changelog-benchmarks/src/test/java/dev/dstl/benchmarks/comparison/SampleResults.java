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

package dev.dstl.benchmarks.comparison;

import dev.dstl.benchmarks.measurement.BenchmarkResults;
import dev.dstl.benchmarks.measurement.CheckpointSample;
import dev.dstl.benchmarks.measurement.ProcessSample;
import dev.dstl.benchmarks.measurement.RunResult;
import dev.dstl.benchmarks.measurement.VariantDescription;

/** Small benchmark results with known ratios. */
public final class SampleResults {

    public static final String WORKLOAD = "words";

    private SampleResults() {}

    /**
     * Two rounds: DSTL has twice the throughput of the built-in changelog and half its durations.
     */
    public static BenchmarkResults twoRounds() {
        BenchmarkResults results = empty();
        for (int round = 1; round <= 2; round++) {
            results.runs.add(run("plain-rocksdb", round, 1000L * round, 400));
            results.runs.add(run("builtin-rocksdb", round, 600L * round, 200));
            results.runs.add(run("dstl-rocksdb", round, 1200L * round, 100));
        }
        return results;
    }

    /** A description without runs. */
    public static BenchmarkResults empty() {
        BenchmarkResults results = new BenchmarkResults();
        results.command = "./bench --quick";
        results.workloads.put(WORKLOAD, "counts <words>");
        results.variants.put("plain-rocksdb", variant("RocksDB", ""));
        results.variants.put("builtin-rocksdb", variant("Flink's changelog on RocksDB", ""));
        results.variants.put("dstl-rocksdb", variant("DSTL on RocksDB", "builtin-rocksdb"));
        return results;
    }

    /** A run with ten checkpoints, one of which took ten times as long. */
    public static RunResult run(String variant, int round, long perSecond, long durationMillis) {
        RunResult run = new RunResult();
        run.workload = WORKLOAD;
        run.variant = variant;
        run.round = round;
        run.windowSeconds = 10;
        run.records = 10 * perSecond;
        run.cpuSeconds = 5;
        for (int i = 0; i < 10; i++) {
            CheckpointSample checkpoint = new CheckpointSample();
            checkpoint.id = i + 1L;
            checkpoint.atMillis = 1000L * i;
            checkpoint.durationMillis = i == 9 ? 10 * durationMillis : durationMillis;
            checkpoint.checkpointedBytes = 1_000_000;
            checkpoint.fullBytes = 1_000_000L * (i + 1);
            run.checkpoints.add(checkpoint);
        }
        ProcessSample process = new ProcessSample();
        process.residentBytes = 500_000_000;
        run.process.add(process);
        run.traffic.requests.put("PUT", 20L);
        run.recovery.redeployMillis = 2000;
        run.recovery.restoreMillis = durationMillis;
        return run;
    }

    private static VariantDescription variant(String label, String builtIn) {
        VariantDescription description = new VariantDescription();
        description.label = label;
        description.plain = "plain-rocksdb";
        description.rare = "rare-rocksdb";
        description.builtIn = builtIn;
        return description;
    }
}
