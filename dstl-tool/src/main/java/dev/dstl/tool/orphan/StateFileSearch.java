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

package dev.dstl.tool.orphan;

import static org.apache.flink.util.Preconditions.checkState;

import dev.dstl.tool.checkpoint.CheckpointLayout;
import dev.dstl.tool.checkpoint.RetainedCheckpoints;
import dev.dstl.tool.checkpoint.StateFileNames;
import dev.dstl.tool.files.Directories;
import dev.dstl.tool.files.FileAccess;
import dev.dstl.tool.output.ToolException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;
import javax.annotation.Nullable;
import org.apache.flink.api.common.JobID;
import org.apache.flink.core.fs.FileStatus;
import org.apache.flink.core.fs.Path;

/**
 * Finds state files that no checkpoint names, in the directories {@code shared} and {@code
 * taskowned} in which a job keeps what several checkpoints need: files of bases, and whatever state
 * backends share without a changelog. It finds them for a person to look at: write-ahead sinks keep
 * files there, too, which only their state names.
 *
 * <p>Used once.
 */
public final class StateFileSearch {

    private final List<FileAccess> roots;
    private final MinAge minAge;
    private final Set<JobID> jobsEnded;

    private final Set<String> visited = new HashSet<>();

    /** Files with the directory of their job. */
    private final Map<FileStatus, Path> files = new LinkedHashMap<>();

    private int otherFiles;
    @Nullable private RetainedCheckpoints retained;

    /**
     * Creates a search.
     *
     * @param roots directories with checkpoints
     * @param minAgeMillis age of a file below which its job may not have named it yet
     * @param jobsEnded jobs that have ended; files of others may be needed if they are not older
     *     than the newest checkpoint of their job, or if there is none
     */
    public StateFileSearch(
            List<FileAccess> roots, long minAgeMillis, long nowEpochMillis, Set<JobID> jobsEnded) {
        this.roots = roots;
        this.minAge = new MinAge(minAgeMillis, nowEpochMillis);
        this.jobsEnded = jobsEnded;
    }

    /**
     * Lists the files, then reads the checkpoints, so that a file is seen that one names in
     * between.
     *
     * @return the checkpoints
     * @throws ToolException if a directory cannot be listed or a checkpoint cannot be read
     */
    public RetainedCheckpoints search(OrphanSearch.Checkpoints checkpoints) throws ToolException {
        for (FileAccess root : roots) {
            visit(root, root.path());
        }
        retained = checkpoints.read();
        return retained;
    }

    /** Returns the files that no checkpoint names, once the search is over. */
    public StateFileReport report() {
        checkState(retained != null, "Not searched");
        List<UnnamedStateFile> unnamed = new ArrayList<>();
        int named = 0;
        int recent = 0;
        for (Map.Entry<FileStatus, Path> entry : files.entrySet()) {
            FileStatus file = entry.getKey();
            UUID name = StateFileNames.of(file.getPath().getName()).orElseThrow();
            if (retained.namesStateFile(name)) {
                named++;
            } else if (minAge.isRecent(minAge.writtenEpochMillis(file.getModificationTime()))) {
                recent++;
            } else {
                unnamed.add(new UnnamedStateFile(file, mayBeNeeded(entry.getValue(), file)));
            }
        }
        unnamed.sort(Comparator.comparing(file -> file.file().toString()));
        return new StateFileReport(named, recent, otherFiles, unnamed);
    }

    private boolean mayBeNeeded(Path directoryOfJob, FileStatus file) {
        if (Directories.isOfJob(directoryOfJob)
                && jobsEnded.contains(JobID.fromHexString(directoryOfJob.getName()))) {
            return false;
        }
        OptionalLong checkpoint = retained.newestIn(directoryOfJob);
        return checkpoint.isEmpty()
                || minAge.mayBelongToNext(checkpoint.getAsLong(), file.getModificationTime());
    }

    private void visit(FileAccess root, Path directory) throws ToolException {
        List<FileStatus> listed = listOnce(root, directory);
        boolean withCheckpoints = CheckpointLayout.holdsCheckpoints(listed);
        boolean ofJob = withCheckpoints && Directories.isOfJob(directory);
        for (FileStatus status : listed) {
            Path below = status.getPath();
            if (!status.isDir() || CheckpointLayout.isOfCheckpoint(below)) {
                continue;
            }
            if (withCheckpoints && CheckpointLayout.isOfStateFiles(below)) {
                add(root, below, directory);
            } else if (!ofJob) {
                visit(root, below);
            }
        }
    }

    /** Adds all files in a directory and below it: merged ones are in a directory per subtask. */
    private void add(FileAccess root, Path directory, Path ofJob) throws ToolException {
        for (FileStatus status : listOnce(root, directory)) {
            if (status.isDir()) {
                add(root, status.getPath(), ofJob);
            } else if (StateFileNames.of(status.getPath().getName()).isPresent()) {
                files.put(status, ofJob);
            } else {
                otherFiles++;
            }
        }
    }

    /** Returns what is in a directory; nothing if it is gone, or was listed already. */
    private List<FileStatus> listOnce(FileAccess root, Path directory) throws ToolException {
        Optional<List<FileStatus>> listed =
                visited.add(Directories.identity(root, directory))
                        ? Directories.list(root, directory)
                        : Optional.empty();
        return listed.orElse(List.of());
    }
}
