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

package dev.dstl.benchmarks.report;

import static org.assertj.core.api.Assertions.assertThat;

import dev.dstl.benchmarks.measurement.CheckpointSample;
import dev.dstl.benchmarks.measurement.RecoverySample;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalDouble;
import org.junit.jupiter.api.Test;

class ComparisonTableTest {

    @Test
    void runsStandSideBySide() {
        RunReport changelog =
                new RunReport.Builder("DSTL on RocksDB")
                        .steadyCheckpoints(
                                List.of(
                                        checkpoint(20, 2_000),
                                        checkpoint(10, 1_000),
                                        checkpoint(30, 250_000)))
                        .sizes(12_345_678, 2_000_000)
                        .recovery(recovery(), 3_050)
                        .throughput(OptionalDouble.of(54_321.9))
                        .result("exactly once")
                        .build();
        RunReport plain = new RunReport.Builder("RocksDB, incremental").result("WRONG").build();

        String table = new ComparisonTable(Arrays.asList(changelog, plain)).text();

        assertThat(table.lines().map(line -> line.replaceAll(" {2,}", "|")))
                .containsExactlyElementsOf(
                        List.of(
                                "|DSTL on RocksDB|RocksDB, incremental",
                                "checkpoint duration p50 / max|20 ms / 30 ms|-",
                                "checkpointed data p50 / max|2.0 KB / 0.3 MB|-",
                                "checkpoints under steady load|3|0",
                                "checkpointed data in all|12.3 MB|0.0 KB",
                                "largest full size|2.0 MB|0.0 KB",
                                "restore of the state|0.8 s|0.0 s",
                                "kill to end-to-end recovery|1.9 s|0.0 s",
                                "kill to caught up|3.1 s|0.0 s",
                                "records/s at full speed|54,322|-",
                                "result|exactly once|WRONG"));
        assertThat(table.lines().map(String::length).distinct()).hasSize(1);
        assertThat(new ComparisonTable(List.of(plain)).text())
                .as("a measure that no run has")
                .doesNotContain("records/s");
    }

    private static CheckpointSample checkpoint(long durationMillis, long bytes) {
        CheckpointSample sample = new CheckpointSample();
        sample.durationMillis = durationMillis;
        sample.checkpointedBytes = bytes;
        return sample;
    }

    private static RecoverySample recovery() {
        RecoverySample sample = new RecoverySample();
        sample.redeployMillis = 1_000;
        sample.restoreMillis = 800;
        sample.firstRecordMillis = 100;
        return sample;
    }
}
