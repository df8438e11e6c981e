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
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.dstl.log.config.DstlOptions;
import dev.dstl.log.config.DstlSettings;
import dev.dstl.log.testing.FaultyTimers;
import dev.dstl.log.testing.LogLines;
import dev.dstl.log.testing.ManualTimers;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.flink.configuration.Configuration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class StoreHealthTest {

    private static final String STORE = "file:/tmp/health";

    private final ManualTimers timers = new ManualTimers();
    private final StoreHealth health =
            new StoreHealth(
                    timers,
                    DstlSettings.from(new Configuration().set(DstlOptions.BASE_PATH, STORE)));
    private final LogLines lines = new LogLines();

    @AfterEach
    void close() {
        lines.close();
    }

    @Test
    void singleFailures_areNotWorthALine() {
        for (int minute = 0; minute < 60; minute++) {
            fail();
            fail();
            succeed(50);
            timers.advanceMillis(60_000);
        }
        assertThat(health.state()).isEqualTo(StoreState.HEALTHY);
        assertThat(lines.containing(STORE)).isEmpty();
        assertThat(timers.pendingCount()).as("nothing to watch").isZero();
    }

    @Test
    void whicheverTimerCannotBeScheduled_aStoreThatWorksAgainIsHealthy() {
        for (int missing = 1; missing < 40; missing++) {
            FaultyTimers faulty = new FaultyTimers(timers);
            faulty.failCall(missing);
            StoreHealth other =
                    new StoreHealth(
                            faulty,
                            DstlSettings.from(
                                    new Configuration().set(DstlOptions.BASE_PATH, STORE)));
            for (int second = 0; second < 15; second++) {
                other.failed(new IOException("Gone"), false);
                timers.advanceMillis(1_000);
            }
            assertThat(other.state()).as("timer %s", missing).isNotEqualTo(StoreState.HEALTHY);
            for (int second = 0; second < 60; second++) {
                other.succeeded();
                timers.advanceMillis(1_000);
            }
            assertThat(other.state()).as("timer %s", missing).isEqualTo(StoreState.HEALTHY);
        }
    }

    @Test
    void fewSlowRequestsAmongMany_areNotWorthALine() {
        for (int i = 0; i < 1_000; i++) {
            succeed(50);
            health.timedOut();
            timers.advanceMillis(1_000);
        }
        assertThat(health.state()).isEqualTo(StoreState.HEALTHY);
    }

    @Test
    void failureOfATenthOfTheAttempts_isDegradation_untilAWindowWithoutIt() {
        fail();
        succeed(20);
        fail();
        assertThat(health.state()).isEqualTo(StoreState.HEALTHY);
        fail();
        assertThat(health.state()).isEqualTo(StoreState.DEGRADED);
        for (int second = 0; second < 40; second++) {
            fail();
            succeed(3);
            timers.advanceMillis(1_000);
        }
        assertThat(health.state()).isEqualTo(StoreState.DEGRADED);
        timers.advanceMillis(StoreHealth.WINDOW_MILLIS);
        succeed(1);
        timers.advanceMillis(StoreHealth.WINDOW_MILLIS + 1_000);
        assertThat(health.state()).isEqualTo(StoreState.HEALTHY);
        assertThat(lines.containing(STORE))
                .containsExactly(
                        "WARN The changelog store file:/tmp/health is degraded: 3 uploads failed or"
                                + " timed out, the latest because of: java.io.IOException: Gone."
                                + " They are retried and nothing is lost; checkpoints take longer."
                                + " 0 bytes wait.",
                        "INFO The changelog store file:/tmp/health is healthy again.");
        assertThat(timers.pendingCount()).as("nothing to watch").isZero();
    }

    @Test
    void outage_saysOneLinePerChange_howeverManyAttemptsThereAre() {
        health.reportWaiting(() -> 4711);
        for (int attempt = 0; attempt < 10_000; attempt++) {
            fail();
            timers.advanceMillis(100);
        }
        assertThat(health.state()).isEqualTo(StoreState.OUTAGE);
        assertThat(health.severity()).isEqualTo(3);
        assertThat(lines.containing(STORE)).hasSize(2);
        succeed(1);
        assertThat(health.state()).isEqualTo(StoreState.RECOVERED);
        timers.advanceMillis(StoreHealth.WINDOW_MILLIS + 1_000);
        assertThat(health.state()).isEqualTo(StoreState.HEALTHY);
        assertThat(lines.containing(STORE))
                .hasSize(4)
                .satisfies(
                        all -> {
                            assertThat(all.get(0)).startsWith("WARN").contains("is degraded");
                            assertThat(all.get(1))
                                    .startsWith("WARN")
                                    .contains("has accepted nothing for 10 s")
                                    .contains(
                                            "4711 bytes wait, and at 104857600 at the latest the tasks")
                                    .contains("nothing has to be restarted");
                            assertThat(all.get(2))
                                    .isEqualTo(
                                            "INFO The changelog store file:/tmp/health accepts"
                                                    + " segments again after 1000 s, nothing was"
                                                    + " lost. 4711 bytes still wait.");
                            assertThat(all.get(3)).contains("is healthy again");
                        });
    }

    @Test
    void storeThatAnswersNothing_isAnOutageToo() {
        for (int second = 0; second < 12; second++) {
            health.timedOut();
            timers.advanceMillis(1_000);
        }
        assertThat(health.state()).isEqualTo(StoreState.OUTAGE);
    }

    @Test
    void storeThatFailsAgainAfterItRecovered_isInAnOutageAgain() {
        failFor(20);
        succeed(1);
        assertThat(health.state()).isEqualTo(StoreState.RECOVERED);
        failFor(20);
        assertThat(health.state()).isEqualTo(StoreState.OUTAGE);
    }

    @Test
    void storeThatKeepsFailingNowAndThenAfterItRecovered_isDegraded() {
        failFor(20);
        for (int second = 0; second < 40; second++) {
            succeed(2);
            fail();
            timers.advanceMillis(1_000);
        }
        assertThat(health.state()).isEqualTo(StoreState.DEGRADED);
    }

    @Test
    void outageInWhichNothingIsUploadedAnyMore_endsWithThePingThatSucceeds() {
        AtomicInteger pings = new AtomicInteger();
        AtomicBoolean answers = new AtomicBoolean();
        health.pingWith(
                () -> {
                    pings.incrementAndGet();
                    if (answers.get()) {
                        health.answered();
                    }
                });
        health.uploadBegan();
        failFor(20);
        timers.advanceMillis(60_000);
        assertThat(pings).as("while there is an upload").hasValue(0);
        health.answered();
        assertThat(health.state()).as("it accepts no segment").isEqualTo(StoreState.OUTAGE);

        health.uploadEnded();
        timers.advanceMillis(60_000);
        assertThat(pings).hasValue(6);
        assertThat(health.state()).isEqualTo(StoreState.OUTAGE);

        answers.set(true);
        timers.advanceMillis(StoreHealth.PING_MILLIS);
        assertThat(health.state()).isEqualTo(StoreState.RECOVERED);
        assertThat(lines.containing("answers again"))
                .containsExactly(
                        "INFO The changelog store file:/tmp/health answers again; nothing is being"
                                + " uploaded.");
        timers.advanceMillis(StoreHealth.WINDOW_MILLIS + 1_000);
        assertThat(health.state()).isEqualTo(StoreState.HEALTHY);
        assertThat(pings).hasValue(7);
        assertThat(timers.pendingCount()).as("nothing to watch").isZero();
    }

    @Test
    void storageThatIsClosedDuringAnOutage_pingsNoMore() {
        AtomicInteger pings = new AtomicInteger();
        health.pingWith(pings::incrementAndGet);
        failFor(20);
        int before = pings.get();
        health.close();
        timers.advanceMillis(60_000);
        assertThat(pings).hasValue(before);
        assertThat(timers.pendingCount()).isZero();
    }

    @Test
    void throttling_isRememberedForAWhile() {
        assertThat(health.isThrottled()).isFalse();
        health.failed(new IOException("SlowDown"), true);
        assertThat(health.isThrottled()).isTrue();
        timers.advanceMillis(StoreHealth.THROTTLED_MILLIS);
        assertThat(health.isThrottled()).isFalse();
    }

    @Test
    void stateThatThePictureDoesNotKnow_isADefect() {
        assertThatThrownBy(() -> StoreState.HEALTHY.to(StoreState.OUTAGE))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("A store cannot go from HEALTHY to OUTAGE");
    }

    private void failFor(int seconds) {
        for (int second = 0; second < seconds; second++) {
            fail();
            timers.advanceMillis(1_000);
        }
    }

    private void fail() {
        health.failed(new IOException("Gone"), false);
    }

    private void succeed(int times) {
        for (int i = 0; i < times; i++) {
            health.succeeded();
        }
    }
}
