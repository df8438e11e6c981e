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

import dev.dstl.tool.checkpoint.RetainedCheckpoints;
import dev.dstl.tool.files.FileAccess;
import dev.dstl.tool.orphan.CombinedReport;
import dev.dstl.tool.orphan.OrphanReport;
import dev.dstl.tool.orphan.OrphanSearch;
import dev.dstl.tool.orphan.StateFileSearch;
import dev.dstl.tool.output.Report;
import dev.dstl.tool.output.ToolException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.apache.flink.api.common.JobID;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;

@Command(
        name = "orphans",
        description = {
            "Lists segments that no retained checkpoint refers to, as killed processes leave them.",
            "Name every directory that holds checkpoints or savepoints of jobs that use the base"
                    + " path, and of jobs that were restored from them."
        })
final class OrphansCommand extends ReportingCommand {

    @Parameters(
            paramLabel = "BASE_PATH",
            description = "What state.changelog.dstl.dfs.base-path is set to.")
    private String basePath;

    @Option(
            names = "--checkpoints",
            paramLabel = "DIR",
            description =
                    "Directory with checkpoints or savepoints, searched recursively; repeatable.")
    private final List<String> checkpoints = new ArrayList<>();

    @Option(
            names = "--without-checkpoints",
            description = "No checkpoint is retained, or none in some DIR.")
    private boolean withoutCheckpoints;

    @Option(
            names = "--min-age",
            paramLabel = "AGE",
            defaultValue = "1h",
            converter = AgeConverter.class,
            description = {
                "Time without a new segment after which a writer counts as ended;"
                        + " ${DEFAULT-VALUE} by default. Must be longer than the longest time that"
                        + " a job can be without a completed checkpoint. Whatever it is, segments"
                        + " written less than 1h before the newest checkpoint of their job are"
                        + " kept, unless --jobs-ended names the job."
            })
    private Duration minAge;

    @Option(
            names = "--state-files",
            description =
                    "Lists also the files in shared and taskowned of the jobs below all DIRs that"
                            + " no checkpoint or savepoint below them names, as killed processes"
                            + " and failovers of the JobManager leave them. Never deletes them.")
    private boolean stateFiles;

    @Option(
            names = "--delete",
            description =
                    "Deletes them, except those of jobs that may run: without a checkpoint in any"
                            + " DIR, or idle since about their newest one.")
    private boolean delete;

    @Option(
            names = "--jobs-ended",
            paramLabel = "JOB",
            split = ",",
            converter = JobIdConverter.class,
            description =
                    "Ids of jobs that have ended, and of which no checkpoint or savepoint is"
                            + " elsewhere: deletes their segments too; repeatable.")
    private final Set<JobID> jobsEnded = new LinkedHashSet<>();

    private final Interruption interruption = new Interruption();

    @Override
    Report report() throws ToolException {
        if (checkpoints.isEmpty() && !withoutCheckpoints) {
            throw new ParameterException(
                    spec().commandLine(),
                    "Name the directories of checkpoints with --checkpoints, or use"
                            + " --without-checkpoints if none is retained");
        }
        List<FileAccess> directories = new ArrayList<>();
        for (String directory : checkpoints) {
            directories.add(FileAccess.of(directory));
        }
        long now = System.currentTimeMillis();
        OrphanSearch search =
                new OrphanSearch(FileAccess.of(basePath), minAge.toMillis(), now, jobsEnded);
        OrphanSearch.Checkpoints retained =
                () -> RetainedCheckpoints.below(directories, withoutCheckpoints);
        if (!stateFiles) {
            return deleted(search, search.search(retained));
        }
        StateFileSearch files = new StateFileSearch(directories, minAge.toMillis(), now, jobsEnded);
        OrphanReport segments = search.search(() -> files.search(retained));
        return new CombinedReport(deleted(search, segments), files.report());
    }

    private OrphanReport deleted(OrphanSearch search, OrphanReport found) {
        if (!delete) {
            return found;
        }
        interruption.watch();
        return search.delete(found, interruption::isRequested);
    }

    @Override
    void ended() {
        interruption.close();
    }
}
