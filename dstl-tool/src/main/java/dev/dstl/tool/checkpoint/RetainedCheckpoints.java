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
import dev.dstl.tool.files.Directories;
import dev.dstl.tool.files.FileAccess;
import dev.dstl.tool.output.ToolException;
import java.io.FileNotFoundException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.flink.core.fs.Path;

/**
 * All checkpoints and savepoints below some directories, and the segments they contain. A running
 * job replaces checkpoints while they are read: if one is gone, the search starts again, since its
 * successor may not have existed when the directory was listed.
 */
public final class RetainedCheckpoints {

    private static final Set<String> DIRECTORIES_WITHOUT_CHECKPOINTS =
            Set.of("shared", "taskowned", "dstl");
    private static final int ATTEMPTS = 5;

    private final int count;
    private final Set<SegmentName> segments;

    private RetainedCheckpoints(int count, Set<SegmentName> segments) {
        this.count = count;
        this.segments = segments;
    }

    /**
     * Reads all checkpoints below some directories.
     *
     * @param mayBeEmpty whether a directory may contain no checkpoint
     * @throws ToolException if a checkpoint cannot be read, so that the needed segments are unknown
     */
    public static RetainedCheckpoints below(List<FileAccess> directories, boolean mayBeEmpty)
            throws ToolException {
        int count = 0;
        Set<SegmentName> segments = new HashSet<>();
        for (FileAccess directory : directories) {
            RetainedCheckpoints found = below(directory);
            if (found.count == 0 && !mayBeEmpty) {
                throw new ToolException(
                        String.format(
                                "No checkpoint is below %s, so every segment would look like an"
                                        + " orphan: name the directory that the checkpoints are"
                                        + " in, or use --without-checkpoints if none is retained.",
                                directory.path()));
            }
            count += found.count;
            segments.addAll(found.segments);
        }
        return new RetainedCheckpoints(count, segments);
    }

    private static RetainedCheckpoints below(FileAccess directory) throws ToolException {
        if (!directory.status().isDir()) {
            throw new ToolException(
                    directory.path() + " is not a directory, so no checkpoints are below it.");
        }
        FileNotFoundException gone = null;
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            try {
                return read(list(directory));
            } catch (FileNotFoundException e) {
                gone = e;
            }
        }
        throw new ToolException(
                String.format(
                        "The checkpoints below %s change faster than they can be read, or one of"
                                + " them cannot be read: %s.",
                        directory.path(), FileAccess.firstLine(gone)),
                gone);
    }

    private static List<CheckpointFile> list(FileAccess directory) throws ToolException {
        List<CheckpointFile> files = new ArrayList<>();
        Directories.walk(
                directory,
                RetainedCheckpoints::mayHoldCheckpoints,
                file -> {
                    if (CheckpointFile.NAME.equals(file.getPath().getName())) {
                        files.add(new CheckpointFile(directory.fileSystem(), file.getPath()));
                    }
                });
        return files;
    }

    private static boolean mayHoldCheckpoints(Path directory, Path below) {
        return !(Directories.isOfJob(directory)
                && DIRECTORIES_WITHOUT_CHECKPOINTS.contains(below.getName()));
    }

    private static RetainedCheckpoints read(List<CheckpointFile> files)
            throws ToolException, FileNotFoundException {
        Set<SegmentName> segments = new HashSet<>();
        for (CheckpointFile file : files) {
            for (SubtaskLog log : file.read().logs()) {
                segments.addAll(log.segmentNames());
            }
        }
        return new RetainedCheckpoints(files.size(), segments);
    }

    /** Returns the number of checkpoints. */
    public int count() {
        return count;
    }

    /** Returns whether any of them contains a segment. */
    public boolean refersTo(SegmentName segment) {
        return segments.contains(segment);
    }
}
