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
        FlinkHome flink = FlinkHome.at(home);
        return Diagnosis.of(
                flink, flinkOptions().configuration(spec().commandLine(), configuration()));
    }

    /** A Flink that was named has its own configuration. */
    private Path configuration() {
        String ofProcesses = System.getenv(ConfigConstants.ENV_FLINK_CONF_DIR);
        boolean named = spec().commandLine().getParseResult().hasMatchedPositional(0);
        return named || ofProcesses == null ? home.resolve("conf") : Path.of(ofProcesses);
    }
}
