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

package dev.dstl.benchmarks.demo;

import dev.dstl.benchmarks.source.PhasedRate;
import dev.dstl.benchmarks.verification.OrderModel;
import dev.dstl.benchmarks.verification.ResultModel;
import dev.dstl.benchmarks.verification.TextModel;
import dev.dstl.benchmarks.workload.Workload;
import dev.dstl.benchmarks.workload.orders.OrderInput;
import dev.dstl.benchmarks.workload.orders.OrderWorkload;
import dev.dstl.benchmarks.workload.words.TextInput;
import dev.dstl.benchmarks.workload.words.WordWorkload;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;

/**
 * A workload, the phases of its input, and an independent computation of its expected result.
 * Immutable.
 */
final class Scenario {

    /** Number of windows of equal length in a text. */
    private static final long WINDOWS = 20;

    /** Share of the input with a steady rate, for an input without a preload. */
    private static final double STEADY_SHARE = 0.7;

    /** Late enough that there are checkpoints to compare, early enough that more follow. */
    private static final double KILL_AT = 0.7;

    private final String description;
    private final Workload workload;
    private final ResultModel model;
    private final double steadyFrom;
    private final double sprintFrom;

    private Scenario(
            String description,
            Workload workload,
            ResultModel model,
            double steadyFrom,
            double sprintFrom) {
        this.description = description;
        this.workload = workload;
        this.model = model;
        this.steadyFrom = steadyFrom;
        this.sprintFrom = sprintFrom;
    }

    /**
     * Orders whose documents are the state: first, many orders are placed; then as many are placed
     * as closed.
     */
    static Scenario orders(double scale, long stateBytes) {
        OrderInput input = new OrderInput(scale, stateBytes);
        // Of a handful of orders the first closes when the last is placed or later.
        boolean preloads = input.growsUntil() < input.shrinksFrom();
        return new Scenario(
                String.format(
                        Locale.ROOT,
                        "TPC-H orders and line items, scale %s, each order with a document of"
                                + " %,d bytes; %,d MB of state",
                        scale,
                        input.documentBytes(),
                        stateBytes >> 20),
                new OrderWorkload(input),
                new OrderModel(scale, input.documentBytes()),
                preloads ? input.growsUntil() : 0,
                preloads ? input.shrinksFrom() : STEADY_SHARE);
    }

    static Scenario words(Path file, long sizeBytes) {
        long windowBytes = Math.max(1, (sizeBytes + WINDOWS - 1) / WINDOWS);
        return new Scenario(
                "the words of " + file,
                new WordWorkload(new TextInput(file, sizeBytes), windowBytes),
                new TextModel(file, windowBytes),
                0,
                STEADY_SHARE);
    }

    String description() {
        return description;
    }

    Workload workload() {
        return workload;
    }

    ResultModel model() {
        return model;
    }

    /** Returns the fraction of the input at which the steady phase starts. */
    double steadyFrom() {
        return steadyFrom;
    }

    /**
     * Returns the fraction of the input at which a TaskManager is killed, within the steady phase.
     */
    double killAt() {
        return steadyFrom + KILL_AT * (sprintFrom - steadyFrom);
    }

    PhasedRate rate(Duration steady, Path release) {
        return new PhasedRate(steadyFrom, steady, sprintFrom, release);
    }
}
