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

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Measures all placements, each in processes of its own, in turns, and prints medians as a table.
 * Arguments: keys, operations per round, rounds, heap of a process as {@code -Xmx} takes it.
 */
public final class WordCountFigures {

    private final Map<Placement, Map<String, List<Double>>> measured =
            new EnumMap<>(Placement.class);

    private WordCountFigures() {}

    public static void main(String[] args) throws Exception {
        int rounds = Integer.parseInt(args[2]);
        WordCountFigures figures = new WordCountFigures();
        for (int round = 1; round <= rounds; round++) {
            // Whoever comes first in one round comes last in the next.
            List<Placement> order = Arrays.asList(Placement.values());
            if (round % 2 == 0) {
                Collections.reverse(order);
            }
            for (Placement placement : order) {
                System.out.printf("round %d of %d: %s%n", round, rounds, placement.label);
                figures.run(placement, args[0], args[1], args[3]);
            }
        }
        figures.print(args[0], rounds);
    }

    private void run(Placement placement, String keys, String operations, String heap)
            throws Exception {
        List<String> command = new ArrayList<>();
        command.add(Paths.get(System.getProperty("java.home"), "bin", "java").toString());
        command.add("-Xmx" + heap);
        command.add("-Xms" + heap);
        ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
                .filter(argument -> argument.startsWith("--add-opens"))
                .forEach(command::add);
        Path temporary = Paths.get(System.getProperty("java.io.tmpdir"));
        command.add("-Djava.io.tmpdir=" + temporary);
        command.add("-cp");
        command.add(System.getProperty("java.class.path"));
        command.add(WordCountRun.class.getName());
        command.addAll(Arrays.asList(placement.name(), keys, operations));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        List<String> output = new ArrayList<>();
        try (BufferedReader reader =
                new BufferedReader(
                        new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            reader.lines().forEach(line -> take(placement, line, output));
        }
        if (process.waitFor() != 0) {
            throw new IOException(placement + " failed:\n" + String.join("\n", output));
        }
    }

    private void take(Placement placement, String line, List<String> output) {
        output.add(line);
        String[] words = line.split(" ", -1);
        if (words.length == 3 && words[0].equals("figure")) {
            measured.computeIfAbsent(placement, p -> new HashMap<>())
                    .computeIfAbsent(words[1], name -> new ArrayList<>())
                    .add(Double.parseDouble(words[2]));
        }
    }

    private void print(String keys, int rounds) {
        System.out.printf(
                "%n%s keys, medians of %d processes each, load %.1f, %d processors, Java %s%n%n",
                keys,
                rounds,
                ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage(),
                Runtime.getRuntime().availableProcessors(),
                Runtime.version());
        row("", placement -> placement.label);
        row("---", placement -> "---");
        figures("uniform, M/s", "uniform");
        figures("uniform, M per CPU second", "uniform-cpu");
        figures("zipf(0.99), M/s", "zipf");
        figures("zipf(0.99), M per CPU second", "zipf-cpu");
        figures("first insertion, M/s", "fill");
        figures("snapshot, M entries/s", "snapshot");
        figures("snapshot, M entries per CPU second", "snapshot-cpu");
        row(
                "heap bytes per entry",
                placement -> String.format(Locale.ROOT, "%.1f", median(placement, "heap")));
    }

    /** A row of medians, each with its ratio to HashMap's. */
    private void figures(String heading, String name) {
        row(
                heading,
                placement ->
                        Double.isNaN(median(placement, name))
                                ? ""
                                : String.format(
                                        Locale.ROOT,
                                        "%.2f (%.2f)",
                                        median(placement, name),
                                        median(placement, name) / median(Placement.HASHMAP, name)));
    }

    private double median(Placement placement, String name) {
        List<Double> sorted =
                new ArrayList<>(
                        measured.getOrDefault(placement, Collections.emptyMap())
                                .getOrDefault(name, Collections.emptyList()));
        if (sorted.isEmpty()) {
            return Double.NaN;
        }
        Collections.sort(sorted);
        int middle = sorted.size() / 2;
        return sorted.size() % 2 == 1
                ? sorted.get(middle)
                : (sorted.get(middle - 1) + sorted.get(middle)) / 2;
    }

    private interface Cell {
        String of(Placement placement);
    }

    private static void row(String heading, Cell cell) {
        System.out.println(
                Arrays.stream(Placement.values())
                        .map(cell::of)
                        .collect(Collectors.joining(" | ", "| " + heading + " | ", " |")));
    }
}
