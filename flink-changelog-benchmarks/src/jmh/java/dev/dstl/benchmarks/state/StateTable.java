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

package dev.dstl.benchmarks.state;

import dev.dstl.benchmarks.harness.Changelog;
import dev.dstl.benchmarks.log.Rounds;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import javax.annotation.Nullable;

/** All measurements of a benchmark, in the order in which they were first taken. */
final class StateTable {

    private final Map<StateMeasure, Map<Changelog, Rounds>> rows = new LinkedHashMap<>();

    /** Adds the value of one round. */
    void add(StateMeasure measure, Changelog changelog, double value) {
        rows.computeIfAbsent(measure, row -> new EnumMap<>(Changelog.class))
                .computeIfAbsent(changelog, column -> new Rounds())
                .add(value);
    }

    /** Medians as a table of Markdown, with the ratios of DSTL. */
    String toText() {
        StringBuilder text = new StringBuilder();
        text.append("| | delegate | unit | none | built-in | DSTL | to built-in | to none |\n");
        text.append("|---|---|---|---|---|---|---|---|\n");
        rows.forEach(
                (measure, values) ->
                        text.append(
                                String.format(
                                        Locale.ROOT,
                                        "| %s | %s | %s | %s | %s | %s | %s | %s |%n",
                                        measure.subject(),
                                        measure.delegate(),
                                        measure.unit(),
                                        cell(values.get(Changelog.NONE)),
                                        cell(values.get(Changelog.BUILT_IN)),
                                        cell(values.get(Changelog.DSTL)),
                                        ratio(values, Changelog.BUILT_IN),
                                        ratio(values, Changelog.NONE))));
        return text.toString();
    }

    /** All values, for JSON. */
    List<Map<String, Object>> toJson() {
        List<Map<String, Object>> json = new ArrayList<>();
        rows.forEach(
                (measure, values) ->
                        values.forEach(
                                (changelog, rounds) -> {
                                    Map<String, Object> entry = new LinkedHashMap<>();
                                    entry.put("measure", measure.subject());
                                    entry.put("delegate", measure.delegate().name());
                                    entry.put("unit", measure.unit());
                                    entry.put("changelog", changelog.name());
                                    entry.put("median", rounds.median());
                                    entry.put("rounds", rounds.values());
                                    json.add(entry);
                                }));
        return json;
    }

    private static String cell(@Nullable Rounds rounds) {
        return rounds == null ? "" : String.format(Locale.ROOT, "%.0f", rounds.median());
    }

    private static String ratio(Map<Changelog, Rounds> values, Changelog to) {
        Rounds dstl = values.get(Changelog.DSTL);
        Rounds other = values.get(to);
        return dstl == null || other == null || other.median() == 0
                ? ""
                : String.format(Locale.ROOT, "%.2f", dstl.median() / other.median());
    }
}
