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

package dev.dstl.changelog.restore;

import static org.assertj.core.api.Assertions.assertThat;

import dev.dstl.changelog.fixture.RecordedMetrics;
import dev.dstl.changelog.metrics.RestoreMetrics;
import dev.dstl.changelog.metrics.RestoreRate;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class RestoreProgressTest {

    private final RecordedMetrics metrics = new RecordedMetrics();
    private long nowMillis;
    private final RestoreMetrics restoreMetrics = RestoreMetrics.of(metrics, () -> 16L);
    private final RestoreRate changelogRate = new RestoreRate(16, 100);
    private final RestoreRate baseRate = new RestoreRate(64, 100);
    private final RestoreProgress progress =
            new RestoreProgress(
                    "customers (2/2)#1",
                    restoreMetrics,
                    changelogRate,
                    baseRate,
                    () -> TimeUnit.MILLISECONDS.toNanos(nowMillis));

    /** Flink restores again from the checkpoint if it cannot from local copies. */
    @Test
    void secondRestoreOfAnOperator_isWhatTheMetricsShow() {
        restoreMetrics.started(7);
        restoreMetrics.baseLoaded(3);

        RestoreMetrics second = RestoreMetrics.of(metrics, () -> 16L);
        assertThat(metrics.value(RestoreMetrics.BASE_DURATION)).isEqualTo(-1);
        second.started(9);
        second.finished(5);
        assertThat(metrics.value(RestoreMetrics.CHANGELOG_SIZE)).isEqualTo(9);
        assertThat(metrics.value(RestoreMetrics.REPLAY_DURATION)).isEqualTo(5);
    }

    @Test
    void metrics_tellHowFarARestoreIs() {
        progress.changelogs(2, 1000, true);
        assertThat(metrics.value(RestoreMetrics.CHANGELOG_SIZE)).isEqualTo(1000);
        assertThat(metrics.value(RestoreMetrics.BASE_DURATION)).isEqualTo(-1);

        nowMillis += 300;
        progress.baseLoaded(2000, true);
        assertThat(metrics.value(RestoreMetrics.BASE_DURATION)).isEqualTo(300);
        assertThat(metrics.value(RestoreMetrics.REPLAY_DURATION)).isEqualTo(-1);

        nowMillis += 15_000;
        progress.replayed(1024, 5000);
        progress.replayed(6, 5000);
        assertThat(metrics.value(RestoreMetrics.REPLAYED_RECORDS)).isEqualTo(1030);

        restoreMetrics.readRetried();
        assertThat(metrics.value(RestoreMetrics.READ_RETRIES)).isEqualTo(1);

        progress.finished(5000);
        assertThat(metrics.value(RestoreMetrics.REPLAY_DURATION)).isEqualTo(15_000);
        assertThat(metrics.value(RestoreMetrics.REPLAY_RATE)).isEqualTo(16);
    }

    private void restore(boolean knowsAllBytes, boolean fromStore) {
        progress.changelogs(2, 1000, knowsAllBytes);
        nowMillis += 500;
        progress.baseLoaded(2000, fromStore);
        nowMillis += 2000;
        progress.finished(10);
    }

    @Test
    void throughputs_areMeasured() {
        restore(true, true);
        assertThat(changelogRate.bytesPerSecond()).as("500 and 16").isEqualTo(258);
        assertThat(baseRate.bytesPerSecond()).as("4000 and 64").isEqualTo(2032);
    }

    @Test
    void changelogsThatDoNotKnowTheirSize_andLocalCopies_tellNothingAboutTheStore() {
        restore(false, false);
        assertThat(changelogRate.bytesPerSecond()).isEqualTo(16);
        assertThat(baseRate.bytesPerSecond()).isEqualTo(64);
    }
}
