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

package dev.dstl.spillable.benchmark;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Medians of measurements: a column per label, in the order in which they were added. */
final class ResultTable {

    private final Map<String, Map<String, List<Double>>> columns = new LinkedHashMap<>();

    void add(String label, Map<String, List<Double>> results) {
        Map<String, List<Double>> column = columns.computeIfAbsent(label, l -> new HashMap<>());
        results.forEach(
                (name, values) ->
                        column.computeIfAbsent(name, n -> new ArrayList<>()).addAll(values));
    }

    void printHead() {
        row("", label -> label);
        row("---", label -> "---");
    }

    /** Medians, each with its ratio to the first column's, the smallest and the largest value. */
    void printRatios(String heading, String name) {
        String first = columns.keySet().iterator().next();
        row(
                heading,
                label ->
                        Double.isNaN(median(label, name))
                                ? ""
                                : String.format(
                                        Locale.ROOT,
                                        "%.2f (%.2f; %.2f to %.2f)",
                                        median(label, name),
                                        median(label, name) / median(first, name),
                                        Collections.min(values(label, name)),
                                        Collections.max(values(label, name))));
    }

    void print(String heading, String name, String format) {
        row(
                heading,
                label ->
                        Double.isNaN(median(label, name))
                                ? ""
                                : String.format(Locale.ROOT, format, median(label, name)));
    }

    private List<Double> values(String label, String name) {
        return columns.get(label).getOrDefault(name, Collections.emptyList());
    }

    private double median(String label, String name) {
        List<Double> sorted = new ArrayList<>(values(label, name));
        if (sorted.isEmpty()) {
            return Double.NaN;
        }
        Collections.sort(sorted);
        int middle = sorted.size() / 2;
        return sorted.size() % 2 == 1
                ? sorted.get(middle)
                : (sorted.get(middle - 1) + sorted.get(middle)) / 2;
    }

    private void row(String heading, Function<String, String> cell) {
        System.out.println(
                columns.keySet().stream()
                        .map(cell)
                        .collect(Collectors.joining(" | ", "| " + heading + " | ", " |")));
    }
}
