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

package dev.dstl.benchmarks.cluster;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A class path for the processes of a cluster, derived from that of this process. DSTL's jars come
 * first, as {@code lib/} comes before {@code flink-dist} in a distribution. Immutable.
 */
public final class ClassPath {

    /** Modules of DSTL, as jars or as directories of a Maven build or an IDE. */
    private static final Pattern DSTL =
            Pattern.compile(
                    "(?:.*[/\\\\])?(?:"
                            + "(?<artifact>dstl-[a-z-]*[a-z])(?:-[0-9.]+)+(?:-SNAPSHOT)?"
                            + "(?:-tests|-all)?\\.jar"
                            + "|(?<folder>flink-dstl-dfs|flink-statebackend-changelog"
                            + "|flink-statebackend-heap-spillable|dstl-tool|dstl-flink"
                            + "|compat[/\\\\]flink-[0-9.]+"
                            + "|flink-changelog-benchmarks|flink-changelog-end-to-end-tests)"
                            + "[/\\\\]target[/\\\\](?:test-)?classes[/\\\\]?)");

    /** Modules that run jobs instead of being a state backend. */
    private static final Set<String> JOBS =
            Set.of(
                    "dstl-benchmarks",
                    "dstl-end-to-end-tests",
                    "flink-changelog-benchmarks",
                    "flink-changelog-end-to-end-tests");

    /** Flink's built-in changelog, on the class path for microbenchmarks that compare with it. */
    private static final Pattern BUILT_IN_CHANGELOG =
            Pattern.compile(
                    "(.*[/\\\\])?(flink-dstl-dfs|flink-statebackend-changelog)"
                            + "-[0-9]+\\.[0-9]+\\.[0-9]+\\.jar");

    private final List<String> entries;

    private ClassPath(List<String> entries) {
        this.entries = entries;
    }

    /** Returns the class path of this process. */
    public static ClassPath ofThisProcess() {
        return of(System.getProperty("java.class.path"));
    }

    static ClassPath of(String text) {
        List<String> dstl = new ArrayList<>();
        List<String> others = new ArrayList<>();
        Arrays.stream(text.split(Pattern.quote(File.pathSeparator)))
                .filter(entry -> !entry.isEmpty())
                .forEach(entry -> (isDstl(entry) ? dstl : others).add(entry));
        dstl.addAll(others);
        return new ClassPath(dstl);
    }

    /** Returns Flink, its dependencies and the jobs, without DSTL's state backends. */
    public ClassPath withoutBackends() {
        Predicate<String> isBackend = entry -> isDstl(entry) && !JOBS.contains(module(entry));
        return new ClassPath(
                entries.stream().filter(isBackend.negate()).collect(Collectors.toList()));
    }

    /** Returns the class path without Flink's built-in changelog. */
    public ClassPath withoutBuiltIn() {
        return new ClassPath(
                entries.stream()
                        .filter(entry -> !BUILT_IN_CHANGELOG.matcher(entry).matches())
                        .collect(Collectors.toList()));
    }

    /**
     * Returns the class path with the jars of a directory before all others.
     *
     * @throws IOException if the directory cannot be read or contains no jar
     */
    public ClassPath withJarsOf(Path folder) throws IOException {
        List<String> all;
        try (Stream<Path> files = Files.list(folder)) {
            all =
                    files.map(file -> file.toAbsolutePath().toString())
                            .filter(file -> file.endsWith(".jar"))
                            .sorted()
                            .collect(Collectors.toList());
        }
        if (all.isEmpty()) {
            throw new IOException("No jar in " + folder);
        }
        all.addAll(entries);
        return new ClassPath(all);
    }

    /** Returns the value of {@code java -classpath}. */
    public String text() {
        return String.join(File.pathSeparator, entries);
    }

    private static boolean isDstl(String entry) {
        return DSTL.matcher(entry).matches();
    }

    private static String module(String entry) {
        Matcher matcher = DSTL.matcher(entry);
        if (!matcher.matches()) {
            return "";
        }
        String artifact = matcher.group("artifact");
        return artifact == null ? matcher.group("folder") : artifact;
    }
}
