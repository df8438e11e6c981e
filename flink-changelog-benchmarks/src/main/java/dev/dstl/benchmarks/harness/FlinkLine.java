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

import java.util.List;
import org.apache.flink.runtime.util.EnvironmentInformation;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * The option {@code --flink} of {@code ./demo} and {@code ./bench}. Their scripts choose the class
 * path by it before anything here runs.
 */
public final class FlinkLine {

    private static final String DEFAULT = "1.20";
    private static final List<String> LINES = List.of(DEFAULT, "2.3");

    @Spec(Spec.Target.MIXEE)
    private CommandSpec command;

    @Option(
            names = "--flink",
            paramLabel = "1.20|2.3",
            defaultValue = DEFAULT,
            description = "The line of Flink to run on (default: ${DEFAULT-VALUE}).")
    private String line;

    /**
     * @throws ParameterException with one sentence if the line is unknown or not on the class path
     */
    public void check() {
        if (!LINES.contains(line)) {
            throw misuse("--flink must be 1.20 or 2.3, but is " + line + ".");
        }
        String version = EnvironmentInformation.getVersion();
        if (!version.startsWith(line + ".")) {
            throw misuse(
                    String.format(
                            "--flink is %s, but the class path has Flink %s. Start it with ./%s.",
                            line, version, command.name()));
        }
    }

    private ParameterException misuse(String message) {
        return new ParameterException(command.commandLine(), message);
    }
}
