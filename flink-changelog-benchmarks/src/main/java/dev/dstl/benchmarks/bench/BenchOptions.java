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

package dev.dstl.benchmarks.bench;

import dev.dstl.benchmarks.harness.FlinkLine;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The command line of the benchmarks. Getters return checked values. */
@Command(
        name = "bench",
        usageHelpWidth = 100,
        sortOptions = false,
        description = {
            "Runs jobs on Flink's built-in changelog, on DSTL and on none, side by side, and"
                    + " writes a report.",
            ""
        })
final class BenchOptions {

    private static final int MOST_ROUNDS = 99;
    private static final int LONGEST_WINDOW_SECONDS = 86_400;

    @Spec private CommandSpec spec;

    @ArgGroup(exclusive = true)
    private Length length = new Length();

    @Option(
            names = "--workload",
            paramLabel = "NAME",
            description =
                    "Only this workload; repeatable. One of new-keys, sliding-window, word-count,"
                            + " word-count-limited-heap.")
    private List<String> workloads = new ArrayList<>();

    @Option(
            names = "--variant",
            paramLabel = "NAME",
            description =
                    "Only this variant, even where the mode would leave it out; repeatable. One of"
                            + " plain-rocksdb, rare-rocksdb, builtin-rocksdb, dstl-rocksdb,"
                            + " plain-hashmap, rare-hashmap, builtin-hashmap, dstl-hashmap,"
                            + " ample-hashmap, rare-spillable, dstl-spillable.")
    private List<String> variants = new ArrayList<>();

    @Mixin private FlinkLine line = new FlinkLine();

    @Option(
            names = "--rounds",
            paramLabel = "N",
            description = "How often each run is repeated, 1 to 99, whatever the mode says.")
    private Integer rounds;

    @Option(
            names = "--window",
            paramLabel = "SECONDS",
            description =
                    "How long each run is measured, 1 to 86400, whatever the mode says. A p99.9 takes"
                            + " 1,000 checkpoints, so more than 1,000 s.")
    private Integer windowSeconds;

    @Option(
            names = "-D",
            paramLabel = "KEY=VALUE",
            description =
                    "A key of Flink's configuration for all variants, for example"
                            + " state.changelog.dstl.materialize.replay-time=5s; repeatable.")
    private Map<String, String> configuration = new LinkedHashMap<>();

    @Option(
            names = "--out",
            paramLabel = "DIR",
            description = "Where the report goes (default: target/bench/report).")
    private Path out;

    @Option(
            names = "--from",
            paramLabel = "FILE",
            description =
                    "Run nothing; write the report of this results.json again. Repeatable: the runs"
                            + " of several benchmarks become rounds of one report.")
    private List<Path> from = new ArrayList<>();

    @Option(names = "--keep", description = "Keep the logs of runs that went well.")
    private boolean keep;

    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            description = "Show this text.")
    private boolean help;

    private static final class Length {
        @Option(names = "--quick", description = "Ten minutes, one round (default).")
        private boolean quick;

        @Option(
                names = "--full",
                description = "Three rounds of longer runs, on more variants: some hours.")
        private boolean full;

        @Option(names = "--smoke", description = "A minute, to see that everything works.")
        private boolean smoke;

        private Mode mode() {
            if (quick || (!full && !smoke)) {
                return Mode.QUICK;
            }
            return full ? Mode.FULL : Mode.SMOKE;
        }
    }

    /**
     * Checks all values before anything is started.
     *
     * @throws ParameterException with one sentence about the first invalid value
     */
    void check() {
        line.check();
        if (rounds != null && (rounds < 1 || rounds > MOST_ROUNDS)) {
            throw misuse("--rounds must be 1 to " + MOST_ROUNDS + ", but is " + rounds + ".");
        }
        if (windowSeconds != null
                && (windowSeconds < 1 || windowSeconds > LONGEST_WINDOW_SECONDS)) {
            throw misuse(
                    String.format(
                            "--window must be 1 to %d, but is %d.",
                            LONGEST_WINDOW_SECONDS, windowSeconds));
        }
        plan();
        for (Path file : from) {
            if (!Files.isReadable(file)) {
                throw misuse("--from must name a file that can be read, but " + file + " is none.");
            }
        }
    }

    Mode mode() {
        return length.mode();
    }

    /** Returns how often each workload runs on each variant, at least once. */
    int rounds() {
        return rounds == null ? mode().rounds() : rounds;
    }

    /** Returns the duration of the measured window. */
    Duration window() {
        return windowSeconds == null ? mode().window() : Duration.ofSeconds(windowSeconds);
    }

    /** Returns all runs in order: in each round, each workload on its variants. */
    List<PlannedRun> plan() {
        List<BenchmarkWorkload> chosenWorkloads =
                chosen("--workload", workloads, BenchmarkWorkload.values(), BenchmarkWorkload::id);
        if (chosenWorkloads.isEmpty()) {
            chosenWorkloads = mode().workloads();
        }
        List<Variant> chosenVariants = chosen("--variant", variants, Variant.values(), Variant::id);
        List<PlannedRun> plan = new ArrayList<>();
        for (int round = 1; round <= rounds(); round++) {
            for (BenchmarkWorkload workload : chosenWorkloads) {
                for (Variant variant :
                        chosenVariants.isEmpty() ? workload.variants(mode()) : chosenVariants) {
                    plan.add(new PlannedRun(workload, variant, round));
                }
            }
        }
        return plan;
    }

    /** Returns keys of Flink's configuration that replace those of the benchmark. */
    Map<String, String> configuration() {
        return configuration;
    }

    /**
     * Returns the directory of the report.
     *
     * @param fallback used if the command line names none
     */
    Path out(Path fallback) {
        return out == null ? fallback : out.toAbsolutePath();
    }

    /** Returns the results of earlier benchmarks, if only a report is requested; else empty. */
    List<Path> from() {
        return from;
    }

    boolean keep() {
        return keep;
    }

    boolean helpWanted() {
        return help;
    }

    private <T> List<T> chosen(
            String option, List<String> names, T[] all, Function<T, String> name) {
        List<T> chosen = new ArrayList<>();
        for (String wanted : names) {
            chosen.add(
                    Arrays.stream(all)
                            .filter(one -> name.apply(one).equals(wanted))
                            .findFirst()
                            .orElseThrow(
                                    () ->
                                            misuse(
                                                    option
                                                            + " "
                                                            + wanted
                                                            + " is unknown; there are "
                                                            + Arrays.stream(all)
                                                                    .map(name)
                                                                    .collect(
                                                                            Collectors.joining(
                                                                                    ", "))
                                                            + ".")));
        }
        return chosen;
    }

    private ParameterException misuse(String message) {
        return new ParameterException(spec.commandLine(), message);
    }
}
