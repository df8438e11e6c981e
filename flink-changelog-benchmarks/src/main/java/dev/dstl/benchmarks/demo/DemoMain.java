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

import dev.dstl.benchmarks.cluster.ClusterException;
import dev.dstl.benchmarks.harness.LauncherProperties;
import dev.dstl.benchmarks.harness.RunDirectory;
import dev.dstl.benchmarks.harness.RunFiles;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;

/** The command {@code ./demo}. */
public final class DemoMain {

    private static final int VERIFIED = 0;
    private static final int FAILED = 1;
    private static final int MISUSED = 2;

    private static final LauncherProperties PROPERTIES = new LauncherProperties("demo");

    private DemoMain() {}

    /**
     * Runs the demo and ends the process. System properties: {@code dstl.demo.directory}
     * (everything that is written), {@code dstl.demo.plugins} (Flink's plugins), {@code
     * dstl.demo.columns} (width of the terminal, if there is one).
     */
    public static void main(String[] arguments) {
        int exitCode = run(arguments, System.out, System.err);
        // Not a plain return: a client thread of Flink's may linger.
        System.exit(exitCode);
    }

    /**
     * Runs the demo as {@link #main} does, without ending the process.
     *
     * @return the exit code
     */
    public static int run(String[] arguments, PrintStream out, PrintStream err) {
        DemoOptions options = new DemoOptions();
        CommandLine line = new CommandLine(options);
        try {
            line.parseArgs(arguments);
            if (options.helpWanted()) {
                line.usage(out);
                return VERIFIED;
            }
            options.check();
        } catch (ParameterException e) {
            err.println(e.getMessage());
            err.println("See ./demo --help.");
            return MISUSED;
        }
        Path directory = PROPERTIES.path("directory", "target/demo");
        Path home = directory;
        try {
            home = RunDirectory.create(directory);
            LauncherProperties.logTo(home.resolve("demo.log"));
            Path plugins = PROPERTIES.path("plugins", "plugins");
            Demo demo = new Demo(options, home, plugins, PROPERTIES.display(out), out);
            boolean holds = demo.run(options.picture(directory));
            out.println();
            if (holds && !options.keep()) {
                RunFiles.delete(home);
            } else {
                out.println("Logs and results: " + home);
            }
            return holds ? VERIFIED : FAILED;
        } catch (DemoFailure | ClusterException | IOException e) {
            err.println();
            err.println("The demo failed. " + e.getMessage());
            err.println("Logs and results: " + home);
            return FAILED;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return FAILED;
        }
    }
}
