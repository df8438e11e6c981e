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

package dev.dstl.log.simulation.store;

import dev.dstl.log.simulation.schedule.Dice;
import dev.dstl.log.simulation.schedule.Schedule;

/**
 * How well the store works: each seed has its own climate, from no fault at all to hardly anything
 * else, and outages on top. Ends when the simulation lets things settle.
 */
public final class Weather {

    private static final int MAX_ETERNAL_HANGS = 2;

    private final Dice dice;
    private final Schedule schedule;
    private final int failPercent;
    private final int hangPercent;
    private final int eternalPercent;
    private final int latePercent;
    private final int invisiblePercent;
    private final int deleteFailPercent;
    private final long latencyLimitMillis;
    private final boolean hasOutages;

    private boolean fair;
    private int eternalHangs;
    private long outageFromMillis;
    private long outageToMillis;

    Weather(Dice dice, Schedule schedule) {
        this.dice = dice;
        this.schedule = schedule;
        failPercent = dice.oneOf(0, 0, 2, 10, 30, 60);
        hangPercent = dice.oneOf(0, 0, 2, 10, 30);
        eternalPercent = dice.oneOf(0, 0, 20, 100);
        latePercent = dice.oneOf(0, 0, 0, 20);
        invisiblePercent = dice.oneOf(0, 0, 5, 40);
        deleteFailPercent = dice.oneOf(0, 0, 5, 50);
        latencyLimitMillis = dice.oneOf(0L, 5L, 50L, 300L, 3_000L);
        hasOutages = dice.percent(30);
        nextOutage();
    }

    private void nextOutage() {
        outageFromMillis =
                hasOutages ? schedule.nowMillis() + dice.between(1_000, 60_000) : Long.MAX_VALUE;
        outageToMillis = hasOutages ? outageFromMillis + dice.between(500, 90_000) : Long.MAX_VALUE;
    }

    /** From now on nothing goes wrong that has not begun. */
    public void turnsFair() {
        fair = true;
    }

    boolean isOut() {
        if (fair) {
            return false;
        }
        long now = schedule.nowMillis();
        if (now >= outageToMillis) {
            nextOutage();
        }
        return now >= outageFromMillis;
    }

    long latencyMillis() {
        return fair ? dice.below(20) : dice.skewed(latencyLimitMillis);
    }

    long hangMillis() {
        return fair ? dice.below(100) : dice.between(1_000, 120_000);
    }

    WriteFate nextFate() {
        if (fair) {
            return WriteFate.STORED;
        }
        if (isOut()) {
            return dice.percent(30)
                    ? hanging()
                    : dice.oneOf(WriteFate.FAILS_AT_CREATE, WriteFate.FAILS_ON_CLOSE);
        }
        if (dice.percent(hangPercent)) {
            return hanging();
        }
        return dice.percent(failPercent) ? failing() : WriteFate.STORED;
    }

    private WriteFate failing() {
        if (dice.percent(latePercent)) {
            return WriteFate.FAILS_AND_IS_STORED_LATER;
        }
        return dice.oneOf(
                WriteFate.FAILS_AT_CREATE,
                WriteFate.FAILS_IN_THE_MIDDLE,
                WriteFate.FAILS_ON_CLOSE,
                WriteFate.FAILS_ON_CLOSE_AND_LEAVES_PART,
                WriteFate.FAILS_BUT_IS_STORED);
    }

    private WriteFate hanging() {
        if (eternalHangs < MAX_ETERNAL_HANGS && dice.percent(eternalPercent)) {
            eternalHangs++;
            return WriteFate.HANGS_FOREVER;
        }
        return dice.oneOf(WriteFate.HANGS_THEN_STORED, WriteFate.HANGS_THEN_FAILS);
    }

    /** How long a file that was just stored cannot be seen by those who read. */
    long invisibleMillis() {
        return !fair && dice.percent(invisiblePercent) ? dice.between(1, 20_000) : 0;
    }

    boolean failsDelete() {
        return !fair && (isOut() || dice.percent(deleteFailPercent));
    }

    boolean failsRead() {
        return isOut() || (!fair && dice.percent(failPercent / 10));
    }

    /** What a client throws: not only what it should. */
    boolean throwsUnchecked() {
        return dice.percent(10);
    }
}
