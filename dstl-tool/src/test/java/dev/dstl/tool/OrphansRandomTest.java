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

import dev.dstl.changelog.fixture.GuardedFileSystem;
import dev.dstl.log.store.SegmentName;
import dev.dstl.tool.fixture.ToolRun;
import dev.dstl.tool.fixture.WrittenCheckpoint;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;
import org.apache.flink.runtime.state.filesystem.FileStateHandle;
import org.apache.flink.util.FileUtils;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Jobs that trigger, complete, subsume and claim checkpoints at random between the calls of the
 * search, and complete the next one with a segment that is as old as the latest. Each needs a
 * segment whose writer ended long ago. In half of the seeds the operator says that the jobs that
 * wrote the segments have ended, so that only the checkpoints that are found keep a segment.
 */
class OrphansRandomTest extends ToolTest {

    private static final int CLAIMS = 2;

    private final List<Job> jobs = new ArrayList<>();
    private Random random;
    private boolean jobsEnded;
    private int steps;
    private int claims;

    static IntStream seeds() {
        int first = Integer.getInteger("orphans.seed", 0);
        return IntStream.range(first, first + Integer.getInteger("orphans.seeds", 100));
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void onlyOrphansAreDeleted_whateverJobsDoMeanwhile(int seed) throws Exception {
        random = new Random(seed);
        jobsEnded = seed % 2 == 0;
        steps = 20 + random.nextInt(60);
        List<Path> needed = new ArrayList<>();
        List<String> ended = new ArrayList<>(List.of(jobOf(99)));
        for (int i = random.nextInt(4); i >= 0; i--) {
            Job job = new Job(checkpoints().resolve(letter() + i), i);
            needed.addAll(job.segments);
            ended.add(jobOf(i));
            jobs.add(job);
        }
        // Of a job without a checkpoint, or long before the newest one of a job.
        Path orphan =
                jobsEnded
                        ? segment(99, 1, 1, Duration.ofDays(1))
                        : segment(0, 2, 1, Duration.ofDays(3));
        double pace = random.nextDouble();
        GuardedFileSystem.guard(
                (call, path) -> {
                    while (steps > 0 && random.nextDouble() < pace) {
                        steps--;
                        jobs.get(random.nextInt(jobs.size())).step();
                    }
                });

        List<String> arguments = new ArrayList<>();
        arguments.addAll(List.of("orphans", GuardedFileSystem.uri(basePath()), "--delete"));
        if (jobsEnded) {
            arguments.addAll(List.of("--jobs-ended", String.join(",", ended)));
        }
        arguments.addAll(List.of("--checkpoints", GuardedFileSystem.uri(checkpoints())));
        ToolRun run = dstl(arguments.toArray());

        assertThat(needed).allMatch(Files::exists);
        run.isFine();
        if (jobsEnded) {
            assertThat(run.out()).contains("referred to: " + needed.size() + ",");
        }
        assertThat(orphan).doesNotExist();
    }

    /** Directories are listed in the order of their names. */
    private String letter() {
        return String.valueOf((char) ('a' + random.nextInt(26)));
    }

    private static String jobOf(int job) {
        return new JobID(job, 1).toHexString();
    }

    private Path segment(int job, int writer, int number, Duration age) throws IOException {
        SegmentName name =
                new SegmentName(
                        new JobID(job, 1),
                        SegmentName.incarnation(1_700_000_000_000L, writer),
                        number,
                        1);
        Path file =
                Path.of(
                        name.below(new org.apache.flink.core.fs.Path(basePath().toString()))
                                .getPath());
        Files.createDirectories(file.getParent());
        Files.writeString(file, "a segment");
        return Files.setLastModifiedTime(file, FileTime.from(Instant.now().minus(age)));
    }

    /** A job that retains one checkpoint. */
    private final class Job {

        private final List<Path> segments = new ArrayList<>();
        private final Deque<Path> deletions = new ArrayDeque<>();
        private Path directory;
        private Path retained;
        private long triggered = 1;
        private long completed;

        private Job(Path directory, int number) throws IOException {
            this.directory = directory;
            segments.add(segment(number, 1, 1, Duration.ofDays(1)));
            complete();
            if (!jobsEnded) {
                // Idle since, it has a segment that only its next checkpoint names.
                Files.setLastModifiedTime(
                        retained.resolve("_metadata"),
                        FileTime.from(Instant.now().minus(Duration.ofDays(1))));
                segments.add(segment(number, 1, 2, Duration.ofDays(1)));
            }
        }

        private void step() throws IOException {
            int choice = random.nextInt(10);
            if (choice < 3 && !deletions.isEmpty()) {
                FileUtils.deleteFileOrDirectory(deletions.remove().toFile());
            } else if (choice < 5 && triggered == completed) {
                triggered++;
                Files.createDirectories(directory.resolve("chk-" + triggered));
            } else if (choice < 9 && triggered > completed) {
                complete();
            } else if (choice == 9 && claims < CLAIMS) {
                claims++;
                directory = checkpoints().resolve(letter() + "-claims-" + claims);
                completed = 0;
                triggered = 1;
            }
        }

        /** Completes a checkpoint; only then may the former one be deleted, its metadata first. */
        private void complete() throws IOException {
            Path former = retained;
            retained = WrittenCheckpoint.of(directory, triggered, handle());
            completed = triggered;
            if (former != null) {
                deletions.add(former.resolve("_metadata"));
                deletions.add(former);
            }
        }

        private ChangelogStateHandleStreamImpl handle() {
            return new ChangelogStateHandleStreamImpl(
                    segments.stream()
                            .map(
                                    segment ->
                                            Tuple2.<StreamStateHandle, Long>of(
                                                    new FileStateHandle(
                                                            new org.apache.flink.core.fs.Path(
                                                                    segment.toUri()),
                                                            9),
                                                    12L))
                            .collect(Collectors.toList()),
                    KeyGroupRange.of(0, 15),
                    9,
                    9,
                    "dstl");
        }
    }
}
