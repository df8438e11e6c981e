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

package dev.dstl.spillable.pressure;

import static org.assertj.core.api.Assertions.assertThat;

import dev.dstl.spillable.config.SpillConfig;
import dev.dstl.spillable.config.SpillableOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.flink.configuration.Configuration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Properties of every decision, for any number of members in any condition. */
class SpillArbiterModelTest {

    private static final long MAX_BYTES = 1_000_000;

    private final AtomicLong clockMillis = new AtomicLong();
    private final AtomicInteger stopped = new AtomicInteger();
    private final SpillArbiter arbiter =
            new SpillArbiter(clockMillis::get, MAX_BYTES, a -> stopped::incrementAndGet);
    private final List<FakeMember> members = new ArrayList<>();

    private FakeMember join(SpillConfig config) {
        FakeMember member = new FakeMember(config);
        members.add(member);
        arbiter.join(member);
        return member;
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5})
    void everyDecision_staysWithinItsBounds(long seed) {
        Random random = new Random(seed);
        SpillConfig config = SpillConfig.defaults();
        for (int i = 1 + random.nextInt(5); i > 0; i--) {
            join(config);
        }
        for (int round = 0; round < 5000; round++) {
            clockMillis.addAndGet(random.nextInt(10_000));
            long state = 0;
            for (FakeMember member : members) {
                member.heap = random.nextInt((int) MAX_BYTES / members.size());
                member.timers = random.nextInt((int) MAX_BYTES / members.size() / 4);
                member.spilled = random.nextBoolean() ? 0 : random.nextInt((int) MAX_BYTES);
                member.heat = random.nextInt(10);
                member.toSpill = 0;
                member.toLoad = 0;
                state += member.heap + member.timers;
            }
            long live = Math.min(MAX_BYTES, state + random.nextInt((int) MAX_BYTES / 4));
            boolean decided = arbiter.onLiveHeap(live, MAX_BYTES);
            check(config, live, decided);
        }
    }

    private void check(SpillConfig config, long live, boolean decided) {
        double ratio = (double) live / MAX_BYTES;
        assertThat(arbiter.liveRatio()).isEqualTo(ratio);
        long toSpill = 0;
        long toLoad = 0;
        for (FakeMember member : members) {
            double most = member.heap * config.spillSizeRatio() * (ratio > 0.9 ? 2 : 1);
            assertThat((double) member.toSpill).isLessThanOrEqualTo(most);
            assertThat(member.toSpill).isNotNegative();
            assertThat(member.toLoad).isNotNegative();
            assertThat(member.spilled > 0 || member.toLoad == 0)
                    .as("only what is spilled comes back")
                    .isTrue();
            toSpill += member.toSpill;
            toLoad += member.toLoad;
        }
        assertThat(toSpill == 0 || toLoad == 0).as("one direction at a time").isTrue();
        assertThat(decided).isEqualTo(toSpill + toLoad > 0);
        if (toSpill > 0) {
            assertThat(ratio).isGreaterThan(config.spillStartRatio());
            assertThat((double) toSpill)
                    .isLessThanOrEqualTo(live - config.spillEndRatio() * MAX_BYTES);
        }
        if (toLoad > 0) {
            assertThat(ratio).isLessThan(config.loadStartRatio());
            assertThat(toLoad + live)
                    .isLessThanOrEqualTo((long) (config.loadEndRatio() * MAX_BYTES) + 1);
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4})
    void aHeapUnderPressure_comesDownToWhereSpillingEnds_andRestsThere(long seed) {
        Random random = new Random(seed);
        for (int i = 0; i < 4; i++) {
            FakeMember member = join(SpillConfig.defaults());
            member.heap = 150_000L + random.nextInt(60_000);
            member.heat = 1 + random.nextInt(5);
        }
        for (int round = 0; round < 40; round++) {
            clockMillis.addAndGet(5000);
            arbiter.onLiveHeap(live(), MAX_BYTES);
            members.forEach(FakeMember::move);
        }

        assertThat(live()).isBetween(590_000L, 750_000L);
        clockMillis.addAndGet(5000);
        assertThat(arbiter.onLiveHeap(live(), MAX_BYTES)).as("at rest").isFalse();
    }

    private long live() {
        return 100_000 + members.stream().mapToLong(SpillMember::heapStateBytes).sum();
    }

    @Test
    void membersWithOtherRatios_areAskedByTheirOwn() {
        Configuration early = new Configuration();
        early.set(SpillableOptions.SPILL_START_RATIO, 0.65);
        FakeMember first = join(SpillConfig.of(early));
        FakeMember second = join(SpillConfig.defaults());
        first.heap = 300_000;
        second.heap = 300_000;

        arbiter.onLiveHeap(700_000, MAX_BYTES);

        assertThat(first.toSpill).isPositive();
        assertThat(second.toSpill).isZero();
    }

    @Test
    void theShortestInterval_isWaitedFor() {
        Configuration patient = new Configuration();
        patient.set(SpillableOptions.TRIGGER_INTERVAL, java.time.Duration.ofSeconds(60));
        join(SpillConfig.of(patient)).heap = 400_000;
        join(SpillConfig.defaults()).heap = 400_000;

        assertThat(arbiter.onLiveHeap(800_000, MAX_BYTES)).isTrue();
        clockMillis.set(4999);
        assertThat(arbiter.onLiveHeap(800_000, MAX_BYTES)).isFalse();
        clockMillis.set(5000);
        assertThat(arbiter.onLiveHeap(800_000, MAX_BYTES)).isTrue();
    }

    @Test
    void restoredState_hasRoomUntilOthersAndStateReachTheEndOfSpilling() {
        FakeMember member = join(SpillConfig.defaults());
        member.heap = 100_000;
        arbiter.onLiveHeap(300_000, MAX_BYTES);

        member.heap = 390_000;
        assertThat(arbiter.hasRoomFor(member)).as("200,000 of others").isTrue();
        member.heap = 410_000;
        assertThat(arbiter.hasRoomFor(member)).isFalse();
    }

    @Test
    void restoredState_hasNoRoomWhereTimersAre() {
        FakeMember member = join(SpillConfig.defaults());
        member.heap = 100_000;
        member.timers = 490_000;
        assertThat(arbiter.hasRoomFor(member)).isTrue();

        member.timers = 510_000;
        assertThat(arbiter.hasRoomFor(member)).isFalse();
    }

    @Test
    void close_stopsTheReports() {
        arbiter.close();

        assertThat(stopped).hasValue(1);
    }
}
