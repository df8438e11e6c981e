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
import java.util.function.Function;

/** The results of runs as a text table. */
public final class ComparisonTable {

    private final List<RunReport> runs;

    /** Creates a table with one column per run, in this order. */
    public ComparisonTable(List<RunReport> runs) {
        this.runs = List.copyOf(runs);
    }

    /** Returns the table, one line per result, without a line break at the end. */
    public String text() {
        TextTable rows = new TextTable("   ");
        rows.add(row("", RunReport::label));
        rows.add(
                row(
                        "checkpoint duration p50 / max",
                        run -> percentiles(run.durationsMillis(), ComparisonTable::millis)));
        rows.add(
                row(
                        "checkpointed data p50 / max",
                        run -> percentiles(run.checkpointedBytes(), ComparisonTable::bytes)));
        rows.add(
                row(
                        "checkpoints under steady load",
                        run -> Integer.toString(run.durationsMillis().count())));
        rows.add(row("checkpointed data in all", run -> bytes(run.checkpointedBytesInAll())));
        rows.add(row("largest full size", run -> bytes(run.fullBytes())));
        rows.add(row("restore of the state", run -> seconds(run.recovery().restoreMillis)));
        rows.add(row("kill to end-to-end recovery", run -> seconds(run.recovery().totalMillis())));
        rows.add(row("kill to caught up", run -> seconds(run.caughtUpMillis())));
        if (runs.stream().anyMatch(run -> run.recordsPerSecond().isPresent())) {
            rows.add(row("records/s at full speed", ComparisonTable::recordsPerSecond));
        }
        rows.add(row("result", RunReport::result));
        return rows.text();
    }

    private static String recordsPerSecond(RunReport run) {
        return run.recordsPerSecond().isPresent()
                ? format("%,.0f", run.recordsPerSecond().getAsDouble())
                : "-";
    }

    private List<String> row(String name, Function<RunReport, String> measure) {
        List<String> row = new ArrayList<>();
        row.add(name);
        runs.forEach(run -> row.add(measure.apply(run)));
        return row;
    }

    private static String percentiles(Percentiles sample, Function<Long, String> unit) {
        return sample.count() == 0
                ? "-"
                : unit.apply(sample.at(50)) + " / " + unit.apply(sample.at(100));
    }

    private static String millis(long millis) {
        return format("%,d ms", millis);
    }

    private static String seconds(long millis) {
        return format("%.1f s", millis / 1000.0);
    }

    private static String bytes(long bytes) {
        return bytes < 100_000 ? format("%.1f KB", bytes / 1e3) : format("%,.1f MB", bytes / 1e6);
    }

    private static String format(String format, Object value) {
        return String.format(Locale.ROOT, format, value);
    }
}
