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
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class ComparisonBarsTest {

    @Test
    void barsBelowAHeading_haveOneScale_andWhatIsSmallIsVisible() {
        RunReport dstl = report("DSTL", 4_000, OptionalDouble.of(1_500), 1, 500, 1_000);
        RunReport plain = report("RocksDB", 2_000, OptionalDouble.of(1_000), 1_500, 2_000, 4_000);

        assertThat(new ComparisonBars(Arrays.asList(dstl, plain)).text().lines())
                .containsExactly(
                        "checkpoint duration in ms, shorter is better",
                        "  p50           DSTL     ##### 500",
                        "                RocksDB  ################## 2,000",
                        "  max           DSTL     ######### 1,000",
                        "                RocksDB  #################################### 4,000",
                        "recovery in ms, shorter is better",
                        "  kill to work  DSTL     #################################### 4,000",
                        "                RocksDB  ################## 2,000",
                        "records/s at full speed, longer is better",
                        "  records/s     DSTL     #################################### 1,500",
                        "                RocksDB  ######################## 1,000");
    }

    @Test
    void smallestValue_hasABar_andNoValueHasNone() {
        RunReport quick = report("quick", 1, OptionalDouble.empty(), 1);
        RunReport slow = report("slow", 0, OptionalDouble.of(0), 1_000);
        RunReport without = report("without", 0, OptionalDouble.empty());

        assertThat(new ComparisonBars(Arrays.asList(quick, slow, without)).text().lines())
                .startsWith(
                        "checkpoint duration in ms, shorter is better",
                        "  p50           quick    # 1",
                        "                slow     #################################### 1,000",
                        "                without  -")
                .doesNotContain("records/s at full speed, longer is better");
    }

    private static RunReport report(
            String label, long recoveryMillis, OptionalDouble rate, long... durationsMillis) {
        RecoverySample recovery = new RecoverySample();
        recovery.restoreMillis = recoveryMillis;
        return new RunReport.Builder(label)
                .steadyCheckpoints(checkpoints(durationsMillis))
                .recovery(recovery, recoveryMillis)
                .throughput(rate)
                .build();
    }

    private static List<CheckpointSample> checkpoints(long... durationsMillis) {
        return LongStream.of(durationsMillis)
                .mapToObj(
                        millis -> {
                            CheckpointSample sample = new CheckpointSample();
                            sample.durationMillis = millis;
                            return sample;
                        })
                .collect(Collectors.toList());
    }
}
