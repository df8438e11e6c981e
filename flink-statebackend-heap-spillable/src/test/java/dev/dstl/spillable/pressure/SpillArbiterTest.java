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

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class SpillArbiterTest {

    private final AtomicLong clockMillis = new AtomicLong();
    private final SpillArbiter arbiter = new SpillArbiter(clockMillis::get, 1000, a -> () -> {});

    @Test
    void underPressure_bytesOverTheEndRatioAreSharedOutBySize() {
        FakeMember large = new FakeMember(6000, 0);
        FakeMember small = new FakeMember(2000, 0);
        arbiter.join(large);
        arbiter.join(small);

        assertThat(arbiter.onLiveHeap(8000, 10_000)).isTrue();

        assertThat(large.toSpill).isEqualTo(1500);
        assertThat(small.toSpill).isEqualTo(500);
        assertThat(large.urgent).isFalse();
    }

    @Test
    void colderState_goesFirst() {
        FakeMember hot = new FakeMember(4000, 0);
        FakeMember cold = new FakeMember(4000, 0);
        hot.heat = 9;
        cold.heat = 1;
        arbiter.join(hot);
        arbiter.join(cold);

        arbiter.onLiveHeap(7600, 10_000);

        assertThat(cold.toSpill).isGreaterThan(hot.toSpill);
    }

    @Test
    void betweenTheRatios_nothingMoves() {
        FakeMember member = new FakeMember(4000, 4000);
        arbiter.join(member);

        assertThat(arbiter.onLiveHeap(7500, 10_000)).isFalse();
        assertThat(arbiter.onLiveHeap(3000, 10_000)).isFalse();
        assertThat(member.toSpill + member.toLoad).isZero();
    }

    @Test
    void afterADecision_noneFollowsWithinTheInterval() {
        FakeMember member = new FakeMember(8000, 0);
        arbiter.join(member);

        assertThat(arbiter.onLiveHeap(8000, 10_000)).isTrue();
        assertThat(arbiter.onLiveHeap(8000, 10_000)).isFalse();
        clockMillis.set(5000);
        assertThat(arbiter.onLiveHeap(8000, 10_000)).isTrue();
    }

    @Test
    void afterADecision_theNextOneFollows_thoughTheClockWasSetBack() {
        FakeMember member = new FakeMember(8000, 0);
        arbiter.join(member);
        clockMillis.set(TimeUnit.HOURS.toMillis(2));

        assertThat(arbiter.onLiveHeap(8000, 10_000)).isTrue();
        clockMillis.set(5000);
        assertThat(arbiter.onLiveHeap(8000, 10_000)).isTrue();
    }

    @Test
    void withRoomToSpare_spilledStateComesBackUpToTheEndRatio() {
        FakeMember member = new FakeMember(0, 9000);
        arbiter.join(member);

        assertThat(arbiter.onLiveHeap(1000, 10_000)).isTrue();

        assertThat(member.toLoad).isEqualTo(4000);
    }

    @Test
    void aMemberThatLeft_isNotAskedAnyMore() {
        FakeMember member = new FakeMember(8000, 0);
        arbiter.join(member);
        arbiter.leave(member);

        assertThat(arbiter.onLiveHeap(9900, 10_000)).isFalse();
    }

    @Test
    void closeToTheEndOfTheHeap_aSpillIsUrgent() {
        FakeMember member = new FakeMember(8000, 0);
        arbiter.join(member);

        arbiter.onLiveHeap(9500, 10_000);

        assertThat(member.urgent).isTrue();
    }

    @Test
    void closeToTheEndOfTheHeap_theIntervalIsNotWaitedFor() {
        FakeMember member = new FakeMember(8000, 0);
        arbiter.join(member);

        assertThat(arbiter.onLiveHeap(8000, 10_000)).isTrue();
        assertThat(arbiter.onLiveHeap(9500, 10_000)).isTrue();
    }

    @Test
    void stateThatGrowsBetweenFullCollections_countsAsLive() {
        FakeMember member = new FakeMember(1000, 0);
        arbiter.join(member);
        assertThat(arbiter.onLiveHeap(2000, 10_000)).isFalse();

        member.heap = 7000;

        assertThat(arbiter.onOccupiedHeap(9900, 10_000)).isTrue();
        assertThat(member.toSpill).as("of 7000 and the 1000 that are not state").isEqualTo(1750);
    }

    @Test
    void beforeTheFirstFullCollection_timersCountAsLive() {
        FakeMember member = new FakeMember(2000, 0);
        arbiter.join(member);
        assertThat(arbiter.onOccupiedHeap(9900, 10_000)).isFalse();

        member.timers = 6000;

        assertThat(arbiter.onOccupiedHeap(9900, 10_000)).isTrue();
        assertThat(member.toSpill).as("a quarter of the state, nothing of timers").isEqualTo(500);
    }

    @Test
    void timersThatAFullCollectionMeasured_areNotCountedTwice() {
        FakeMember member = new FakeMember(2000, 0);
        member.timers = 5000;
        arbiter.join(member);
        assertThat(arbiter.onLiveHeap(7200, 10_000)).isFalse();

        assertThat(arbiter.onOccupiedHeap(9900, 10_000)).as("7200 as before").isFalse();

        member.timers = 5500;
        assertThat(arbiter.onOccupiedHeap(9900, 10_000)).as("7700").isTrue();
    }

    @Test
    void aBackendThatHasOnlyTimers_isAskedForNothing() {
        FakeMember timers = new FakeMember(0, 0);
        timers.timers = 7000;
        FakeMember state = new FakeMember(1000, 0);
        arbiter.join(timers);
        arbiter.join(state);

        assertThat(arbiter.onLiveHeap(8500, 10_000)).isTrue();

        assertThat(timers.toSpill).isZero();
        assertThat(state.toSpill).as("its state makes room").isEqualTo(250);
    }

    @Test
    void theShareOfTimers_isThatOfAllBackends() {
        assertThat(arbiter.timerRatio()).isZero();
        FakeMember one = new FakeMember(5000, 0);
        FakeMember other = new FakeMember(0, 5000);
        one.timers = 200;
        other.timers = 300;
        arbiter.join(one);
        arbiter.join(other);

        assertThat(arbiter.timerRatio()).isEqualTo(0.5);
        arbiter.leave(one);
        assertThat(arbiter.timerRatio()).isEqualTo(0.3);
    }

    @Test
    void garbage_isNoPressure() {
        FakeMember member = new FakeMember(4000, 4000);
        arbiter.join(member);
        arbiter.onLiveHeap(5000, 10_000);

        assertThat(arbiter.onOccupiedHeap(9900, 10_000)).isFalse();
        assertThat(arbiter.onOccupiedHeap(1000, 10_000)).as("no reason to load").isFalse();
        assertThat(member.toSpill + member.toLoad).isZero();
    }
}
