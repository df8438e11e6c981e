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

package dev.dstl.endtoend.recovery;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.dstl.benchmarks.simulated.StoreDirectory;
import dev.dstl.benchmarks.simulated.store.Outage;
import dev.dstl.tool.checkpoint.RetainedCheckpoints;
import dev.dstl.tool.files.FileAccess;
import dev.dstl.tool.orphan.OrphanReport;
import dev.dstl.tool.orphan.OrphanSearch;
import dev.dstl.tool.orphan.StateFileSearch;
import dev.dstl.tool.output.ToolException;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.flink.api.common.JobID;
import org.apache.flink.configuration.Configuration;

/**
 * The object store of the changelogs of all jobs of a round: can have outages, and its files are
 * counted at the end.
 */
final class LogStore {

    private static final String AUTHORITY = "soak";

    private static final Pattern SEGMENT =
            Pattern.compile("[0-9a-f]{32}/dstl/[0-9a-f-]+/[0-9]+-[0-9]+\\.seg");

    /** Time for deletions by the JobManager after the end of the job, and for retries. */
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final Path root;
    private final StoreDirectory directory;

    /**
     * @param root of this store alone
     */
    LogStore(Path root) {
        this.root = root.toAbsolutePath();
        this.directory = new StoreDirectory(root, AUTHORITY);
    }

    /** Configures a cluster to write its changelogs here. */
    void configure(Configuration cluster) {
        cluster.setString("state.changelog.dstl.dfs.base-path", "sim://" + AUTHORITY + "/log");
        cluster.setString("sim.directory", root.toString());
        cluster.setString("sim.latency.p50", "5 ms");
        cluster.setString("sim.latency.p99", "40 ms");
    }

    /** Returns the directory whose files are the objects. */
    Path files() {
        return root.resolve(AUTHORITY).resolve("objects").resolve("log");
    }

    /** Begins an outage for all processes. */
    void begin(Outage outage) throws IOException {
        directory.outage().begin(outage);
    }

    /** Ends the outage. */
    void endOutage() throws IOException {
        directory.outage().end();
    }

    /**
     * Waits until there is no segment but those that retained checkpoints refer to.
     *
     * @param known segments that may be left over, relative to {@link #files()}
     * @param sinceMillis segments written before are not looked at, in milliseconds since the epoch
     */
    void verifyNothingUnreferenced(
            CheckpointFiles checkpoints, Set<String> known, long sinceMillis) {
        await().atMost(PATIENCE)
                .pollInSameThread()
                .untilAsserted(
                        () -> {
                            OrphanReport report = search(checkpoints);
                            assertThat(known)
                                    .as("segments that may be unreferenced, of: " + report.text())
                                    .containsAll(orphans(report, sinceMillis));
                        });
    }

    /**
     * Returns the segments of a job that were written since a time and still exist.
     *
     * @param sinceMillis in milliseconds since the epoch, inclusive
     * @return paths relative to {@link #files()}
     */
    Set<String> segmentsOf(JobID job, long sinceMillis) throws IOException {
        Path ofJob = files().resolve(job.toHexString());
        return CheckpointFiles.writtenBelow(ofJob, sinceMillis).stream()
                .map(file -> files().relativize(file).toString())
                .collect(Collectors.toSet());
    }

    /**
     * Verifies that there are the segments that checkpoints need, and no other but those that
     * metadata names.
     *
     * @param needed those of which no file may be missing
     */
    void verifyNothingButWhatIsNamed(CheckpointFiles checkpoints, CheckpointFiles needed)
            throws IOException {
        // The JobManager deletes metadata first and then the segments, some time after the job.
        await().atMost(PATIENCE)
                .pollInSameThread()
                .untilAsserted(
                        () ->
                                assertThat(checkpoints.named(SEGMENT))
                                        .as("named segments")
                                        .containsAll(segments()));
        assertThat(segments()).as("segments").containsAll(needed.named(SEGMENT));
    }

    private List<String> segments() throws IOException {
        return CheckpointFiles.filesBelow(files()).stream()
                .map(file -> files().relativize(file).toString())
                .collect(Collectors.toList());
    }

    /**
     * Deletes what killed processes left, as an operator does.
     *
     * @return how many segments that were
     */
    int deleteOrphans(CheckpointFiles checkpoints) throws Exception {
        OrphanReport report = search(checkpoints);
        OrphanReport deleted = orphanSearch().delete(report, () -> false);
        assertThat(deleted.problem()).isEmpty();
        return ((List<?>) deleted.json().get("orphans")).size();
    }

    /** Waits until the tool lists exactly the state files that no metadata names. */
    void verifyStateFilesAreListed(CheckpointFiles checkpoints) {
        await().atMost(PATIENCE)
                .pollInSameThread()
                .untilAsserted(
                        () ->
                                assertThat(listedStateFiles(checkpoints))
                                        .as("state files that the tool lists")
                                        .isEqualTo(checkpoints.unnamedStateFiles()));
    }

    private static Set<Path> listedStateFiles(CheckpointFiles checkpoints) throws Exception {
        List<FileAccess> retained = retained(checkpoints);
        StateFileSearch search =
                new StateFileSearch(retained, 0, System.currentTimeMillis(), Set.of());
        search.search(() -> RetainedCheckpoints.below(retained, true));
        return files(search.report().json().get("unnamed")).collect(Collectors.toSet());
    }

    /** Returns the files of what a report lists. */
    private static Stream<Path> files(Object listed) {
        return ((List<?>) listed)
                .stream()
                        .map(entry -> String.valueOf(((Map<?, ?>) entry).get("file")))
                        .map(file -> Path.of(URI.create(file)));
    }

    private List<String> orphans(OrphanReport report, long sinceMillis) {
        return files(report.json().get("orphans"))
                .filter(file -> CheckpointFiles.isWrittenSince(sinceMillis, file))
                .map(file -> files().relativize(file).toString())
                .collect(Collectors.toList());
    }

    private OrphanReport search(CheckpointFiles checkpoints) throws Exception {
        Files.createDirectories(files());
        List<FileAccess> retained = retained(checkpoints);
        return orphanSearch().search(() -> RetainedCheckpoints.below(retained, true));
    }

    private static List<FileAccess> retained(CheckpointFiles checkpoints) throws ToolException {
        List<FileAccess> retained = new ArrayList<>();
        for (Path path : checkpoints.directories()) {
            if (Files.exists(path)) {
                retained.add(FileAccess.of(path.toUri().toString()));
            }
        }
        return retained;
    }

    /** All jobs have ended. */
    private OrphanSearch orphanSearch() throws IOException, ToolException {
        Set<JobID> jobs =
                segments().stream()
                        .filter(file -> SEGMENT.matcher(file).matches())
                        .map(file -> JobID.fromHexString(file.substring(0, file.indexOf('/'))))
                        .collect(Collectors.toSet());
        return new OrphanSearch(
                FileAccess.of(files().toUri().toString()), 0, System.currentTimeMillis(), jobs);
    }
}
