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
import dev.dstl.spillable.overlay.PartitionedMap;
import dev.dstl.spillable.overlay.SpilledView;
import dev.dstl.spillable.partition.KeyHash;
import dev.dstl.spillable.partition.StateIdentity;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Collections;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.runtime.memory.MemoryManager;
import org.apache.flink.runtime.memory.MemoryManagerBuilder;
import org.apache.flink.runtime.memory.MemoryReservationException;
import org.apache.flink.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ManagedMemoryShareTest {

    private static final long MANAGED_BYTES = 64 << 20;

    @TempDir Path disk;
    private final MemoryManager memory =
            MemoryManagerBuilder.newBuilder().setMemorySize(MANAGED_BYTES).build();

    @AfterEach
    void close() {
        memory.shutdown();
    }

    private OffHeapBudget budget(double fraction, SpillConfig config) {
        return new ManagedMemoryShare(memory, fraction).budget(config);
    }

    /** The budget belongs to a pool, which releases it at its end. */
    private void release(OffHeapBudget budget) throws IOException {
        pool(budget).close();
    }

    private PartitionPool pool(OffHeapBudget budget) throws IOException {
        return new PartitionPool(
                budget,
                new ChunkFiles(
                        new SpillDirectories(Collections.singletonList(disk)), 1 << 20, () -> 0),
                new KeyHash(1),
                Executors.newDirectExecutorService());
    }

    @Test
    void whatIsConfigured_isUsed_andManagedMemoryIsLeftAlone() throws IOException {
        Configuration config = new Configuration();
        config.set(SpillableOptions.OFF_HEAP_SIZE, MemorySize.ofMebiBytes(7));

        OffHeapBudget budget = budget(0.5, SpillConfig.of(config));

        assertThat(budget.limitBytes()).isEqualTo(7L << 20);
        assertThat(memory.availableMemory()).isEqualTo(MANAGED_BYTES);
        release(budget);
    }

    @Test
    void else_theShareOfManagedMemoryIsReservedUntilTheEnd() throws IOException {
        OffHeapBudget budget = budget(0.25, SpillConfig.defaults());

        assertThat(budget.limitBytes()).isEqualTo(MANAGED_BYTES / 4);
        assertThat(memory.availableMemory()).isEqualTo(MANAGED_BYTES * 3 / 4);
        release(budget);
        assertThat(memory.availableMemory()).isEqualTo(MANAGED_BYTES);
    }

    /** Flink gives each of them the same fraction, which is all there is. */
    @Test
    void operatorsOfOneSlot_shareItsManagedMemory() throws IOException {
        OffHeapBudget first = budget(1.0, SpillConfig.defaults());
        OffHeapBudget second = budget(1.0, SpillConfig.defaults());

        assertThat(first.limitBytes()).isEqualTo(MANAGED_BYTES / 2);
        assertThat(second.limitBytes()).isEqualTo(MANAGED_BYTES / 2);
        assertThat(memory.availableMemory()).isZero();

        release(first);
        assertThat(second.limitBytes()).isEqualTo(MANAGED_BYTES);
        release(second);
        assertThat(memory.availableMemory()).isEqualTo(MANAGED_BYTES);
    }

    /** As when a snapshot of a task is still being written while its next attempt begins. */
    @Test
    void whatViewsOfAClosedBackendDoNotUse_isForTheNextOne() throws IOException {
        PartitionPool old = pool(budget(1.0, SpillConfig.defaults()));
        PartitionedMap map = new PartitionedMap(old, new StateIdentity(1, "a state", 5));
        map.put(new byte[1], 1, 0, false, new byte[1 << 20], 1 << 20);
        SpilledView view = map.view();
        map.close();
        old.close();

        OffHeapBudget next = budget(1.0, SpillConfig.defaults());

        assertThat(next.limitBytes()).isBetween(MANAGED_BYTES / 2 + 1, MANAGED_BYTES - (1 << 20));
        view.close();
        assertThat(next.limitBytes()).isEqualTo(MANAGED_BYTES);
        release(next);
    }

    /** A merge may end after the task, and would end the process or leave its files. */
    @Test
    void whereFlinkHasFreedTheSlotBefore_theDirectoriesAreDeletedAllTheSame() throws IOException {
        OffHeapBudget budget = budget(0.25, SpillConfig.defaults());
        PartitionPool pool = pool(budget);
        assertThat(disk).isNotEmptyDirectory();
        memory.shutdown();

        pool.close();

        assertThat(disk).isEmptyDirectory();
    }

    @Test
    void withoutAShare_orWithATinyOne_aDefaultIsUsed() {
        for (double fraction : new double[] {0, -1, 2, 0.001}) {
            OffHeapBudget budget = budget(fraction, SpillConfig.defaults());

            assertThat(budget.limitBytes())
                    .as("with a fraction of %s", fraction)
                    .isEqualTo(128L << 20);
            assertThat(memory.availableMemory()).isEqualTo(MANAGED_BYTES);
        }
    }

    @Test
    void managedMemoryThatIsTaken_isNotWaitedFor() throws MemoryReservationException {
        memory.reserveMemory(this, MANAGED_BYTES - 1000);

        OffHeapBudget budget = budget(0.5, SpillConfig.defaults());

        assertThat(budget.limitBytes()).isEqualTo(128L << 20);
        assertThat(memory.availableMemory()).isEqualTo(1000);
        memory.releaseMemory(this, MANAGED_BYTES - 1000);
    }
}
