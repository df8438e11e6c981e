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
import dev.dstl.benchmarks.measurement.RunResult;
import dev.dstl.benchmarks.measurement.VariantDescription;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.stream.Collectors;

/** The runs of one workload, on all variants and in all rounds. Immutable view of the results. */
public final class Comparison {

    private final BenchmarkResults results;
    private final String workload;
    private final List<RunResult> runs;

    private Comparison(BenchmarkResults results, String workload) {
        this.results = results;
        this.workload = workload;
        this.runs =
                results.runs.stream()
                        .filter(run -> run.workload.equals(workload))
                        .collect(Collectors.toList());
    }

    /** Returns one comparison per workload that was run. */
    public static List<Comparison> of(BenchmarkResults results) {
        return results.workloads.keySet().stream()
                .map(workload -> new Comparison(results, workload))
                .filter(comparison -> !comparison.runs.isEmpty())
                .collect(Collectors.toList());
    }

    /** Returns the name of the workload. */
    public String workload() {
        return workload;
    }

    /** Returns the description of the workload. */
    public String description() {
        return results.workloads.get(workload);
    }

    /** Returns the names of the variants that were run, in the order of their descriptions. */
    public List<String> variants() {
        return results.variants.keySet().stream()
                .filter(variant -> runs.stream().anyMatch(run -> run.variant.equals(variant)))
                .collect(Collectors.toList());
    }

    /** Returns the label of a variant. */
    public String label(String variant) {
        return results.variants.get(variant).label;
    }

    /** Returns the runs of a variant with results, by round. */
    public List<RunResult> runs(String variant) {
        return runs.stream()
                .filter(run -> run.variant.equals(variant) && run.hasFigures())
                .collect(Collectors.toList());
    }

    /** Returns the runs without results. */
    public List<RunResult> failures() {
        return runs.stream().filter(run -> !run.hasFigures()).collect(Collectors.toList());
    }

    /** Returns one row per variant that has the measure. */
    public List<Row> rows(Measure measure) {
        List<Row> rows = new ArrayList<>();
        for (String variant : variants()) {
            measure.of(runs(variant)).ifPresent(spread -> rows.add(row(measure, variant, spread)));
        }
        return rows;
    }

    /**
     * Returns the variant with which space amplification is computed: the delegate without a
     * changelog.
     */
    public Optional<String> reference(String variant) {
        VariantDescription description = results.variants.get(variant);
        return List.of(description.plain, description.rare).stream()
                .filter(candidate -> !runs(candidate).isEmpty())
                .findFirst();
    }

    private Row row(Measure measure, String variant, Spread spread) {
        VariantDescription description = results.variants.get(variant);
        return new Row(
                variant,
                description.label,
                measure,
                spread,
                ratio(measure, spread, variant, description.plain),
                ratio(measure, spread, variant, description.builtIn),
                ratio(measure, spread, variant, description.rare));
    }

    private OptionalDouble ratio(Measure measure, Spread spread, String variant, String reference) {
        if (variant.equals(reference)) {
            return OptionalDouble.empty();
        }
        return measure.of(runs(reference))
                .filter(other -> other.median() != 0)
                .map(other -> OptionalDouble.of(spread.median() / other.median()))
                .orElse(OptionalDouble.empty());
    }

    /** The values of a measure on one variant, and ratios of medians. Immutable. */
    public static final class Row {

        private final String variant;
        private final String label;
        private final Measure measure;
        private final Spread spread;
        private final OptionalDouble toPlain;
        private final OptionalDouble toBuiltIn;
        private final OptionalDouble toRare;

        private Row(
                String variant,
                String label,
                Measure measure,
                Spread spread,
                OptionalDouble toPlain,
                OptionalDouble toBuiltIn,
                OptionalDouble toRare) {
            this.variant = variant;
            this.label = label;
            this.measure = measure;
            this.spread = spread;
            this.toPlain = toPlain;
            this.toBuiltIn = toBuiltIn;
            this.toRare = toRare;
        }

        /** Returns the name of the variant. */
        public String variant() {
            return variant;
        }

        /** Returns the label of the variant. */
        public String label() {
            return label;
        }

        /** Returns the measure. */
        public Measure measure() {
            return measure;
        }

        /** Returns the values of all rounds. */
        public Spread spread() {
            return spread;
        }

        /**
         * Returns the ratio to the delegate without a changelog; empty if that was not run or is 0.
         */
        public OptionalDouble toPlain() {
            return toPlain;
        }

        /**
         * Returns the ratio to Flink's built-in changelog on the same delegate; empty if that was
         * not run or is 0.
         */
        public OptionalDouble toBuiltIn() {
            return toBuiltIn;
        }

        /**
         * Returns the ratio to the delegate with rare checkpoints; empty if that was not run or is
         * 0.
         */
        public OptionalDouble toRare() {
            return toRare;
        }
    }
}
