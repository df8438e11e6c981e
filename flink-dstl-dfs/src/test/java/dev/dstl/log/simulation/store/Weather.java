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
import dev.dstl.log.simulation.world.Condition;
import dev.dstl.log.simulation.world.Conditions;
import java.util.function.Consumer;

/**
 * The faults of the store: each seed has its own rate, from none to nearly all requests, and
 * outages in addition. Faults end when the simulation settles; the base latency of the store stays.
 */
public final class Weather {

    private static final int MAX_DEAF_WRITES = 2;
    private static final long SLOW_MILLIS = 1_200;
    private static final long MAX_STALL_MILLIS = 5_000;
    private static final int REQUESTS_PER_SECOND = 4;
    private static final int MAX_SAVED_REQUESTS = 8;

    private final Dice dice;
    private final Schedule schedule;
    private final Conditions conditions;
    private final int failPercent;
    private final int hangPercent;
    private final int eternalPercent;
    private final int latePercent;
    private final int invisiblePercent;
    private final int deleteFailPercent;
    private final long latencyLimitMillis;
    private final boolean hasOutages;

    private boolean fair;
    private int uninterruptibleWrites;
    private long outageFromMillis;
    private long outageToMillis;
    private long stalledToMillis;
    private double savedRequests = MAX_SAVED_REQUESTS;
    private long lastRequestMillis;

    Weather(Dice dice, Schedule schedule, Conditions conditions) {
        this.dice = dice;
        this.schedule = schedule;
        this.conditions = conditions;
        boolean eternal = conditions.has(Condition.ETERNAL_WRITES);
        failPercent = dice.oneOf(0, 0, 2, 10, 30, 60);
        hangPercent = eternal ? dice.oneOf(1, 5, 30) : dice.oneOf(0, 0, 2, 10, 30);
        eternalPercent = eternal ? dice.oneOf(20, 100) : 0;
        latePercent = dice.oneOf(0, 0, 0, 20);
        invisiblePercent = dice.oneOf(0, 0, 5, 40);
        deleteFailPercent = dice.oneOf(0, 0, 5, 50);
        latencyLimitMillis =
                conditions.has(Condition.SHARED_LINK) || conditions.has(Condition.SLOW_STORE)
                        ? 50
                        : dice.oneOf(0L, 5L, 50L, 300L, 3_000L);
        hasOutages = dice.percent(30);
        nextOutage();
    }

    private void nextOutage() {
        outageFromMillis =
                hasOutages ? schedule.nowMillis() + dice.between(1_000, 60_000) : Long.MAX_VALUE;
        outageToMillis = hasOutages ? outageFromMillis + dice.between(500, 90_000) : Long.MAX_VALUE;
    }

    /** Ends the faults; those that have begun may continue. */
    public void turnsFair() {
        fair = true;
    }

    /** Makes the store unreachable for a while, as during the start of a process. */
    public void goesDown(long millis) {
        if (!fair) {
            conditions.occurred(Condition.STORE_DOWN_AT_START);
            outageFromMillis = schedule.nowMillis();
            outageToMillis = outageFromMillis + millis;
        }
    }

    /** Starts the stalls, if there are any, and records when each begins and ends. */
    void stallOnAndOff(Lanes lanes, Consumer<Boolean> stalls) {
        if (conditions.has(Condition.STALLS)) {
            lanes.later(dice.between(500, 20_000), "stalls", () -> stall(lanes, stalls));
        }
    }

    private void stall(Lanes lanes, Consumer<Boolean> stalls) {
        if (fair) {
            return;
        }
        long millis = dice.between(500, MAX_STALL_MILLIS);
        stalledToMillis = schedule.nowMillis() + millis;
        stalls.accept(true);
        conditions.occurred(Condition.STALLS);
        lanes.later(
                millis,
                "moves again",
                () -> {
                    stalls.accept(false);
                    stallOnAndOff(lanes, stalls);
                });
    }

    boolean isStalled() {
        return schedule.nowMillis() < stalledToMillis;
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
        long millis = fair ? dice.below(20) : unfairLatencyMillis();
        if (conditions.has(Condition.SLOW_STORE)) {
            conditions.occurred(Condition.SLOW_STORE);
            millis += SLOW_MILLIS;
        }
        return millis + Math.max(0, stalledToMillis - schedule.nowMillis());
    }

    /** Latency of uploads that outlast several overlapping checkpoints. */
    private long unfairLatencyMillis() {
        return conditions.has(Condition.OVERLAPPING_CHECKPOINTS) && dice.percent(50)
                ? dice.between(500, 3_000)
                : dice.skewed(latencyLimitMillis);
    }

    /** Maximum latency of a request without faults, without the transfer of its bytes. */
    public long fairLatencyMillis() {
        return 20 + (conditions.has(Condition.SLOW_STORE) ? SLOW_MILLIS : 0);
    }

    long hangMillis() {
        return fair ? dice.below(100) : dice.between(1_000, 120_000);
    }

    /** Whether the recent requests, including this one, exceed the limit. */
    boolean refusesRequest() {
        if (fair || !conditions.has(Condition.REQUEST_LIMIT)) {
            return false;
        }
        long now = schedule.nowMillis();
        savedRequests += (now - lastRequestMillis) * REQUESTS_PER_SECOND / 1_000.0;
        savedRequests = Math.min(MAX_SAVED_REQUESTS, savedRequests);
        lastRequestMillis = now;
        if (savedRequests < 1) {
            conditions.occurred(Condition.REQUEST_LIMIT);
            return true;
        }
        savedRequests--;
        return false;
    }

    WriteFate nextFate() {
        if (fair) {
            return WriteFate.STORED;
        }
        if (refusesRequest()) {
            return WriteFate.REFUSED;
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
        if (dice.percent(eternalPercent)) {
            conditions.occurred(Condition.ETERNAL_WRITES);
            return WriteFate.HANGS_FOREVER;
        }
        if (conditions.has(Condition.DEAF_WRITES) && uninterruptibleWrites < MAX_DEAF_WRITES) {
            uninterruptibleWrites++;
            conditions.occurred(Condition.DEAF_WRITES);
            return WriteFate.HANGS_FOREVER_AND_IS_DEAF;
        }
        return dice.oneOf(WriteFate.HANGS_THEN_STORED, WriteFate.HANGS_THEN_FAILS);
    }

    /** Time for which a stored file stays invisible to readers. */
    long invisibleMillis() {
        return !fair && dice.percent(invisiblePercent) ? dice.between(1, 20_000) : 0;
    }

    boolean failsDelete() {
        return !fair && (isOut() || dice.percent(deleteFailPercent));
    }

    /** Whether a read that does not wait fails. */
    boolean failsRead() {
        return isOut() || (!fair && dice.percent(failPercent / 10));
    }

    /** Whether a read on a thread of a process fails. */
    boolean failsReadOfProcess() {
        if (!fair && conditions.has(Condition.FAILING_READS) && dice.percent(40)) {
            conditions.occurred(Condition.FAILING_READS);
            return true;
        }
        return isOut();
    }

    boolean hangsRead() {
        boolean hangs = !fair && conditions.has(Condition.ETERNAL_READS) && dice.percent(60);
        if (hangs) {
            conditions.occurred(Condition.ETERNAL_READS);
        }
        return hangs;
    }

    /** Whether a client throws an unchecked exception. */
    boolean throwsUnchecked() {
        return dice.percent(10);
    }

    /** Schedules actions of the store itself. */
    interface Lanes {
        void later(long delayMillis, String what, Runnable action);
    }
}
