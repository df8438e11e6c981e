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

package dev.dstl.changelog.materialization;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.dstl.changelog.config.LogLimits;
import dev.dstl.changelog.config.MisconfigurationException;
import dev.dstl.changelog.config.TaskConfiguration;
import dev.dstl.changelog.metrics.RestoreRate;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyGroupRangeOffsets;
import org.apache.flink.runtime.state.KeyGroupsStateHandle;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.runtime.state.changelog.ChangelogStateBackendHandle;
import org.apache.flink.runtime.state.changelog.ChangelogStateBackendHandle.ChangelogStateBackendHandleImpl;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;
import org.apache.flink.runtime.state.memory.ByteStreamStateHandle;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class EarlyMaterializationTest {

    private static final KeyGroupRange KEY_GROUPS = KeyGroupRange.of(0, 7);

    private final Configuration job = new Configuration();
    private final Configuration cluster = new Configuration();
    private long nowMillis;
    private int asked;
    private boolean basesOmitTimers;
    private MaterializationThrottle throttle;
    private RestoreRate changelogRate = new RestoreRate(16 << 20, 0);

    @Test
    void logLargerThanHalfItsBase_isMaterialized_onceItIsWorthwhile() {
        cluster.setString("state.changelog.dstl.materialize.min-log-size", "1 kb");
        EarlyMaterialization early = early();

        early.checkpointAssembled(checkpoint(1, 100, 1024, 1));
        assertThat(asked).as("too small to bother").isZero();
        early.checkpointAssembled(checkpoint(1, 5000, 2500, 1));
        assertThat(asked).as("half of the base").isZero();
        early.checkpointAssembled(checkpoint(1, 5000, 2501, 1));
        assertThat(asked).isEqualTo(1);
    }

    @Test
    void logThatTheNextCheckpointWouldMakeTooLarge_isMaterializedBefore() {
        cluster.setString("state.changelog.dstl.materialize.min-log-size", "1 kb");
        EarlyMaterialization early = early();

        for (int log = 1_000; log <= 4_000; log += 1_000) {
            early.checkpointAssembled(checkpoint(1, 10_000, log, 1, 1_000));
        }
        assertThat(asked).as("with the next one exactly half of the base").isZero();
        early.checkpointAssembled(checkpoint(1, 10_000, 4_001, 1, 1));
        assertThat(asked).isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 1_000, 8_000})
    void logOfFewCheckpoints_isNotMaterialized_howeverSmallTheBaseIs(int baseBytes) {
        cluster.setString("state.changelog.dstl.materialize.min-log-size", "1 kb");
        EarlyMaterialization early = early();

        List<Integer> askedAt = new ArrayList<>();
        int base = 1;
        int log = 0;
        for (int checkpoint = 1; checkpoint <= 12; checkpoint++) {
            log += 10_000;
            int before = asked;
            early.checkpointAssembled(checkpoint(base, baseBytes, log, 1, 10_000));
            if (asked > before) {
                askedAt.add(checkpoint);
                base++;
                log = 0;
            }
        }

        assertThat(askedAt).containsExactly(4, 8, 12);
    }

    @Test
    void logBelowTheDefaultMinimum_isNotMaterialized() {
        EarlyMaterialization early = early();

        early.checkpointAssembled(checkpoint(1, 1, 8 << 20, 1));
        assertThat(asked).isZero();
        early.checkpointAssembled(checkpoint(1, 1, (8 << 20) + 1, 1));
        assertThat(asked).isEqualTo(1);
    }

    @Test
    void runsThatCompactionWrote_areNotTakenForStateChanges() {
        cluster.setString("state.changelog.dstl.materialize.min-log-size", "1 kb");
        EarlyMaterialization early = early();

        early.checkpointAssembled(checkpoint(1, 1, 1_000, 1, 1_000));
        early.checkpointAssembled(checkpoint(1, 1, 2_000, 2, 1_000));
        // 1,000 are appended; 2,000 become 1,500, which is new to the checkpoint as well.
        early.checkpointAssembled(checkpoint(1, 1, 2_500, 2, 2_500));
        assertThat(asked).isZero();
        early.checkpointAssembled(checkpoint(1, 1, 3_500, 3, 1_000));
        assertThat(asked).as("more than three times what a checkpoint appends").isEqualTo(1);
    }

    @Test
    void burst_isForgottenAfterFourCheckpoints() {
        cluster.setString("state.changelog.dstl.materialize.min-log-size", "1 kb");
        EarlyMaterialization early = early();

        early.checkpointAssembled(checkpoint(1, 1, 10_000, 1, 10_000));
        for (int checkpoint = 1; checkpoint <= 3; checkpoint++) {
            early.checkpointAssembled(checkpoint(1, 1, 10_000 + checkpoint, 1, 1));
        }
        assertThat(asked).isZero();
        early.checkpointAssembled(checkpoint(1, 1, 10_004, 1, 1));
        assertThat(asked).isEqualTo(1);
    }

    @Test
    void logThatWouldReplayForTooLong_isMaterialized() {
        cluster.setString("state.changelog.dstl.materialize.replay-time", "2 s");
        cluster.setString("state.changelog.dstl.materialize.log-to-base-ratio", "0");
        EarlyMaterialization early = early();

        early.checkpointAssembled(checkpoint(1, 1 << 20, 2 * (16 << 20), 1));
        assertThat(asked).isZero();
        early.checkpointAssembled(checkpoint(1, 1 << 20, 2 * (16 << 20) + 1, 1));
        assertThat(asked).isEqualTo(1);
    }

    @Test
    void logThatReplaysFasterThanAssumed_mayBeLonger() {
        cluster.setString("state.changelog.dstl.materialize.replay-time", "2 s");
        cluster.setString("state.changelog.dstl.materialize.log-to-base-ratio", "0");
        changelogRate.measured(112 << 20, TimeUnit.SECONDS.toNanos(1));
        EarlyMaterialization early = early();

        early.checkpointAssembled(checkpoint(1, 1 << 20, 2 * (64 << 20), 1));
        assertThat(asked).isZero();
        early.checkpointAssembled(checkpoint(1, 1 << 20, 2 * (64 << 20) + 1, 1));
        assertThat(asked).isEqualTo(1);
    }

    @Test
    void changelogTooSmallToShowHowFastItReplays_isNotMaterialized_howeverSlowRestoresWere() {
        changelogRate = new RestoreRate(16 << 20, 4 << 20);
        // As if the reads of the restores had hung.
        changelogRate.measured(5 << 20, TimeUnit.SECONDS.toNanos(75));
        EarlyMaterialization early = early();

        early.checkpointAssembled(checkpoint(1, 1 << 20, 1 << 20, 1));
        changelogRate.measured(5 << 20, TimeUnit.SECONDS.toNanos(75));
        early.checkpointAssembled(checkpoint(1, 1 << 20, (4 << 20) - 1, 1));
        assertThat(asked).isZero();
        early.checkpointAssembled(checkpoint(1, 1 << 20, 4 << 20, 1));
        assertThat(asked).as("the next restore would measure it").isEqualTo(1);
    }

    @Test
    void logThatReplaysWithinAQuarterOfTheTimeForItsBase_isNotMaterialized() {
        cluster.setString("state.changelog.dstl.materialize.log-to-base-ratio", "0");
        EarlyMaterialization early = early();

        // 256 MiB are loaded within 4 s.
        early.checkpointAssembled(checkpoint(1, 256 << 20, 16 << 20, 1));
        assertThat(asked).isZero();
        early.checkpointAssembled(checkpoint(1, 256 << 20, (16 << 20) + 1, 1));
        assertThat(asked).isEqualTo(1);
    }

    @Test
    void job_winsOverCluster() {
        cluster.setString("state.changelog.dstl.materialize.max-runs", "1000");
        job.setString("state.changelog.dstl.materialize.max-runs", "2");
        EarlyMaterialization early = early();

        early.checkpointAssembled(checkpoint(1, 1, 1, 2));
        assertThat(asked).isZero();
        early.checkpointAssembled(checkpoint(1, 1, 1, 3));
        assertThat(asked).isEqualTo(1);
    }

    @Test
    void everyLimit_canBeSwitchedOff() {
        cluster.setString("state.changelog.dstl.materialize.log-to-base-ratio", "0");
        cluster.setString("state.changelog.dstl.materialize.replay-time", "0 s");
        cluster.setString("state.changelog.dstl.materialize.max-runs", "0");
        EarlyMaterialization early = early();

        early.checkpointAssembled(checkpoint(1, 1, 2_000_000_000, 10_000));
        assertThat(asked).isZero();
    }

    @ParameterizedTest
    @ValueSource(strings = {"0", "-1", "1.5", "NaN"})
    void shareThatIsNone_isMisuse(String share) {
        job.setString("state.changelog.dstl.materialize.max-time-fraction", share);

        assertThatThrownBy(this::early)
                .isInstanceOf(MisconfigurationException.class)
                .hasMessageContaining("'state.changelog.dstl.materialize.max-time-fraction: ")
                .hasMessageContaining("set it to more than 0 and at most 1");
    }

    @ParameterizedTest
    @ValueSource(strings = {"replay-time", "min-log-size", "max-runs", "max-time-fraction"})
    void valueThatCannotBeRead_isMisuse(String key) {
        job.setString("state.changelog.dstl.materialize." + key, "500 foo");

        assertThatThrownBy(this::early)
                .isInstanceOf(MisconfigurationException.class)
                .hasMessageStartingWith(
                        "'state.changelog.dstl.materialize."
                                + key
                                + "' is '500 foo', which cannot be read: ");
    }

    @Test
    void aBaseThatDoesNotCome_isAskedForAgain_withGrowingPauses() {
        EarlyMaterialization early = early();
        List<Long> askedAtMinutes = new ArrayList<>();
        for (int minute = 0; minute < 40; minute++) {
            int before = asked;
            early.checkpointAssembled(checkpoint(1, 1, 1, 100));
            if (asked > before) {
                askedAtMinutes.add((long) minute);
            }
            nowMillis += TimeUnit.MINUTES.toMillis(1);
        }

        assertThat(askedAtMinutes).containsExactly(0L, 1L, 3L, 7L, 15L, 31L);
    }

    @Test
    void materializing_takesNoMoreThanItsShareOfTheTime() {
        EarlyMaterialization early = early();
        early.checkpointAssembled(checkpoint(1, 1, 1, 100));
        nowMillis += 10_000;
        throttle.ended(TimeUnit.SECONDS.toNanos(10));
        early.checkpointAssembled(checkpoint(2, 1, 1, 100));
        nowMillis += 39_000;
        early.checkpointAssembled(checkpoint(2, 1, 1, 100));
        assertThat(asked).as("ten seconds of fifty").isEqualTo(1);
        nowMillis += 1_000;
        early.checkpointAssembled(checkpoint(2, 1, 1, 100));
        assertThat(asked).isEqualTo(2);
    }

    @Test
    void rareCheckpoints_doNotCountAsTimeOfAMaterialization() {
        EarlyMaterialization early = early();
        early.checkpointAssembled(checkpoint(1, 1, 1, 100));
        nowMillis += 1_000;
        throttle.ended(TimeUnit.SECONDS.toNanos(1));
        nowMillis += 4_000;
        early.checkpointAssembled(checkpoint(2, 1, 1, 100));
        assertThat(asked).as("one second of five, seen four seconds later").isEqualTo(2);
    }

    @Test
    void
            checkpointsEvery100Millis_nameLessThan64PartsFor10Minutes_ifMaterializingTakesHalfASecond() {
        EarlyMaterialization early = early();
        long base = 1;
        int partsBefore = 0;
        int partsSince = 0;
        long doneAtMillis = Long.MAX_VALUE;
        int most = 0;
        for (int checkpoint = 0; checkpoint < 6_000; checkpoint++) {
            partsSince++;
            if (nowMillis >= doneAtMillis) {
                base++;
                partsBefore = 0;
                doneAtMillis = Long.MAX_VALUE;
                throttle.ended(TimeUnit.MILLISECONDS.toNanos(500));
            }
            int before = asked;
            most = Math.max(most, partsBefore + partsSince);
            early.checkpointAssembled(checkpoint(base, 1, 1, partsBefore + partsSince));
            if (asked > before) {
                partsBefore += partsSince;
                partsSince = 0;
                doneAtMillis = nowMillis + 500;
            }
            nowMillis += 100;
        }

        assertThat(most).isLessThan(64);
        assertThat(asked).isBetween(100, 150);
    }

    /** Flink narrows the handle of a changelog to fewer key groups without its size. */
    @Test
    void restoredChangelogOfUnknownSize_countsAsLargeAsWhatWasReplayed() {
        EarlyMaterialization early = early(1 << 30);
        early.checkpointAssembled(checkpoint(1, 1, 0, 0));
        assertThat(asked).as("without that changelog").isZero();
        early.checkpointAssembled(checkpoint(1, 1, 0, 1));
        assertThat(asked).isEqualTo(1);

        asked = 0;
        early().checkpointAssembled(checkpoint(1, 1, 0, 1));
        assertThat(asked).as("nothing was replayed").isZero();
    }

    @Test
    void timersThatAreInTheChangelogAgainBehindEachBase_areNoReasonForTheNextOne() {
        basesOmitTimers = true;
        EarlyMaterialization early = early();
        int timers = 20 << 20;

        for (int checkpoint = 0; checkpoint < 3_600; checkpoint++) {
            nowMillis += 1_000;
            early.checkpointAssembled(
                    checkpoint(1 + asked, 1 << 20, timers + checkpoint * 1_000, 1, 1_000));
        }
        assertThat(asked).as("once for the restored base").isEqualTo(1);

        early.checkpointAssembled(checkpoint(2, 1 << 20, timers + (9 << 20), 1, 1_000));
        assertThat(asked).as("what came since then").isEqualTo(2);
    }

    private EarlyMaterialization early() {
        return early(0);
    }

    private EarlyMaterialization early(long bytesOfUnknownSize) {
        LogLimits limits = LogLimits.of(new TaskConfiguration(job, cluster));
        throttle = new MaterializationThrottle(limits.maxTimeFraction(), this::nanoTime);
        return new EarlyMaterialization(
                limits,
                bytesOfUnknownSize,
                basesOmitTimers,
                changelogRate,
                new RestoreRate(64 << 20, 0),
                () -> asked++,
                throttle,
                this::nanoTime);
    }

    private long nanoTime() {
        return TimeUnit.MILLISECONDS.toNanos(nowMillis);
    }

    private static ChangelogStateBackendHandle checkpoint(
            long materializationId, int baseBytes, long logBytes, int parts) {
        return checkpoint(materializationId, baseBytes, logBytes, parts, 0);
    }

    private static ChangelogStateBackendHandle checkpoint(
            long materializationId, int baseBytes, long logBytes, int parts, long newBytes) {
        List<Tuple2<StreamStateHandle, Long>> positions = new ArrayList<>();
        for (int part = 0; part < parts; part++) {
            positions.add(Tuple2.of(new ByteStreamStateHandle("segment", new byte[0]), 0L));
        }
        return new ChangelogStateBackendHandleImpl(
                List.of(
                        new KeyGroupsStateHandle(
                                new KeyGroupRangeOffsets(KEY_GROUPS),
                                new ByteStreamStateHandle("base", new byte[baseBytes]))),
                List.of(
                        new ChangelogStateHandleStreamImpl(
                                positions, KEY_GROUPS, logBytes, logBytes, "dstl")),
                KEY_GROUPS,
                1,
                materializationId,
                newBytes);
    }
}
