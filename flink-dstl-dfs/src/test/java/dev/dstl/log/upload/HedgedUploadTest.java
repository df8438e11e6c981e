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
import static dev.dstl.log.testing.LogFixture.texts;
import static org.assertj.core.api.Assertions.assertThat;

import dev.dstl.log.config.DstlOptions;
import dev.dstl.log.testing.LogFixture;
import dev.dstl.log.testing.WriteFault;
import dev.dstl.log.writer.DstlLogWriter;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;
import org.apache.flink.runtime.state.changelog.SequenceNumber;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Attempts that are slower than most. Uploads have real threads here, time is simulated. */
@Timeout(60)
class HedgedUploadTest {

    private static final int LATENCY_MILLIS = 80;
    private static final long TIMEOUT_MILLIS = 1_000;

    private LogFixture log;
    private DstlLogWriter writer;
    private int uploads;

    @AfterEach
    void close() {
        writer.close();
        assertThat(log.budget().reservedBytes()).as("bytes in flight").isZero();
        log.close();
    }

    @Test
    void attemptSlowerThanMost_isHedged_beforeItTimesOut() throws Exception {
        open(new Configuration());
        learn(40);
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> persist = hangingUpload();
        log.timers().advanceMillis(LATENCY_MILLIS);
        assertThat(requests()).isEqualTo(1);
        log.timers().advanceMillis(1);

        assertThat(filesOf(handleOf(persist)).get(0)).endsWith("-2.seg");
        assertThat(texts(handleOf(persist))).hasSize(1);
        assertThat(log.metrics().count("numberOfHedgedUploads")).isEqualTo(1);
        assertThat(log.metrics().count("numberOfExtraUploadRequests")).isEqualTo(1);
        await(() -> log.metrics().count("numberOfHedgeWins") == 1);
        log.store().releaseHanging();
        await(() -> log.store().segments().size() == uploads);
    }

    @Test
    void hedgedAttemptThatIsFasterAfterAll_wins_andTheHedgesFileIsDeleted() throws Exception {
        open(new Configuration());
        learn(40);
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> persist = hangingUpload();
        log.store().failNext(WriteFault.HANG_THEN_FAIL);
        log.timers().advanceMillis(LATENCY_MILLIS + 1);
        log.store().awaitHanging(2);
        log.store().releaseHanging();
        assertThat(filesOf(handleOf(persist)).get(0)).endsWith("-1.seg");
        await(() -> log.store().requests("delete") == 1);
        assertThat(log.store().segments()).hasSize(uploads);
        assertThat(log.metrics().count("numberOfHedgeWins")).isZero();
    }

    @Test
    void withoutBudget_theSecondAttemptStartsAtTheTimeout() throws Exception {
        open(new Configuration().set(DstlOptions.HEDGE_BUDGET, 0.01));
        learn(40);
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> persist = hangingUpload();
        log.timers().advanceMillis(TIMEOUT_MILLIS / 2);
        await(() -> answeredPings() == 1);
        log.timers().advanceMillis(TIMEOUT_MILLIS / 2 - 1);
        assertThat(requests()).isEqualTo(1);
        log.timers().advanceMillis(1);
        assertThat(filesOf(handleOf(persist)).get(0)).endsWith("-2.seg");
        assertThat(log.metrics().count("numberOfHedgedUploads")).isZero();
        assertThat(log.metrics().count("numberOfExtraUploadRequests")).isEqualTo(1);
        log.store().releaseHanging();
        await(() -> log.store().segments().size() == uploads);
    }

    @Test
    void hedgeThatHangsToo_isCancelled_andTheThirdAttemptStartsAtTheTimeout() throws Exception {
        open(new Configuration());
        learn(40);
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> persist = hangingUpload();
        log.store().failNext(WriteFault.HANG);
        log.timers().advanceMillis(LATENCY_MILLIS + 1);
        log.store().awaitHanging(2);
        log.timers().advanceMillis(2 * (LATENCY_MILLIS + 1));
        await(() -> log.store().hangingCount() == 1);
        log.timers().advanceMillis(TIMEOUT_MILLIS / 2 - 3 * (LATENCY_MILLIS + 1));
        await(() -> answeredPings() == 1);
        log.timers().advanceMillis(TIMEOUT_MILLIS / 2 - 1);
        assertThat(requests()).isEqualTo(2);
        log.timers().advanceMillis(1);
        assertThat(filesOf(handleOf(persist)).get(0)).endsWith("-3.seg");
        await(() -> log.store().hangingCount() == 0);
        await(() -> log.store().segments().size() == uploads);
    }

    @Test
    void hedgedAttempt_givesItsPlaceToTheHedge() throws Exception {
        open(new Configuration().set(DstlOptions.UPLOAD_THREADS, 1));
        learn(40);
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> persist = hangingUpload();
        log.timers().advanceMillis(LATENCY_MILLIS + 1);
        assertThat(filesOf(handleOf(persist)).get(0)).endsWith("-2.seg");
        log.store().releaseHanging();
        await(() -> log.store().segments().size() == uploads);
    }

    @Test
    void hedgeThatNeverBegan_costsNothing() throws Exception {
        open(
                new Configuration()
                        .set(DstlOptions.UPLOAD_THREADS, 1)
                        .set(DstlOptions.MAX_SLOW_ATTEMPTS, 0));
        learn(25);
        for (int round = 0; round < 3; round++) {
            Future<SnapshotResult<ChangelogStateHandleStreamImpl>> persist = hangingUpload();
            log.timers().advanceMillis(LATENCY_MILLIS + 1);
            log.store().releaseHanging();
            assertThat(filesOf(handleOf(persist)).get(0)).endsWith("-1.seg");
        }
        assertThat(log.metrics().count("numberOfHedgedUploads")).isZero();
        assertThat(log.metrics().count("numberOfExtraUploadRequests")).isZero();
        assertThat(log.uploader().hedging.budget().trySpend(1)).as("still there").isTrue();
    }

    @Test
    void hedgeThatFindsNoPlace_doesNotStandInTheWayOfTheProbe() throws Exception {
        open(
                new Configuration()
                        .set(DstlOptions.UPLOAD_THREADS, 1)
                        .set(DstlOptions.MAX_SLOW_ATTEMPTS, 0));
        learn(40);
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> persist = hangingUpload();
        log.timers().advanceMillis(LATENCY_MILLIS + 1);
        assertThat(requests()).as("the hedge waits for a place").isEqualTo(1);

        log.timers().advanceMillis(TIMEOUT_MILLIS / 2 - LATENCY_MILLIS - 1);
        await(() -> answeredPings() == 1);
        log.timers().advanceMillis(TIMEOUT_MILLIS / 2);

        assertThat(texts(handleOf(persist))).hasSize(1);
        assertThat(log.metrics().count("numberOfExtraUploadRequests")).isEqualTo(1);
        assertThat(log.metrics().count("numberOfHedgedUploads")).isZero();
        log.store().releaseHanging();
        await(() -> log.store().segments().size() == uploads);
    }

    private long answeredPings() {
        long pings = log.metrics().count("numberOfStorePings");
        return log.uploader().ping.isAwaited() ? pings - 1 : pings;
    }

    private void open(Configuration configuration) {
        log = LogFixture.onThreads(configuration);
        writer = log.writer();
    }

    /** Performs uploads of the usual duration. */
    private void learn(int count) throws Exception {
        for (int i = 0; i < count; i++) {
            Future<SnapshotResult<ChangelogStateHandleStreamImpl>> persist = hangingUpload();
            log.timers().advanceMillis(LATENCY_MILLIS);
            log.store().releaseHanging();
            handleOf(persist);
            await(() -> log.store().hangingCount() == 0);
        }
    }

    /** Starts an upload that blocks until it is released. */
    private Future<SnapshotResult<ChangelogStateHandleStreamImpl>> hangingUpload()
            throws Exception {
        SequenceNumber from = writer.nextSequenceNumber();
        log.store().failNext(WriteFault.HANG);
        append(writer, "text " + uploads++);
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> persist = writer.persist(from, 1);
        log.passLinger();
        log.store().awaitHanging(1);
        return persist;
    }

    /** Number of attempts for the latest segment. */
    private int requests() {
        return log.store().requests("create") - (uploads - 1);
    }

    private static void await(BooleanSupplier condition) throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime()).as("waited too long").isLessThan(deadline);
            Thread.sleep(1);
        }
    }
}
