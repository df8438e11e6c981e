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

import dev.dstl.benchmarks.harness.Backend;
import dev.dstl.benchmarks.harness.Changelog;
import dev.dstl.benchmarks.measurement.CheckpointSample;
import dev.dstl.benchmarks.page.Plot;
import dev.dstl.benchmarks.page.VariantStyle;
import dev.dstl.benchmarks.report.RunReport;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.knowm.xchart.XYChart;

/** Checkpoint durations under steady load, one line per backend. */
final class DurationChart {

    private static final double MILLIS_PER_SECOND = 1e3;

    private final XYChart chart =
            Plot.lines("checkpoint duration under steady load", "s", "checkpoint duration, ms");

    DurationChart() {
        chart.getStyler().setYAxisMin(0.0);
    }

    void add(Backend backend, RunReport report) {
        List<Double> x = new ArrayList<>();
        List<Double> y = new ArrayList<>();
        for (CheckpointSample one : report.checkpoints()) {
            x.add(one.atMillis / MILLIS_PER_SECOND);
            y.add((double) one.durationMillis);
        }
        if (!x.isEmpty()) {
            String whose = backend.changelog() == Changelog.NONE ? "plain-" : "dstl-";
            VariantStyle style = VariantStyle.of(whose + backend.delegate().id());
            Plot.addLine(chart, report.label(), x, y, style);
        }
    }

    /** Writes the chart. Writes nothing if there was no checkpoint. */
    void write(Path file) throws IOException {
        if (!chart.getSeriesMap().isEmpty()) {
            Files.createDirectories(file.toAbsolutePath().getParent());
            Plot.of("demo", chart).writeSvg(file);
        }
    }
}
