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

import static org.assertj.core.api.Assertions.assertThat;

import dev.dstl.tool.checkpoint.RetainedCheckpoints;
import dev.dstl.tool.files.FileAccess;
import dev.dstl.tool.fixture.ToolRun;
import dev.dstl.tool.fixture.WrittenCheckpoint;
import dev.dstl.tool.orphan.StateFileSearch;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** {@code dstl orphans --state-files}: files that a killed process or a failover left. */
class OrphanedStateFilesTest extends ToolTest {

    private static final String JOB = "00000000000000000000000000000abc";
    private static final String OTHER_JOB = "00000000000000000000000000000def";
    private static final Duration OLD = Duration.ofHours(5);

    private Path shared;
    private Path taskOwned;
    private Path named;
    private Path unnamed;

    @BeforeEach
    void writeAnOldBaseThatACheckpointNamesAndOneThatNoneDoes() throws Exception {
        Files.createDirectories(basePath());
        shared = Files.createDirectories(checkpoints().resolve(JOB).resolve("shared"));
        taskOwned = Files.createDirectories(checkpoints().resolve(JOB).resolve("taskowned"));
        named = stateFile(taskOwned, OLD);
        unnamed = stateFile(taskOwned, OLD);
        WrittenCheckpoint.ofBase(checkpoints().resolve(JOB), 7, named);
    }

    private static Path stateFile(Path directory, Duration age) throws IOException {
        return file(directory, UUID.randomUUID().toString(), age);
    }

    private static Path file(Path directory, String name, Duration age) throws IOException {
        Path file = Files.writeString(directory.resolve(name), "state of " + name);
        Files.setLastModifiedTime(file, FileTime.from(Instant.now().minus(age)));
        return file;
    }

    @Test
    void aStateFileThatNoCheckpointNames_isListed_andStaysWithDelete() throws Exception {
        ToolRun run = orphans("--delete").isFine();

        assertThat(run.out())
                .contains("state files  named: 1, recent: 0, of no checkpoint: 1 (")
                .contains("no      file:" + unnamed)
                .contains("State files are listed only")
                .doesNotContain(named.toString());
        assertThat(named).exists();
        assertThat(unnamed).exists();
        JsonNode json = json();
        assertThat(json.get("unnamedBytes").asLong()).isEqualTo(Files.size(unnamed));
        assertThat(json.get("unnamed").get(0).get("jobMayRun").asBoolean()).isFalse();
        assertThat(listed(json)).containsExactly(unnamed);
    }

    @Test
    void withoutTheOption_stateFilesAreNotLookedAt() {
        assertThat(dstl("orphans", basePath(), "--checkpoints", checkpoints()).isFine().out())
                .doesNotContain("state files", unnamed.toString());
    }

    @Test
    void aFileThatTheNextCheckpointMayName_isListedAsMaybeNeeded() throws Exception {
        Path uploadedForTheNext = stateFile(shared, Duration.ofMinutes(30));

        JsonNode json = json("--min-age", "10min");

        assertThat(listed(json)).containsExactlyInAnyOrder(unnamed, uploadedForTheNext);
        assertThat(mayBeNeeded(json)).containsExactly(uploadedForTheNext);
        assertThat(mayBeNeeded(json("--min-age", "10min", "--jobs-ended", JOB))).isEmpty();
    }

    @Test
    void aRecentFile_isNotListed() throws Exception {
        stateFile(taskOwned, Duration.ofMinutes(10));

        JsonNode json = json();

        assertThat(listed(json)).containsExactly(unnamed);
        assertThat(json.get("recent").asInt()).isEqualTo(1);
    }

    @Test
    void aFileOfAJobWithoutACheckpoint_isMaybeNeeded_untilTheJobIsSaidToHaveEnded()
            throws Exception {
        Path other = checkpoints().resolve(OTHER_JOB);
        Files.createDirectories(other.resolve("shared"));
        Path leftOver = stateFile(Files.createDirectories(other.resolve("taskowned")), OLD);

        assertThat(mayBeNeeded(json())).containsExactly(leftOver);
        assertThat(mayBeNeeded(json("--jobs-ended", OTHER_JOB))).isEmpty();
    }

    @Test
    void aFileOfAnotherJob_isNeededByTheJobThatClaimedItsCheckpoint() throws Exception {
        WrittenCheckpoint.ofBase(checkpoints().resolve(OTHER_JOB), 8, unnamed);

        assertThat(listed(json())).isEmpty();
    }

    @Test
    void aFileThatASavepointNames_isNeeded() throws Exception {
        Path savepoints = directory.resolve("savepoints");
        WrittenCheckpoint.ofBase(savepoints, 8, unnamed);

        assertThat(listed(json("--checkpoints", savepoints.toString()))).isEmpty();
    }

    @Test
    void mergedFilesInDirectoriesOfSubtasks_areFound_andFilesWithOtherNamesCounted()
            throws Exception {
        Path ofSubtask = Files.createDirectories(shared.resolve(JOB).resolve("op_0_2"));
        Path merged = stateFile(ofSubtask, OLD);
        file(ofSubtask, "000012.sst", OLD);

        JsonNode json = json();

        assertThat(listed(json)).containsExactlyInAnyOrder(unnamed, merged);
        assertThat(json.get("otherFiles").asInt()).isEqualTo(1);
    }

    @Test
    void checkpointsInADirectoryWithoutJobId_areSearchedAsWell() throws Exception {
        Path plain = directory.resolve("plain");
        Files.createDirectories(plain.resolve("shared"));
        Path leftOver = stateFile(Files.createDirectories(plain.resolve("taskowned")), OLD);
        Path used = stateFile(plain.resolve("shared"), OLD);
        WrittenCheckpoint.ofBase(plain, 3, used);

        JsonNode json = json("--checkpoints", plain.toString());

        assertThat(listed(json)).containsExactlyInAnyOrder(unnamed, leftOver);
        assertThat(mayBeNeeded(json)).isEmpty();
    }

    @Test
    void directoriesOfOthersWithTheSameNames_areNotSearched() throws Exception {
        stateFile(Files.createDirectories(checkpoints().resolve("team").resolve("shared")), OLD);

        assertThat(listed(json())).containsExactly(unnamed);
    }

    @Test
    void aFileThatACheckpointNamesWhileTheToolSearches_isNotListed() throws Exception {
        List<FileAccess> roots = List.of(FileAccess.of(checkpoints().toString()));
        StateFileSearch search =
                new StateFileSearch(roots, 0, System.currentTimeMillis(), Set.of());

        search.search(
                () -> {
                    completeCheckpoint(8, named, unnamed);
                    return RetainedCheckpoints.below(roots, false);
                });

        assertThat(search.report().json()).containsEntry("named", 2);
        assertThat((List<?>) search.report().json().get("unnamed")).isEmpty();
    }

    private void completeCheckpoint(long id, Path... base) {
        try {
            WrittenCheckpoint.ofBase(checkpoints().resolve(JOB), id, base);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private ToolRun orphans(String... arguments) {
        List<Object> all = new ArrayList<>(List.of("orphans", basePath(), "--state-files"));
        all.addAll(List.of("--checkpoints", checkpoints()));
        all.addAll(List.of(arguments));
        return dstl(all.toArray());
    }

    private JsonNode json(String... arguments) throws Exception {
        List<String> all = new ArrayList<>(List.of(arguments));
        all.add("--json");
        return orphans(all.toArray(new String[0])).isFine().json().get("stateFiles");
    }

    private static List<Path> listed(JsonNode json) {
        List<Path> files = new ArrayList<>();
        json.get("unnamed").forEach(file -> files.add(path(file)));
        return files;
    }

    private static List<Path> mayBeNeeded(JsonNode json) {
        List<Path> files = new ArrayList<>();
        json.get("unnamed")
                .forEach(
                        file -> {
                            if (file.get("jobMayRun").asBoolean()) {
                                files.add(path(file));
                            }
                        });
        return files;
    }

    private static Path path(JsonNode file) {
        return Path.of(URI.create(file.get("file").asText()));
    }
}
