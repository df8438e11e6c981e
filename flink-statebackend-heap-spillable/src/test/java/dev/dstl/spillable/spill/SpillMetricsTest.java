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

import dev.dstl.spillable.overlay.PartitionPool;
import dev.dstl.spillable.pressure.SpillArbiter;
import dev.dstl.spillable.table.StateTable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.metrics.groups.UnregisteredMetricsGroup;
import org.apache.flink.runtime.state.VoidNamespace;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SpillMetricsTest {

    /** Keeps gauges by their name with the groups around them. */
    private static final class Group extends UnregisteredMetricsGroup {
        private final String prefix;
        private final Map<String, Gauge<?>> gauges;

        Group(String prefix, Map<String, Gauge<?>> gauges) {
            this.prefix = prefix;
            this.gauges = gauges;
        }

        @Override
        public <T, G extends Gauge<T>> G gauge(String name, G gauge) {
            assertThat(gauges.put(prefix + name, gauge)).as(name).isNull();
            return gauge;
        }

        @Override
        public MetricGroup addGroup(String name) {
            return new Group(prefix + name + ".", gauges);
        }
    }

    @TempDir Path disk;
    private final Map<String, Gauge<?>> gauges = new TreeMap<>();
    private final SpillCounters counters = new SpillCounters();
    private final SpillArbiter arbiter = new SpillArbiter(() -> 0, 1000, a -> () -> {});
    private PlacedTables tables;

    @BeforeEach
    void open() {
        tables = new PlacedTables(disk, 256 << 10);
        SpillMetrics.register(new Group("", gauges), counters, tables.space, arbiter);
    }

    @AfterEach
    void close() throws IOException {
        tables.close();
    }

    private Object value(String name) {
        return gauges.get("spillable." + name).getValue();
    }

    @Test
    void beforeAnythingIsSpilled_everyMetricIsZero() {
        assertThat(gauges).hasSize(22);
        gauges.forEach(
                (name, gauge) ->
                        assertThat(((Number) gauge.getValue()).doubleValue()).as(name).isZero());
        assertThat(tables.space.pool()).as("not made for a metric").isNull();
    }

    @Test
    void countersAndTheArbiter_areShownAsTheyAre() {
        counters.placed(1, 2, 3, 4, 5);
        counters.timers(9, 10);
        counters.spilled(6, 7);
        counters.loaded(8);
        counters.refused();
        counters.paused(2_500_000);
        arbiter.onLiveHeap(300, 1000);

        assertThat(value("heapEntries")).isEqualTo(1L);
        assertThat(value("spilledEntries")).isEqualTo(2L);
        assertThat(value("heapKeyGroups")).isEqualTo(3);
        assertThat(value("spilledKeyGroups")).isEqualTo(4);
        assertThat(value("heapStateBytesEstimate")).isEqualTo(5L);
        assertThat(value("timers")).isEqualTo(9L);
        assertThat(value("timerBytesEstimate")).isEqualTo(10L);
        assertThat(value("spilledEntriesTotal")).isEqualTo(6L);
        assertThat(value("spilledBytesTotal")).isEqualTo(7L);
        assertThat(value("loadedEntriesTotal")).isEqualTo(8L);
        assertThat(value("refusedSpillsTotal")).isEqualTo(1L);
        assertThat(value("longestPauseMillis")).isEqualTo(2.5);
        assertThat(value("liveHeapRatio")).isEqualTo(0.3);
    }

    @Test
    void localCopies_areShownAsTheyAre() {
        SpillMetrics.registerLocalCopies(new Group("", gauges), () -> 3, () -> 4);

        assertThat(value("localCopiesTotal")).isEqualTo(3L);
        assertThat(value("localCopyFailuresTotal")).isEqualTo(4L);
    }

    @Test
    void thePool_isShownAsItIs() throws IOException {
        StateTable<Integer, VoidNamespace, String> table = tables.add("state", 5000);
        for (int group = 0; group < PlacedTables.GROUPS; group++) {
            table.placement().startSpill(group);
            table.placement().spill(group, Integer.MAX_VALUE);
        }
        for (int key = 0; key < 5000; key++) {
            PlacedTables.put(table, key, "a longer value than before of " + key);
        }
        PartitionPool pool = tables.space.open();

        assertThat(value("entryBytes")).isEqualTo(pool.liveBytes()).isNotEqualTo(0L);
        assertThat(value("sealedBytesTotal")).isEqualTo(pool.sealedBytes()).isNotEqualTo(0L);
        assertThat(value("mergesTotal")).isEqualTo(pool.merges()).isNotEqualTo(0L);
        assertThat(value("pageReadsTotal")).isEqualTo(0L);
        assertThat(value("overlayBytes")).isEqualTo(pool.overlayBytes());
        assertThat(value("offHeapBytes")).isEqualTo(pool.budget().usedBytes()).isNotEqualTo(0L);
        assertThat(value("offHeapLimitBytes")).isEqualTo(256L << 10);
        assertThat(value("chunkFileBytes")).isEqualTo(pool.chunks().fileBytes());
        assertThat(value("chunkOccupiedBytes"))
                .isEqualTo(pool.chunks().occupiedBytes())
                .isNotEqualTo(0L);

        tables.close();
        assertThat(value("entryBytes")).as("after the end").isEqualTo(0L);
    }
}
