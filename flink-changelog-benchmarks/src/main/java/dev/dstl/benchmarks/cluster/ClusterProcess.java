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

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * One process of the cluster and its log file. Killed by the process that started it; if that dies,
 * the process ends on its own.
 */
final class ClusterProcess {

    /** Packages whose private fields Flink reads on Java 17. */
    private static final List<String> OPENED =
            Arrays.asList(
                    "java.lang",
                    "java.lang.reflect",
                    "java.net",
                    "java.io",
                    "java.nio",
                    "java.text",
                    "java.time",
                    "java.util",
                    "java.util.concurrent",
                    "java.util.concurrent.atomic",
                    "java.util.concurrent.locks");

    /** Options that save CPU time of a JobManager, which has little to do. */
    private static final List<String> SPARING =
            Arrays.asList("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC");

    private static final List<String> SWIFT = List.of("-XX:+UseParallelGC");

    private static final int LINES_SHOWN = 15;

    private final String name;
    private final Path log;
    private final Process process;

    private ClusterProcess(String name, Path log, Process process) {
        this.name = name;
        this.log = log;
        this.process = process;
    }

    static ClusterProcess start(
            String name,
            ClusterProcessMain.Role role,
            long heapMebibytes,
            Path configuration,
            ClassPath classPath,
            Path plugins,
            Path log)
            throws IOException {
        Files.createDirectories(log.getParent());
        List<String> command = new ArrayList<>();
        command.add(Paths.get(System.getProperty("java.home"), "bin", "java").toString());
        command.add("-Xmx" + heapMebibytes + "m");
        command.addAll(role == ClusterProcessMain.Role.JOB_MANAGER ? SPARING : SWIFT);
        command.add("-Dlog4j2.configurationFile=classpath:dstl-cluster-log4j2.properties");
        OPENED.stream()
                .map(opened -> "--add-opens=java.base/" + opened + "=ALL-UNNAMED")
                .forEach(command::add);
        command.add(ClusterProcessMain.class.getName());
        command.add(role.name());
        command.add("--configDir");
        command.add(configuration.toString());
        ProcessBuilder builder =
                new ProcessBuilder(command)
                        .redirectErrorStream(true)
                        .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()));
        builder.environment().put("CLASSPATH", classPath.text());
        builder.environment().put("FLINK_PLUGINS_DIR", plugins.toString());
        return new ClusterProcess(name, log, builder.start());
    }

    String name() {
        return name;
    }

    boolean isAlive() {
        return process.isAlive();
    }

    long pid() {
        return process.pid();
    }

    /** Kills the process with SIGKILL and waits until it is gone. */
    void kill() {
        process.destroyForcibly();
        try {
            process.waitFor(10, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Returns exit code and end of the log of a process that ended unexpectedly. */
    String obituary() {
        return name
                + " ended with exit code "
                + process.exitValue()
                + "; the end of "
                + log
                + ":\n"
                + endOfLog();
    }

    private String endOfLog() {
        try (Stream<String> lines = Files.lines(log)) {
            List<String> all = lines.collect(Collectors.toList());
            return String.join(
                    "\n", all.subList(Math.max(0, all.size() - LINES_SHOWN), all.size()));
        } catch (IOException e) {
            return "(not readable: " + e + ")";
        }
    }
}
