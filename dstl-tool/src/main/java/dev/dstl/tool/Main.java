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

package dev.dstl.tool;

import dev.dstl.log.config.Release;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Starts {@link Dstl} with the Flink of {@code FLINK_HOME}, in a process of its own, since Flink
 * finds its plugins and its configuration by environment variables. Uses the JDK only, as Flink may
 * be missing.
 */
public final class Main {

    private static final int FAILED = 1;

    /** Longer than the child process takes to end, see {@link Interruption}. */
    private static final long PATIENCE_SECONDS = 30;

    private Main() {}

    /**
     * Runs the tool and ends the process with its exit code.
     *
     * @throws Exception if no process can be started
     */
    public static void main(String[] arguments) throws Exception {
        List<String> given = Arrays.asList(arguments);
        if (given.contains("--version")) {
            System.out.println("dstl " + Release.current());
            return;
        }
        String home = System.getenv("FLINK_HOME");
        if (given.contains("doctor")) {
            home = given.stream().filter(Main::isFlink).findFirst().orElse(home);
        }
        if (home == null || home.isEmpty()) {
            System.err.println("dstl uses the jars of a Flink: set FLINK_HOME to its directory.");
            System.exit(FAILED);
        }
        Path lib = Path.of(home, "lib");
        if (!Files.isDirectory(lib)) {
            System.err.printf(
                    "FLINK_HOME is '%s', but there is no %s: set it to the directory of a Flink.%n",
                    home, lib);
            System.exit(FAILED);
        }
        System.exit(run(command(lib, given), Path.of(home)));
    }

    /**
     * Returns whether the argument is the directory of a Flink, whose own jars can then examine it.
     */
    private static boolean isFlink(String argument) {
        return Files.isDirectory(Path.of(argument, "lib"));
    }

    private static List<String> command(Path lib, List<String> arguments) throws Exception {
        Path self = Path.of(Main.class.getProtectionDomain().getCodeSource().getLocation().toURI());
        String classPath = self + jarsBelow(lib);
        String hadoop = System.getenv("HADOOP_CLASSPATH");
        if (hadoop != null && !hadoop.isEmpty()) {
            classPath += File.pathSeparator + hadoop;
        }
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.add("-Dlog4j.configurationFile=dstl-tool-log4j2.properties");
        command.add("-Ddstl.tool.log.level=" + (arguments.contains("--verbose") ? "info" : "off"));
        command.add("-D" + Interruption.LAUNCHER + "=" + ProcessHandle.current().pid());
        command.add("-cp");
        command.add(classPath);
        command.add(Dstl.class.getName());
        command.addAll(arguments);
        return command;
    }

    /** As Flink's scripts do, those in subdirectories included. */
    private static String jarsBelow(Path lib) throws IOException {
        try (Stream<Path> files = Files.walk(lib)) {
            return files.filter(file -> file.toString().endsWith(".jar"))
                    .sorted()
                    .map(jar -> File.pathSeparator + jar)
                    .collect(Collectors.joining());
        }
    }

    private static int run(List<String> command, Path home)
            throws IOException, InterruptedException {
        ProcessBuilder builder = new ProcessBuilder(command).inheritIO();
        Map<String, String> environment = builder.environment();
        environment.putIfAbsent("FLINK_PLUGINS_DIR", home.resolve("plugins").toString());
        Path configuration = home.resolve("conf");
        if (Files.isDirectory(configuration)) {
            environment.putIfAbsent("FLINK_CONF_DIR", configuration.toString());
        }
        Process process = builder.start();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> stop(process), "stop dstl"));
        return process.waitFor();
    }

    /**
     * Ends the child process, so that it does not continue to delete files after the user has
     * stopped the tool. It may still have to print what it deleted.
     */
    private static void stop(Process process) {
        process.destroy();
        try {
            if (!process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
                process.destroyForcibly();
            }
        } catch (InterruptedException e) {
            process.destroyForcibly();
        }
    }
}
