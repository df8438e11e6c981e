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

import dev.dstl.tool.output.ByteSize;
import dev.dstl.tool.output.Report;
import dev.dstl.tool.output.Table;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import javax.annotation.Nullable;
import org.apache.flink.core.fs.Path;

/**
 * Segments that no checkpoint needs, and the result of deleting them if that was requested.
 * Immutable.
 */
public final class OrphanReport implements Report {

    private final Path basePath;
    private final int checkpoints;
    private final int referenced;
    private final int kept;
    private final int otherFiles;
    private final List<ListedSegment> orphans;

    /** Jobs with a segment to which a checkpoint refers. */
    private final Set<String> jobsWithCheckpoint;

    /**
     * Files of orphans that are not deleted, as their jobs may run, with the time of the newest
     * checkpoint of the job, in milliseconds since the epoch.
     */
    private final Map<Path, OptionalLong> undecided;

    private final List<Path> emptyDirectories;
    private final long deletedDirectories;

    /** Null before a deletion. */
    @Nullable private final Map<Path, String> failures;

    OrphanReport(
            Path basePath,
            int checkpoints,
            int referenced,
            int kept,
            int otherFiles,
            List<ListedSegment> orphans,
            Set<String> jobsWithCheckpoint,
            Map<Path, OptionalLong> undecided,
            List<Path> emptyDirectories) {
        this(
                basePath,
                checkpoints,
                referenced,
                kept,
                otherFiles,
                orphans,
                jobsWithCheckpoint,
                undecided,
                emptyDirectories,
                0,
                null);
    }

    private OrphanReport(
            Path basePath,
            int checkpoints,
            int referenced,
            int kept,
            int otherFiles,
            List<ListedSegment> orphans,
            Set<String> jobsWithCheckpoint,
            Map<Path, OptionalLong> undecided,
            List<Path> emptyDirectories,
            long deletedDirectories,
            @Nullable Map<Path, String> failures) {
        this.basePath = basePath;
        this.checkpoints = checkpoints;
        this.referenced = referenced;
        this.kept = kept;
        this.otherFiles = otherFiles;
        this.orphans = orphans;
        this.jobsWithCheckpoint = jobsWithCheckpoint;
        this.undecided = undecided;
        this.emptyDirectories = emptyDirectories;
        this.deletedDirectories = deletedDirectories;
        this.failures = failures;
    }

    OrphanReport afterDeletion(Map<Path, String> undeleted, long directories) {
        return new OrphanReport(
                basePath,
                checkpoints,
                referenced,
                kept,
                otherFiles,
                orphans,
                jobsWithCheckpoint,
                undecided,
                emptyDirectories,
                directories,
                undeleted);
    }

    /** Returns the directories of writers that contain no file. */
    List<Path> emptyDirectories() {
        return Collections.unmodifiableList(emptyDirectories);
    }

    /** Returns the orphans that are to be deleted if that is requested. */
    List<ListedSegment> orphansToDelete() {
        return orphans.stream()
                .filter(orphan -> !undecided.containsKey(orphan.file()))
                .collect(Collectors.toList());
    }

    private List<ListedSegment> undecidedOrphans() {
        return orphans.stream()
                .filter(orphan -> undecided.containsKey(orphan.file()))
                .collect(Collectors.toList());
    }

    private static Map<String, List<ListedSegment>> byJob(List<ListedSegment> segments) {
        Map<String, List<ListedSegment>> jobs = new TreeMap<>();
        for (ListedSegment segment : segments) {
            jobs.computeIfAbsent(segment.job(), job -> new ArrayList<>()).add(segment);
        }
        return jobs;
    }

    private static long bytes(List<ListedSegment> segments) {
        return segments.stream().mapToLong(ListedSegment::bytes).sum();
    }

    /** Returns the orphans of each job without a checkpoint. */
    private Map<String, List<ListedSegment>> jobsWithoutCheckpoint() {
        Map<String, List<ListedSegment>> jobs = byJob(orphans);
        jobs.keySet().removeAll(jobsWithCheckpoint);
        return jobs;
    }

    private List<ListedSegment> deleted() {
        List<ListedSegment> deleted = new ArrayList<>();
        for (ListedSegment orphan : orphansToDelete()) {
            if (failures != null && !failures.containsKey(orphan.file())) {
                deleted.add(orphan);
            }
        }
        return deleted;
    }

    @Override
    public String text() {
        StringBuilder text = new StringBuilder();
        text.append(String.format("base path    %s%n", basePath));
        text.append(String.format("checkpoints  %d%n", checkpoints));
        text.append(
                String.format(
                        "segments     referred to: %d, of recent writers: %d,"
                                + " orphans: %d (%s)%n",
                        referenced, kept, orphans.size(), ByteSize.text(bytes(orphans))));
        if (otherFiles > 0) {
            text.append(String.format("other files  %d, left alone%n", otherFiles));
        }
        if (!emptyDirectories.isEmpty()) {
            text.append(String.format("directories  empty: %d%n", emptyDirectories.size()));
        }
        if (failures != null) {
            text.append(
                    String.format(
                            "deleted      %d (%s)%n",
                            deleted().size(), ByteSize.text(bytes(deleted()))));
        }
        if (deletedDirectories > 0) {
            text.append(String.format("             directories: %d%n", deletedDirectories));
        }
        Map<String, List<ListedSegment>> mayRun = byJob(undecidedOrphans());
        if (!undecided.isEmpty()) {
            text.append(
                    String.format(
                            "maybe needed %d (%s), of jobs that may run: --delete keeps them. If a"
                                    + " job has ended, and no checkpoint or savepoint of it is"
                                    + " elsewhere, add --jobs-ended with its id.%n",
                            undecided.size(), ByteSize.text(bytes(undecidedOrphans()))));
            Table table =
                    new Table("job that may run", ">maybe needed", ">bytes", "newest checkpoint");
            mayRun.forEach(
                    (job, of) ->
                            table.row(
                                    job,
                                    of.size(),
                                    ByteSize.text(bytes(of)),
                                    newestCheckpoint(of.get(0))));
            text.append('\n').append(table.text());
        }
        if (undecided.values().stream().anyMatch(OptionalLong::isEmpty)) {
            text.append("If a job without one has a checkpoint, name its directory.\n");
        }
        Set<String> ended = new TreeSet<>(jobsWithoutCheckpoint().keySet());
        ended.removeAll(mayRun.keySet());
        if (!ended.isEmpty()) {
            text.append(
                    String.format(
                            "Ended, by --jobs-ended, and without a checkpoint in any DIR: %s%n",
                            String.join(", ", ended)));
        }
        if (!orphans.isEmpty()) {
            Table table = new Table("written", ">bytes", "orphan");
            for (ListedSegment orphan : orphans) {
                table.row(orphan.written(), ByteSize.text(orphan.bytes()), orphan.file());
            }
            text.append('\n').append(table.text());
        }
        if (!emptyDirectories.isEmpty()) {
            Table table = new Table("empty directory");
            for (Path directory : emptyDirectories) {
                table.row(directory);
            }
            text.append('\n').append(table.text());
        }
        return text.toString();
    }

    private String newestCheckpoint(ListedSegment undecidedOrphan) {
        OptionalLong checkpoint = undecided.get(undecidedOrphan.file());
        return checkpoint.isPresent() ? ListedFile.time(checkpoint.getAsLong()) : "none";
    }

    @Override
    public Map<String, Object> json() {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("basePath", basePath.toString());
        json.put("checkpoints", checkpoints);
        json.put("referencedSegments", referenced);
        json.put("keptSegments", kept);
        json.put("otherFiles", otherFiles);
        json.put("orphanBytes", bytes(orphans));
        json.put("deletedSegments", deleted().size());
        json.put("deletedDirectories", deletedDirectories);
        json.put(
                "emptyDirectories",
                emptyDirectories.stream().map(Path::toString).collect(Collectors.toList()));
        List<Object> jobs = new ArrayList<>();
        jobsWithoutCheckpoint()
                .forEach(
                        (id, of) -> {
                            Map<String, Object> job = new LinkedHashMap<>();
                            job.put("job", id);
                            job.put("orphans", of.size());
                            job.put("orphanBytes", bytes(of));
                            jobs.add(job);
                        });
        json.put("jobsWithoutCheckpoint", jobs);
        List<Object> files = new ArrayList<>();
        for (ListedSegment orphan : orphans) {
            Map<String, Object> file = orphan.json();
            boolean kept = undecided.containsKey(orphan.file());
            file.put("deleted", !kept && failures != null && !failures.containsKey(orphan.file()));
            file.put("jobMayRun", kept);
            files.add(file);
        }
        json.put("orphans", files);
        return json;
    }

    @Override
    public Optional<String> problem() {
        if (failures == null || failures.isEmpty()) {
            return Optional.empty();
        }
        Map.Entry<Path, String> first = failures.entrySet().iterator().next();
        return Optional.of(
                String.format(
                        "%d of %d orphans could not be deleted; %s: %s.",
                        failures.size(),
                        orphansToDelete().size(),
                        first.getKey(),
                        first.getValue()));
    }
}
