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

import dev.dstl.spillable.config.SpillConfig;
import dev.dstl.spillable.config.SpillableOptions;
import dev.dstl.spillable.overlay.PoolOnDisk;
import dev.dstl.spillable.overlay.SpillSpace;
import dev.dstl.spillable.pressure.SpillArbiter;
import dev.dstl.spillable.table.CurrentKey;
import dev.dstl.spillable.table.StateRegistry;
import dev.dstl.spillable.table.StateTable;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
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
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A job of maximum parallelism 32,768 that runs as one subtask. */
class ManyKeyGroupsTest {

    private static final int KEY_GROUPS = 32_768;
    private static final int KEYS_PER_GROUP = 3;
    private static final long HEAP_BYTES = 20_000_000;
    private static final KeyGroupRange RANGE = new KeyGroupRange(0, KEY_GROUPS - 1);

    @TempDir Path disk;
    private final AtomicLong clockNanos = new AtomicLong();
    private final SpillCounters counters = new SpillCounters();
    private final SpillArbiter arbiter = new SpillArbiter(() -> 0, HEAP_BYTES, a -> () -> {});
    private SpillSpace space;
    private StateRegistry<Long> states;
    private StateTable<Long, VoidNamespace, String> table;
    private SpillScheduler scheduler;

    @BeforeEach
    void fill() {
        space = PoolOnDisk.space(disk, 64 << 20);
        states =
                new StateRegistry<>(
                        new CurrentKey<>(RANGE, KEY_GROUPS),
                        new HeapPriorityQueueSetFactory(RANGE, KEY_GROUPS, 1),
                        space);
        table =
                states.addTable(
                        new RegisteredKeyValueStateBackendMetaInfo<>(
                                StateDescriptor.Type.VALUE,
                                "state",
                                VoidNamespaceSerializer.INSTANCE,
                                StringSerializer.INSTANCE),
                        LongSerializer.INSTANCE);
        for (long key = 0; key < (long) KEY_GROUPS * KEYS_PER_GROUP; key++) {
            put(key, (int) (key % KEY_GROUPS));
        }
        Configuration configuration = new Configuration();
        configuration.set(SpillableOptions.TRIGGER_INTERVAL, Duration.ZERO);
        configuration.set(SpillableOptions.SPILL_SIZE_RATIO, 0.99);
        scheduler =
                new SpillScheduler(
                        SpillConfig.of(configuration),
                        arbiter,
                        states,
                        space,
                        Runnable::run,
                        null,
                        () -> clockNanos.addAndGet(20_000),
                        counters);
        scheduler.keySelected();
    }

    @AfterEach
    void close() throws IOException {
        scheduler.close();
        states.close();
    }

    private void put(long key, int keyGroup) {
        table.entries().put(key, keyGroup, VoidNamespace.INSTANCE, "value of " + key);
    }

    private void work() {
        arbiter.onLiveHeap(HEAP_BYTES - 1, HEAP_BYTES);
        for (int i = 0; i < 1000; i++) {
            scheduler.keySelected();
        }
    }

    @Test
    void groupsOfAFewEntries_stayOnTheHeap_whereTheyTakeLess() throws IOException {
        work();

        assertThat(counters.movedOut()).isZero();
        assertThat(space.open().budget().usedBytes()).isZero();
    }

    @Test
    void largeGroupsAmongThem_areSpilled() throws IOException {
        for (long key = 1_000_000; key < 1_010_000; key++) {
            put(key, 17);
        }
        scheduler.keySelected();

        work();

        assertThat(table.placement().spilledEntries(17)).isEqualTo(10_000 + KEYS_PER_GROUP);
        assertThat(counters.movedOut()).isEqualTo(10_000 + KEYS_PER_GROUP);
        assertThat(space.open().budget().usedBytes()).isLessThan(8 << 20);
    }
}
