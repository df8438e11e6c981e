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
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;

/**
 * The class path of the cluster's processes: that of this process, with the project's own jars
 * first, as {@code lib/} comes before {@code flink-dist} in a distribution.
 */
final class ClassPath {

    /** The project's modules, as jars of a build, as folders of an IDE, as jars of a reactor. */
    private static final Pattern OURS =
            Pattern.compile(
                    "(.*[/\\\\])?(flink-dstl-dfs|flink-statebackend-changelog"
                            + "|flink-statebackend-heap-spillable|flink-changelog-benchmarks)"
                            + "(-[0-9.]+(-SNAPSHOT)?\\.jar|[/\\\\]target[/\\\\].*)");

    /** Flink's artifacts of the same name, which carry the version of Flink. */
    private static final Pattern STOCK = Pattern.compile(".*-1\\.[0-9]+\\.[0-9]+\\.jar");

    private ClassPath() {}

    static String ofThisProcess() {
        return oursFirst(System.getProperty("java.class.path"));
    }

    static String oursFirst(String classPath) {
        List<String> ours = new ArrayList<>();
        List<String> others = new ArrayList<>();
        Arrays.stream(classPath.split(Pattern.quote(File.pathSeparator)))
                .filter(entry -> !entry.isEmpty())
                .forEach(entry -> (isOurs(entry) ? ours : others).add(entry));
        ours.addAll(others);
        return String.join(File.pathSeparator, ours);
    }

    private static boolean isOurs(String entry) {
        return OURS.matcher(entry).matches() && !STOCK.matcher(entry).matches();
    }
}
