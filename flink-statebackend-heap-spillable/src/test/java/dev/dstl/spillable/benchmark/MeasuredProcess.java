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
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Runs a class in a process of its own, with this process's class path and temporary directory, and
 * collects the results it prints: lines of {@code result NAME VALUE}.
 */
final class MeasuredProcess {

    private final List<String> before;
    private final String heap;
    private final Class<?> main;

    /**
     * @param before what comes before the Java command: a shell that limits the process, or nothing
     * @param heap as {@code -Xmx} takes it
     */
    MeasuredProcess(List<String> before, String heap, Class<?> main) {
        this.before = before;
        this.heap = heap;
        this.main = main;
    }

    /** Results by name, in the order in which they were printed. */
    Map<String, List<Double>> run(String... arguments) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command(arguments)).redirectErrorStream(true).start();
        List<String> output = new ArrayList<>();
        Map<String, List<Double>> results = new HashMap<>();
        try (BufferedReader reader =
                new BufferedReader(
                        new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            reader.lines()
                    .forEach(
                            line -> {
                                output.add(line);
                                take(line, results);
                            });
        }
        if (process.waitFor() != 0) {
            throw new IOException(
                    String.join(" ", arguments) + " failed:\n" + String.join("\n", output));
        }
        return results;
    }

    private List<String> command(String... arguments) {
        List<String> command = new ArrayList<>(before);
        command.add(Paths.get(System.getProperty("java.home"), "bin", "java").toString());
        command.add("-Xmx" + heap);
        command.add("-Xms" + heap);
        ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
                .filter(argument -> argument.startsWith("--add-opens"))
                .forEach(command::add);
        command.add("-Djava.io.tmpdir=" + System.getProperty("java.io.tmpdir"));
        command.add("-cp");
        command.add(System.getProperty("java.class.path"));
        command.add(main.getName());
        command.addAll(Arrays.asList(arguments));
        return command;
    }

    private static void take(String line, Map<String, List<Double>> results) {
        String[] words = line.split(" ", -1);
        if (words.length == 3 && words[0].equals("result")) {
            results.computeIfAbsent(words[1], name -> new ArrayList<>())
                    .add(Double.parseDouble(words[2]));
        }
    }
}
