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

package dev.dstl.spillable;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.annotation.Nullable;

/** Runs a class of the tests in a JVM of its own and returns its output. */
public final class ChildProcess implements AutoCloseable {

    private static final long PATIENCE_SECONDS = 180;

    private final Process process;
    private final File output;

    private ChildProcess(Process process, File output) {
        this.process = process;
        this.output = output;
    }

    /**
     * Starts a process.
     *
     * @param directory for its temporary files and its output
     * @param shell what the process is started by, its command appended; may be empty
     * @param flags of the JVM
     * @param main has the main method
     */
    public static ChildProcess start(
            Path directory,
            List<String> shell,
            List<String> flags,
            Class<?> main,
            String... arguments)
            throws IOException {
        List<String> command = new ArrayList<>(shell);
        command.add(Paths.get(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(flags);
        command.add("-XX:+ExitOnOutOfMemoryError");
        command.add("-Djava.io.tmpdir=" + directory);
        command.add("-cp");
        command.add(System.getProperty("java.class.path"));
        command.add(main.getName());
        command.addAll(Arrays.asList(arguments));
        File output = Files.createTempFile(directory, "output", ".txt").toFile();
        return new ChildProcess(
                new ProcessBuilder(command)
                        .redirectErrorStream(true)
                        .redirectOutput(output)
                        .start(),
                output);
    }

    /**
     * A shell that mounts a file system in memory which only the process sees.
     *
     * @param options of the mount
     */
    public static List<String> mounting(Path disk, String options) {
        return Arrays.asList(
                "unshare",
                "-rm",
                "sh",
                "-c",
                "mount -t tmpfs " + options + " none " + disk + " && exec \"$@\"",
                "sh");
    }

    /**
     * Skips the test, with the reason, where {@link #mounting} does not work; fails it in the
     * project's own builds, whose workflows allow it.
     */
    public static void assumeMounting() throws InterruptedException {
        String refusal = refusalToMount();
        if (System.getenv("GITHUB_ACTIONS") != null) {
            assertThat(refusal).as("refusal to mount, which the workflow is to allow").isNull();
        }
        assumeThat(refusal).as("refusal to mount").isNull();
    }

    /** Why {@link #mounting} does not work here; null if it does. */
    @Nullable
    private static String refusalToMount() throws InterruptedException {
        try {
            Process process =
                    new ProcessBuilder("unshare", "-rm", "sh", "-c", "mount -t tmpfs none /mnt")
                            .redirectErrorStream(true)
                            .start();
            byte[] output = process.getInputStream().readAllBytes();
            return process.waitFor() == 0
                    ? null
                    : new String(output, StandardCharsets.UTF_8).strip();
        } catch (IOException e) {
            return e.toString();
        }
    }

    /** Waits for the end; returns the exit code. */
    public int awaitExit() throws Exception {
        if (!process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
            throw new AssertionError("Not done after " + PATIENCE_SECONDS + " s:\n" + output());
        }
        return process.exitValue();
    }

    /** Whether it runs. */
    public boolean isAlive() {
        return process.isAlive();
    }

    /** Kills the process with SIGKILL. */
    public void kill() throws InterruptedException {
        process.destroyForcibly().waitFor();
    }

    /** What it has printed so far. */
    public String output() throws IOException {
        return new String(Files.readAllBytes(output.toPath()), StandardCharsets.UTF_8);
    }

    /** Returns a number of the last line. */
    public double figure(String name) throws IOException {
        Matcher matcher = Pattern.compile(name + "=([0-9.]+)").matcher(output());
        if (!matcher.find()) {
            throw new AssertionError("No " + name + " in\n" + output());
        }
        return Double.parseDouble(matcher.group(1));
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
