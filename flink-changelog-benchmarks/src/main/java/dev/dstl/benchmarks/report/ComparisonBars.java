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

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.OptionalDouble;
import java.util.function.Function;

/** The results of one or more runs as bars of plain characters, for terminals. */
public final class ComparisonBars {

    private static final int BAR_WIDTH = 36;
    private static final String NO_BAR = "-";

    private final List<RunReport> runs;

    /** Creates bars, one per run and result, in this order. */
    public ComparisonBars(List<RunReport> runs) {
        this.runs = List.copyOf(runs);
    }

    /** Returns the bars, without a line break at the end. Bars below one heading share a scale. */
    public String text() {
        List<String> lines = new ArrayList<>();
        add(
                lines,
                "checkpoint duration in ms, shorter is better",
                new Bar("p50", run -> duration(run, 50)),
                new Bar("max", run -> duration(run, 100)));
        add(
                lines,
                "recovery in ms, shorter is better",
                new Bar(
                        "kill to work",
                        run -> OptionalDouble.of((double) run.recovery().totalMillis())));
        add(
                lines,
                "records/s at full speed, longer is better",
                new Bar("records/s", RunReport::recordsPerSecond));
        return String.join("\n", lines);
    }

    private void add(List<String> lines, String heading, Bar... bars) {
        double longest = 0;
        for (Bar bar : bars) {
            for (RunReport run : runs) {
                longest = Math.max(longest, bar.value.apply(run).orElse(0));
            }
        }
        if (longest == 0) {
            return;
        }
        lines.add(heading);
        for (Bar bar : bars) {
            String name = bar.name;
            for (RunReport run : runs) {
                lines.add(line(name, run.label(), bar.value.apply(run), longest));
                name = "";
            }
        }
    }

    private String line(String name, String label, OptionalDouble value, double longest) {
        int labelWidth = runs.stream().mapToInt(run -> run.label().length()).max().orElse(0);
        String head = String.format(Locale.ROOT, "  %-12s  %-" + labelWidth + "s  ", name, label);
        if (value.isEmpty()) {
            return head + NO_BAR;
        }
        // Whatever is not 0 is visible.
        long length = (long) Math.ceil(value.getAsDouble() / longest * BAR_WIDTH);
        return head
                + "#".repeat((int) length)
                + (length == 0 ? "" : " ")
                + String.format(Locale.ROOT, "%,.0f", value.getAsDouble());
    }

    private static OptionalDouble duration(RunReport run, double percent) {
        Percentiles durations = run.durationsMillis();
        return durations.count() == 0
                ? OptionalDouble.empty()
                : OptionalDouble.of((double) durations.at(percent));
    }

    private static final class Bar {
        private final String name;
        private final Function<RunReport, OptionalDouble> value;

        private Bar(String name, Function<RunReport, OptionalDouble> value) {
            this.name = name;
            this.value = value;
        }
    }
}
