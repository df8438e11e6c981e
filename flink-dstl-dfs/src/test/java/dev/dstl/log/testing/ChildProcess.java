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

package dev.dstl.log.testing;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A child process that runs a test class. Ends on close at the latest. */
public final class ChildProcess implements AutoCloseable {

    /** Printed by the class when it is ready for the test. */
    public static final String READY = "READY";

    private final Process process;

    /** Starts the class and waits until it prints {@link #READY}. */
    public ChildProcess(Class<?> main, String... arguments) throws IOException {
        List<String> command = new ArrayList<>();
        command.add(new File(new File(System.getProperty("java.home"), "bin"), "java").getPath());
        command.add("-Xmx128m");
        command.add("-cp");
        command.add(
                System.getProperty(
                        "surefire.test.class.path", System.getProperty("java.class.path")));
        command.add(main.getName());
        command.addAll(Arrays.asList(arguments));
        process = new ProcessBuilder(command).redirectErrorStream(true).start();
        StringBuilder output = new StringBuilder();
        BufferedReader lines =
                new BufferedReader(
                        new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
        String line = lines.readLine();
        while (line != null && !line.equals(READY)) {
            output.append(line).append('\n');
            line = lines.readLine();
        }
        if (line == null) {
            throw new AssertionError("The process ended: " + output);
        }
    }

    /** Whether the process is running. */
    public boolean isAlive() {
        return process.isAlive();
    }

    /** Closes the input that the process waits for, and waits for its end. */
    public void letGoOn() throws IOException, InterruptedException {
        process.getOutputStream().close();
        if (!process.waitFor(60, TimeUnit.SECONDS)) {
            throw new AssertionError("The process does not end");
        }
    }

    /** Kills the process. */
    @Override
    public void close() {
        process.destroyForcibly();
        process.onExit().join();
    }
}
