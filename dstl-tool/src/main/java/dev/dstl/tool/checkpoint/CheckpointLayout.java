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

package dev.dstl.tool.checkpoint;

import dev.dstl.tool.files.Directories;
import java.util.HashSet;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.flink.core.fs.FileStatus;
import org.apache.flink.core.fs.Path;

/**
 * The directories in which Flink keeps checkpoints.
 *
 * <pre>
 * JOB/chk-7      _metadata and what only checkpoint 7 needs
 * JOB/shared     state files that several checkpoints need
 * JOB/taskowned  state files that tasks delete, such as those of bases that no checkpoint got
 * JOB/dstl       segments, if the base path is the same directory
 * </pre>
 *
 * <p>JOB is the id of a job below the directory that is configured, or that directory itself.
 */
public final class CheckpointLayout {

    private static final String SHARED = "shared";
    private static final String TASK_OWNED = "taskowned";
    private static final Set<String> WITHOUT_CHECKPOINTS = Set.of(SHARED, TASK_OWNED, "dstl");
    private static final Pattern CHECKPOINT = Pattern.compile("chk-([0-9]{1,18})");
    private static final String SAVEPOINT_PREFIX = "savepoint-";

    private CheckpointLayout() {}

    /** Returns the number of the checkpoint whose directory it is by its name; else empty. */
    static OptionalLong numberOf(Path directory) {
        Matcher name = CHECKPOINT.matcher(directory.getName());
        return name.matches()
                ? OptionalLong.of(Long.parseLong(name.group(1)))
                : OptionalLong.empty();
    }

    /** Returns whether a directory is that of a checkpoint or savepoint by its name. */
    public static boolean isOfCheckpoint(Path directory) {
        return numberOf(directory).isPresent() || directory.getName().startsWith(SAVEPOINT_PREFIX);
    }

    /** Returns whether state files of several checkpoints are in a directory of a job. */
    public static boolean isOfStateFiles(Path directory) {
        return SHARED.equals(directory.getName()) || TASK_OWNED.equals(directory.getName());
    }

    /** Returns whether there may be checkpoints below a directory of a job. */
    static boolean mayHoldCheckpoints(Path directory) {
        return !WITHOUT_CHECKPOINTS.contains(directory.getName());
    }

    /**
     * Returns whether Flink has made a directory for the checkpoints of a job with an id: the name
     * alone does not tell, as others name directories by hashes as well.
     */
    static boolean isOfJob(Path directory, List<FileStatus> listed) {
        return Directories.isOfJob(directory) && holdsCheckpoints(listed);
    }

    /** Returns whether what is in a directory is what Flink makes for the checkpoints of a job. */
    public static boolean holdsCheckpoints(List<FileStatus> listed) {
        Set<String> names = new HashSet<>();
        for (FileStatus status : listed) {
            if (status.isDir()) {
                if (numberOf(status.getPath()).isPresent()) {
                    return true;
                }
                names.add(status.getPath().getName());
            }
        }
        return names.contains(SHARED) && names.contains(TASK_OWNED);
    }
}
