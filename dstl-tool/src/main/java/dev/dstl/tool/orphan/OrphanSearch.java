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

import dev.dstl.log.store.EmptyDirectories;
import dev.dstl.log.store.FileSystemSegmentStore;
import dev.dstl.log.store.SegmentName;
import dev.dstl.log.store.SegmentStore;
import dev.dstl.tool.checkpoint.RetainedCheckpoints;
import dev.dstl.tool.files.Directories;
import dev.dstl.tool.files.FileAccess;
import dev.dstl.tool.output.ToolException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.apache.flink.api.common.JobID;
import org.apache.flink.core.fs.EntropyInjector;
import org.apache.flink.core.fs.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds segments that no checkpoint needs. A segment is kept if
 *
 * <ul>
 *   <li>a retained checkpoint refers to it, or
 *   <li>its writer wrote any segment recently: the writer may be alive, and any of its segments may
 *       become part of its next checkpoint.
 * </ul>
 *
 * <p>The files are listed before the checkpoints are read, so that segments named by a checkpoint
 * in between are seen.
 */
public final class OrphanSearch {

    private static final Logger LOG = LoggerFactory.getLogger(OrphanSearch.class);

    private static final String DIRECTORY_OF_LOG = "dstl";

    private final FileAccess basePath;
    private final MinAge minAge;
    private final Set<JobID> jobsEnded;

    private final List<ListedSegment> segments = new ArrayList<>();
    private final Map<String, Long> lastWritten = new HashMap<>();
    private final Set<Path> writers = new LinkedHashSet<>();
    private int otherFiles;

    /**
     * Creates a search.
     *
     * @param basePath base path of the changelog
     * @param minAgeMillis time without a write after which a writer counts as ended
     * @param jobsEnded jobs that have ended; of others that have no checkpoint, or wrote segments
     *     after their newest one or up to an hour before it, these segments are found, but not
     *     deleted
     */
    public OrphanSearch(
            FileAccess basePath, long minAgeMillis, long nowEpochMillis, Set<JobID> jobsEnded) {
        this.basePath = basePath;
        this.minAge = new MinAge(minAgeMillis, nowEpochMillis);
        this.jobsEnded = jobsEnded;
    }

    /** Source of checkpoints, read after the files were listed. */
    @FunctionalInterface
    public interface Checkpoints {

        /**
         * Reads all checkpoints.
         *
         * @throws ToolException if a checkpoint cannot be read
         */
        RetainedCheckpoints read() throws ToolException;
    }

    /**
     * Searches. Called once.
     *
     * @throws ToolException if the needed segments are unknown; nothing is deleted then
     */
    public OrphanReport search(Checkpoints checkpoints) throws ToolException {
        requireListable();
        Directories.walk(
                basePath,
                (directory, below) -> {
                    addIfOfOldWriter(below);
                    return !Directories.isOfJob(directory)
                            || directory.equals(basePath.path())
                            || below.getName().equals(DIRECTORY_OF_LOG);
                },
                status -> {
                    writers.remove(status.getPath().getParent());
                    Optional<SegmentName> name = SegmentName.of(status.getPath());
                    if (name.isPresent()) {
                        add(new ListedSegment(name.get(), status));
                    } else {
                        otherFiles++;
                    }
                });
        RetainedCheckpoints retained = checkpoints.read();
        List<ListedSegment> orphans = new ArrayList<>();
        Set<String> jobs = new HashSet<>();
        Map<Path, OptionalLong> undecided = new HashMap<>();
        int referenced = 0;
        int kept = 0;
        for (ListedSegment segment : segments) {
            if (retained.refersTo(segment.name())) {
                referenced++;
                jobs.add(segment.job());
            } else if (minAge.isRecent(lastWritten.get(segment.writer()))) {
                kept++;
            } else {
                orphans.add(segment);
                OptionalLong checkpoint = retained.newestOf(segment.name().jobId());
                checkpoint.ifPresent(written -> jobs.add(segment.job()));
                if (!jobsEnded.contains(segment.name().jobId())
                        && mayBeNeeded(segment, checkpoint)) {
                    undecided.put(segment.file(), checkpoint);
                }
            }
        }
        orphans.sort(Comparator.comparing(segment -> segment.file().toString()));
        return new OrphanReport(
                basePath.path(),
                retained.count(),
                referenced,
                kept,
                otherFiles,
                orphans,
                jobs,
                undecided,
                emptyDirectories());
    }

    /**
     * Returns whether the next checkpoint may contain a segment, or one that was not looked at: of
     * a job that has been idle since about its newest checkpoint, or that has none.
     */
    private boolean mayBeNeeded(ListedSegment segment, OptionalLong checkpoint) {
        return checkpoint.isEmpty()
                || minAge.mayBelongToNext(checkpoint.getAsLong(), segment.modifiedEpochMillis());
    }

    private List<Path> emptyDirectories() {
        List<Path> empty = new ArrayList<>(writers);
        empty.sort(Comparator.comparing(Path::toString));
        return empty;
    }

    /**
     * Adds the directory of an old writer. Whether it is empty shows when its files are listed; a
     * writer may have just started.
     */
    private void addIfOfOldWriter(Path directory) {
        OptionalLong created = SegmentName.createdEpochMillis(directory);
        if (created.isPresent()
                && !minAge.isRecent(created.getAsLong())
                && EmptyDirectories.canBeDeleted(basePath.fileSystem())) {
            writers.add(directory);
        }
    }

    private void requireListable() throws ToolException {
        Path path = basePath.path();
        if (EntropyInjector.isEntropyInjecting(basePath.fileSystem(), path)) {
            throw new ToolException(
                    String.format(
                            "%s contains an entropy key, which stands for many directories: name"
                                    + " the directory in front of it.",
                            path));
        }
        if (!basePath.status().isDir()) {
            throw new ToolException(path + " is not a directory, so no segments are below it.");
        }
    }

    private void add(ListedSegment segment) {
        segments.add(segment);
        lastWritten.merge(
                segment.writer(),
                minAge.writtenEpochMillis(segment.modifiedEpochMillis()),
                Math::max);
    }

    /**
     * Deletes the orphans; continues when one cannot be deleted, but not after an error, such as of
     * a file system plugin that lacks a class: what is deleted must still be reported.
     *
     * @param interrupted asked before each deletion; nothing more is deleted once it returns true
     * @return the same report with the results
     */
    public OrphanReport delete(OrphanReport report, BooleanSupplier interrupted) {
        SegmentStore store = new FileSystemSegmentStore(basePath.fileSystem(), basePath.path(), 1);
        Map<Path, String> failures = new LinkedHashMap<>();
        List<ListedSegment> orphans = report.orphansToDelete();
        String ended = null;
        for (ListedSegment orphan : orphans) {
            if (ended == null && interrupted.getAsBoolean()) {
                ended = "the tool was interrupted";
            }
            if (ended != null) {
                failures.put(orphan.file(), ended);
                continue;
            }
            try {
                store.delete(orphan.file());
            } catch (IOException | RuntimeException e) {
                failures.put(orphan.file(), FileAccess.firstLine(e));
            } catch (Error e) {
                failures.put(orphan.file(), e.toString());
                ended = "not tried after an error";
            }
        }
        long deleted = ended != null ? 0 : deleteEmptyDirectories(report, orphans, interrupted);
        return report.afterDeletion(failures, deleted);
    }

    private long deleteEmptyDirectories(
            OrphanReport report, List<ListedSegment> orphans, BooleanSupplier interrupted) {
        Set<Path> empty = new LinkedHashSet<>(report.emptyDirectories());
        orphans.forEach(orphan -> empty.add(orphan.file().getParent()));
        long deleted = 0;
        try {
            for (Path directory : empty) {
                if (!interrupted.getAsBoolean()
                        && EmptyDirectories.deleteOfWriter(
                                basePath.fileSystem(), directory, basePath.path())) {
                    deleted++;
                }
            }
        } catch (Error e) {
            LOG.warn("Empty directories stay: the next search lists them", e);
        }
        return deleted;
    }
}
