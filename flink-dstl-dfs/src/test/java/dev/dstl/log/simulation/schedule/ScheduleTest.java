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

package dev.dstl.log.simulation.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ScheduleTest {

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void withLimitedLateness_whatIsReadyIsNotLateForACancelledEvent(long seed) {
        Schedule schedule = new Schedule(new Dice(seed), new Trace(false));
        Lane lane = schedule.lane("lane");
        schedule.limitLateness(20);
        for (int i = 0; i < 1_000; i++) {
            long begin = schedule.nowMillis();
            long[] happened = new long[1];
            lane.addIn(10, "cancelled", () -> {}).cancel();
            Schedule.Delayed far = lane.addIn(5_000, "far", () -> {});
            lane.add("ready", () -> happened[0] = schedule.nowMillis());
            schedule.step();
            assertThat(happened[0] - begin).isBetween(0L, 20L);
            far.cancel();
        }
    }
}
