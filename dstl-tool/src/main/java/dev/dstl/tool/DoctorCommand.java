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

import dev.dstl.tool.installation.Diagnosis;
import dev.dstl.tool.installation.FlinkHome;
import dev.dstl.tool.output.Report;
import dev.dstl.tool.output.ToolException;
import java.nio.file.Path;
import org.apache.flink.configuration.ConfigConstants;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

@Command(
        name = "doctor",
        description = "Reports problems of DSTL in a Flink installation: jars and keys.")
final class DoctorCommand extends ReportingCommand {

    @Parameters(
            paramLabel = "FLINK_HOME",
            arity = "0..1",
            defaultValue = "${env:FLINK_HOME}",
            description = "The directory with lib/, plugins/ and conf/; FLINK_HOME if not given.")
    private Path home;

    /** Does not set up file systems: a failure to do so must not hide other problems. */
    @Override
    void prepare() {}

    @Override
    Report report() throws ToolException {
        if (home == null) {
            throw new ToolException("Name the directory of a Flink, or set FLINK_HOME.");
        }
        FlinkHome flink =
                FlinkHome.at(home, ofProcesses(ConfigConstants.ENV_FLINK_PLUGINS_DIR, "plugins"));
        return Diagnosis.of(
                flink,
                flinkOptions()
                        .configuration(
                                spec().commandLine(),
                                ofProcesses(ConfigConstants.ENV_FLINK_CONF_DIR, "conf")));
    }

    /**
     * Returns the directory that a variable names for Flink's scripts, else the one in the
     * installation. A Flink that is named on the command line has its own.
     */
    private Path ofProcesses(String variable, String name) {
        String directory = System.getenv(variable);
        boolean named = spec().commandLine().getParseResult().hasMatchedPositional(0);
        return named || directory == null || directory.isEmpty()
                ? home.resolve(name)
                : Path.of(directory);
    }
}
