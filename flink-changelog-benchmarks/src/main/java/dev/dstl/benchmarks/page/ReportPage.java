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
import dev.dstl.benchmarks.comparison.ComparisonText;
import dev.dstl.benchmarks.comparison.Measure;
import dev.dstl.benchmarks.measurement.BenchmarkResults;
import dev.dstl.benchmarks.measurement.RunResult;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalDouble;

/** Writes the report: {@code index.html} and its plots, all in one directory. */
public final class ReportPage {

    /** Smaller differences have no color. */
    private static final double NOTICEABLE = 0.05;

    private static final String STYLE =
            "body{font:15px/1.45 system-ui,sans-serif;margin:2em auto;max-width:70em;padding:0 1em}"
                    + "table{border-collapse:collapse;margin:1em 0}"
                    + "td,th{padding:.15em .7em;text-align:right;border-bottom:1px solid #ddd}"
                    + "td:first-child,th:first-child{text-align:left}"
                    + "tr.measure td{font-weight:bold;border-bottom:none;padding-top:.8em}"
                    + ".worse{color:#b91c1c}.better{color:#15803d}"
                    + "img{max-width:100%;display:block;margin:1em 0}pre{white-space:pre-wrap}";

    private final BenchmarkResults results;
    private final StringBuilder html = new StringBuilder();

    private ReportPage(BenchmarkResults results) {
        this.results = results;
    }

    /**
     * Writes a report.
     *
     * @param directory must exist; files of an earlier report are overwritten
     */
    public static void write(BenchmarkResults results, Path directory) throws IOException {
        new ReportPage(results).write(directory);
    }

    private void write(Path directory) throws IOException {
        html.append("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">")
                .append("<title>DSTL benchmarks</title><style>")
                .append(STYLE)
                .append("</style></head><body>\n<h1>DSTL benchmarks</h1>\n");
        circumstances();
        for (Comparison comparison : Comparison.of(results)) {
            heading(comparison.workload());
            paragraph(comparison.description());
            failures(comparison);
            for (Plot plot : new WorkloadPlots(comparison).all()) {
                plot.write(directory);
                html.append("<img src=\"").append(plot.file()).append("\" alt=\"");
                html.append(plot.file()).append("\">\n");
            }
            table(comparison);
        }
        html.append("</body></html>\n");
        Files.write(
                directory.resolve("index.html"), html.toString().getBytes(StandardCharsets.UTF_8));
    }

    private void circumstances() {
        html.append("<table>\n");
        fact("command", results.command);
        fact("date", results.date);
        fact("machine", machine());
        fact("operating system", results.machine.operatingSystem);
        fact("Java", results.machine.java);
        results.versions.forEach(this::fact);
        results.settings.forEach(this::fact);
        html.append("</table>\n");
        paragraph(
                "Medians of all rounds, with minimum and maximum. p99 and p99.9 are of the"
                        + " checkpoints of all rounds together, from 100 and 1,000 of them on."
                        + " Ratios of medians: to the"
                        + " delegate alone (plain), to Flink's changelog on the same delegate (built-in),"
                        + " and to the delegate alone with a checkpoint per materialization interval"
                        + " (rare). Red is worse, green is better, by more than 5 %.");
        if (!results.leftOut.isEmpty()) {
            paragraph("Planned, but not run:");
            list(results.leftOut);
        }
    }

    private String machine() {
        return String.format(
                Locale.ROOT,
                "%s, %d CPUs, %.0f GB",
                results.machine.processor,
                results.machine.processors,
                results.machine.memoryBytes / 1e9);
    }

    private void failures(Comparison comparison) {
        for (RunResult failed : comparison.failures()) {
            html.append("<p class=\"worse\">Failed: ")
                    .append(escaped(comparison.label(failed.variant)))
                    .append(", round ")
                    .append(failed.round)
                    .append("</p><pre>")
                    .append(escaped(failed.failure))
                    .append("</pre>\n");
        }
    }

    private void table(Comparison comparison) {
        html.append("<table>\n<tr><th></th><th>median</th><th>min</th><th>max</th>")
                .append("<th>/ plain</th><th>/ built-in</th><th>/ rare</th></tr>\n");
        for (Measure measure : Measure.all()) {
            List<Comparison.Row> rows = comparison.rows(measure);
            if (rows.isEmpty()) {
                continue;
            }
            html.append("<tr class=\"measure\"><td colspan=\"7\">")
                    .append(escaped(measure.title()))
                    .append("</td></tr>\n");
            for (Comparison.Row row : rows) {
                html.append("<tr><td>").append(escaped(row.label())).append("</td>");
                cell(Measure.text(row.spread().median()));
                cell(Measure.text(row.spread().min()));
                cell(Measure.text(row.spread().max()));
                ratio(row.toPlain(), measure.better());
                ratio(row.toBuiltIn(), measure.better());
                ratio(row.toRare(), measure.better());
                html.append("</tr>\n");
            }
        }
        html.append("</table>\n");
    }

    private void ratio(OptionalDouble ratio, Measure.Better better) {
        html.append("<td").append(ratio.isPresent() ? judgement(ratio.getAsDouble(), better) : "");
        html.append('>').append(ComparisonText.ratio(ratio)).append("</td>");
    }

    private static String judgement(double ratio, Measure.Better better) {
        double gain = better == Measure.Better.HIGHER ? ratio - 1 : 1 - ratio;
        if (Math.abs(gain) <= NOTICEABLE) {
            return "";
        }
        return gain > 0 ? " class=\"better\"" : " class=\"worse\"";
    }

    private void cell(String text) {
        html.append("<td>").append(escaped(text)).append("</td>");
    }

    private void fact(String name, String value) {
        html.append("<tr><td>").append(escaped(name)).append("</td><td>");
        html.append(escaped(value)).append("</td></tr>\n");
    }

    private void heading(String text) {
        html.append("<h2>").append(escaped(text)).append("</h2>\n");
    }

    private void paragraph(String text) {
        html.append("<p>").append(escaped(text)).append("</p>\n");
    }

    private void list(List<String> lines) {
        html.append("<ul>\n");
        lines.forEach(line -> html.append("<li>").append(escaped(line)).append("</li>\n"));
        html.append("</ul>\n");
    }

    private static String escaped(String text) {
        String escaped = text;
        for (Map.Entry<String, String> special :
                List.of(
                        Map.entry("&", "&amp;"),
                        Map.entry("<", "&lt;"),
                        Map.entry(">", "&gt;"),
                        Map.entry("\"", "&quot;"))) {
            escaped = escaped.replace(special.getKey(), special.getValue());
        }
        return escaped;
    }
}
