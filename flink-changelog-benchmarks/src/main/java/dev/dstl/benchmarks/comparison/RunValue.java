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
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;

/**
 * What measures compute from runs with results: a value of each run that has the data, or one value
 * of all runs together. Empty where there is none.
 */
final class RunValue {

    private static final double MILLIS = 1;
    private static final double MEGABYTES = 1e6;

    private RunValue() {}

    static Function<List<RunResult>, Optional<Spread>> ofEach(
            Function<RunResult, OptionalDouble> value) {
        return runs -> {
            double[] values =
                    runs.stream()
                            .map(value)
                            .filter(OptionalDouble::isPresent)
                            .mapToDouble(OptionalDouble::getAsDouble)
                            .toArray();
            return values.length == 0 ? Optional.empty() : Optional.of(Spread.of(values));
        };
    }

    static Function<List<RunResult>, Optional<Spread>> value(ToDoubleFunction<RunResult> value) {
        return ofEach(run -> OptionalDouble.of(value.applyAsDouble(run)));
    }

    static Function<List<RunResult>, Optional<Spread>> perMinute(
            ToDoubleFunction<RunResult> count) {
        return value(run -> count.applyAsDouble(run) * 60 / run.windowSeconds);
    }

    static Function<List<RunResult>, Optional<Spread>> requests(String type) {
        return perMinute(run -> run.traffic.requests(type));
    }

    static Function<List<RunResult>, Optional<Spread>> duration(double percent) {
        return ofEach(
                run -> percentile(List.of(run), percent, sample -> sample.durationMillis, MILLIS));
    }

    static Function<List<RunResult>, Optional<Spread>> durationOfAll(double percent) {
        return ofAll(percent, sample -> sample.durationMillis, MILLIS);
    }

    static Function<List<RunResult>, Optional<Spread>> megabytes(
            double percent, ToLongFunction<CheckpointSample> bytes) {
        return ofEach(run -> percentile(List.of(run), percent, bytes, MEGABYTES));
    }

    static Function<List<RunResult>, Optional<Spread>> megabytesOfAll(
            double percent, ToLongFunction<CheckpointSample> bytes) {
        return ofAll(percent, bytes, MEGABYTES);
    }

    /**
     * A percentile of the checkpoints of all runs together. Absent unless at least one of them lies
     * above it: otherwise it would be the maximum under another name.
     */
    private static Function<List<RunResult>, Optional<Spread>> ofAll(
            double percent, ToLongFunction<CheckpointSample> of, double unit) {
        long fewest = Math.round(100 / (100 - percent));
        return runs ->
                runs.stream().mapToLong(run -> run.checkpoints.size()).sum() < fewest
                        ? Optional.empty()
                        : Optional.of(Spread.of(percentile(runs, percent, of, unit).getAsDouble()));
    }

    /** Uses the mean over the slowest checkpoints, so that the steps add up to a mean duration. */
    static Function<List<RunResult>, Optional<Spread>> step(
            double share, ToLongFunction<CheckpointSample> millis) {
        return ofEach(
                run ->
                        run.checkpoints.stream()
                                .sorted(
                                        Comparator.comparingLong(
                                                (CheckpointSample sample) ->
                                                        -sample.durationMillis))
                                .limit((long) Math.ceil(run.checkpoints.size() * share))
                                .mapToLong(millis)
                                .average());
    }

    static long acknowledgementMillis(CheckpointSample sample) {
        return sample.durationMillis
                - sample.barrierMillis
                - sample.synchronousMillis
                - sample.asynchronousMillis;
    }

    private static OptionalDouble percentile(
            List<RunResult> runs,
            double percent,
            ToLongFunction<CheckpointSample> of,
            double unit) {
        return at(
                percent,
                Percentiles.of(
                        runs.stream().flatMap(run -> run.checkpoints.stream()).mapToLong(of)),
                unit);
    }

    static Function<List<RunResult>, Optional<Spread>> process(
            double percent, ToLongFunction<ProcessSample> of, double unit) {
        return ofEach(run -> at(percent, Percentiles.of(run.process.stream().mapToLong(of)), unit));
    }

    private static OptionalDouble at(double percent, Percentiles sample, double unit) {
        return sample.count() == 0
                ? OptionalDouble.empty()
                : OptionalDouble.of(sample.at(percent) / unit);
    }
}
