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

import dev.dstl.log.store.SegmentName;
import dev.dstl.tool.files.FileAccess;
import dev.dstl.tool.output.ToolException;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;
import org.apache.flink.api.common.JobID;
import org.apache.flink.core.fs.Path;

/** All checkpoints and savepoints below some directories, and the files that they contain. */
public final class RetainedCheckpoints {

    private final int count;
    private final Set<SegmentName> segments;
    private final Map<JobID, NewestCheckpoint> newest;
    private final Set<UUID> stateFiles;
    private final Map<Path, Long> newestIn;

    private RetainedCheckpoints(int count, CheckpointSearch found) {
        this.count = count;
        this.segments = found.segments();
        this.newest = found.newestCheckpoints();
        this.stateFiles = found.stateFiles();
        this.newestIn = found.newestIn();
    }

    /**
     * Reads all checkpoints below some directories. Jobs may replace them meanwhile.
     *
     * @param mayBeEmpty whether a directory may contain no checkpoint
     * @throws ToolException if a checkpoint cannot be read, so that the needed segments are unknown
     */
    public static RetainedCheckpoints below(List<FileAccess> directories, boolean mayBeEmpty)
            throws ToolException {
        CheckpointSearch search = new CheckpointSearch(directories);
        List<Integer> counts = search.run();
        int all = 0;
        for (int i = 0; i < counts.size(); i++) {
            if (counts.get(i) == 0 && !mayBeEmpty) {
                throw new ToolException(
                        String.format(
                                "No checkpoint is below %s, so every segment would look like an"
                                        + " orphan: name the directory that the checkpoints are"
                                        + " in, or use --without-checkpoints if none is retained.",
                                directories.get(i).path()));
            }
            all += counts.get(i);
        }
        return new RetainedCheckpoints(all, search);
    }

    /** Returns the number of checkpoints. */
    public int count() {
        return count;
    }

    /**
     * Returns when the newest of them was written that a job took and that contains a segment of
     * it, in milliseconds since the epoch; empty if there is none.
     */
    public OptionalLong newestOf(JobID job) {
        NewestCheckpoint newestOfJob = newest.get(job);
        return newestOfJob == null
                ? OptionalLong.empty()
                : OptionalLong.of(newestOfJob.writtenEpochMillis());
    }

    /** Returns whether any of them contains a segment. */
    public boolean refersTo(SegmentName segment) {
        return segments.contains(segment);
    }

    /** Returns whether any of them names a state file. */
    public boolean namesStateFile(UUID name) {
        return stateFiles.contains(name);
    }

    /**
     * Returns when the newest checkpoint in a directory was written, in milliseconds since the
     * epoch; empty if there is none. Savepoints do not count.
     */
    public OptionalLong newestIn(Path directory) {
        Long written = newestIn.get(directory);
        return written == null ? OptionalLong.empty() : OptionalLong.of(written);
    }
}
