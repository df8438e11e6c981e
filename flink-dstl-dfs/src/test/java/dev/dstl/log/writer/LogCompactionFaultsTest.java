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
import dev.dstl.log.config.DstlOptions;
import dev.dstl.log.segment.TestSegments;
import dev.dstl.log.testing.LogFixture;
import dev.dstl.log.testing.LogLines;
import dev.dstl.log.testing.ManualExecutor;
import dev.dstl.log.testing.ThreadPerTask;
import dev.dstl.log.testing.WriteFault;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.core.fs.FSDataOutputStream;
import org.apache.flink.core.fs.FileSystem.WriteMode;
import org.apache.flink.core.fs.Path;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;
import org.apache.flink.runtime.state.changelog.SequenceNumber;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The number of runs of a changelog stays bounded whatever the store does to compactions. */
class LogCompactionFaultsTest {

    /** Bound promised in docs/operations.md. */
    private static final int MOST_RUNS = 64;

    private static final int CHECKPOINTS = 1_500;
    private static final long INTERVAL_MILLIS = 100;

    private final ManualExecutor executor = new ManualExecutor();
    private final ThreadPerTask compactions = new ThreadPerTask();
    private LogFixture log;
    private DstlLogWriter writer;
    private final List<String> expected = new ArrayList<>();
    private SequenceNumber base;
    private int checkpoints;
    private int most;

    private void open(String retryPolicy) {
        log =
                LogFixture.withCompactionsOn(
                        compactions,
                        executor,
                        new Configuration()
                                .set(DstlOptions.RETRY_POLICY, retryPolicy)
                                .set(DstlOptions.INLINE_THRESHOLD, MemorySize.ZERO));
        compactions.mayHangIn(log.store());
        writer = log.writer();
        writer.addCompactionBoundary();
        base = writer.initialSequenceNumber();
    }

    @AfterEach
    void close() {
        writer.close();
        log.store().releaseHanging();
        compactions.awaitEnd();
        executor.runAll();
        assertThat(log.budget().reservedBytes()).as("bytes in flight").isZero();
        assertThat(log.metrics().value("hangingCompactionReads")).isEqualTo(0);
        log.close();
    }

    @Test
    void readThatHangsForEver_leavesItsPartAlone_andCompactsAllOthers() throws Exception {
        open("until-success");
        checkpoints(5);
        Path hanging = log.store().segments().get(3);
        log.store()
                .beforeReads(
                        file -> {
                            if (file.equals(hanging)) {
                                log.store().hangRead();
                            }
                        });
        checkpoints(CHECKPOINTS);
        assertThat(most).as("runs").isLessThan(MOST_RUNS);
        assertThat(log.metrics().count("numberOfCompactions")).isGreaterThan(CHECKPOINTS / 20);
        assertThat(log.metrics().count("numberOfCompactionFailures")).isEqualTo(1);
        assertThat(log.metrics().value("hangingCompactionReads")).isEqualTo(1);
        assertThat(compactions.alive()).as("threads").isEqualTo(1);
        log.store().beforeReads(file -> {});
        log.store().releaseHanging();
        compactions.awaitEnd();
        assertThat(texts(checkpoint())).isEqualTo(expected);
        checkpoints(200);
        assertThat(log.metrics().value("hangingCompactionReads")).isEqualTo(0);
        assertThat(texts(checkpoint())).isEqualTo(expected);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 17, 40, 100})
    void oneReadThatHangs_whicheverItIs_isGivenUp_andItsPartCompactedLater(int number)
            throws Exception {
        open("until-success");
        AtomicInteger reads = new AtomicInteger();
        log.store()
                .beforeReads(
                        file -> {
                            if (reads.incrementAndGet() == number) {
                                log.store().hangRead();
                            }
                        });
        checkpoints(CHECKPOINTS / 3);
        assertThat(most).as("runs").isLessThan(MOST_RUNS);
        assertThat(log.metrics().count("numberOfCompactionFailures")).isEqualTo(1);
        log.store().releaseHanging();
        compactions.awaitEnd();
        checkpoints(CHECKPOINTS / 3);
        assertThat(most).as("runs").isLessThan(MOST_RUNS);
        assertThat(log.metrics().value("hangingCompactionReads")).isEqualTo(0);
        assertThat(texts(checkpoint())).isEqualTo(expected);
    }

    @Test
    void readThatHeedsItsInterrupt_leavesNoThread() throws Exception {
        open("until-success");
        AtomicInteger reads = new AtomicInteger();
        log.store()
                .beforeReads(
                        file -> {
                            if (reads.incrementAndGet() == 5) {
                                log.store().hangReadUntilInterrupted();
                            }
                        });
        checkpoints(CHECKPOINTS / 5);
        compactions.awaitEnd();
        assertThat(most).as("runs").isLessThan(MOST_RUNS);
        assertThat(log.metrics().count("numberOfCompactionFailures")).isEqualTo(1);
        assertThat(texts(checkpoint())).isEqualTo(expected);
    }

    @Test
    void storeThatAnswersNoRead_holdsFewThreads_andCompactsAgainWhenItAnswers() throws Exception {
        open("until-success");
        AtomicBoolean silent = new AtomicBoolean(true);
        log.store()
                .beforeReads(
                        file -> {
                            if (silent.get()) {
                                log.store().hangRead();
                            }
                        });
        checkpoints(CHECKPOINTS);
        assertThat(compactions.alive()).as("threads").isLessThanOrEqualTo(Compactor.MAX_HANGING);
        assertThat(log.metrics().value("hangingCompactionReads")).isEqualTo(Compactor.MAX_HANGING);
        silent.set(false);
        log.store().releaseHanging();
        compactions.awaitEnd();
        checkpoints(CHECKPOINTS);
        most = 0;
        checkpoints(10);
        assertThat(most).as("runs").isLessThan(MOST_RUNS);
        assertThat(texts(checkpoint())).isEqualTo(expected);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 17, 40})
    void oneStreamThatNeverCloses_isGivenUp_andItsPartCompactedLater(int number) throws Exception {
        open("until-success");
        AtomicInteger closes = new AtomicInteger();
        log.store()
                .whenClosing(
                        file -> {
                            if (closes.incrementAndGet() == number) {
                                log.store().hangRead();
                            }
                        });
        checkpoints(CHECKPOINTS / 3);
        assertThat(most).as("runs").isLessThan(MOST_RUNS);
        assertThat(log.metrics().count("numberOfCompactionFailures")).isEqualTo(1);
        assertThat(log.metrics().value("hangingCompactionReads")).isEqualTo(1);
        assertThat(compactions.alive()).as("threads").isEqualTo(1);
        log.store().releaseHanging();
        compactions.awaitEnd();
        checkpoints(CHECKPOINTS / 3);
        assertThat(most).as("runs").isLessThan(MOST_RUNS);
        assertThat(log.metrics().value("hangingCompactionReads")).isEqualTo(0);
        assertThat(texts(checkpoint())).isEqualTo(expected);
    }

    @Test
    void storeThatClosesNoStream_holdsFewThreads_andCompactsAgainWhenItDoes() throws Exception {
        open("until-success");
        AtomicBoolean silent = new AtomicBoolean(true);
        log.store()
                .whenClosing(
                        file -> {
                            if (silent.get()) {
                                log.store().hangRead();
                            }
                        });
        try (LogLines lines = new LogLines()) {
            checkpoints(CHECKPOINTS);
            assertThat(lines.containing("reads of changelog runs")).hasSize(1);
        }
        assertThat(compactions.alive()).as("threads").isLessThanOrEqualTo(Compactor.MAX_HANGING);
        assertThat(log.metrics().value("hangingCompactionReads")).isEqualTo(Compactor.MAX_HANGING);
        silent.set(false);
        log.store().releaseHanging();
        compactions.awaitEnd();
        checkpoints(CHECKPOINTS);
        most = 0;
        checkpoints(10);
        assertThat(most).as("runs").isLessThan(MOST_RUNS);
        assertThat(texts(checkpoint())).isEqualTo(expected);
    }

    /** Any call may fail; a request consists of several. */
    @ParameterizedTest
    @CsvSource({"0.05, 1", "0.2, 2", "0.2, 3"})
    void readsThatFailNowAndThen_areTriedAgain(double rate, long seed) throws Exception {
        open("until-success");
        Random random = new Random(seed);
        log.store()
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
        open("until-success");
        Random random = new Random(seed);
        AtomicInteger opens = new AtomicInteger();
        AtomicBoolean doomed = new AtomicBoolean();
        log.store()
                .beforeReads(
                        file -> {
                            boolean opening = log.store().requests("open") > opens.get();
                            opens.set(log.store().requests("open"));
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
        checkpoints(CHECKPOINTS);
        log.store().beforeReads(file -> {});
        assertThat(most).as("runs").isLessThan(MOST_RUNS);
        assertThat(log.metrics().count("numberOfReadRetries")).isPositive();
        assertThat(texts(checkpoint())).isEqualTo(expected);
    }

    @Test
    void compactionThatFailed_isTriedAgain_withoutACheckpoint() throws Exception {
        open("until-success");
        log.store()
                .beforeReads(
                        file -> {
                            throw new IOException("Access denied");
                        });
        checkpoints(60);
        assertThat(log.metrics().count("numberOfCompactions")).isZero();
        log.store().beforeReads(file -> {});
        for (int second = 0; second < 600; second++) {
            log.timers().advanceMillis(1_000);
            compactions.awaitEnd();
            executor.runAll();
        }
        assertThat(log.metrics().count("numberOfCompactions")).isGreaterThan(2);
        most = 0;
        assertThat(texts(checkpoint())).isEqualTo(expected);
        assertThat(most).as("runs").isLessThan(20);
    }

    @Test
    void compactionThatFailed_andWhoseRetryCannotBeScheduled_isTriedAgainWithACheckpoint()
            throws Exception {
        open("until-success");
        AtomicBoolean broken = new AtomicBoolean(true);
        log.store()
                .beforeReads(
                        file -> {
                            if (broken.get()) {
                                throw new IOException("Access denied");
                            }
                        });
        log.timers()
                .beforeNext(
                        2_000,
                        () -> {
                            broken.set(false);
                            throw new IllegalStateException("refused by the test");
                        });
        checkpoints(CHECKPOINTS / 5);
        assertThat(broken).isFalse();
        assertThat(log.metrics().count("numberOfCompactionFailures")).isEqualTo(1);
        assertThat(most).as("runs").isLessThan(MOST_RUNS);
        assertThat(texts(checkpoint())).isEqualTo(expected);
    }

    @Test
    void partsThatCannotBeReadForAWhile_areCompactedLater() throws Exception {
        open("until-success");
        checkpoints(3);
        List<Path> unreadable = log.store().segments();
        log.store()
                .beforeReads(
                        file -> {
                            if (unreadable.contains(file)) {
                                throw new IOException("Access denied");
                            }
                        });
        checkpoints(300);
        assertThat(most).as("runs").isLessThan(MOST_RUNS);
        assertThat(log.metrics().count("numberOfCompactionFailures")).isGreaterThan(3);
        log.store().beforeReads(file -> {});
        checkpoints(1_000);
        assertThat(LogFixture.filesOf(checkpoint()))
                .doesNotContain(
                        unreadable.get(0).toString(),
                        unreadable.get(1).toString(),
                        unreadable.get(2).toString());
        assertThat(most).as("runs").isLessThan(MOST_RUNS);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 30})
    void damagedSegment_isLeftAlone_andAllOthersAreCompacted(int keptBytes) throws Exception {
        open("until-success");
        checkpoints(3);
        verifyLeftAlone(log.store().segments().get(1), new byte[keptBytes]);
    }

    /** What a defective version wrote is as damaged as what the store has lost. */
    @Test
    void segmentWithWrongContent_isLeftAlone_andAllOthersAreCompacted() throws Exception {
        open("until-success");
        checkpoints(3);
        Path wrong = log.store().segments().get(1);
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

        checkpoints(300);

        assertThat(most).as("runs").isLessThan(MOST_RUNS);
        assertThat(log.metrics().count("numberOfCompactionFailures")).isPositive();
        assertThat(LogFixture.filesOf(checkpoint())).contains(damaged.toString());
    }

    @ParameterizedTest
    @ValueSource(strings = {"none", "fixed"})
    void uploadsOfCompactionsThatAreSuspended_areBegunAgain(String retryPolicy) throws Exception {
        open(retryPolicy);
        AtomicInteger writes = new AtomicInteger();
        AtomicBoolean compacting = new AtomicBoolean();
        log.store()
                .failBy(
                        path ->
                                compacting.get() && writes.incrementAndGet() % 13 != 0
                                        ? WriteFault.FAIL_ON_CLOSE
                                        : WriteFault.NONE);
        for (int i = 0; i < CHECKPOINTS / 3; i++) {
            persistAndUpload();
            compacting.set(true);
            afterwards();
            compacting.set(false);
        }
        assertThat(log.metrics().count("numberOfCompactionFailures")).isPositive();
        assertThat(most).as("runs").isLessThan(MOST_RUNS);
        assertThat(texts(checkpoint())).isEqualTo(expected);
    }

    /** Like an upload on a dead connection. */
    @Test
    void uploadOfACompactionThatNeverEnds_isGivenUp() throws Exception {
        open("until-success");
        boolean lost = false;
        for (int i = 0; i < CHECKPOINTS / 5; i++) {
            persistAndUpload();
            if (!lost && i > 20 && executor.size() > 0) {
                lost = !executor.takeAll().isEmpty();
            }
            afterwards();
        }
        assertThat(lost).isTrue();
        assertThat(log.metrics().count("numberOfCompactionFailures")).isEqualTo(1);
        assertThat(most).as("runs").isLessThan(MOST_RUNS);
        assertThat(texts(checkpoint())).isEqualTo(expected);
    }

    @Test
    void taskThatRestartsDuringACompactionThatHangs_compactsFromTheBeginning() throws Exception {
        open("until-success");
        AtomicBoolean hung = new AtomicBoolean();
        log.store()
                .beforeReads(
                        file -> {
                            if (!hung.getAndSet(true)) {
                                log.store().hangRead();
                            }
                        });
        while (log.store().hangingReads() == 0) {
            checkpoint();
        }
        writer.close();
        writer = log.writer();
        writer.addCompactionBoundary();
        expected.clear();
        most = 0;
        checkpoints(CHECKPOINTS / 5);
        assertThat(most).as("runs").isLessThan(MOST_RUNS);
        assertThat(log.metrics().count("numberOfCompactions")).isPositive();
        assertThat(texts(checkpoint())).isEqualTo(expected);
    }

    @Test
    void threadThatCannotBeStarted_failsOneCompaction() throws Exception {
        open("until-success");
        compactions.failNext(new InternalError("unable to create native thread"));
        checkpoints(CHECKPOINTS / 5);
        assertThat(log.metrics().count("numberOfCompactionFailures")).isEqualTo(1);
        assertThat(most).as("runs").isLessThan(MOST_RUNS);
    }

    @Test
    void materializationsThatFail_leaveNothingThatCompactionsDoNotCross() throws Exception {
        open("until-success");
        for (int i = 0; i < CHECKPOINTS / 3; i++) {
            SequenceNumber at = writer.nextSequenceNumber();
            writer.addCompactionBoundary();
            checkpoints(3);
            writer.removeCompactionBoundary(at);
        }
        assertThat(most).as("runs").isLessThan(MOST_RUNS);
        assertThat(texts(checkpoint())).isEqualTo(expected);
    }

    @Test
    void materializationThatFailsWhereABaseBegins_leavesThePlaceMarked() throws Exception {
        open("until-success");
        checkpoints(3);
        base = writer.nextSequenceNumber();
        writer.addCompactionBoundary();
        writer.addCompactionBoundary();
        writer.removeCompactionBoundary(base);
        expected.clear();
        checkpoints(CHECKPOINTS / 10);
        assertThat(texts(checkpoint())).isEqualTo(expected);
        writer.truncate(base);
        assertThat(texts(checkpoint())).isEqualTo(expected);
    }

    private void checkpoints(int count) throws Exception {
        for (int i = 0; i < count; i++) {
            checkpoint();
        }
    }

    private ChangelogStateHandleStreamImpl checkpoint() throws Exception {
        ChangelogStateHandleStreamImpl handle = persistAndUpload();
        afterwards();
        return handle;
    }

    private ChangelogStateHandleStreamImpl persistAndUpload() throws Exception {
        String text = "change " + checkpoints;
        LogFixture.append(writer, text);
        expected.add(text);
        CompletableFuture<SnapshotResult<ChangelogStateHandleStreamImpl>> persist =
                writer.persist(base, ++checkpoints);
        log.passLinger();
        while (!persist.isDone()) {
            assertThat(executor.size()).isPositive();
            executor.runNext();
        }
        ChangelogStateHandleStreamImpl handle = LogFixture.handleOf(persist);
        most = Math.max(most, handle.getHandlesAndOffsets().size());
        return handle;
    }

    /** Runs what happens until the next checkpoint. */
    private void afterwards() {
        executor.runAll();
        log.timers().advanceMillis(INTERVAL_MILLIS);
        executor.runAll();
    }
}
