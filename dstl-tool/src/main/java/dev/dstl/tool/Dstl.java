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
import dev.dstl.tool.files.FileAccess;
import dev.dstl.tool.output.ToolException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Locale;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.Spec;

/**
 * {@code dstl}, the tool for operators of jobs: inspects changelogs without a job, and verifies
 * whatever it reads. Exits with 0 if no problem was found, with 1 if a problem was found or
 * something cannot be read, and with 2 if the command line is invalid.
 */
@Command(
        name = "dstl",
        description = "Inspects the changelog of Flink jobs: segments and checkpoints.",
        synopsisSubcommandLabel = "COMMAND",
        versionProvider = Dstl.Version.class,
        subcommands = {
            InspectCommand.class,
            VerifyCommand.class,
            OrphansCommand.class,
            DoctorCommand.class
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:no problem was found",
            "1:a problem was found, or something cannot be read",
            "2:the command line is invalid"
        })
public final class Dstl implements Runnable {

    private static final int FAILED = 1;

    @Spec private CommandSpec spec;

    @Option(
            names = "--version",
            versionHelp = true,
            description = "Shows version, commit and the line of Flink.")
    @SuppressWarnings("unused") // picocli looks at the annotation
    private boolean version;

    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            scope = CommandLine.ScopeType.INHERIT,
            description = "Shows this.")
    @SuppressWarnings("unused") // picocli looks at the annotation
    private boolean help;

    private Dstl() {}

    /** Runs the tool and ends the process with its exit code. */
    public static void main(String[] arguments) {
        PrintWriter out = new PrintWriter(System.out, false, StandardCharsets.UTF_8);
        PrintWriter err = new PrintWriter(System.err, true, StandardCharsets.UTF_8);
        int exitCode;
        try {
            exitCode = run(out, err, arguments);
        } catch (OutOfMemoryError e) {
            err.println("The tool needs more memory: set JDK_JAVA_OPTIONS, for example to -Xmx8g.");
            exitCode = FAILED;
        } catch (Error e) {
            err.printf("The tool failed: %s. (--verbose shows where)%n", e);
            if (Arrays.asList(arguments).contains("--verbose")) {
                e.printStackTrace(err);
            }
            exitCode = FAILED;
        }
        out.flush();
        // File systems of plugins leave threads behind.
        System.exit(exitCode);
    }

    /**
     * Runs the tool and returns its exit code. Sets up Flink's file systems for the whole process.
     */
    static int run(PrintWriter out, PrintWriter err, String... arguments) {
        // Scripts read the numbers.
        Locale.setDefault(Locale.ROOT);
        return new CommandLine(new Dstl())
                .setOut(out)
                .setErr(err)
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setParameterExceptionHandler(Dstl::refuse)
                .setExecutionExceptionHandler(Dstl::fail)
                .execute(arguments);
    }

    @Override
    public void run() {
        throw new ParameterException(
                spec.commandLine(), "Name a command: inspect, verify, orphans or doctor.");
    }

    /** Prints the version of the tool. Created by picocli. */
    static final class Version implements CommandLine.IVersionProvider {

        @Override
        public String[] getVersion() {
            return new String[] {"dstl " + Release.current()};
        }
    }

    private static int refuse(ParameterException refusal, String[] arguments) {
        CommandLine command = refusal.getCommandLine();
        String message = FileAccess.firstLine(refusal);
        command.getErr()
                .printf("%s. (%s --help)%n", message, command.getCommandSpec().qualifiedName());
        command.getErr().flush();
        return command.getCommandSpec().exitCodeOnInvalidInput();
    }

    private static int fail(Exception failure, CommandLine command, ParseResult parsed) {
        PrintWriter err = command.getErr();
        err.println(
                failure instanceof ToolException
                        ? failure.getMessage()
                        : String.format(
                                "The tool failed, with --verbose it shows where: %s: %s.",
                                failure.getClass().getSimpleName(), FileAccess.firstLine(failure)));
        Object tool = command.getCommand();
        if (tool instanceof ReportingCommand && ((ReportingCommand) tool).isVerbose()) {
            failure.printStackTrace(err);
        }
        err.flush();
        return command.getCommandSpec().exitCodeOnExecutionException();
    }
}
