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
import static org.assertj.core.api.Assertions.offset;

import dev.dstl.spillable.table.StateTable;
import java.io.IOException;
import java.nio.file.Path;
import org.apache.flink.runtime.state.VoidNamespace;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StateSizesTest {

    @TempDir Path disk;
    private final SpillCounters counters = new SpillCounters();
    private final StateSizes sizes = new StateSizes(counters);
    private PlacedTables tables;

    @BeforeEach
    void open() {
        tables = new PlacedTables(disk, 1 << 20);
    }

    @AfterEach
    void close() throws IOException {
        tables.close();
    }

    @Test
    void counting_tellsWhatIsWhere() throws IOException {
        StateTable<Integer, VoidNamespace, String> one = tables.add("one", 50);
        tables.add("other", 10);
        one.placement().startSpill(1);
        one.placement().spill(1, 30);
        one.placement().startSpill(2);
        one.placement().spill(2, Integer.MAX_VALUE);

        sizes.count(tables.states.tables(), false);

        assertThat(counters.heapEntries()).isEqualTo(240 - 80);
        assertThat(counters.spilledEntries()).isEqualTo(80);
        assertThat(counters.heapGroups()).isEqualTo(6);
        assertThat(counters.spilledGroups()).isEqualTo(2);
        assertThat(sizes.heapBytes())
                .as("strings of some 15 characters")
                .isBetween(160L * 100, 160L * 180);
        assertThat(counters.heapBytes()).isEqualTo(sizes.heapBytes());
        assertThat(sizes.spilledBytes()).isBetween(80L * 100, 80L * 180);
        assertThat(sizes.heatPerByte()).isCloseTo(240.0 / sizes.heapBytes(), offset(1e-4));
    }

    @Test
    void heat_halvesOnlyWhenAsked() {
        tables.add("state", 10);
        sizes.count(tables.states.tables(), false);
        double heat = sizes.heatPerByte();
        sizes.count(tables.states.tables(), true);
        assertThat(sizes.heatPerByte()).as("cools down afterwards").isEqualTo(heat);
        sizes.count(tables.states.tables(), true);
        sizes.count(tables.states.tables(), false);

        assertThat(sizes.heatPerByte()).isEqualTo(heat / 2);
    }

    @Test
    void withoutState_nothingIsHot() {
        sizes.count(tables.states.tables(), true);

        assertThat(sizes.heapBytes()).isZero();
        assertThat(sizes.heatPerByte()).isZero();
    }

    @Test
    void totals_addUp_andTheLongestPauseStays() {
        counters.spilled(10, 1000);
        counters.spilled(5, 300);
        counters.loaded(7);
        counters.refused();
        counters.paused(500);
        counters.paused(900);
        counters.paused(100);

        assertThat(counters.movedOut()).isEqualTo(15);
        assertThat(counters.movedOutBytes()).isEqualTo(1300);
        assertThat(counters.movedIn()).isEqualTo(7);
        assertThat(counters.refusals()).isEqualTo(1);
        assertThat(counters.longestPauseNanos()).isEqualTo(900);
    }
}
