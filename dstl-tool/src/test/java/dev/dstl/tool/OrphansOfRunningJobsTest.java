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

import dev.dstl.tool.fixture.ToolRun;
import dev.dstl.tool.fixture.WrittenLog;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.apache.flink.util.FileUtils;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Segments that no checkpoint refers to, of jobs that may still run. */
class OrphansOfRunningJobsTest extends ToolTest {

    private TwoWriters writers;

    @BeforeEach
    void write() throws Exception {
        writers = TwoWriters.write(basePath(), checkpoints().resolve("job"));
    }

    @Test
    void youngSegments_areKept() throws Exception {
        TwoWriters.age(writers.orphan, Duration.ofMinutes(59));

        ToolRun run =
                dstl("orphans", basePath(), "--checkpoints", checkpoints(), "--delete").isFine();

        assertThat(run.out()).contains("of recent writers: 1, orphans: 0");
        assertThat(segments()).containsExactlyInAnyOrder(writers.needed, writers.orphan);
    }

    @Test
    void minAge_setsWhatYoungIs() throws Exception {
        TwoWriters.age(writers.orphan, Duration.ofMinutes(30));

        dstl(
                        "orphans",
                        basePath(),
                        "--checkpoints",
                        checkpoints(),
                        "--delete",
                        "--min-age",
                        "20min",
                        "--jobs-ended",
                        jobOf(writers.needed))
                .isFine();

        assertThat(segments()).containsExactly(writers.needed);
    }

    /** Old segments may be part of the next checkpoint if checkpoints have failed for long. */
    @Test
    void oldSegmentsOfAWriterThatIsAlive_areKept() throws Exception {
        Path next = writers.orphan.resolveSibling("0000000099-1.seg");
        Files.copy(writers.orphan, next);

        dstl("orphans", basePath(), "--checkpoints", checkpoints(), "--delete").isFine();

        assertThat(segments()).containsExactlyInAnyOrder(writers.needed, writers.orphan, next);
    }

    @Test
    void jobsWithOrphansAndNoCheckpoint_areNamed() throws Exception {
        String job = "00000000000000000000000000000def";
        Path writer =
                basePath()
                        .resolve(job)
                        .resolve("dstl")
                        .resolve(writers.needed.getParent().getFileName());
        Path other = Files.createDirectories(writer).resolve("1-1.seg");
        Files.copy(writers.needed, other);
        TwoWriters.makeOld(other);

        ToolRun run = dstl("orphans", basePath(), "--checkpoints", checkpoints()).isFine();
        ToolRun json =
                dstl("orphans", basePath(), "--checkpoints", checkpoints(), "--json").isFine();

        assertThat(run.out())
                .contains("job that may run", job, "none", "name its directory")
                .contains("orphans: 2");
        assertThat(json.json().get("jobsWithoutCheckpoint").findValuesAsText("job")).contains(job);
        String known = writers.needed.getParent().getParent().getParent().getFileName().toString();
        assertThat(json.json().get("jobsWithoutCheckpoint").findValuesAsText("job"))
                .doesNotContain(known);
    }

    @Test
    void withDelete_segmentsOfAJobWithoutACheckpoint_areKeptUnlessTheJobHasEnded()
            throws Exception {
        Path other;
        try (WrittenLog elsewhere = new WrittenLog(basePath())) {
            other = fileOf(elsewhere.writeSome());
        }
        TwoWriters.makeOld(other);

        ToolRun run =
                dstl("orphans", basePath(), "--checkpoints", checkpoints(), "--delete").isFine();

        assertThat(run.out()).contains("maybe needed 1 (", "--jobs-ended", "deleted      1 (");
        assertThat(segments()).containsExactlyInAnyOrder(writers.needed, other);
        deleteOfEnded(writers.needed);
        assertThat(segments()).as("another job").containsExactlyInAnyOrder(writers.needed, other);
        deleteOfEnded(other);
        assertThat(segments()).containsExactly(writers.needed);
    }

    private void deleteOfEnded(Path segment) {
        dstl(
                        "orphans",
                        basePath(),
                        "--checkpoints",
                        checkpoints(),
                        "--delete",
                        "--jobs-ended",
                        jobOf(segment))
                .isFine();
    }

    @Test
    void jobsEnded_takesIdsOfJobs() {
        dstl("orphans", basePath(), "--without-checkpoints", "--delete", "--jobs-ended", "all")
                .fails(2, "--jobs-ended", "32 hexadecimal digits", "'all'");

        assertThat(segments()).containsExactlyInAnyOrder(writers.needed, writers.orphan);
    }

    /** A task without input has uploaded its last segment, and checkpoints have failed since. */
    @Test
    void withDelete_segmentsNewerThanTheNewestCheckpointOfTheirJob_areKept() throws Exception {
        TwoWriters.age(writers.checkpoint.resolve("_metadata"), Duration.ofMinutes(150));

        ToolRun run =
                dstl("orphans", basePath(), "--checkpoints", checkpoints(), "--delete", "--json")
                        .isFine();

        assertThat(segments()).containsExactlyInAnyOrder(writers.needed, writers.orphan);
        assertThat(run.json().get("orphans").get(0).get("jobMayRun").asBoolean()).isTrue();
        assertThat(run.json().get("orphans").get(0).get("deleted").asBoolean()).isFalse();
        assertThat(dstl("orphans", basePath(), "--checkpoints", checkpoints()).isFine().out())
                .containsPattern("job that may run +maybe needed +bytes +newest checkpoint")
                .containsPattern(jobOf(writers.needed) + " +1 .*Z");
    }

    /** A task wrote it after its barrier: the next checkpoint contains it. */
    @Test
    void withDelete_segmentsWrittenWhileTheNewestCheckpointCompleted_areKeptWhateverTheMinAge()
            throws Exception {
        Duration completed = Duration.ofMinutes(90);
        TwoWriters.age(writers.checkpoint.resolve("_metadata"), completed);
        TwoWriters.age(writers.orphan, completed.plusSeconds(15));
        Path early = writers.orphan.resolveSibling("99-1.seg");
        Files.writeString(early, "half a segm");
        TwoWriters.age(early, completed.plusMinutes(61));

        ToolRun run =
                dstl(
                                "orphans",
                                basePath(),
                                "--checkpoints",
                                checkpoints(),
                                "--delete",
                                "--min-age",
                                "0s")
                        .isFine();

        assertThat(segments()).containsExactlyInAnyOrder(writers.needed, writers.orphan);
        assertThat(run.out()).contains("maybe needed 1 (", "deleted      1 (");
    }

    /** It was restored from a checkpoint of that job, which has taken none since. */
    @Test
    void aCheckpointOfAnotherJob_doesNotSayThatAJobNeedsNoNewerSegments() throws Exception {
        TwoWriters.age(writers.checkpoint.resolve("_metadata"), Duration.ofMinutes(150));
        Path ofRestored = checkpoints().resolve("00000000000000000000000000000def");
        Files.createDirectories(ofRestored);
        FileUtils.copy(
                new org.apache.flink.core.fs.Path(writers.checkpoint.toUri()),
                new org.apache.flink.core.fs.Path(ofRestored.resolve("chk-9").toUri()),
                false);

        dstl("orphans", basePath(), "--checkpoints", checkpoints(), "--delete").isFine();

        assertThat(segments()).containsExactlyInAnyOrder(writers.needed, writers.orphan);
    }

    /** As in application mode, where the id of the job is that of the cluster. */
    @Test
    void aJobThatBeganAnewWithTheSameId_isAsOldAsItsNewestCheckpoint() throws Exception {
        TwoWriters.age(writers.checkpoint.resolve("_metadata"), Duration.ofMinutes(150));
        FileUtils.copy(
                new org.apache.flink.core.fs.Path(writers.checkpoint.toUri()),
                new org.apache.flink.core.fs.Path(
                        writers.checkpoint.resolveSibling("chk-2").toUri()),
                false);

        dstl("orphans", basePath(), "--checkpoints", checkpoints(), "--delete").isFine();

        assertThat(segments()).containsExactly(writers.needed);
    }

    /** An object store gives a copy the time at which it was made. */
    @Test
    void aCopyOfAnOldCheckpoint_doesNotSayThatAJobNeedsNoNewerSegments() throws Exception {
        TwoWriters.age(writers.checkpoint.resolve("_metadata"), Duration.ofMinutes(150));
        FileUtils.copy(
                new org.apache.flink.core.fs.Path(writers.checkpoint.toUri()),
                new org.apache.flink.core.fs.Path(checkpoints().resolve("keep/chk-6").toUri()),
                false);

        dstl("orphans", basePath(), "--checkpoints", checkpoints(), "--delete").isFine();

        assertThat(segments()).containsExactlyInAnyOrder(writers.needed, writers.orphan);
    }
}
