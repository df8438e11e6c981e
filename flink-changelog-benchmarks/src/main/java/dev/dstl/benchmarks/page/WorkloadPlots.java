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

package dev.dstl.benchmarks.page;

import dev.dstl.benchmarks.comparison.Comparison;
import dev.dstl.benchmarks.comparison.Measure;
import dev.dstl.benchmarks.measurement.CheckpointSample;
import dev.dstl.benchmarks.measurement.RunResult;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.knowm.xchart.CategoryChart;
import org.knowm.xchart.XYChart;

/** The plots of one workload. Empty plots are left out. */
final class WorkloadPlots {

    private static final Map<String, Measure> RECOVERY = new LinkedHashMap<>();

    static {
        RECOVERY.put("redeploy", Measure.REDEPLOY);
        RECOVERY.put("start", Measure.START);
        RECOVERY.put("restore", Measure.RESTORE);
        RECOVERY.put("first record", Measure.FIRST_RECORD);
    }

    private final Comparison comparison;

    WorkloadPlots(Comparison comparison) {
        this.comparison = comparison;
    }

    /** Returns all plots. */
    List<Plot> all() {
        List<Plot> plots = new ArrayList<>();
        addUnlessEmpty(plots, "duration", durationOverTime());
        addUnlessEmpty(plots, "duration-cdf", durationDistribution());
        addUnlessEmpty(plots, "amplification", amplificationOverTime());
        addUnlessEmpty(plots, "throughput", bars(Measure.THROUGHPUT));
        addUnlessEmpty(plots, "processor", bars(Measure.CPU_TIME));
        addUnlessEmpty(plots, "recovery", recovery());
        return plots;
    }

    private void addUnlessEmpty(List<Plot> plots, String name, XYChart chart) {
        if (!chart.getSeriesMap().isEmpty()) {
            plots.add(Plot.of(comparison.workload() + "-" + name, chart));
        }
    }

    private void addUnlessEmpty(List<Plot> plots, String name, CategoryChart chart) {
        if (!chart.getSeriesMap().isEmpty()) {
            plots.add(Plot.of(comparison.workload() + "-" + name, chart));
        }
    }

    private XYChart durationOverTime() {
        XYChart chart = Plot.lines(title("checkpoint duration, round 1"), "s", "ms");
        chart.getStyler().setYAxisMin(0.0);
        for (String variant : comparison.variants()) {
            for (RunResult run : firstOf(variant)) {
                Series series = new Series();
                run.checkpoints.forEach(
                        one -> series.add(one.atMillis / 1e3, (double) one.durationMillis));
                series.addTo(chart, comparison.label(variant), variant);
            }
        }
        return chart;
    }

    private XYChart durationDistribution() {
        XYChart chart =
                Plot.lines(title("checkpoints done within, all rounds"), "ms", "% of checkpoints");
        chart.getStyler().setXAxisLogarithmic(true);
        for (String variant : comparison.variants()) {
            double[] sorted =
                    comparison.runs(variant).stream()
                            .flatMap(run -> run.checkpoints.stream())
                            // A logarithm has no 0.
                            .mapToDouble(one -> Math.max(1, one.durationMillis))
                            .sorted()
                            .toArray();
            Series series = new Series();
            for (int i = 0; i < sorted.length; i++) {
                series.add(sorted[i], 100.0 * i / sorted.length);
                series.add(sorted[i], 100.0 * (i + 1) / sorted.length);
            }
            series.addTo(chart, comparison.label(variant), variant);
        }
        return chart;
    }

    /** Returns the ratio of the checkpoint size to that of the delegate alone at the same time. */
    private XYChart amplificationOverTime() {
        XYChart chart =
                Plot.lines(title("full size / that of the delegate alone, round 1"), "s", "x");
        for (String variant : comparison.variants()) {
            String reference = comparison.reference(variant).orElse(variant);
            if (reference.equals(variant)) {
                continue;
            }
            NavigableMap<Long, Long> sizes = fullSizes(firstOf(reference));
            for (RunResult run : firstOf(variant)) {
                Series series = new Series();
                for (CheckpointSample one : run.checkpoints) {
                    Map.Entry<Long, Long> then = sizes.floorEntry(one.atMillis);
                    if (then != null && then.getValue() > 0) {
                        series.add(one.atMillis / 1e3, (double) one.fullBytes / then.getValue());
                    }
                }
                series.addTo(chart, comparison.label(variant), variant);
            }
        }
        return chart;
    }

    private CategoryChart bars(Measure measure) {
        CategoryChart chart = Plot.bars(title(measure.title()), measure.title());
        List<Comparison.Row> rows = comparison.rows(measure);
        List<String> names = rows.stream().map(Comparison.Row::label).collect(Collectors.toList());
        for (int i = 0; i < rows.size(); i++) {
            // A series of its own, with one bar, so that it has the color of its variant.
            List<Double> values = new ArrayList<>(Collections.nCopies(rows.size(), null));
            values.set(i, rows.get(i).spread().median());
            Plot.addBar(chart, names.get(i), names, values, VariantStyle.of(rows.get(i).variant()));
        }
        return chart;
    }

    private CategoryChart recovery() {
        CategoryChart chart = Plot.bars(title("recovery after kill -9"), "ms");
        chart.getStyler().setStacked(true);
        RECOVERY.forEach(
                (step, measure) -> {
                    List<String> names = new ArrayList<>();
                    List<Double> values = new ArrayList<>();
                    for (Comparison.Row row : comparison.rows(measure)) {
                        names.add(row.label());
                        values.add(row.spread().median());
                    }
                    if (!names.isEmpty()) {
                        chart.addSeries(step, names, values);
                    }
                });
        return chart;
    }

    private List<RunResult> firstOf(String variant) {
        List<RunResult> runs = comparison.runs(variant);
        return runs.subList(0, Math.min(1, runs.size()));
    }

    private static NavigableMap<Long, Long> fullSizes(List<RunResult> runs) {
        NavigableMap<Long, Long> sizes = new TreeMap<>();
        runs.forEach(run -> run.checkpoints.forEach(one -> sizes.put(one.atMillis, one.fullBytes)));
        return sizes;
    }

    private String title(String what) {
        return comparison.workload() + ": " + what;
    }

    /** Points of a line. */
    private static final class Series {
        private final List<Double> x = new ArrayList<>();
        private final List<Double> y = new ArrayList<>();

        void add(double atX, double atY) {
            x.add(atX);
            y.add(atY);
        }

        void addTo(XYChart chart, String label, String variant) {
            if (!x.isEmpty()) {
                Plot.addLine(chart, label, x, y, VariantStyle.of(variant));
            }
        }
    }
}
