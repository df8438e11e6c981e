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
import dev.dstl.tool.inspection.VerificationReport;
import dev.dstl.tool.output.Report;
import dev.dstl.tool.output.ToolException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

@Command(
        name = "verify",
        description = "Reads every segment that a checkpoint refers to and compares all checksums.")
final class VerifyCommand extends ReportingCommand {

    @Parameters(
            paramLabel = "CHECKPOINT",
            description = "The directory of a checkpoint (chk-N) or savepoint.")
    private String path;

    @Override
    Report report() throws ToolException {
        return VerificationReport.of(CheckpointFile.at(FileAccess.of(path)).content());
    }
}
