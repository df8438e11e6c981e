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

package dev.dstl.log.upload;

import static dev.dstl.log.testing.LogFixture.append;
import static dev.dstl.log.testing.LogFixture.handleOf;
import static dev.dstl.log.testing.LogFixture.persistAll;
import static dev.dstl.log.testing.LogFixture.texts;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.dstl.log.api.StoreException;
import dev.dstl.log.api.TestRecord;
import dev.dstl.log.config.DstlOptions;
import dev.dstl.log.segment.EncodedSegment;
import dev.dstl.log.segment.SegmentCodec;
import dev.dstl.log.segment.SegmentEncoder;
import dev.dstl.log.segment.TestSegments;
import dev.dstl.log.testing.LogFixture;
import dev.dstl.log.testing.ManualExecutor;
import dev.dstl.log.testing.WriteFault;
import dev.dstl.log.writer.DstlLogWriter;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.core.fs.FSDataOutputStream;
import org.apache.flink.core.fs.FileSystem.WriteMode;
import org.apache.flink.core.fs.Path;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Failed attempts. */
class FailingUploadTest {

    private LogFixture log;
    private DstlLogWriter writer;

    @AfterEach
    void close() {
        writer.close();
        assertThat(log.budget().reservedBytes()).as("bytes in flight").isZero();
        log.close();
    }

    @ParameterizedTest
    @EnumSource(
            value = WriteFault.class,
            names = {"FAIL_ON_CREATE", "FAIL_ON_WRITE", "FAIL_ON_CLOSE", "FAIL_ON_CLOSE_BUT_STORE"})
    void failedAttempt_isNoCheckpoint_butIsTriedAgainAndLeavesNothingBehind(WriteFault fault)
            throws Exception {
        open("until-success");
        log.store().failNext(fault);
        append(writer, "a");
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> persist = persistAll(writer);
        log.passLinger();
        assertThat(persist).as("nothing is durable yet").isNotDone();
        assertThat(log.store().segments()).isEmpty();

        log.timers().advanceMillis(500);

        assertThat(texts(handleOf(persist))).containsExactly("a");
        assertThat(log.store().segments()).hasSize(1);
    }

    @Test
    void fileThatArrivesAfterItsAttemptFailedAndItWasDeleted_isDeletedAgain() throws Exception {
        open("until-success");
        List<Path> attempts = new ArrayList<>();
        log.store()
                .failBy(
                        path -> {
                            attempts.add(path);
                            return attempts.size() == 1
                                    ? WriteFault.FAIL_ON_CLOSE
                                    : WriteFault.NONE;
                        });
        append(writer, "a");
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> persist = persistAll(writer);
        log.timers().advanceMillis(1_000);
        assertThat(log.store().segments()).hasSize(1);

        Path late = attempts.get(0);
        try (FSDataOutputStream out = late.getFileSystem().create(late, WriteMode.OVERWRITE)) {
            out.write(1);
        }
        assertThat(log.store().segments()).hasSize(2);
        log.timers().advanceMillis(60_000);

        assertThat(log.store().segments()).hasSize(1);
        assertThat(texts(handleOf(persist))).containsExactly("a");
    }

    @Test
    void closeThatThrowsAfterBytesWereHandedOver_isAFailedUpload_neverACompletedCheckpoint() {
        open("none");
        log.store().failNext(WriteFault.FAIL_ON_CLOSE);
        append(writer, "a");
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> persist = persistAll(writer);
        log.passLinger();
        assertThatThrownBy(persist::get)
                .cause()
                .isInstanceOf(IOException.class)
                .hasMessageStartingWith("Uploading state changes failed 1 times, the last time as ")
                .hasMessageContaining("IOException: Connection reset while closing")
                .hasMessageEndingWith(
                        "They are kept and uploaded later, so the next checkpoint can succeed."
                                + " Check the store;"
                                + " 'state.changelog.dstl.dfs.upload.retry-policy: until-success'"
                                + " lets checkpoints wait for it instead.");
    }

    @Test
    void outage_delaysTheCheckpoint_andLosesNothing() throws Exception {
        open("until-success");
        log.store().failAlways(WriteFault.FAIL_ON_CREATE);
        append(writer, "a");
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> during = persistAll(writer);
        log.timers().advanceMillis(600_000);
        append(writer, "b");
        assertThat(during).isNotDone();

        log.store().failAlways(WriteFault.NONE);
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> after = persistAll(writer);
        log.timers().advanceMillis(10_000);

        assertThat(texts(handleOf(during))).containsExactly("a");
        assertThat(texts(handleOf(after))).containsExactly("a", "b");
        assertThat(log.store().segments()).hasSize(2);
    }

    @Test
    void fixedPolicy_declinesAfterThatManyFailures_andTheNextCheckpointContainsEverything()
            throws Exception {
        open("fixed");
        log.store()
                .failNext(
                        WriteFault.FAIL_ON_CLOSE,
                        WriteFault.FAIL_ON_CLOSE,
                        WriteFault.FAIL_ON_CLOSE);
        append(writer, "a");
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> declined = persistAll(writer);
        log.timers().advanceMillis(10 + 499);
        assertThat(declined).isNotDone();
        log.timers().advanceMillis(501);
        assertThatThrownBy(declined::get)
                .cause()
                .hasMessageStartingWith("Uploading state changes failed 3 times");
        assertThat(log.budget().reservedBytes()).as("the data is kept").isPositive();

        append(writer, "b");
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> next = persistAll(writer);
        log.passLinger();
        assertThat(texts(handleOf(next))).containsExactly("a", "b");
        assertThat(log.store().segments()).hasSize(2);
    }

    @Test
    void declinedChanges_areUploadedInTheBackgroundEvenWithoutAnotherCheckpoint() throws Exception {
        open("none");
        log.store().failNext(WriteFault.FAIL_ON_WRITE);
        append(writer, "a");
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> declined = persistAll(writer);
        log.passLinger();
        assertThatThrownBy(declined::get).hasCauseInstanceOf(IOException.class);

        log.timers().advanceMillis(10_000);

        assertThat(log.budget().reservedBytes()).isZero();
        assertThat(log.store().segments()).hasSize(1);
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> next = persistAll(writer);
        assertThat(texts(handleOf(next))).containsExactly("a");
    }

    @Test
    void declinedCheckpoint_isDeclinedForAllTasksInTheSegment_butFailsNoneOfThem()
            throws Exception {
        open("none");
        DstlLogWriter other = log.writer();
        log.store().failNext(WriteFault.FAIL_ON_CLOSE);
        append(writer, "a");
        append(other, "b");
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> declined = persistAll(writer);
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> alsoDeclined = persistAll(other);
        log.passLinger();
        assertThat(declined).isDone();
        assertThat(alsoDeclined).isDone();

        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> next = persistAll(writer);
        assertThat(texts(handleOf(next))).containsExactly("a");
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> alsoNext = persistAll(other);
        assertThat(texts(handleOf(alsoNext))).containsExactly("b");
        other.close();
    }

    @ParameterizedTest
    @ValueSource(strings = {"until-success", "fixed"})
    void failureThatCannotSayWhatHasHappened_isTriedAgain_likeAnyOther(String policy)
            throws Exception {
        open(policy);
        int[] failures = {1};
        log.store()
                .failBy(
                        path -> {
                            if (failures[0]-- > 0) {
                                throw new SpeechlessException();
                            }
                            return WriteFault.NONE;
                        });
        append(writer, "a");
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> persist = persistAll(writer);
        log.passLinger();
        assertThat(persist).isNotDone();

        log.timers().advanceMillis(500);

        assertThat(texts(handleOf(persist))).containsExactly("a");
        assertThat(log.metrics().count("numberOfUploadFailures")).isEqualTo(1);
    }

    @Test
    void retryThatCannotBeScheduled_isMadeWhenACheckpointNeedsIt() throws Exception {
        log =
                LogFixture.onCallingThread(
                        new Configuration()
                                .set(DstlOptions.RETRY_POLICY, "fixed")
                                .set(DstlOptions.NEXT_ATTEMPT_DELAY, Duration.ofMillis(700)));
        writer = log.writer();
        log.store().failNext(WriteFault.FAIL_ON_CLOSE);
        log.timers().beforeNext(700, FailingUploadTest::noMemory);
        append(writer, "a");
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> persist = persistAll(writer);
        log.timers().advanceMillis(60_000);
        assertThat(persist).isNotDone();

        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> next = persistAll(writer);

        assertThat(texts(handleOf(next))).containsExactly("a");
        assertThat(texts(handleOf(persist))).containsExactly("a");
    }

    @Test
    void suspensionThatCannotBeTimed_declinesTheCheckpointAllTheSame() throws Exception {
        open("none");
        log.store().failNext(WriteFault.FAIL_ON_CLOSE);
        log.timers().beforeNext(10_000, FailingUploadTest::noMemory);
        append(writer, "a");
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> declined = persistAll(writer);
        log.passLinger();
        assertThatThrownBy(declined::get).hasCauseInstanceOf(IOException.class);

        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> next = persistAll(writer);
        assertThat(texts(handleOf(next))).containsExactly("a");
    }

    @Test
    void checkpointThatResumesASuspendedUpload_isNotDeclinedForTheFailureBefore() throws Exception {
        ManualExecutor threads = new ManualExecutor();
        log = LogFixture.on(threads, new Configuration().set(DstlOptions.RETRY_POLICY, "none"));
        writer = log.writer();
        List<Future<SnapshotResult<ChangelogStateHandleStreamImpl>>> resuming = new ArrayList<>();
        log.timers().beforeNext(10_000, () -> resuming.add(persistAll(writer)));
        log.store().failNext(WriteFault.FAIL_ON_CLOSE);
        append(writer, "a");
        writer.nextSequenceNumber();
        log.passLinger();

        threads.runAll();

        assertThat(resuming).hasSize(1);
        assertThat(texts(handleOf(resuming.get(0)))).containsExactly("a");
    }

    private static void noMemory() {
        throw new OutOfMemoryError("Java heap space");
    }

    @Test
    void segmentNobodyNeedsAnyMore_isNotTriedAgain() {
        open("until-success");
        log.store().failAlways(WriteFault.FAIL_ON_CREATE);
        append(writer, "a");
        writer.nextSequenceNumber();
        log.passLinger();
        assertThat(log.store().requests("create")).isEqualTo(1);
        writer.truncate(writer.nextSequenceNumber());
        log.timers().advanceMillis(60_000);
        assertThat(log.store().requests("create")).isEqualTo(1);
    }

    @Test
    void segmentThatCannotBeEncoded_declinesAtOnceWithTheCause_andKeepsItsBatches() {
        open("until-success");
        BrokenSource source = new BrokenSource();
        SegmentUpload upload = log.uploader().upload(source);
        upload.ensureRunning();
        assertThat(source.events)
                .containsExactly("encode", "suspended: IllegalStateException: broken encoder");
        upload.ensureRunning();
        assertThat(source.events)
                .hasSize(4)
                .endsWith("encode", "suspended: IllegalStateException: broken encoder");
        upload.abandon();
        assertThat(source.events).hasSize(5).endsWith("discard");
    }

    @Test
    void segmentWhoseReportCannotBePrepared_isUploadedAgain_andTheFirstFileDeleted() {
        open("until-success");
        List<Path> refused = new ArrayList<>();
        List<Path> durable = new ArrayList<>();
        SegmentSource source =
                new SegmentSource() {
                    @Override
                    public EncodedSegment encode(SegmentEncoder encoder) {
                        return TestSegments.encode(
                                SegmentCodec.NONE, List.of(TestRecord.opaque(1, "a")));
                    }

                    @Override
                    public void discard() {
                        throw new IllegalStateException("It is needed");
                    }

                    @Override
                    public Runnable durableAs(Path file, EncodedSegment segment) {
                        if (refused.isEmpty()) {
                            refused.add(file);
                            noMemory();
                        }
                        return () -> durable.add(file);
                    }

                    @Override
                    public void suspended(IOException cause) {
                        throw new IllegalStateException(cause);
                    }
                };

        log.uploader().upload(source).ensureRunning();
        log.timers().advanceMillis(1_000);

        assertThat(refused).hasSize(1);
        assertThat(durable).hasSize(1).doesNotContainAnyElementsOf(refused);
        assertThat(log.store().segments()).isEqualTo(durable);
    }

    private void open(String policy) {
        log = LogFixture.onCallingThread(new Configuration().set(DstlOptions.RETRY_POLICY, policy));
        writer = log.writer();
    }

    private static final class SpeechlessException extends RuntimeException {

        private static final long serialVersionUID = 1L;

        @Override
        public String getMessage() {
            throw new IllegalStateException("no message");
        }
    }

    private static final class BrokenSource implements SegmentSource {
        private final List<String> events = new ArrayList<>();

        @Override
        public EncodedSegment encode(SegmentEncoder encoder) {
            events.add("encode");
            throw new IllegalStateException("broken encoder");
        }

        @Override
        public void discard() {
            events.add("discard");
        }

        @Override
        public Runnable durableAs(Path file, EncodedSegment segment) {
            return () -> events.add("durable");
        }

        @Override
        public void suspended(IOException cause) {
            assertThat(cause)
                    .as("no failure of the store, for which Flink would not restart the job")
                    .isNotInstanceOf(StoreException.class);
            String said = "IllegalStateException: broken encoder";
            events.add("suspended: " + (cause.getMessage().contains(said) ? said : cause));
        }
    }
}
