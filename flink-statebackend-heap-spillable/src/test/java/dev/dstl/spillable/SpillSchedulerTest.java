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

package dev.dstl.spillable;

import static org.assertj.core.api.Assertions.assertThat;

import dev.dstl.spillable.chunk.ChunkFiles;
import dev.dstl.spillable.chunk.SpillDirectories;
import dev.dstl.spillable.config.SpillConfig;
import dev.dstl.spillable.config.SpillableOptions;
import dev.dstl.spillable.overlay.OffHeapBudget;
import dev.dstl.spillable.overlay.PartitionPool;
import dev.dstl.spillable.overlay.SpillSpace;
import dev.dstl.spillable.partition.KeyHash;
import dev.dstl.spillable.pressure.SpillArbiter;
import dev.dstl.spillable.spill.SpillCounters;
import dev.dstl.spillable.spill.SpillScheduler;
import dev.dstl.spillable.table.CurrentKey;
import dev.dstl.spillable.table.StateRegistry;
import dev.dstl.spillable.table.StateTable;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collections;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.RegisteredKeyValueStateBackendMetaInfo;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.apache.flink.runtime.state.heap.HeapPriorityQueueSetFactory;
import org.apache.flink.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SpillSchedulerTest {

    private static final int ENTRIES = 20_000;
    private static final long HEAP_BYTES = 10_000_000;
    private static final KeyGroupRange RANGE = new KeyGroupRange(0, 7);

    @TempDir Path disk;
    private final AtomicLong clockMillis = new AtomicLong();
    private final AtomicLong clockNanos = new AtomicLong();
    private final SpillCounters counters = new SpillCounters();
    private final CurrentKey<Long> currentKey = new CurrentKey<>(RANGE, 8);
    private long offHeapBytes = 16 << 20;
    private SpillArbiter arbiter;
    private StateRegistry<Long> states;
    private StateTable<Long, VoidNamespace, String> table;
    private SpillScheduler scheduler;

    @BeforeEach
    void fill() {
        Configuration configuration = new Configuration();
        configuration.set(SpillableOptions.TRIGGER_INTERVAL, Duration.ZERO);
        configuration.set(SpillableOptions.SPILL_SIZE_RATIO, 0.99);
        SpillSpace space =
                new SpillSpace(
                        () ->
                                new PartitionPool(
                                        new OffHeapBudget(offHeapBytes, () -> {}),
                                        new ChunkFiles(
                                                new SpillDirectories(
                                                        Collections.singletonList(disk)),
                                                1 << 20,
                                                clockMillis::get),
                                        new KeyHash(1),
                                        Executors.newDirectExecutorService()));
        arbiter = new SpillArbiter(clockMillis::get, 1000, a -> () -> {});
        states =
                new StateRegistry<>(
                        currentKey, new HeapPriorityQueueSetFactory(RANGE, 8, 8), space);
        table =
                states.addTable(
                        new RegisteredKeyValueStateBackendMetaInfo<>(
                                StateDescriptor.Type.VALUE,
                                "state",
                                VoidNamespaceSerializer.INSTANCE,
                                StringSerializer.INSTANCE),
                        LongSerializer.INSTANCE);
        for (long key = 0; key < ENTRIES; key++) {
            table.entries().put(key, (int) (key % 8), VoidNamespace.INSTANCE, "value of " + key);
        }
        scheduler =
                new SpillScheduler(
                        SpillConfig.of(configuration),
                        arbiter,
                        states,
                        space,
                        Runnable::run,
                        null,
                        // Every look at the clock takes 20 microseconds.
                        () -> clockNanos.addAndGet(20_000),
                        counters);
        scheduler.keySelected();
    }

    @AfterEach
    void close() throws Exception {
        scheduler.close();
        states.close();
    }

    private int spilled() {
        int spilled = 0;
        for (int i = 0; i < table.placement().groupCount(); i++) {
            spilled += table.placement().spilledEntries(i);
        }
        return spilled;
    }

    private void work() {
        for (int i = 0; i < 20_000; i++) {
            scheduler.keySelected();
        }
    }

    private void verify() {
        assertThat(table.size()).isEqualTo(ENTRIES);
        for (long key = 0; key < ENTRIES; key++) {
            assertThat(table.entries().get(key, (int) (key % 8), VoidNamespace.INSTANCE))
                    .isEqualTo("value of " + key);
        }
    }

    @Test
    void underPressure_stateLeavesTheHeapInSlices_andComesBackWhenItIsOver() {
        arbiter.onLiveHeap(8_500_000, HEAP_BYTES);
        scheduler.keySelected();
        assertThat(spilled()).as("after one slice").isBetween(1, ENTRIES / 2);
        work();
        int afterPressure = spilled();
        assertThat(afterPressure).isGreaterThan(0);
        verify();

        arbiter.onLiveHeap(1_000_000, HEAP_BYTES);
        work();

        assertThat(spilled()).isLessThan(afterPressure);
        verify();
        assertThat(counters.longestPauseNanos()).isLessThan(10_000_000);
    }

    @Test
    void theColdestKeyGroupsGoFirst() {
        for (int i = 0; i < 200_000; i++) {
            table.entries().get(8L * (i % 100), 0, VoidNamespace.INSTANCE);
        }
        scheduler.keySelected();

        arbiter.onLiveHeap(7_600_000, HEAP_BYTES);
        work();

        assertThat(spilled()).isGreaterThan(0);
        assertThat(table.placement().spilledEntries(0)).as("of the hot group").isZero();
    }

    @Test
    void aTinyBudget_isNoReasonToKeepStateOnTheHeap() {
        offHeapBytes = 64 << 10;

        arbiter.onLiveHeap(9_900_000, HEAP_BYTES);
        work();

        assertThat(counters.refusals()).isZero();
        assertThat(spilled()).isEqualTo(ENTRIES);
        verify();
    }
}
