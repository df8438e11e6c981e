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

import dev.dstl.spillable.table.Residency;
import dev.dstl.spillable.table.StateTable;
import dev.dstl.spillable.table.TablePlacement;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import org.apache.flink.runtime.state.VoidNamespace;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ColdestPerByteTest {

    @TempDir Path disk;
    private PlacedTables tables;
    private StateTable<Integer, VoidNamespace, String> first;
    private StateTable<Integer, VoidNamespace, String> second;

    @BeforeEach
    void open() {
        tables = new PlacedTables(disk, 1 << 20);
        first = tables.add("first", 60);
        second = tables.add("second", 60);
    }

    @AfterEach
    void close() throws IOException {
        tables.close();
    }

    private ColdestPerByte.Choice toSpill() {
        return ColdestPerByte.toSpill(tables.states.tables());
    }

    private ColdestPerByte.Choice toLoad() {
        return ColdestPerByte.toLoad(tables.states.tables(), Double.MAX_VALUE);
    }

    private void heat(StateTable<Integer, VoidNamespace, String> table, int group, int accesses) {
        for (int i = 0; i < accesses; i++) {
            PlacedTables.get(table, group);
        }
    }

    private void heatAllBut(TablePlacement cold, int coldGroup) {
        for (int group = 0; group < PlacedTables.GROUPS; group++) {
            if (first.placement() != cold || group != coldGroup) {
                heat(first, group, 100);
            }
            if (second.placement() != cold || group != coldGroup) {
                heat(second, group, 100);
            }
        }
    }

    private static void spillAll(TablePlacement placement, int group) throws IOException {
        placement.startSpill(group);
        placement.spill(group, Integer.MAX_VALUE);
    }

    @Test
    void theColdestGroupOfAnyTable_isSpilledNext() {
        heatAllBut(second.placement(), 2);

        assertThat(toSpill().placement).isSameAs(second.placement());
        assertThat(toSpill().position).isEqualTo(2);
    }

    @Test
    void aLargeGroup_isColderThanASmallOneWithTheSameAccesses() {
        for (int key = 240; key < 2000; key += 4) {
            PlacedTables.put(first, key, "more of group 0");
        }
        for (int group = 1; group < PlacedTables.GROUPS; group++) {
            heat(first, group, 440);
        }
        for (int group = 0; group < PlacedTables.GROUPS; group++) {
            heat(second, group, 440);
        }

        assertThat(toSpill().placement).isSameAs(first.placement());
        assertThat(toSpill().position).isZero();
    }

    @Test
    void entriesCountByTheirBytes_notByTheirNumber() {
        StateTable<Integer, VoidNamespace, String> large = tables.add("large", 0);
        for (int key = 0; key < PlacedTables.GROUPS; key++) {
            PlacedTables.put(large, key, "x".repeat(100_000));
        }
        heat(large, 3, 60);
        for (int group = 0; group < PlacedTables.GROUPS; group++) {
            heat(first, group, 1);
            heat(second, group, 1);
            heat(large, group, 30);
        }
        measure();

        assertThat(toSpill().placement).as("30 accesses of one entry").isSameAs(large.placement());
        assertThat(toSpill().position).isNotEqualTo(3);
        assertThat(large.placement().heapBytes(0)).isBetween(100_000.0, 101_000.0);
        assertThat(first.placement().heapBytes(0)).isBetween(60 * 90.0, 60 * 180.0);
    }

    private void measure() {
        for (int i = 0; i < 20; i++) {
            tables.states.tables().forEach(table -> table.placement().measure());
        }
    }

    @Test
    void groupsForWhichSpillingTakesMoreThanItFrees_stay() throws IOException {
        StateTable<Integer, VoidNamespace, String> small = tables.add("small", 3);
        for (StateTable<Integer, VoidNamespace, String> table : Arrays.asList(first, second)) {
            for (int group = 0; group < PlacedTables.GROUPS; group++) {
                spillAll(table.placement(), group);
            }
        }

        assertThat(toSpill()).isNull();
        small.placement().spillFromNowOn(0);
        assertThat(small.placement().residency(0)).isEqualTo(Residency.ON_HEAP);
        for (int key = 100; key < 400; key += PlacedTables.GROUPS) {
            PlacedTables.put(small, key, "more of group 0");
        }
        assertThat(toSpill().position).isZero();
        small.placement().spillFromNowOn(0);
        assertThat(small.placement().residency(0)).isEqualTo(Residency.SPILLING);
    }

    @Test
    void aGroupThatIsHalfSpilled_isFinishedFirst() throws IOException {
        heatAllBut(second.placement(), 2);
        first.placement().startSpill(1);
        first.placement().spill(1, 3);

        assertThat(toSpill().placement).isSameAs(first.placement());
        assertThat(toSpill().position).isEqualTo(1);
    }

    @Test
    void aGroupThatIsHalfLoaded_isFinishedFirst() throws IOException {
        for (int group = 0; group < PlacedTables.GROUPS; group++) {
            spillAll(first.placement(), group);
            spillAll(second.placement(), group);
        }
        heat(first, 3, 1000);
        assertThat(toLoad().position).as("the hottest").isEqualTo(3);
        assertThat(toLoad().placement).isSameAs(first.placement());

        second.placement().startLoad(0);
        second.placement().load(0, 2);

        assertThat(toLoad().placement).isSameAs(second.placement());
        assertThat(toLoad().position).isZero();
    }

    @Test
    void withNothingLeft_thereIsNoChoice() throws IOException {
        assertThat(toLoad()).as("nothing is spilled").isNull();
        for (int group = 0; group < PlacedTables.GROUPS; group++) {
            spillAll(first.placement(), group);
            spillAll(second.placement(), group);
        }
        assertThat(toSpill()).as("nothing is on the heap").isNull();
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void spillingWhatIsChosen_goesFromColdToHot(long seed) throws IOException {
        Random random = new Random(seed);
        for (int group = 0; group < PlacedTables.GROUPS; group++) {
            heat(first, group, random.nextInt(2000));
            heat(second, group, random.nextInt(2000));
        }
        double before = -1;
        int groups = 0;
        for (ColdestPerByte.Choice next = toSpill(); next != null; next = toSpill()) {
            double heat =
                    next.placement.heat(next.position) / next.placement.heapEntries(next.position);
            assertThat(heat).isGreaterThanOrEqualTo(before);
            before = heat;
            spillAll(next.placement, next.position);
            groups++;
        }

        assertThat(groups).isEqualTo(2 * PlacedTables.GROUPS);
    }
}
