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

package dev.dstl.spillable.overlay;

import static org.assertj.core.api.Assertions.assertThat;

import dev.dstl.spillable.chunk.ChunkFiles;
import dev.dstl.spillable.chunk.SpillDirectories;
import dev.dstl.spillable.partition.KeyHash;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.apache.flink.core.memory.MemorySegment;
import org.apache.flink.util.concurrent.Executors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SlotMemoryTest {

    private static final int MIB = 1 << 20;
    private static final int BYTES = 24 * MIB;

    @TempDir Path disk;
    private final SlotMemory slot = new SlotMemory(BYTES, MIB);

    private OffHeapBudget join() {
        return slot.join(() -> {});
    }

    @Test
    void partsAreEqual_andChangeWhenSomebodyComesOrGoes() {
        OffHeapBudget first = join();
        assertThat(first.limitBytes()).isEqualTo(BYTES);

        OffHeapBudget second = join();
        OffHeapBudget third = join();
        assertThat(List.of(first, second, third))
                .allSatisfy(one -> assertThat(one.limitBytes()).isEqualTo(BYTES / 3));

        second.release();
        assertThat(first.limitBytes()).isEqualTo(BYTES / 2);
        third.release();
        assertThat(first.limitBytes()).isEqualTo(BYTES);
    }

    @Test
    void whoComesSecond_startsWithWhatIsFree_andGetsMoreAsTheFirstOneGivesBack() {
        OffHeapBudget first = join();
        List<MemorySegment> used = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            used.add(first.allocate(MIB));
        }

        OffHeapBudget second = join();

        assertThat(first.limitBytes()).isEqualTo(BYTES / 2);
        assertThat(second.limitBytes()).isEqualTo(BYTES - 20 * MIB);
        while (!used.isEmpty()) {
            first.free(used.remove(0));
            assertThat(second.limitBytes())
                    .isEqualTo(Math.min(BYTES / 2, BYTES - first.usedBytes()));
        }
    }

    @Test
    void whatIsUsedStays_untilItsTurnComes_andAnyoneCanWork() {
        OffHeapBudget first = join();
        MemorySegment used = first.allocate(BYTES);

        OffHeapBudget second = join();

        assertThat(second.limitBytes()).isEqualTo(BYTES / 2 / 8);
        first.free(used);
        assertThat(second.limitBytes()).isEqualTo(BYTES / 2);
    }

    @Test
    void whatIsClosed_getsNoPart_andCountsAsWhatItUses() {
        OffHeapBudget old = join();
        MemorySegment kept = old.allocate(6 * MIB);

        old.retire();
        OffHeapBudget next = join();

        assertThat(next.limitBytes()).isEqualTo(BYTES - 6 * MIB);
        old.free(kept);
        assertThat(next.limitBytes()).isEqualTo(BYTES);
    }

    @Test
    void ofManyWhoUseNoMoreThanTheirLimits_allTogetherStayWithinTheMemory() {
        Random random = new Random(1);
        List<OffHeapBudget> budgets = new ArrayList<>();
        List<List<MemorySegment>> used = new ArrayList<>();
        for (int i = 0; i < 20_000; i++) {
            if (random.nextInt(100) == 0 && budgets.size() < 6) {
                budgets.add(join());
                used.add(new ArrayList<>());
            }
            if (budgets.isEmpty()) {
                continue;
            }
            int one = random.nextInt(budgets.size());
            OffHeapBudget budget = budgets.get(one);
            int bytes = 1 + random.nextInt(MIB);
            if (used.get(one).isEmpty() ? i % 7 != 0 : random.nextInt(3) > 0) {
                // Beyond the smallest part it is others that have to give back first.
                long others = budgets.stream().mapToLong(OffHeapBudget::usedBytes).sum();
                if (budget.usedBytes() + bytes <= budget.limitBytes()
                        && (others + bytes <= BYTES
                                || budget.limitBytes() > BYTES / budgets.size() / 8)) {
                    used.get(one).add(budget.allocate(bytes));
                }
            } else if (!used.get(one).isEmpty()) {
                budget.free(used.get(one).remove(0));
            } else if (random.nextInt(30) == 0) {
                used.remove(one);
                budgets.remove(one).release();
            }
            long all = budgets.stream().mapToLong(OffHeapBudget::usedBytes).sum();
            assertThat(all).as("used after step %s", i).isLessThanOrEqualTo(BYTES);
        }
        for (int i = 0; i < budgets.size(); i++) {
            used.get(i).forEach(budgets.get(i)::free);
        }
    }

    @Test
    void aPoolWhosePartGetsSmaller_comesDownToIt_andHoldsUpNoChangeMeanwhile() throws IOException {
        try (PartitionPool pool = pool(join())) {
            PartitionedMap[] maps = new PartitionedMap[400];
            for (int i = 0; i < maps.length; i++) {
                maps[i] = new PartitionedMap(pool, PoolOnDisk.IDENTITY);
            }
            int key = 0;
            while (pool.budget().usedBytes() < BYTES / 16 * 13) {
                put(maps[key % maps.length], key++);
            }
            PartitionPool second = pool(join());
            assertThat(second.budget().limitBytes())
                    .isEqualTo(BYTES - pool.budget().usedBytes())
                    .isGreaterThan(BYTES / 2 / 8);

            long largest = 0;
            for (int i = 0; i < 20_000; i++) {
                long before = pool.merges();
                put(maps[key % maps.length], key++ % 50_000);
                largest = Math.max(largest, pool.merges() - before);
            }

            assertThat(largest).as("merges with one change").isLessThan(10);
            assertThat(pool.budget().usedBytes()).isLessThanOrEqualTo(BYTES / 2);
            assertThat(second.budget().limitBytes()).isEqualTo(BYTES / 2);
            second.close();
            assertThat(pool.budget().limitBytes()).isEqualTo(BYTES);
            for (PartitionedMap map : maps) {
                map.close();
            }
        }
    }

    private PartitionPool pool(OffHeapBudget budget) throws IOException {
        return new PartitionPool(
                budget,
                new ChunkFiles(new SpillDirectories(Collections.singletonList(disk)), MIB, () -> 0),
                new KeyHash(7),
                Executors.newDirectExecutorService());
    }

    private static void put(PartitionedMap map, int key) {
        byte[] bytes = PartitionedMapTest.key(key);
        int hash = map.entries().keyHash().of(bytes, bytes.length);
        map.put(bytes, bytes.length, hash, false, new byte[200], 200);
    }
}
