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
import dev.dstl.log.simulation.schedule.ThreadStarts;
import java.util.function.BooleanSupplier;

/** Threads that are refused, a few in a row, or that come late, until the faults are over. */
public final class FaultyThreadStarts implements ThreadStarts {

    private static final int MAX_IN_A_ROW = 12;
    private static final int EPISODE_PERCENT = 2;
    private static final int LATE_PERCENT = 30;

    private final Dice dice;
    private final Conditions conditions;
    private final BooleanSupplier over;
    private int refusals;

    /**
     * @param over whether nothing goes wrong any more
     */
    public FaultyThreadStarts(Dice dice, Conditions conditions, BooleanSupplier over) {
        this.dice = dice;
        this.conditions = conditions;
        this.over = over;
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
        if (conditions.has(Condition.THREAD_STARTS_LATE) && dice.percent(LATE_PERCENT)) {
            conditions.occurred(Condition.THREAD_STARTS_LATE);
            return dice.skewed(20_000);
        }
        return 0;
    }
}
