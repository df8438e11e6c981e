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
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.apache.flink.api.common.JobID;
import org.apache.flink.core.fs.FileStatus;
import org.apache.flink.core.fs.Path;

/**
 * Reads the checkpoints below some directories while jobs replace them. A job deletes a checkpoint
 * only after a later one is complete, possibly in another directory: a claimed savepoint is deleted
 * after the first checkpoint of the new job. So a single pass may find neither, the later one not
 * yet and the earlier one no longer. Therefore
 *
 * <ul>
 *   <li>there are at least two passes, and whatever any of them finds counts, and
 *   <li>a checkpoint that is listed without metadata, incomplete or just being deleted, requires
 *       another pass, unless it had none in the previous pass or its job completed a later
 *       checkpoint since then.
 * </ul>
 *
 * <p>Used once.
 */
final class CheckpointSearch {

    private static final long NONE = -1;
    private static final int MIN_PASSES = 2;
    private static final int MAX_PASSES = 10;

    private final List<FileAccess> roots;
    private final Set<SegmentName> segments = new HashSet<>();
    private final Map<JobID, NewestCheckpoint> newestCheckpoints = new HashMap<>();
    private final Set<UUID> stateFiles = new HashSet<>();

    /** When the newest checkpoint in a directory was written, in milliseconds since the epoch. */
    private final Map<Path, Long> newestIn = new HashMap<>();

    /** Path, time and length of the metadata that was read: it never changes. */
    private final Set<String> read = new HashSet<>();

    CheckpointSearch(List<FileAccess> roots) {
        this.roots = roots;
    }

    /**
     * Returns the number of checkpoints below each of the directories, the highest of all passes.
     *
     * @throws ToolException if a checkpoint cannot be read, or the passes do not agree
     */
    List<Integer> run() throws ToolException {
        List<Integer> counts = new ArrayList<>(Collections.nCopies(roots.size(), 0));
        Pass before = new Pass();
        Set<Path> unsettled = Set.of();
        for (int number = 1; number <= MAX_PASSES; number++) {
            Pass pass = new Pass();
            for (int i = 0; i < roots.size(); i++) {
                counts.set(i, Math.max(counts.get(i), pass.visitRoot(roots.get(i))));
            }
            unsettled = pass.unsettledSince(before);
            if (number >= MIN_PASSES && unsettled.isEmpty()) {
                return counts;
            }
            before = pass;
        }
        Path example = unsettled.iterator().next();
        throw new ToolException(
                String.format(
                        "The checkpoints below %s change faster than they can be read, for example"
                                + " %s: try again.",
                        example.getParent(), example.getName()));
    }

    /** Returns the segments that the checkpoints contain. */
    Set<SegmentName> segments() {
        return segments;
    }

    /**
     * Returns the newest checkpoint of each job that contains a segment of it. Those of other jobs
     * that were restored from the job's do not count: they say nothing about when it took one.
     */
    Map<JobID, NewestCheckpoint> newestCheckpoints() {
        return newestCheckpoints;
    }

    /** Returns the names of all state files that the checkpoints name. */
    Set<UUID> stateFiles() {
        return stateFiles;
    }

    /**
     * Returns when the newest checkpoint in each directory was written, in milliseconds since the
     * epoch. Savepoints do not count: a job that waits for its next checkpoint may take them.
     */
    Map<Path, Long> newestIn() {
        return newestIn;
    }

    /** One walk through all directories. */
    private final class Pass {

        /** Directories without metadata that may be those of a checkpoint, or that are gone. */
        private final Set<Path> missing = new LinkedHashSet<>();

        /** The highest number of a complete checkpoint in a directory. */
        private final Map<Path, Long> newest = new HashMap<>();

        private final Set<String> visited = new HashSet<>();
        private int count;

        /** Returns the number of checkpoints that were found. */
        int visitRoot(FileAccess root) throws ToolException {
            if (!root.status().isDir()) {
                throw new ToolException(
                        root.path() + " is not a directory, so no checkpoints are below it.");
            }
            count = 0;
            visited.clear();
            visit(root, root.path());
            return count;
        }

        /** Visits a directory and, in the order of their numbers, the checkpoints in it. */
        private void visit(FileAccess root, Path directory) throws ToolException {
            if (!visited.add(Directories.identity(root, directory))) {
                return;
            }
            Optional<List<FileStatus>> listed = Directories.list(root, directory);
            if (listed.isEmpty()) {
                missing.add(directory);
                return;
            }
            boolean ofJob = CheckpointLayout.isOfJob(directory, listed.get());
            boolean expected = CheckpointLayout.isOfCheckpoint(directory);
            boolean complete = false;
            List<Path> below = new ArrayList<>();
            for (FileStatus status : listed.get()) {
                if (status.isDir()) {
                    if (!ofJob || CheckpointLayout.mayHoldCheckpoints(status.getPath())) {
                        below.add(status.getPath());
                    }
                } else if (CheckpointFile.NAME.equals(status.getPath().getName())) {
                    expected = true;
                    complete = read(root, status);
                }
            }
            if (complete) {
                count++;
                newest.merge(directory.getParent(), numberOf(directory), Math::max);
            } else if (expected) {
                missing.add(directory);
            }
            below.sort(
                    Comparator.comparingLong(CheckpointSearch::numberOf)
                            .thenComparing(Path::getName));
            for (Path next : below) {
                visit(root, next);
            }
        }

        /** Returns whether the metadata still exists. */
        private boolean read(FileAccess root, FileStatus status) throws ToolException {
            Path file = status.getPath();
            String content =
                    String.join(
                            "|",
                            file.toString(),
                            Long.toString(status.getModificationTime()),
                            Long.toString(status.getLen()));
            if (read.contains(content)) {
                return true;
            }
            try {
                CheckpointFile metadata = new CheckpointFile(root.fileSystem(), file);
                for (SubtaskLog log : metadata.read(stateFiles).logs()) {
                    log.segmentNames().forEach(segment -> add(segment, status));
                }
            } catch (FileNotFoundException | ToolException e) {
                // Some file systems report in the same way that the user may not read it, and some
                // have exceptions of their own for a file that is gone.
                if (root.find(file).isPresent()) {
                    throw e instanceof ToolException
                            ? (ToolException) e
                            : FileAccess.unreadable(file, e);
                }
                return false;
            }
            read.add(content);
            if (numberOf(file.getParent()) != NONE) {
                newestIn.merge(
                        file.getParent().getParent(), status.getModificationTime(), Math::max);
            }
            return true;
        }

        private void add(SegmentName segment, FileStatus metadata) {
            segments.add(segment);
            Path directory = metadata.getPath().getParent();
            if (!isOfOtherJob(directory, segment.jobId())) {
                newestCheckpoints.merge(
                        segment.jobId(),
                        new NewestCheckpoint(
                                directory.getParent(),
                                numberOf(directory),
                                metadata.getModificationTime()),
                        NewestCheckpoint::of);
            }
        }

        /** Returns what may have been missed, given the previous pass. */
        private Set<Path> unsettledSince(Pass before) {
            Set<Path> unsettled = new LinkedHashSet<>(missing);
            unsettled.removeAll(before.missing);
            unsettled.removeIf(
                    directory ->
                            CheckpointLayout.isOfCheckpoint(directory)
                                    && hasProgressed(directory.getParent(), before));
            return unsettled;
        }

        private boolean hasProgressed(Path job, Pass before) {
            return newest.getOrDefault(job, NONE) > before.newest.getOrDefault(job, NONE)
                    && before.newest.containsKey(job);
        }
    }

    /** Returns whether a checkpoint is in the directory that Flink has made for another job. */
    private static boolean isOfOtherJob(Path checkpoint, JobID job) {
        Path parent = checkpoint.getParent();
        return parent != null
                && Directories.isOfJob(parent)
                && !parent.getName().equals(job.toHexString());
    }

    /**
     * Returns the number of a checkpoint by the name of its directory; {@link #NONE} if it has
     * none.
     */
    private static long numberOf(Path directory) {
        return CheckpointLayout.numberOf(directory).orElse(NONE);
    }
}
