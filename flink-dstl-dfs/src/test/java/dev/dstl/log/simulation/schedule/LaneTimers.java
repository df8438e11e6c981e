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

import dev.dstl.log.execution.Timers;
import java.util.concurrent.TimeUnit;

/** Timers of one process, whose actions run in the order in which they are due. */
public final class LaneTimers implements Timers {

    private final Schedule schedule;
    private final Lane lane;

    public LaneTimers(Schedule schedule, Lane lane) {
        this.schedule = schedule;
        this.lane = lane;
    }

    @Override
    public long nanoTime() {
        return TimeUnit.MILLISECONDS.toNanos(schedule.nowMillis());
    }

    @Override
    public Timer schedule(Runnable action, long delayMillis) {
        return lane.addIn(delayMillis, "timer", action)::cancel;
    }

    @Override
    public void every(long periodMillis, Runnable action) {
        lane.addIn(
                periodMillis,
                "timer",
                () -> {
                    try {
                        action.run();
                    } finally {
                        every(periodMillis, action);
                    }
                });
    }
}
