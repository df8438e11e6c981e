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

import dev.dstl.log.compaction.Compactor;
import dev.dstl.log.testing.LogLines;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.flink.core.fs.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The number of runs of a changelog stays bounded while reads of compactions hang. */
class CompactionHangingReadsTest {

    private final CompactedLog changelog = new CompactedLog();

    @AfterEach
    void close() {
        changelog.close();
    }

    @Test
    void readThatHangsForEver_leavesItsPartAlone_andCompactsAllOthers() throws Exception {
        changelog.open("until-success");
        changelog.checkpoints(5);
        Path hanging = changelog.store().segments().get(3);
        changelog
                .store()
                .beforeReads(
                        file -> {
                            if (file.equals(hanging)) {
                                changelog.store().hangRead();
                            }
                        });
        changelog.checkpoints(CompactedLog.CHECKPOINTS);
        assertThat(changelog.mostRuns).as("runs").isLessThan(CompactedLog.MOST_RUNS);
        assertThat(changelog.metrics().count("numberOfCompactions"))
                .isGreaterThan(CompactedLog.CHECKPOINTS / 20);
        assertThat(changelog.metrics().count("numberOfCompactionFailures")).isEqualTo(1);
        assertThat(changelog.metrics().value("hangingCompactionReads")).isEqualTo(1);
        assertThat(changelog.compactions.alive()).as("threads").isEqualTo(1);
        changelog.store().beforeReads(file -> {});
        changelog.store().releaseHanging();
        changelog.compactions.awaitEnd();
        assertThat(texts(changelog.checkpoint())).isEqualTo(changelog.expected);
        changelog.checkpoints(200);
        assertThat(changelog.metrics().value("hangingCompactionReads")).isEqualTo(0);
        assertThat(texts(changelog.checkpoint())).isEqualTo(changelog.expected);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 17, 40, 100})
    void oneReadThatHangs_whicheverItIs_isGivenUp_andItsPartCompactedLater(int number)
            throws Exception {
        changelog.open("until-success");
        AtomicInteger reads = new AtomicInteger();
        changelog
                .store()
                .beforeReads(
                        file -> {
                            if (reads.incrementAndGet() == number) {
                                changelog.store().hangRead();
                            }
                        });
        changelog.checkpoints(CompactedLog.CHECKPOINTS / 3);
        assertThat(changelog.mostRuns).as("runs").isLessThan(CompactedLog.MOST_RUNS);
        assertThat(changelog.metrics().count("numberOfCompactionFailures")).isEqualTo(1);
        changelog.store().releaseHanging();
        changelog.compactions.awaitEnd();
        changelog.checkpoints(CompactedLog.CHECKPOINTS / 3);
        assertThat(changelog.mostRuns).as("runs").isLessThan(CompactedLog.MOST_RUNS);
        assertThat(changelog.metrics().value("hangingCompactionReads")).isEqualTo(0);
        assertThat(texts(changelog.checkpoint())).isEqualTo(changelog.expected);
    }

    @Test
    void readThatHeedsItsInterrupt_leavesNoThread() throws Exception {
        changelog.open("until-success");
        AtomicInteger reads = new AtomicInteger();
        changelog
                .store()
                .beforeReads(
                        file -> {
                            if (reads.incrementAndGet() == 5) {
                                changelog.store().hangReadUntilInterrupted();
                            }
                        });
        changelog.checkpoints(CompactedLog.CHECKPOINTS / 5);
        changelog.compactions.awaitEnd();
        assertThat(changelog.mostRuns).as("runs").isLessThan(CompactedLog.MOST_RUNS);
        assertThat(changelog.metrics().count("numberOfCompactionFailures")).isEqualTo(1);
        assertThat(texts(changelog.checkpoint())).isEqualTo(changelog.expected);
    }

    @Test
    void storeThatAnswersNoRead_holdsFewThreads_andCompactsAgainWhenItAnswers() throws Exception {
        changelog.open("until-success");
        AtomicBoolean silent = new AtomicBoolean(true);
        changelog
                .store()
                .beforeReads(
                        file -> {
                            if (silent.get()) {
                                changelog.store().hangRead();
                            }
                        });
        changelog.checkpoints(CompactedLog.CHECKPOINTS);
        assertFewThreadsUntil(() -> silent.set(false));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 17, 40})
    void oneStreamThatNeverCloses_isGivenUp_andItsPartCompactedLater(int number) throws Exception {
        changelog.open("until-success");
        AtomicInteger closes = new AtomicInteger();
        changelog
                .store()
                .whenClosing(
                        file -> {
                            if (closes.incrementAndGet() == number) {
                                changelog.store().hangRead();
                            }
                        });
        changelog.checkpoints(CompactedLog.CHECKPOINTS / 3);
        assertThat(changelog.mostRuns).as("runs").isLessThan(CompactedLog.MOST_RUNS);
        assertThat(changelog.metrics().count("numberOfCompactionFailures")).isEqualTo(1);
        assertThat(changelog.metrics().value("hangingCompactionReads")).isEqualTo(1);
        assertThat(changelog.compactions.alive()).as("threads").isEqualTo(1);
        changelog.store().releaseHanging();
        changelog.compactions.awaitEnd();
        changelog.checkpoints(CompactedLog.CHECKPOINTS / 3);
        assertThat(changelog.mostRuns).as("runs").isLessThan(CompactedLog.MOST_RUNS);
        assertThat(changelog.metrics().value("hangingCompactionReads")).isEqualTo(0);
        assertThat(texts(changelog.checkpoint())).isEqualTo(changelog.expected);
    }

    @Test
    void storeThatClosesNoStream_holdsFewThreads_andCompactsAgainWhenItDoes() throws Exception {
        changelog.open("until-success");
        AtomicBoolean silent = new AtomicBoolean(true);
        changelog
                .store()
                .whenClosing(
                        file -> {
                            if (silent.get()) {
                                changelog.store().hangRead();
                            }
                        });
        try (LogLines lines = new LogLines()) {
            changelog.checkpoints(CompactedLog.CHECKPOINTS);
            assertThat(lines.containing("reads of changelog runs")).hasSize(1);
        }
        assertFewThreadsUntil(() -> silent.set(false));
    }

    @Test
    void taskThatRestartsDuringACompactionThatHangs_compactsFromTheBeginning() throws Exception {
        changelog.open("until-success");
        AtomicBoolean hung = new AtomicBoolean();
        changelog
                .store()
                .beforeReads(
                        file -> {
                            if (!hung.getAndSet(true)) {
                                changelog.store().hangRead();
                            }
                        });
        while (changelog.store().hangingReads() == 0) {
            changelog.checkpoint();
        }
        changelog.restart();
        changelog.mostRuns = 0;
        changelog.checkpoints(CompactedLog.CHECKPOINTS / 5);
        assertThat(changelog.mostRuns).as("runs").isLessThan(CompactedLog.MOST_RUNS);
        assertThat(changelog.metrics().count("numberOfCompactions")).isPositive();
        assertThat(texts(changelog.checkpoint())).isEqualTo(changelog.expected);
    }

    /** Verifies that compactions wait for the store, and go on when it answers again. */
    private void assertFewThreadsUntil(Runnable storeAnswers) throws Exception {
        assertThat(changelog.compactions.alive())
                .as("threads")
                .isLessThanOrEqualTo(Compactor.MAX_HANGING);
        assertThat(changelog.metrics().value("hangingCompactionReads"))
                .isEqualTo(Compactor.MAX_HANGING);
        storeAnswers.run();
        changelog.store().releaseHanging();
        changelog.compactions.awaitEnd();
        changelog.checkpoints(CompactedLog.CHECKPOINTS);
        changelog.mostRuns = 0;
        changelog.checkpoints(10);
        assertThat(changelog.mostRuns).as("runs").isLessThan(CompactedLog.MOST_RUNS);
        assertThat(texts(changelog.checkpoint())).isEqualTo(changelog.expected);
    }
}
