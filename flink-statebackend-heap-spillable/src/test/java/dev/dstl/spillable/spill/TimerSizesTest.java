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

import java.io.IOException;
import java.nio.file.Path;
import org.apache.flink.runtime.state.KeyGroupedInternalPriorityQueue;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.streaming.api.operators.TimerHeapInternalTimer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TimerSizesTest {

    /** Of a timer with an int as its key and no namespace. */
    private static final long BYTES_PER_TIMER = TimerSizes.bytesPerTimer(Long.BYTES + 4);

    @TempDir Path disk;
    private final SpillCounters counters = new SpillCounters();
    private final TimerSizes sizes = new TimerSizes(counters);
    private PlacedTables tables;

    @BeforeEach
    void open() {
        tables = new PlacedTables(disk, 1 << 20);
    }

    @AfterEach
    void close() throws IOException {
        tables.close();
    }

    private void count() {
        sizes.count(tables.states.queues().values());
    }

    private static TimerHeapInternalTimer<Integer, VoidNamespace> timer(int key) {
        return new TimerHeapInternalTimer<>(1000 + key, key, VoidNamespace.INSTANCE);
    }

    @Test
    void withoutTimers_thereIsNothingToCount() {
        tables.add("state", 10);
        tables.addTimers("timers");
        count();

        assertThat(sizes.count()).isZero();
        assertThat(sizes.bytes()).isZero();
    }

    @Test
    void timersOfAllQueues_areCountedAsTheyAreAddedRemovedAndPolled() {
        KeyGroupedInternalPriorityQueue<TimerHeapInternalTimer<Integer, VoidNamespace>> one =
                tables.addTimers("event time");
        KeyGroupedInternalPriorityQueue<TimerHeapInternalTimer<Integer, VoidNamespace>> other =
                tables.addTimers("processing time");
        for (int key = 0; key < 100; key++) {
            one.add(timer(key));
            one.add(timer(key));
        }
        other.add(timer(0));
        count();
        assertThat(sizes.count()).as("a timer that is added again").isEqualTo(101);

        one.remove(timer(50));
        one.remove(timer(50));
        one.poll();
        one.poll();
        count();
        assertThat(sizes.count()).isEqualTo(98);
        assertThat(sizes.bytes()).isEqualTo(98 * BYTES_PER_TIMER);
        assertThat(counters.timers()).isEqualTo(98);
        assertThat(counters.timerBytes()).isEqualTo(sizes.bytes());

        while (one.poll() != null) {
            // until it is empty
        }
        other.poll();
        count();
        assertThat(sizes.count()).isZero();
        assertThat(counters.timerBytes()).isZero();
    }

    @Test
    void aTimer_takesItsStructuresAndTwiceWhatKeyAndNamespaceSerializeTo() {
        assertThat(TimerSizes.bytesPerTimer(Long.BYTES)).isIn(77L, 105L);
        assertThat(TimerSizes.bytesPerTimer(Long.BYTES + 24) - TimerSizes.bytesPerTimer(Long.BYTES))
                .as("a long and a window")
                .isEqualTo(48);
        assertThat(TimerSizes.bytesPerTimer(-1) - TimerSizes.bytesPerTimer(Long.BYTES))
                .as("assumed for strings and the like")
                .isEqualTo(64);
    }
}
