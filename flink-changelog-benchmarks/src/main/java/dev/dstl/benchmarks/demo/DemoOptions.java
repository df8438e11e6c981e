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
import dev.dstl.benchmarks.harness.Delegate;
import dev.dstl.benchmarks.harness.FlinkLine;
import dev.dstl.benchmarks.workload.orders.OrderInput;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.flink.configuration.MemorySize;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The command line of the demo. Getters return checked values. */
@Command(
        name = "demo",
        usageHelpWidth = 100,
        sortOptions = false,
        description = {
            "",
            "Runs a keyed job with some hundred MB of state on a Flink cluster of real processes"
                    + " with a checkpoint every second on a simulated object store, kills one"
                    + " TaskManager in the middle, and checks the result record by record against"
                    + " an independent computation: first with DSTL, then without a changelog,"
                    + " with the same settings.",
            ""
        },
        footer = {
            "",
            "Exit code: 0 each record exactly once, 1 something failed, 2 wrong options.",
            "",
            "  ./demo",
            "  ./demo --backend changelog --delegate hashmap --seconds 30",
            "  ./demo --state-size 1gb -D execution.checkpointing.incremental=false",
            "  ./demo --input war-and-peace.txt",
            "  ./demo --flink 2.3",
            "  ./demo --checkpoints s3://bucket/path -D s3.endpoint=http://localhost:9000"
                    + " -D s3.access-key=KEY -D s3.secret-key=SECRET"
        })
final class DemoOptions {

    /** The backends to run, in order. */
    enum Selection {
        changelog,
        plain,
        both
    }

    private static final double LARGEST_SCALE = 2;
    private static final int SHORTEST_SECONDS = 5;
    private static final int LONGEST_SECONDS = 24 * 3600;
    private static final long LARGEST_FILE_BYTES = 1L << 30;
    private static final long LARGEST_STATE_BYTES = 4L << 30;
    private static final int LARGEST_DOCUMENT_BYTES = 1 << 20;

    @Spec private CommandSpec command;

    @Option(
            names = "--backend",
            paramLabel = "changelog|plain|both",
            defaultValue = "both",
            description = "The changelog, the delegate alone, or both in turn (default: both).")
    private Selection selection;

    @Option(
            names = "--delegate",
            paramLabel = "rocksdb|hashmap|spillable",
            defaultValue = "rocksdb",
            description = "The backend that holds the working state (default: rocksdb).")
    private String delegate;

    @Mixin private FlinkLine line = new FlinkLine();

    @Option(
            names = "--checkpoints",
            paramLabel = "DIR|s3://...",
            description = "Where checkpoints and changelog go (default: a simulated object store).")
    private String checkpoints;

    @Option(
            names = "--input",
            paramLabel = "FILE",
            description = "Count the words of this text file instead of TPC-H orders.")
    private Path input;

    @Option(
            names = "--scale",
            paramLabel = "FACTOR",
            defaultValue = "0.01",
            description =
                    "TPC-H scale factor; 1 is 7.5 million records (default: ${DEFAULT-VALUE}).")
    private double scale;

    @Option(
            names = "--state-size",
            paramLabel = "SIZE",
            defaultValue = "300mb",
            description =
                    "The documents of all orders that are open at a time; what the job keeps"
                            + " besides is some MB (default: ${DEFAULT-VALUE}).")
    private String stateSize;

    @Option(
            names = "--seconds",
            paramLabel = "N",
            defaultValue = "12",
            description =
                    "How long the part of the input takes that comes at a steady rate; what is"
                            + " before and after it comes at full speed (default:"
                            + " ${DEFAULT-VALUE}).")
    private int seconds;

    @Option(
            names = "-D",
            paramLabel = "KEY=VALUE",
            description = "A key of Flink's configuration, for example s3.endpoint; repeatable.")
    private Map<String, String> configuration = new LinkedHashMap<>();

    @Option(
            names = "--svg",
            paramLabel = "FILE",
            description = "Where the picture goes (default: target/demo.svg).")
    private Path svg;

    @Option(names = "--keep", description = "Keep logs, results and checkpoints of a good run.")
    private boolean keep;

    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            description = "Show this text.")
    private boolean help;

    /**
     * Checks all values before anything is started.
     *
     * @throws ParameterException with one sentence about the first invalid value
     */
    void check() {
        line.check();
        backends();
        scenario();
        seconds();
        checkpoints();
    }

    /** Returns the backends to run, in order. */
    List<Backend> backends() {
        List<Backend> backends = new ArrayList<>();
        if (selection != Selection.plain) {
            backends.add(Backend.of(delegate(), Changelog.DSTL));
        }
        if (selection != Selection.changelog) {
            backends.add(Backend.of(delegate(), Changelog.NONE));
        }
        return backends;
    }

    /** Returns the workload and its input. */
    Scenario scenario() {
        if (input == null) {
            if (!(scale > 0 && scale <= LARGEST_SCALE)) {
                throw misuse("--scale must be above 0 and at most 2, but is " + scale + ".");
            }
            return Scenario.orders(scale, stateBytes());
        }
        if (!Files.isRegularFile(input) || !Files.isReadable(input)) {
            throw misuse("--input must name a readable file, but " + input + " is none.");
        }
        long size = input.toFile().length();
        if (size == 0) {
            throw misuse("--input must name a file with words in it, but " + input + " is empty.");
        }
        if (size > LARGEST_FILE_BYTES) {
            throw misuse(
                    "--input may have up to 1 GiB, since its words are counted in memory for the"
                            + " check, but "
                            + input
                            + " is larger.");
        }
        return Scenario.words(input.toAbsolutePath(), size);
    }

    private long stateBytes() {
        long bytes;
        try {
            bytes = MemorySize.parse(stateSize).getBytes();
        } catch (IllegalArgumentException e) {
            throw misuse("--state-size must be a size such as 300mb, but is " + stateSize + ".");
        }
        if (bytes > LARGEST_STATE_BYTES) {
            throw misuse("--state-size must be at most 4gb, but is " + stateSize + ".");
        }
        int documentBytes = new OrderInput(scale, bytes).documentBytes();
        if (documentBytes > LARGEST_DOCUMENT_BYTES) {
            throw misuse(
                    "--state-size "
                            + stateSize
                            + " is too much for the orders of --scale "
                            + scale
                            + ": each would have "
                            + documentBytes
                            + " bytes. Raise --scale.");
        }
        return bytes;
    }

    int seconds() {
        if (seconds < SHORTEST_SECONDS || seconds > LONGEST_SECONDS) {
            throw misuse(
                    "--seconds must be between "
                            + SHORTEST_SECONDS
                            + " and "
                            + LONGEST_SECONDS
                            + ", but is "
                            + seconds
                            + ".");
        }
        return seconds;
    }

    /** Returns the directory of checkpoints; empty for the simulated object store. */
    Optional<CheckpointLocation> checkpoints() {
        return checkpoints == null ? Optional.empty() : Optional.of(location());
    }

    private CheckpointLocation location() {
        int colon = checkpoints.indexOf("://");
        String scheme = colon < 0 ? "" : checkpoints.substring(0, colon);
        switch (scheme) {
            case "":
                return CheckpointLocation.local(Paths.get(checkpoints));
            case "file":
                return CheckpointLocation.local(Paths.get(URI.create(checkpoints)));
            case "s3":
                return CheckpointLocation.remote(checkpoints);
            default:
                throw misuse(
                        "--checkpoints takes a directory or s3://bucket/path, but "
                                + checkpoints
                                + " starts with "
                                + scheme
                                + "://.");
        }
    }

    /**
     * Returns the file of the picture.
     *
     * @param directory directory of all other files of the demo
     */
    Path picture(Path directory) {
        return svg == null
                ? directory.resolveSibling(directory.getFileName() + ".svg")
                : svg.toAbsolutePath();
    }

    boolean helpWanted() {
        return help;
    }

    Map<String, String> configuration() {
        return configuration;
    }

    boolean keep() {
        return keep;
    }

    private Delegate delegate() {
        for (Delegate known : Delegate.values()) {
            if (known.id().equals(delegate)) {
                return known;
            }
        }
        throw misuse("--delegate must be rocksdb, hashmap or spillable, but is " + delegate + ".");
    }

    private ParameterException misuse(String sentence) {
        return new ParameterException(command.commandLine(), sentence);
    }
}
