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

package dev.dstl.log.simulation.world;

import dev.dstl.log.simulation.schedule.Dice;
import dev.dstl.log.simulation.schedule.Schedule;
import dev.dstl.log.simulation.schedule.ThreadStarts;
import java.util.function.BooleanSupplier;

/** Until the faults end, refuses several threads in a row or starts them late. */
public final class FaultyThreadStarts implements ThreadStarts {

    private static final int MAX_IN_A_ROW = 12;
    private static final int EPISODE_PERCENT = 2;
    private static final int FEW_PERCENT = 5;
    private static final int MANY_PERCENT = 40;
    private static final long MAX_LATE_MILLIS = 4_000;
    private static final long MAX_PAUSE_MILLIS = 5_000;

    private final Dice dice;
    private final Conditions conditions;
    private final BooleanSupplier over;
    private final Schedule schedule;
    private final boolean pauses;
    private int refusals;
    private long pausedFromMillis;
    private long pausedToMillis;

    /**
     * @param over whether nothing goes wrong any more
     */
    public FaultyThreadStarts(
            Dice dice, Schedule schedule, Conditions conditions, BooleanSupplier over) {
        this.schedule = schedule;
        this.dice = dice;
        this.conditions = conditions;
        this.over = over;
        this.pauses = dice.percent(30);
    }

    @Override
    public long delayMillis() {
        if (over.getAsBoolean()) {
            return 0;
        }
        if (conditions.has(Condition.THREAD_STARTS_FAIL)) {
            if (refusals == 0 && dice.percent(EPISODE_PERCENT)) {
                refusals = 1 + dice.below(MAX_IN_A_ROW);
            }
            if (refusals > 0) {
                refusals--;
                conditions.occurred(Condition.THREAD_STARTS_FAIL);
                throw new OutOfMemoryError("unable to create native thread: simulated");
            }
        }
        return conditions.has(Condition.THREAD_STARTS_LATE) ? latenessMillis() : 0;
    }

    /** Delay of a thread: either none starts for some seconds, or many start late. */
    private long latenessMillis() {
        long millis = pauses ? pauseMillis() : 0;
        if (dice.percent(pauses ? FEW_PERCENT : MANY_PERCENT)) {
            millis += dice.percent(10) ? dice.skewed(20_000) : dice.between(1, MAX_LATE_MILLIS);
        }
        if (millis > 0) {
            conditions.occurred(Condition.THREAD_STARTS_LATE);
        }
        return millis;
    }

    private long pauseMillis() {
        long now = schedule.nowMillis();
        if (now >= pausedToMillis) {
            pausedFromMillis = now + dice.between(0, MAX_PAUSE_MILLIS);
            pausedToMillis = pausedFromMillis + dice.between(100, MAX_PAUSE_MILLIS);
        }
        return now >= pausedFromMillis ? pausedToMillis - now + dice.below(20) : 0;
    }
}
