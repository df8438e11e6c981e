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

import dev.dstl.benchmarks.measurement.CheckpointSample;
import dev.dstl.benchmarks.measurement.ProcessSample;
import dev.dstl.benchmarks.measurement.RunResult;
import dev.dstl.benchmarks.report.Percentiles;
import java.util.Comparator;
import java.util.OptionalDouble;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;

/** What measures compute from the samples of a single run; empty where it has none. */
final class RunValue {

    private RunValue() {}

    static Function<RunResult, OptionalDouble> value(ToDoubleFunction<RunResult> value) {
        return run -> OptionalDouble.of(value.applyAsDouble(run));
    }

    static Function<RunResult, OptionalDouble> perMinute(ToDoubleFunction<RunResult> count) {
        return value(run -> count.applyAsDouble(run) * 60 / run.windowSeconds);
    }

    static Function<RunResult, OptionalDouble> requests(String type) {
        return perMinute(run -> run.traffic.requests(type));
    }

    static Function<RunResult, OptionalDouble> duration(double percent) {
        return run -> percentile(run, percent, checkpoint -> checkpoint.durationMillis, 1);
    }

    /** Uses the mean over the slowest checkpoints, so that the steps add up to a mean duration. */
    static Function<RunResult, OptionalDouble> step(
            double share, ToLongFunction<CheckpointSample> millis) {
        return run ->
                run.checkpoints.stream()
                        .sorted(
                                Comparator.comparingLong(
                                        (CheckpointSample sample) -> -sample.durationMillis))
                        .limit((long) Math.ceil(run.checkpoints.size() * share))
                        .mapToLong(millis)
                        .average();
    }

    static long acknowledgementMillis(CheckpointSample sample) {
        return sample.durationMillis
                - sample.barrierMillis
                - sample.synchronousMillis
                - sample.asynchronousMillis;
    }

    static Function<RunResult, OptionalDouble> megabytes(
            double percent, ToLongFunction<CheckpointSample> bytes) {
        return run -> percentile(run, percent, bytes, 1e6);
    }

    private static OptionalDouble percentile(
            RunResult run, double percent, ToLongFunction<CheckpointSample> of, double unit) {
        return at(percent, Percentiles.of(run.checkpoints.stream().mapToLong(of)), unit);
    }

    static Function<RunResult, OptionalDouble> process(
            double percent, ToLongFunction<ProcessSample> of, double unit) {
        return run -> at(percent, Percentiles.of(run.process.stream().mapToLong(of)), unit);
    }

    private static OptionalDouble at(double percent, Percentiles sample, double unit) {
        return sample.count() == 0
                ? OptionalDouble.empty()
                : OptionalDouble.of(sample.at(percent) / unit);
    }
}
