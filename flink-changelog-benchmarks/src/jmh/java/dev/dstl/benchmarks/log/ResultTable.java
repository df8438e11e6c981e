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

package dev.dstl.benchmarks.log;

import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.StringJoiner;

/** All measurements of a benchmark, in the order in which they were first taken. */
final class ResultTable {

    private static final String LINE = "%-58s %-7s %26s %26s %9s%n";

    private final Map<Measure, Map<MeasuredLog, Rounds>> rows = new LinkedHashMap<>();

    /** Adds the value of one round. */
    void add(Measure measure, MeasuredLog log, double value) {
        rows.computeIfAbsent(measure, row -> new EnumMap<>(MeasuredLog.class))
                .computeIfAbsent(log, column -> new Rounds())
                .add(value);
    }

    /** Medians with minimum and maximum, and the ratio of the medians. */
    String toText() {
        StringBuilder text = new StringBuilder();
        text.append(
                String.format(
                        Locale.ROOT,
                        LINE,
                        "measure: median (min .. max of rounds)",
                        "unit",
                        "dstl",
                        "built-in",
                        "dstl/built-in"));
        rows.forEach(
                (measure, columns) -> {
                    Rounds dstl = columns.get(MeasuredLog.DSTL);
                    Rounds builtIn = columns.get(MeasuredLog.BUILT_IN);
                    text.append(
                            String.format(
                                    Locale.ROOT,
                                    LINE,
                                    measure.text(),
                                    measure.unit(),
                                    cell(dstl),
                                    cell(builtIn),
                                    ratio(dstl.median(), builtIn.median())));
                });
        return text.toString();
    }

    /** The same as a JSON array. */
    String toJson() {
        StringJoiner json = new StringJoiner(",\n", "[\n", "\n  ]");
        rows.forEach(
                (measure, columns) ->
                        columns.forEach(
                                (log, rounds) ->
                                        json.add(
                                                String.format(
                                                        Locale.ROOT,
                                                        "    {\"measure\": \"%s\", \"unit\": \"%s\","
                                                                + " \"changelog\": \"%s\","
                                                                + " \"median\": %.4f,"
                                                                + " \"rounds\": %s}",
                                                        measure.text(),
                                                        measure.unit(),
                                                        log,
                                                        rounds.median(),
                                                        rounds.toJson()))));
        return json.toString();
    }

    private static String cell(Rounds rounds) {
        return String.format(
                Locale.ROOT,
                "%s (%s .. %s)",
                number(rounds.median()),
                number(rounds.min()),
                number(rounds.max()));
    }

    private static String number(double value) {
        return String.format(Locale.ROOT, Math.abs(value) < 100 ? "%.2f" : "%.0f", value);
    }

    private static String ratio(double dstl, double builtIn) {
        return builtIn == 0 ? "-" : String.format(Locale.ROOT, "%.2f", dstl / builtIn);
    }
}
