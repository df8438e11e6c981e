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

package dev.dstl.benchmarks.measurement;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.core.JsonProcessingException;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.SerializationFeature;

/** The results of one benchmark command, with what is needed to reproduce it. Written as JSON. */
public final class BenchmarkResults {

    private static final ObjectMapper JSON =
            new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT);

    /** Name of the setting with the number of rounds. */
    public static final String ROUNDS = "rounds";

    /** The command line. */
    public String command = "";

    /** Start time with time zone offset. */
    public String date = "";

    /** The machine of all runs. */
    public MachineDescription machine = new MachineDescription();

    /** Versions by name: Flink, DSTL, commit. */
    public Map<String, String> versions = new LinkedHashMap<>();

    /** Settings of all runs by name. */
    public Map<String, String> settings = new LinkedHashMap<>();

    /** Descriptions of the variants by name, in table order. */
    public Map<String, VariantDescription> variants = new LinkedHashMap<>();

    /** Descriptions of the workloads by name. */
    public Map<String, String> workloads = new LinkedHashMap<>();

    /** Runs in order. */
    public List<RunResult> runs = new ArrayList<>();

    /** Planned runs that were left out, with reasons. */
    public List<String> leftOut = new ArrayList<>();

    /** Reads results from a JSON file. */
    public static BenchmarkResults read(Path file) throws IOException {
        try {
            return JSON.readValue(Files.readAllBytes(file), BenchmarkResults.class);
        } catch (JsonProcessingException e) {
            throw new IOException(
                    file + " does not hold results of ./bench: " + e.getOriginalMessage(), e);
        }
    }

    /**
     * Reads the results of several benchmarks and puts their runs into one: the rounds of a
     * workload on a variant are numbered anew, in the order of the files.
     *
     * @param files at least one
     * @throws IOException if a file cannot be read or is no such file, or if machine, versions or
     *     settings differ, so that they are no rounds of one benchmark
     */
    public static BenchmarkResults readAll(List<Path> files) throws IOException {
        List<BenchmarkResults> all = new ArrayList<>();
        for (Path file : files) {
            BenchmarkResults results = read(file);
            BenchmarkResults first = all.isEmpty() ? results : all.get(0);
            String both = files.get(0) + " and " + file;
            requireEqual("machine", machine(first), machine(results), both);
            requireEqual("versions", first.versions, results.versions, both);
            requireEqual("settings", withoutRounds(first), withoutRounds(results), both);
            all.add(results);
        }
        return merge(all);
    }

    /**
     * Puts the runs of several benchmarks into one.
     *
     * @param all at least one, of one machine and with the same settings; not to be used any more,
     *     as their runs are taken over
     */
    static BenchmarkResults merge(List<BenchmarkResults> all) {
        BenchmarkResults first = all.get(0);
        BenchmarkResults merged = new BenchmarkResults();
        merged.command = joined(all, results -> results.command, "\n");
        merged.date = joined(all, results -> results.date, ", ");
        merged.machine = first.machine;
        merged.versions = first.versions;
        merged.settings = new LinkedHashMap<>(first.settings);
        Map<String, Integer> rounds = new LinkedHashMap<>();
        for (BenchmarkResults results : all) {
            merged.variants.putAll(results.variants);
            merged.workloads.putAll(results.workloads);
            merged.leftOut.addAll(results.leftOut);
            for (RunResult run : results.runs) {
                run.round = rounds.merge(run.workload + ' ' + run.variant, 1, Integer::sum);
                merged.runs.add(run);
            }
        }
        rounds.values().stream()
                .max(Integer::compare)
                .ifPresent(most -> merged.settings.replace(ROUNDS, Integer.toString(most)));
        return merged;
    }

    private static String joined(
            List<BenchmarkResults> all, Function<BenchmarkResults, String> of, String separator) {
        return all.stream().map(of).distinct().collect(Collectors.joining(separator));
    }

    private static String machine(BenchmarkResults results) {
        return results.machine.processor + ", " + results.machine.processors + " CPUs";
    }

    private static Map<String, String> withoutRounds(BenchmarkResults results) {
        Map<String, String> settings = new LinkedHashMap<>(results.settings);
        settings.remove(ROUNDS);
        return settings;
    }

    private static void requireEqual(String what, Object expected, Object found, String files)
            throws IOException {
        if (!expected.equals(found)) {
            throw new IOException(
                    String.format(
                            "Only results of the same %s fit into one report, but %s have %s and"
                                    + " %s.",
                            what, files, expected, found));
        }
    }

    /** Writes the results to a JSON file. */
    public void write(Path file) throws IOException {
        Files.write(file, JSON.writeValueAsBytes(this));
    }
}
