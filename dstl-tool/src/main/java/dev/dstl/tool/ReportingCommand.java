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

import dev.dstl.tool.output.JsonText;
import dev.dstl.tool.output.Report;
import dev.dstl.tool.output.ToolException;
import java.io.PrintWriter;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** A command that sets up Flink's file systems, creates a report and prints it. */
abstract class ReportingCommand implements Callable<Integer> {

    private static final int ALL_IS_WELL = 0;
    private static final int SOMETHING_IS_WRONG = 1;

    @Spec private CommandSpec spec;

    @Mixin private FlinkOptions flink;

    @Option(names = "--json", description = "Prints JSON instead of tables.")
    private boolean json;

    @Option(names = "--verbose", description = "Shows where a failure comes from.")
    private boolean verbose;

    /** Sets up Flink's file systems. Called first. */
    void prepare() throws ToolException {
        flink.initializeFileSystems(spec.commandLine());
    }

    /**
     * Creates the report.
     *
     * @throws ToolException if it cannot be created
     */
    abstract Report report() throws ToolException;

    /** Called last, when the report was printed or there is none. */
    void ended() {}

    @Override
    public final Integer call() throws ToolException {
        try {
            return createAndPrint();
        } finally {
            ended();
        }
    }

    private int createAndPrint() throws ToolException {
        prepare();
        Report report = report();
        PrintWriter out = spec.commandLine().getOut();
        out.print(json ? JsonText.of(report.json()) : report.text());
        if (out.checkError()) {
            throw new ToolException("The output could not be written completely.");
        }
        Optional<String> problem = report.problem();
        if (problem.isEmpty()) {
            return ALL_IS_WELL;
        }
        spec.commandLine().getErr().println(problem.get());
        spec.commandLine().getErr().flush();
        return SOMETHING_IS_WRONG;
    }

    final boolean isVerbose() {
        return verbose;
    }

    final FlinkOptions flinkOptions() {
        return flink;
    }

    final CommandSpec spec() {
        return spec;
    }
}
