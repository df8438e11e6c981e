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

package dev.dstl.log.writer;

import static dev.dstl.log.testing.LogFixture.texts;
import static org.assertj.core.api.Assertions.assertThat;

import dev.dstl.log.segment.TestSegments;
import dev.dstl.log.testing.LogFixture;
import java.io.IOException;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.core.fs.FSDataOutputStream;
import org.apache.flink.core.fs.FileSystem.WriteMode;
import org.apache.flink.core.fs.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The number of runs of a changelog stays bounded while reads of compactions fail. */
class CompactionReadFailuresTest {

    private final CompactedLog changelog = new CompactedLog();

    @AfterEach
    void close() {
        changelog.close();
    }

    /** Any call may fail; a request consists of several. */
    @ParameterizedTest
    @CsvSource({"0.05, 1", "0.2, 2", "0.2, 3"})
    void readsThatFailNowAndThen_areTriedAgain(double rate, long seed) throws Exception {
        changelog.open("until-success");
        Random random = new Random(seed);
        changelog
                .store()
                .beforeReads(
                        file -> {
                            if (random.nextDouble() < rate) {
                                throw new IOException("Connection reset, seed " + seed);
                            }
                        });
        compactsAll();
    }

    /** Requests fail as a whole, on open or on the first read. */
    @ParameterizedTest
    @CsvSource({"0.3, 1", "0.45, 2", "0.48, 3", "0.48, 4"})
    void requestsOfWhichAlmostHalfFail_areMadeAgain(double rate, long seed) throws Exception {
        changelog.open("until-success");
        Random random = new Random(seed);
        AtomicInteger opens = new AtomicInteger();
        AtomicBoolean doomed = new AtomicBoolean();
        changelog
                .store()
                .beforeReads(
                        file -> {
                            boolean opening = changelog.store().requests("open") > opens.get();
                            opens.set(changelog.store().requests("open"));
                            if (opening) {
                                doomed.set(random.nextDouble() < rate);
                            }
                            if (doomed.get() && (!opening || random.nextBoolean())) {
                                throw new IOException("Connection reset, seed " + seed);
                            }
                        });
        compactsAll();
    }

    private void compactsAll() throws Exception {
        changelog.checkpoints(CompactedLog.CHECKPOINTS);
        changelog.store().beforeReads(file -> {});
        assertThat(changelog.mostRuns).as("runs").isLessThan(CompactedLog.MOST_RUNS);
        assertThat(changelog.metrics().count("numberOfReadRetries")).isPositive();
        assertThat(texts(changelog.checkpoint())).isEqualTo(changelog.expected);
    }

    @Test
    void compactionThatFailed_isTriedAgain_withoutACheckpoint() throws Exception {
        changelog.open("until-success");
        changelog
                .store()
                .beforeReads(
                        file -> {
                            throw new IOException("Access denied");
                        });
        changelog.checkpoints(60);
        assertThat(changelog.metrics().count("numberOfCompactions")).isZero();
        changelog.store().beforeReads(file -> {});
        for (int second = 0; second < 600; second++) {
            changelog.log.timers().advanceMillis(1_000);
            changelog.compactions.awaitEnd();
            changelog.executor.runAll();
        }
        assertThat(changelog.metrics().count("numberOfCompactions")).isGreaterThan(2);
        changelog.mostRuns = 0;
        assertThat(texts(changelog.checkpoint())).isEqualTo(changelog.expected);
        assertThat(changelog.mostRuns).as("runs").isLessThan(20);
    }

    @Test
    void compactionThatFailed_andWhoseRetryCannotBeScheduled_isTriedAgainWithACheckpoint()
            throws Exception {
        changelog.open("until-success");
        AtomicBoolean broken = new AtomicBoolean(true);
        changelog
                .store()
                .beforeReads(
                        file -> {
                            if (broken.get()) {
                                throw new IOException("Access denied");
                            }
                        });
        changelog
                .log
                .timers()
                .beforeNext(
                        2_000,
                        () -> {
                            broken.set(false);
                            throw new IllegalStateException("refused by the test");
                        });
        changelog.checkpoints(CompactedLog.CHECKPOINTS / 5);
        assertThat(broken).isFalse();
        assertThat(changelog.metrics().count("numberOfCompactionFailures")).isEqualTo(1);
        assertThat(changelog.mostRuns).as("runs").isLessThan(CompactedLog.MOST_RUNS);
        assertThat(texts(changelog.checkpoint())).isEqualTo(changelog.expected);
    }

    @Test
    void partsThatCannotBeReadForAWhile_areCompactedLater() throws Exception {
        changelog.open("until-success");
        changelog.checkpoints(3);
        List<Path> unreadable = changelog.store().segments();
        changelog
                .store()
                .beforeReads(
                        file -> {
                            if (unreadable.contains(file)) {
                                throw new IOException("Access denied");
                            }
                        });
        changelog.checkpoints(300);
        assertThat(changelog.mostRuns).as("runs").isLessThan(CompactedLog.MOST_RUNS);
        assertThat(changelog.metrics().count("numberOfCompactionFailures")).isGreaterThan(3);
        changelog.store().beforeReads(file -> {});
        changelog.checkpoints(1_000);
        assertThat(LogFixture.filesOf(changelog.checkpoint()))
                .doesNotContain(
                        unreadable.get(0).toString(),
                        unreadable.get(1).toString(),
                        unreadable.get(2).toString());
        assertThat(changelog.mostRuns).as("runs").isLessThan(CompactedLog.MOST_RUNS);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 30})
    void damagedSegment_isLeftAlone_andAllOthersAreCompacted(int keptBytes) throws Exception {
        changelog.open("until-success");
        changelog.checkpoints(3);
        verifyLeftAlone(changelog.store().segments().get(1), new byte[keptBytes]);
    }

    /** What a defective version wrote is as damaged as what the store has lost. */
    @Test
    void segmentWithWrongContent_isLeftAlone_andAllOthersAreCompacted() throws Exception {
        changelog.open("until-success");
        changelog.checkpoints(3);
        Path wrong = changelog.store().segments().get(1);
        byte[] written;
        try (FSDataInputStream file = wrong.getFileSystem().open(wrong)) {
            written = file.readAllBytes();
        }
        verifyLeftAlone(wrong, TestSegments.withoutRecords(written));
    }

    private void verifyLeftAlone(Path damaged, byte[] content) throws Exception {
        try (FSDataOutputStream file =
                damaged.getFileSystem().create(damaged, WriteMode.OVERWRITE)) {
            file.write(content);
        }

        changelog.checkpoints(300);

        assertThat(changelog.mostRuns).as("runs").isLessThan(CompactedLog.MOST_RUNS);
        assertThat(changelog.metrics().count("numberOfCompactionFailures")).isPositive();
        assertThat(LogFixture.filesOf(changelog.checkpoint())).contains(damaged.toString());
    }

    @Test
    void threadThatCannotBeStarted_failsOneCompaction() throws Exception {
        changelog.open("until-success");
        changelog.compactions.failNext(new InternalError("unable to create native thread"));
        changelog.checkpoints(CompactedLog.CHECKPOINTS / 5);
        assertThat(changelog.metrics().count("numberOfCompactionFailures")).isEqualTo(1);
        assertThat(changelog.mostRuns).as("runs").isLessThan(CompactedLog.MOST_RUNS);
    }
}
