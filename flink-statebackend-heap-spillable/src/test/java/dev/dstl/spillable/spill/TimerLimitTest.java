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

package dev.dstl.spillable.spill;

import static org.assertj.core.api.Assertions.assertThat;

import dev.dstl.spillable.LoggedLines;
import dev.dstl.spillable.config.SpillConfig;
import dev.dstl.spillable.pressure.SpillArbiter;
import java.io.IOException;
import java.nio.file.Path;
import org.apache.flink.runtime.state.KeyGroupedInternalPriorityQueue;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.streaming.api.operators.TimerHeapInternalTimer;
import org.apache.logging.log4j.Level;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** When timers alone take more of the heap than spilling can make up for. */
class TimerLimitTest {

    private static final long BYTES_PER_TIMER = TimerSizes.bytesPerTimer(Long.BYTES + 4);

    /** Of 1000 timers. */
    private static final long HEAP_BYTES = 1000 * BYTES_PER_TIMER;

    @TempDir Path disk;
    private final SpillArbiter arbiter = new SpillArbiter(() -> 0, HEAP_BYTES, a -> () -> {});
    private final SpillCounters counters = new SpillCounters();
    private final LoggedLines warnings = new LoggedLines(TimerLimit.class, Level.WARN);
    private PlacedTables tables;
    private KeyGroupedInternalPriorityQueue<TimerHeapInternalTimer<Integer, VoidNamespace>> timers;
    private SpillScheduler scheduler;

    @BeforeEach
    void open() {
        tables = new PlacedTables(disk, 1 << 20);
        timers = tables.addTimers("timers");
        scheduler = scheduler(tables, counters);
    }

    private SpillScheduler scheduler(PlacedTables placed, SpillCounters taken) {
        return new SpillScheduler(
                SpillConfig.defaults(),
                arbiter,
                placed.states,
                placed.space,
                Runnable::run,
                null,
                System::nanoTime,
                taken);
    }

    @AfterEach
    void close() throws IOException {
        scheduler.close();
        tables.close();
        warnings.close();
    }

    /** Adds or polls timers until there are that many, and selects keys until they are counted. */
    private void haveTimers(int count) {
        for (int key = 0; timers.size() < count; key++) {
            timers.add(new TimerHeapInternalTimer<>(key, key, VoidNamespace.INSTANCE));
        }
        while (timers.size() > count) {
            timers.poll();
        }
        for (int i = 0; i < 4096; i++) {
            scheduler.keySelected();
        }
        assertThat(scheduler.timerBytes()).isEqualTo(count * BYTES_PER_TIMER);
    }

    @Test
    void timersUpToTheEndOfSpilling_areNoReasonToWarn() {
        haveTimers(600);

        assertThat(warnings.lines()).isEmpty();
    }

    @Test
    void aboveTheEndOfSpilling_oneWarningSaysHowManyAndWhatToDo() {
        haveTimers(610);
        haveTimers(700);
        haveTimers(800);

        assertThat(warnings.lines()).hasSize(1);
        assertThat(warnings.lines().get(0))
                .contains("Task '" + Thread.currentThread().getName() + "' has 610 timers")
                .contains("of about " + 610 * BYTES_PER_TIMER + " bytes")
                .contains("take 61 % of its heap")
                .contains("leave 60 % ('state.backend.spillable.spill-end.ratio')")
                .contains("timers are never spilled")
                .contains("larger heap")
                .contains("fewer timers")
                .contains("'state.backend.rocksdb.timer-service.factory: rocksdb'");
    }

    @Test
    void theWarningComesAgain_onlyAfterTimersHaveGoneBelowTheEndOfLoading() {
        haveTimers(610);
        haveTimers(550);
        haveTimers(610);
        assertThat(warnings.lines()).as("around the limit").hasSize(1);

        haveTimers(490);
        haveTimers(650);
        assertThat(warnings.lines()).hasSize(2);
    }

    @Test
    void everyBackendWithTimersWarns_ofWhatAllTogetherTake() throws IOException {
        haveTimers(400);
        try (PlacedTables withTimers = new PlacedTables(disk, 1 << 20);
                PlacedTables without = new PlacedTables(disk, 1 << 20)) {
            KeyGroupedInternalPriorityQueue<TimerHeapInternalTimer<Integer, VoidNamespace>> more =
                    withTimers.addTimers("timers");
            for (int key = 0; key < 300; key++) {
                more.add(new TimerHeapInternalTimer<>(key, key, VoidNamespace.INSTANCE));
            }
            SpillScheduler second = scheduler(withTimers, new SpillCounters());
            SpillScheduler third = scheduler(without, new SpillCounters());
            second.keySelected();
            third.keySelected();
            haveTimers(401);
            second.close();
            third.close();
        }

        assertThat(warnings.lines()).hasSize(2);
        assertThat(warnings.lines().get(0)).contains("has 300 timers").contains("take 70 %");
        assertThat(warnings.lines().get(1)).contains("has 401 timers").contains("take 70 %");
    }

    @Test
    void timersThatARestorePlaces_areWarnedOfBeforeTheFirstKey() {
        for (int key = 0; key < 700; key++) {
            timers.add(new TimerHeapInternalTimer<>(key, key, VoidNamespace.INSTANCE));
        }
        scheduler.keyGroupRestored();

        assertThat(warnings.lines()).hasSize(1);
        assertThat(counters.timers()).isEqualTo(700);
    }
}
