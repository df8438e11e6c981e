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

import static org.assertj.core.api.Assertions.assertThat;

import dev.dstl.log.config.DstlOptions;
import dev.dstl.log.segment.EncodedSegment;
import dev.dstl.log.segment.SegmentEncoder;
import dev.dstl.log.testing.LinkedStore.Fate;
import dev.dstl.log.testing.LogLines;
import dev.dstl.log.upload.LinkedTaskManagers.Checkpoint;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.core.fs.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Attempts that never end, on dead connections, while the store serves new ones. */
class AbandonedUploadTest {

    private static final int FAST = 1_000_000_000;
    private static final int SLOW = 150_000;
    private static final int SMALL = 20_000;
    private static final int LARGE = 10 << 20;

    private LinkedTaskManagers cluster;

    @AfterEach
    void close() {
        cluster.close();
    }

    @ParameterizedTest
    @CsvSource({"1000, HANGS", "100, HANGS_DEAF"})
    void firstAttemptsThatNeverEnd_keepNeitherPlacesNorBytes(int checkpoints, Fate fate) {
        open(new Configuration());
        cluster.store.decide(name -> name.attempt() == 1 ? fate : Fate.SENT);
        for (int i = 0; i < checkpoints; i++) {
            Checkpoint checkpoint = cluster.checkpoint(SMALL);
            cluster.timers.advanceMillis(2_000);
            assertThat(checkpoint.isComplete()).as("checkpoint %s", i).isTrue();
            assertThat(cluster.durationMillis(checkpoint)).isLessThanOrEqualTo(1_100);
            assertThat(cluster.uploaders.get(0).slots.slowCount()).isZero();
        }
        assertThat(cluster.store.hangingCount()).isEqualTo(fate == Fate.HANGS ? 0 : checkpoints);
        assertThat(cluster.metrics.get(0).value("abandonedUploadAttempts"))
                .isEqualTo(cluster.store.hangingCount());
        assertThat(cluster.count("numberOfCancelledUploads")).isEqualTo(checkpoints);
        assertThat(cluster.store.files()).hasSize(checkpoints);
    }

    @ParameterizedTest
    @EnumSource(
            value = Fate.class,
            names = {"HANGS", "HANGS_DEAF"})
    void segmentsOnDeadConnections_areWrittenWithinSeconds(Fate fate) {
        open(new Configuration());
        cluster.checkpointEverySecond(20, SMALL);
        cluster.store.decide(name -> fate);
        List<Checkpoint> hanging = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            hanging.add(cluster.checkpoint(SMALL));
        }
        cluster.timers.advanceMillis(100);
        cluster.store.decide(name -> Fate.SENT);
        cluster.timers.advanceMillis(3_000);
        System.out.println(
                "8 dead connections: "
                        + hanging.stream().mapToLong(Checkpoint::ownMillis).max().getAsLong()
                        + " ms");
        assertThat(hanging).allMatch(Checkpoint::isComplete);
    }

    @ParameterizedTest
    @CsvSource({"8, 10", "8, 600", "40, 600"})
    void storeThatAnswersNothingForLong_isUsedWithinSecondsAfterwards(int segments, int seconds) {
        open(new Configuration());
        cluster.checkpointEverySecond(20, SMALL);
        cluster.store.decide(name -> Fate.HANGS_DEAF);
        List<Checkpoint> hanging = new ArrayList<>();
        for (int i = 0; i < segments; i++) {
            hanging.add(cluster.checkpoint(SMALL));
        }
        cluster.timers.advanceMillis(seconds * 1_000L);
        assertThat(hanging).noneMatch(Checkpoint::isComplete);
        assertThat(cluster.threads.runningCount()).isLessThanOrEqualTo(10 + 20 + seconds / 10 + 5);

        cluster.store.decide(name -> Fate.SENT);
        cluster.timers.advanceMillis(2 * Probing.MAX_LIFETIME_MILLIS + 1_000);
        System.out.printf(
                "%d segments, %d s of silence: last durable %d ms later, %d threads%n",
                segments,
                seconds,
                hanging.stream().mapToLong(Checkpoint::ownMillis).max().getAsLong()
                        - seconds * 1_000L,
                cluster.threads.runningCount());
        assertThat(hanging).allMatch(Checkpoint::isComplete);
    }

    @Test
    void oneDeadConnectionAmongOthersThatWork_isReplacedBecauseItIsOvertaken() {
        open(new Configuration());
        cluster.checkpointEverySecond(20, SMALL);
        cluster.store.decide(name -> Fate.HANGS);
        Checkpoint hanging = cluster.checkpoint(SMALL);
        cluster.timers.advanceMillis(10);
        cluster.store.decide(name -> Fate.SENT);
        for (int i = 0; i < 20; i++) {
            cluster.timers.advanceMillis(200);
            cluster.checkpoint(SMALL);
        }
        assertThat(hanging.isComplete()).isTrue();
        assertThat(hanging.ownMillis()).isLessThanOrEqualTo(1_500);
    }

    @Test
    void attemptOvertakenByOthers_isNotReplacedBeforeItIsTimedOut() {
        open(new Configuration());
        late(900);
        late(1_500);
        assertThat(cluster.store.requests()).isEqualTo(22);
        assertThat(cluster.count("numberOfCancelledUploads")).isZero();
    }

    @Test
    void uploadAbandonedWhileItsSegmentIsEncoded_doesNotCountAsHanging() {
        open(new Configuration());
        AtomicReference<SegmentUpload> upload = new AtomicReference<>();
        AtomicInteger discarded = new AtomicInteger();
        upload.set(
                cluster.uploaders
                        .get(0)
                        .upload(
                                new SegmentSource() {
                                    @Override
                                    public EncodedSegment encode(SegmentEncoder encoder) {
                                        upload.get().abandon();
                                        throw new IllegalStateException("refused by the test");
                                    }

                                    @Override
                                    public void discard() {
                                        discarded.incrementAndGet();
                                    }

                                    @Override
                                    public Runnable durableAs(Path file, EncodedSegment written) {
                                        throw new IllegalStateException("It was abandoned");
                                    }

                                    @Override
                                    public void suspended(IOException cause) {
                                        throw new IllegalStateException(cause);
                                    }
                                }));
        upload.get().ensureRunning();
        cluster.timers.advanceMillis(1_000);

        assertThat(discarded).hasValue(1);
        assertThat(cluster.metrics.get(0).value("abandonedUploadAttempts")).isEqualTo(0);
        assertThat(cluster.uploaders.get(0).slots.slowCount()).isZero();
    }

    /** Uploads a segment that takes {@code millis}, while ten others are fast. */
    private void late(long millis) {
        cluster.store.completeLateAfter(cluster.timers, millis);
        cluster.store.decide(name -> Fate.LATE_DEAF);
        Checkpoint late = cluster.checkpoint(SMALL);
        cluster.timers.advanceMillis(1);
        cluster.store.decide(name -> Fate.SENT);
        for (int i = 0; i < 10; i++) {
            cluster.checkpoint(SMALL);
            cluster.timers.advanceMillis(180);
        }
        assertThat(late.ownMillis()).isEqualTo(millis);
    }

    @Test
    void probeThatHangsWhenTheOtherHasFailed_isNoProbeAnyMoreWhenItsTimeIsOver() {
        open(new Configuration());
        cluster.store.completeLateAfter(cluster.timers, 1_500);
        cluster.store.decide(
                name -> {
                    switch (name.attempt()) {
                        case 1:
                            return Fate.LATE_FAILS;
                        case 2:
                            return Fate.HANGS;
                        default:
                            return Fate.SENT;
                    }
                });
        Checkpoint checkpoint = cluster.checkpoint(SMALL);
        cluster.timers.advanceMillis(10_000);
        assertThat(checkpoint.isComplete()).isTrue();
        assertThat(checkpoint.ownMillis()).isLessThanOrEqualTo(4_000);
    }

    @Test
    void withoutSecondAttempts_anAttemptThatHangsIsGivenUpAndMadeAgain() {
        open(new Configuration().set(DstlOptions.RETRY_POLICY, "none"));
        cluster.store.decide(name -> name.attempt() == 1 ? Fate.HANGS : Fate.SENT);
        Checkpoint checkpoint = cluster.checkpoint(SMALL);
        cluster.timers.advanceMillis(59_000);
        assertThat(cluster.store.requests()).isEqualTo(1);
        cluster.timers.advanceMillis(12_000);
        assertThat(checkpoint.isComplete()).isTrue();
        assertThat(cluster.count("numberOfUploadFailures")).isEqualTo(1);
    }

    @ParameterizedTest
    @CsvSource({"until-success, 0, true", "none, 1, true", "none, 1, false", "fixed, 0, false"})
    void withoutSecondAttempts_anAttemptThatIsSlowIsNotGivenUp(
            String retryPolicy, int timeoutSeconds, boolean streaming) {
        open(SLOW, withoutSecondAttempts(retryPolicy, timeoutSeconds));
        if (streaming) {
            cluster.store.sendWhileWriting();
        }
        Checkpoint checkpoint = cluster.checkpoint(LARGE);
        cluster.timers.advanceMillis(120_000);
        assertThat(checkpoint.isComplete()).isTrue();
        assertThat(checkpoint.ownMillis()).isGreaterThan(65_000);
        assertThat(cluster.store.requests()).isEqualTo(1);
        assertThat(cluster.count("numberOfUploadFailures")).isZero();
        assertThat(cluster.count("numberOfCancelledUploads")).isZero();
    }

    @ParameterizedTest
    @CsvSource({"until-success, 0", "none, 1"})
    void withoutSecondAttempts_noneOfSeveralThatShareASlowLinkIsGivenUp(
            String retryPolicy, int timeoutSeconds) {
        open(SLOW, withoutSecondAttempts(retryPolicy, timeoutSeconds));
        List<Checkpoint> slow = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            slow.add(cluster.checkpoint(LARGE));
            cluster.timers.advanceMillis(1_000);
        }
        cluster.timers.advanceMillis(600_000);
        assertThat(slow).allMatch(Checkpoint::isComplete);
        assertThat(cluster.store.requests()).isEqualTo(8);
        assertThat(cluster.count("numberOfUploadFailures")).isZero();
    }

    @ParameterizedTest
    @CsvSource({"until-success, 0", "none, 1"})
    void withoutSecondAttempts_anAttemptThatHangsAfterItsBytesWereTakenIsGivenUp(
            String retryPolicy, int timeoutSeconds) {
        open(SLOW, withoutSecondAttempts(retryPolicy, timeoutSeconds));
        cluster.store.sendWhileWriting();
        cluster.store.decide(name -> name.attempt() == 1 ? Fate.HANGS : Fate.SENT);
        Checkpoint checkpoint = cluster.checkpoint(LARGE);
        cluster.timers.advanceMillis(120_000);
        assertThat(cluster.store.requests()).as("a minute after the last byte").isEqualTo(1);
        cluster.timers.advanceMillis(400_000);
        assertThat(checkpoint.isComplete()).isTrue();
        assertThat(cluster.store.requests()).isEqualTo(2);
        assertThat(cluster.count("numberOfUploadFailures")).isEqualTo(1);
    }

    @Test
    void withoutSecondAttempts_anAttemptWhoseNextCheckCannotBeScheduledDoesNotHangForEver() {
        for (int missing = 1; missing <= 4; missing++) {
            if (cluster != null) {
                cluster.close();
            }
            open(new Configuration().set(DstlOptions.UPLOAD_TIMEOUT, Duration.ZERO));
            cluster.store.sendWhileWriting();
            cluster.store.decide(name -> name.attempt() == 1 ? Fate.HANGS : Fate.SENT);
            Checkpoint checkpoint = cluster.checkpoint(SMALL);
            cluster.timers.advanceMillis(1_000);
            cluster.uploadTimers.failCall(cluster.uploadTimers.calls() + missing);
            cluster.timers.advanceMillis(200_000);
            checkpoint.resume();
            cluster.timers.advanceMillis(1_000);
            assertThat(checkpoint.isComplete()).as("timer %s", missing).isTrue();
        }
    }

    private static Configuration withoutSecondAttempts(String retryPolicy, int timeoutSeconds) {
        return new Configuration()
                .set(DstlOptions.RETRY_POLICY, retryPolicy)
                .set(DstlOptions.UPLOAD_TIMEOUT, Duration.ofSeconds(timeoutSeconds));
    }

    @Test
    void clientThatDoesNotReactToInterrupts_isReportedOnce() {
        open(new Configuration());
        cluster.store.decide(name -> name.attempt() == 1 ? Fate.HANGS_DEAF : Fate.SENT);
        try (LogLines lines = new LogLines()) {
            for (int i = 0; i < 40; i++) {
                cluster.checkpoint(SMALL);
                cluster.timers.advanceMillis(3_000);
            }
            assertThat(lines.containing("the client ignores interrupts")).hasSize(1);
        }
    }

    @Test
    void attemptsCancelledTogether_allEnd_ifTheirClientReturnsWhenItsStreamIsClosed() {
        open(new Configuration());
        cancelTogether(8);
        cluster.timers.advanceMillis(60_000);
        assertThat(cluster.metrics.get(0).value("abandonedUploadAttempts")).isEqualTo(0);
        assertThat(cluster.threads.runningCount()).isZero();
    }

    @Test
    void closeThatHangs_keepsItsOwnAttempt_andNoOther() {
        open(new Configuration());
        cluster.store.hangCloses(1);
        cancelTogether(8);
        cluster.timers.advanceMillis(60_000);
        assertThat(cluster.metrics.get(0).value("abandonedUploadAttempts")).isEqualTo(1);
        assertThat(cluster.threads.runningCount()).as("its write and its close").isEqualTo(2);
    }

    @Test
    void closesThatHang_areBounded() {
        open(new Configuration());
        cluster.store.hangCloses(Integer.MAX_VALUE);
        cancelTogether(8);
        cluster.timers.advanceMillis(600_000);
        assertThat(cluster.metrics.get(0).value("abandonedUploadAttempts")).isEqualTo(8);
        assertThat(cluster.threads.runningCount()).isEqualTo(8 + AbandonedAttempts.MAX_CLOSING);
    }

    @Test
    void closeForWhichNoThreadCanBeStarted_isTriedAgain() {
        open(new Configuration());
        cancelTogether(1);
        cluster.threads.failNextStarts(
                1,
                () -> {
                    throw new OutOfMemoryError("unable to create native thread");
                });
        cluster.timers.advanceMillis(60_000);
        assertThat(cluster.metrics.get(0).value("abandonedUploadAttempts")).isEqualTo(0);
    }

    /** Cancels uploads whose client returns only when its stream is closed. */
    private void cancelTogether(int uploads) {
        cluster.store.decide(name -> Fate.HANGS_DEAF_UNTIL_CLOSED);
        List<Checkpoint> hanging = new ArrayList<>();
        for (int i = 0; i < uploads; i++) {
            hanging.add(cluster.checkpoint(SMALL));
        }
        cluster.timers.advanceMillis(1);
        assertThat(cluster.store.hangingCount()).isEqualTo(uploads);
        hanging.forEach(Checkpoint::abandon);
    }

    @Test
    void threadsThatHang_areBounded() {
        open(new Configuration());
        AbandonedAttempts abandoned = cluster.uploaders.get(0).abandoned;
        for (int i = 0; i < AbandonedAttempts.MAX; i++) {
            assertThat(cluster.uploaders.get(0).mayAbandon()).isTrue();
            abandoned.began();
        }
        assertThat(cluster.uploaders.get(0).mayAbandon()).isFalse();
        cluster.store.decide(name -> Fate.HANGS);
        cluster.checkpoint(SMALL);
        cluster.timers.advanceMillis(60_000);
        assertThat(cluster.store.requests()).as("no further attempt").isEqualTo(1);
    }

    @Test
    void attemptThatIsCancelledAndCompletesAllTheSame_leavesNoFile_andIsNoWinner() {
        open(new Configuration());
        cluster.store.decide(name -> name.attempt() == 1 ? Fate.LATE_DEAF : Fate.SENT);
        Checkpoint checkpoint = cluster.checkpoint(SMALL);
        cluster.timers.advanceMillis(5_000);
        assertThat(checkpoint.isComplete()).isTrue();
        assertThat(cluster.store.files()).hasSize(1);
        cluster.timers.advanceMillis(60_000);
        assertThat(cluster.durableSegments()).isEqualTo(1);
        assertThat(cluster.store.hangingCount()).isZero();
        assertThat(cluster.store.files().keySet()).hasSize(1).allMatch(f -> f.endsWith("-2.seg"));
        assertThat(cluster.metrics.get(0).value("storeHealth")).isEqualTo(0);
        assertThat(cluster.count("numberOfUploadFailures")).isZero();
    }

    @Test
    void attemptWhoseClientReturnsOnTheInterrupt_leavesNoFile_thoughItIsStoredLater() {
        open(new Configuration());
        cluster.store.completeLateAfter(cluster.timers, 5_000);
        cluster.store.decide(name -> name.attempt() == 1 ? Fate.LATE_AFTER_RETURN : Fate.SENT);
        Checkpoint checkpoint = cluster.checkpoint(SMALL);
        cluster.timers.advanceMillis(10_000);
        assertThat(checkpoint.isComplete()).isTrue();
        assertThat(cluster.store.hangingCount()).isZero();
        assertThat(cluster.store.files()).as("stored after the first deletion").hasSize(2);

        cluster.timers.advanceMillis(50_000);

        assertThat(cluster.store.files().keySet()).hasSize(1).allMatch(f -> f.endsWith("-2.seg"));
    }

    private void open(Configuration configuration) {
        open(FAST, configuration);
    }

    private void open(int bytesPerSecond, Configuration configuration) {
        cluster = new LinkedTaskManagers(1, bytesPerSecond, configuration);
        cluster.link.answerAfter(() -> 30);
        cluster.store.completeLateAfter(cluster.timers, 20_000);
    }
}
