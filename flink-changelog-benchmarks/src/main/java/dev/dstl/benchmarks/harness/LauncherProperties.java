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

package dev.dstl.benchmarks.harness;

import dev.dstl.benchmarks.display.Display;
import dev.dstl.benchmarks.display.PlainDisplay;
import dev.dstl.benchmarks.display.TerminalDisplay;
import java.io.PrintStream;
import java.nio.file.Path;
import java.nio.file.Paths;

/**
 * The system properties that {@code bin/launcher} passes to {@code ./demo} and {@code ./bench}.
 * Their names begin with {@code dstl.<command>.}. Immutable.
 */
public final class LauncherProperties {

    private final String prefix;

    /**
     * Creates the properties of a command.
     *
     * @param command such as {@code demo}
     */
    public LauncherProperties(String command) {
        this.prefix = "dstl." + command + ".";
    }

    /**
     * Returns an absolute path.
     *
     * @param name of the property, without its prefix
     * @param fallback relative to the working directory, if the property is not set
     */
    public Path path(String name, String fallback) {
        return Paths.get(System.getProperty(prefix + name, fallback)).toAbsolutePath();
    }

    /** Returns a display for the terminal; one for plain text if {@code out} is not a terminal. */
    public Display display(PrintStream out) {
        Integer columns = Integer.getInteger(prefix + "columns");
        return columns == null ? new PlainDisplay(out) : new TerminalDisplay(out, columns);
    }

    /**
     * Writes the log of this process to a file instead of the terminal. No effect once a logger
     * exists.
     */
    public static void logTo(Path file) {
        System.setProperty("dstl.client.log", file.toString());
        System.setProperty("log4j2.configurationFile", "classpath:dstl-client-log4j2.properties");
    }
}
