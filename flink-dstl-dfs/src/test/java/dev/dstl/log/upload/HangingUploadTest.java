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
import static dev.dstl.log.testing.LogFixture.filesOf;
import static dev.dstl.log.testing.LogFixture.handleOf;
import static dev.dstl.log.testing.LogFixture.persistAll;
import static dev.dstl.log.testing.LogFixture.texts;
import static org.assertj.core.api.Assertions.assertThat;

import dev.dstl.log.config.DstlOptions;
import dev.dstl.log.testing.LogFixture;
import dev.dstl.log.testing.WriteFault;
import dev.dstl.log.writer.DstlLogWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Hanging attempts. Uploads have real threads here, time is simulated. */
@Timeout(60)
class HangingUploadTest {

    private static final long TIMEOUT_MILLIS = 1_000;

    private LogFixture log;
    private DstlLogWriter writer;

    @AfterEach
    void close() {
        writer.close();
        assertThat(log.budget().reservedBytes()).as("bytes in flight").isZero();
        log.close();
    }

    @Test
    void slowAttempt_getsASecondBesideIt_theFirstSuccessWins_theLosersFileIsDeleted()
            throws Exception {
        open(new Configuration());
        log.store().failNext(WriteFault.HANG, WriteFault.NONE);
        append(writer, "a");
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> persist = persistAll(writer);
        log.passLinger();
        log.store().awaitHanging(1);
        passTimeoutButMillis(1);
        assertThat(log.store().requests("create")).isEqualTo(1);
        log.timers().advanceMillis(1);

        ChangelogStateHandleStreamImpl handle = handleOf(persist);
        assertThat(filesOf(handle).get(0)).endsWith("-2.seg");
        log.store().releaseHanging();
        await(() -> log.store().requests("delete") == 1);
        assertThat(log.store().segments()).hasSize(1);
        assertThat(texts(handle)).containsExactly("a");
    }

    @Test
    void slowAttemptThatSucceedsFirst_wins_andTheSecondOnesFileIsDeleted() throws Exception {
        open(new Configuration());
        log.store().failNext(WriteFault.HANG);
        append(writer, "a");
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> persist = persistAll(writer);
        log.passLinger();
        log.store().awaitHanging(1);
        log.store().failNext(WriteFault.HANG_THEN_FAIL);
        passTimeoutButMillis(0);
        log.store().awaitHanging(2);
        log.store().releaseHanging();
        assertThat(texts(handleOf(persist))).containsExactly("a");
        assertThat(filesOf(handleOf(persist)).get(0)).endsWith("-1.seg");
        await(() -> log.store().requests("delete") == 1);
        assertThat(log.store().segments()).hasSize(1);
    }

    @Test
    void attemptStillAlive_isNeverDeclaredFailed() throws Exception {
        open(
                new Configuration()
                        .set(DstlOptions.RETRY_POLICY, "fixed")
                        .set(DstlOptions.MAX_ATTEMPTS, 1));
        log.store().failNext(WriteFault.HANG);
        append(writer, "a");
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> persist = persistAll(writer);
        log.passLinger();
        log.store().awaitHanging(1);
        log.store().failAlways(WriteFault.FAIL_ON_CLOSE);
        passTimeoutButMillis(0);
        await(() -> log.store().requests("delete") == 1);
        log.timers().advanceMillis(600_000);
        assertThat(persist).as("one failed, one is alive").isNotDone();
        log.store().releaseHanging();
        assertThat(texts(handleOf(persist))).containsExactly("a");
    }

    @Test
    void attemptThatNeverReportsBack_doesNotStopTheUploadAfterTheOthersFailed() throws Exception {
        open(
                new Configuration()
                        .set(DstlOptions.RETRY_POLICY, "fixed")
                        .set(DstlOptions.MAX_ATTEMPTS, 1)
                        .set(DstlOptions.MAX_RETRY_DELAY, Duration.ofSeconds(10)));
        log.store().failNext(WriteFault.HANG, WriteFault.FAIL_ON_CLOSE);
        append(writer, "a");
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> persist = persistAll(writer);
        log.passLinger();
        log.store().awaitHanging(1);
        passTimeoutButMillis(0);
        await(() -> log.store().requests("delete") == 1);
        await(() -> log.timers().pendingCount() > 1);
        await(() -> answeredPings() == 2);
        assertThat(persist).isNotDone();

        // Only to the end of the pause: more could exceed the lifetime of the probe that starts
        // then.
        log.timers().advanceMillis(TIMEOUT_MILLIS);

        assertThat(texts(handleOf(persist))).containsExactly("a");
        await(() -> log.store().hangingCount() == 0);
    }

    @Test
    void storeThatAnswersNothingFor30Seconds_delaysCheckpoints_andTheFirstOneAfterItIsComplete()
            throws Exception {
        open(new Configuration());
        log.store().failAlways(WriteFault.HANG);
        List<Future<SnapshotResult<ChangelogStateHandleStreamImpl>>> during = new ArrayList<>();
        for (int second = 0; second < 30; second++) {
            append(writer, "second " + second);
            during.add(persistAll(writer));
            log.timers().advanceMillis(1_000);
        }
        log.store().awaitHanging(5);
        assertThat(during).noneMatch(Future::isDone);

        log.store().failAlways(WriteFault.NONE);
        log.store().releaseHanging();
        append(writer, "afterwards");
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> after = persistAll(writer);
        log.passLinger();

        assertThat(texts(handleOf(after)))
                .hasSize(31)
                .startsWith("second 0", "second 1")
                .endsWith("second 29", "afterwards");
        for (int second = 0; second < 30; second++) {
            assertThat(texts(handleOf(during.get(second)))).hasSize(second + 1);
        }
        append(writer, "later");
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> later = persistAll(writer);
        log.passLinger();
        assertThat(texts(handleOf(later))).hasSize(32);
        await(() -> log.store().segments().size() == 32);
    }

    @Test
    void connectionsThatNeverReportBack_doNotStopTheUpload() throws Exception {
        open(new Configuration());
        log.store().failNext(WriteFault.HANG, WriteFault.HANG, WriteFault.HANG, WriteFault.NONE);
        append(writer, "a");
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> persist = persistAll(writer);
        log.passLinger();
        log.store().awaitHanging(1);
        passTimeoutButMillis(0);
        log.store().awaitHanging(2);
        log.timers().advanceMillis(TIMEOUT_MILLIS);
        await(() -> log.store().hangingCount() == 1);
        await(() -> answeredPings() == 2);
        log.timers().advanceMillis(TIMEOUT_MILLIS);
        log.store().awaitHanging(2);
        log.timers().advanceMillis(2 * TIMEOUT_MILLIS);
        await(() -> log.store().hangingCount() == 1);
        await(() -> answeredPings() == 3);
        log.timers().advanceMillis(2 * TIMEOUT_MILLIS);
        assertThat(texts(handleOf(persist))).containsExactly("a");
        await(() -> log.store().hangingCount() == 0);
    }

    @Test
    void hangingSegment_doesNotKeepOthersWaiting() throws Exception {
        open(
                new Configuration()
                        .set(DstlOptions.UPLOAD_THREADS, 1)
                        .set(DstlOptions.MAX_SLOW_ATTEMPTS, 3));
        DstlLogWriter other = log.writer();
        log.store()
                .failBy(
                        file ->
                                file.getName().startsWith("1-")
                                        ? WriteFault.HANG
                                        : WriteFault.NONE);
        append(writer, "stuck");
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> stuck = persistAll(writer);
        log.passLinger();
        log.store().awaitHanging(1);
        append(other, "free");
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> free = persistAll(other);
        log.passLinger();
        assertThat(free).as("the only place is taken").isNotDone();

        passTimeoutButMillis(0);

        assertThat(texts(handleOf(free))).containsExactly("free");
        log.store().awaitHanging(2);
        assertThat(stuck).isNotDone();
        log.store().failAlways(WriteFault.NONE);
        log.store().releaseHanging();
        assertThat(texts(handleOf(stuck))).containsExactly("stuck");
        other.close();
    }

    @Test
    void taskThatEndsDuringItsUpload_leavesNoFileBehind() throws Exception {
        open(new Configuration());
        log.store().failNext(WriteFault.HANG);
        append(writer, "a");
        writer.nextSequenceNumber();
        log.passLinger();
        log.store().awaitHanging(1);
        writer.close();
        assertThat(log.budget().reservedBytes()).isZero();
        log.store().releaseHanging();
        await(() -> log.store().requests("delete") == 1);
        assertThat(log.store().segments()).isEmpty();
    }

    @Test
    void taskThatEndsDuringAnUpload_doesNotDisturbTheOthersInTheSegment() throws Exception {
        open(new Configuration());
        DstlLogWriter ending = log.writer();
        log.store().failNext(WriteFault.HANG);
        append(ending, "a");
        append(writer, "b");
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> cancelled = persistAll(ending);
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> persist = persistAll(writer);
        log.passLinger();
        log.store().awaitHanging(1);
        ending.truncateAndClose(ending.initialSequenceNumber());
        log.store().releaseHanging();
        assertThat(texts(handleOf(persist))).containsExactly("b");
        assertThat(cancelled).isCancelled();
    }

    private void open(Configuration configuration) {
        log = LogFixture.onThreads(configuration);
        writer = log.writer();
    }

    /** Advances time to just before the timeout; the store answers at once on its own thread. */
    private void passTimeoutButMillis(long less) throws InterruptedException {
        long answered = answeredPings();
        log.timers().advanceMillis(TIMEOUT_MILLIS / 2);
        await(() -> answeredPings() > answered);
        log.timers().advanceMillis(TIMEOUT_MILLIS - TIMEOUT_MILLIS / 2 - less);
    }

    private long answeredPings() {
        long pings = log.metrics().count("numberOfStorePings");
        return log.uploader().ping.isAwaited() ? pings - 1 : pings;
    }

    private static void await(BooleanSupplier condition) throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime()).as("waited too long").isLessThan(deadline);
            Thread.sleep(1);
        }
    }
}
