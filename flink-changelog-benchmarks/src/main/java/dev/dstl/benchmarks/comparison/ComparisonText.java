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
import dev.dstl.benchmarks.report.TextTable;
import java.util.List;
import java.util.Locale;
import java.util.OptionalDouble;

/** Comparisons as plain text for terminals. */
public final class ComparisonText {

    /** Measures that fit on a screen; the report has all. */
    private static final List<Measure> HEADLINES =
            List.of(
                    Measure.THROUGHPUT,
                    Measure.CPU_TIME,
                    Measure.DURATION_P50,
                    Measure.DURATION_MAX,
                    Measure.FULL_P50,
                    Measure.PUTS,
                    Measure.RESTORE,
                    Measure.RECOVERY,
                    Measure.RESIDENT,
                    Measure.OTHERS);

    private static final List<String> HEAD =
            List.of("", "median", "min", "max", "/ plain", "/ built-in", "/ rare");

    private ComparisonText() {}

    /** Returns the main measures of all workloads, with failures and runs that were left out. */
    public static String headlines(BenchmarkResults results) {
        StringBuilder text = new StringBuilder();
        for (Comparison comparison : Comparison.of(results)) {
            text.append('\n').append(comparison.workload()).append(": ");
            text.append(comparison.description()).append('\n');
            TextTable rows = new TextTable("  ");
            rows.add(HEAD);
            for (Measure measure : HEADLINES) {
                List<Comparison.Row> measures = comparison.rows(measure);
                if (!measures.isEmpty()) {
                    rows.add(List.of(measure.title()));
                    measures.forEach(row -> rows.add(cells(row)));
                }
            }
            text.append(rows.text()).append('\n');
            for (RunResult failed : comparison.failures()) {
                text.append("FAILED: ")
                        .append(comparison.label(failed.variant))
                        .append(", round ")
                        .append(failed.round)
                        .append(": ")
                        .append(failed.failure.lines().findFirst().orElse(""))
                        .append('\n');
            }
        }
        for (String leftOut : results.leftOut) {
            text.append("LEFT OUT: ").append(leftOut).append('\n');
        }
        return text.toString();
    }

    private static List<String> cells(Comparison.Row row) {
        return List.of(
                "  " + row.label(),
                Measure.text(row.spread().median()),
                Measure.text(row.spread().min()),
                Measure.text(row.spread().max()),
                ratio(row.toPlain()),
                ratio(row.toBuiltIn()),
                ratio(row.toRare()));
    }

    /** Formats a ratio with two decimals; empty if there is none. */
    public static String ratio(OptionalDouble ratio) {
        return ratio.isPresent() ? String.format(Locale.ROOT, "%.2f", ratio.getAsDouble()) : "";
    }
}
