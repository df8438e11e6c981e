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

import dev.dstl.tool.checkpoint.CheckpointFile;
import dev.dstl.tool.files.FileAccess;
import dev.dstl.tool.inspection.CheckpointReport;
import dev.dstl.tool.inspection.SegmentReport;
import dev.dstl.tool.output.Report;
import dev.dstl.tool.output.ToolException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;

@Command(
        name = "inspect",
        description = "Shows what is in a segment or in the changelog of a checkpoint.")
final class InspectCommand extends ReportingCommand {

    @Parameters(
            paramLabel = "FILE|CHECKPOINT",
            description = "A segment, or the directory of a checkpoint (chk-N) or savepoint.")
    private String path;

    @Option(
            names = "--top",
            paramLabel = "N",
            defaultValue = "10",
            description = "Maximum number of rows of a table; ${DEFAULT-VALUE} by default.")
    private int top;

    @Override
    Report report() throws ToolException {
        if (top < 1) {
            throw new ParameterException(
                    spec().commandLine(), "--top must be at least 1, found " + top);
        }
        FileAccess access = FileAccess.of(path);
        return CheckpointFile.isMeantBy(access.status())
                ? CheckpointReport.of(CheckpointFile.at(access).content(), top)
                : SegmentReport.of(access, top);
    }
}
