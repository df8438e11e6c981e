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

import static org.assertj.core.api.Assertions.assertThat;

import dev.dstl.benchmarks.measurement.BenchmarkResults;
import dev.dstl.benchmarks.measurement.CheckpointSample;
import dev.dstl.benchmarks.measurement.RunResult;
import java.util.List;
import org.junit.jupiter.api.Test;

class ComparisonTest {

    @Test
    void row_hasMedianAndSpreadOfItsRounds_andRatiosOfMedians() {
        Comparison comparison = onlyComparison(SampleResults.twoRounds());

        Comparison.Row dstl = comparison.rows(Measure.THROUGHPUT).get(2);

        assertThat(dstl.label()).isEqualTo("DSTL on RocksDB");
        assertThat(dstl.spread().min()).isEqualTo(1200);
        assertThat(dstl.spread().median()).isEqualTo(1800);
        assertThat(dstl.spread().max()).isEqualTo(2400);
        assertThat(dstl.toPlain()).hasValue(1.2);
        assertThat(dstl.toBuiltIn()).hasValue(2.0);
        assertThat(dstl.toRare()).isEmpty();
    }

    @Test
    void variant_isNotSetAgainstItself() {
        Comparison.Row plain =
                onlyComparison(SampleResults.twoRounds()).rows(Measure.DURATION_P50).get(0);

        assertThat(plain.label()).isEqualTo("RocksDB");
        assertThat(plain.toPlain()).isEmpty();
    }

    @Test
    void medianAndMaximumOfDurations_areOfOneRound() {
        Comparison comparison = onlyComparison(SampleResults.twoRounds());

        assertThat(comparison.rows(Measure.DURATION_P50).get(2).spread().median()).isEqualTo(100);
        assertThat(comparison.rows(Measure.DURATION_MAX).get(2).spread().median()).isEqualTo(1000);
    }

    @Test
    void highPercentiles_areOfAllRounds_andAbsentWhereTheyWouldBeTheMaximum() {
        BenchmarkResults results = SampleResults.empty();
        for (int round = 1; round <= 9; round++) {
            results.runs.add(SampleResults.run("dstl-rocksdb", round, 1, 100));
        }
        assertThat(onlyComparison(results).rows(Measure.DURATION_P99)).isEmpty();

        RunResult tenth = SampleResults.run("dstl-rocksdb", 10, 1, 100);
        tenth.checkpoints.get(9).durationMillis = 3000;
        results.runs.add(tenth);

        Comparison comparison = onlyComparison(results);
        Spread p99 = comparison.rows(Measure.DURATION_P99).get(0).spread();
        assertThat(p99.count()).isEqualTo(1);
        assertThat(p99.median()).isEqualTo(1000);
        assertThat(comparison.rows(Measure.DURATION_P999)).isEmpty();
        assertThat(Measure.DURATION_P999.title()).isEqualTo("checkpoint duration p99.9, ms");
    }

    @Test
    void stepsOfCheckpoints_addUpToTheMeanDuration_ofAllAndOfTheSlowestTenth() {
        RunResult run = SampleResults.run("dstl-rocksdb", 1, 1, 100);
        for (CheckpointSample checkpoint : run.checkpoints) {
            checkpoint.barrierMillis = checkpoint.durationMillis / 2;
            checkpoint.synchronousMillis = 1;
            checkpoint.asynchronousMillis = checkpoint.durationMillis / 4;
        }

        assertThat(ofRun(Measure.BARRIER, run)).isEqualTo(95);
        assertThat(ofRun(Measure.SYNCHRONOUS, run)).isEqualTo(1);
        assertThat(ofRun(Measure.ASYNCHRONOUS, run)).isEqualTo(47.5);
        assertThat(ofRun(Measure.ACKNOWLEDGEMENT, run)).isEqualTo(46.5);
        assertThat(ofRun(Measure.SLOW_BARRIER, run)).isEqualTo(500);
        assertThat(ofRun(Measure.SLOW_SYNCHRONOUS, run)).isEqualTo(1);
        assertThat(ofRun(Measure.SLOW_ASYNCHRONOUS, run)).isEqualTo(250);
        assertThat(ofRun(Measure.SLOW_ACKNOWLEDGEMENT, run)).isEqualTo(249);
    }

    @Test
    void runWithoutFigures_isAFailureAndNoValue() {
        BenchmarkResults results = SampleResults.twoRounds();
        RunResult failed = SampleResults.run("dstl-rocksdb", 3, 1, 1);
        failed.failure = "the job failed";
        results.runs.add(failed);

        Comparison comparison = onlyComparison(results);

        assertThat(comparison.failures()).containsExactly(failed);
        assertThat(comparison.rows(Measure.THROUGHPUT).get(2).spread().count()).isEqualTo(2);
    }

    @Test
    void runWithoutCheckpoints_hasNoDurations() {
        BenchmarkResults results = SampleResults.empty();
        RunResult run = SampleResults.run("dstl-rocksdb", 1, 1, 1);
        run.checkpoints.clear();
        results.runs.add(run);

        Comparison comparison = onlyComparison(results);

        assertThat(comparison.rows(Measure.DURATION_P50)).isEmpty();
        assertThat(comparison.rows(Measure.THROUGHPUT)).hasSize(1);
    }

    @Test
    void workloadThatWasNotRun_isLeftOut() {
        assertThat(Comparison.of(SampleResults.empty())).isEmpty();
    }

    @Test
    void headlines_showRatiosFailuresAndWhatWasLeftOut() {
        BenchmarkResults results = SampleResults.twoRounds();
        RunResult failed = SampleResults.run("builtin-rocksdb", 3, 1, 1);
        failed.failure = "out of memory\nLogs: elsewhere";
        results.runs.add(failed);
        results.leftOut.add("words on dstl-rocksdb, round 4: no time was left");

        assertThat(ComparisonText.headlines(results))
                .contains("throughput, records/s")
                .containsPattern("DSTL on RocksDB +1,800 +1,200 +2,400 +1.20 +2.00")
                .contains("FAILED: Flink's changelog on RocksDB, round 3: out of memory\n")
                .contains("LEFT OUT: words on dstl-rocksdb, round 4: no time was left");
    }

    @Test
    void numbers_haveTheDigitsTheyAreWorth() {
        assertThat(
                        List.of(
                                Measure.text(0.123),
                                Measure.text(12.34),
                                Measure.text(1234.5),
                                Measure.text(3)))
                .containsExactly("0.12", "12.3", "1,235", "3");
    }

    private static double ofRun(Measure measure, RunResult run) {
        return measure.of(List.of(run)).orElseThrow().median();
    }

    private static Comparison onlyComparison(BenchmarkResults results) {
        List<Comparison> all = Comparison.of(results);
        assertThat(all).hasSize(1);
        return all.get(0);
    }
}
