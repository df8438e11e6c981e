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

package dev.dstl.spillable.entry;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class IndexTableTest {

    @TempDir Path disk;
    private PoolOnDisk disks;
    private OffHeapMemory memory;

    @BeforeEach
    void open() throws IOException {
        disks = new PoolOnDisk(disk, 1 << 20);
        memory = disks.pool().memory();
    }

    @AfterEach
    void close() throws IOException {
        disks.close();
    }

    /** Few hashes, so that most slots are away from home and probes run over each other. */
    private static int crowdedHash(Random random) {
        return (random.nextInt(40) * 7) << 8;
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4})
    void randomChanges_leaveTheSlotsOfAPlainSet(long seed) {
        Random random = new Random(seed);
        IndexTable table = new IndexTable(memory, 256, 0);
        Set<Long> expected = new HashSet<>();
        List<Long> everAdded = new ArrayList<>();
        long address = 1;
        for (int i = 0; i < 20_000; i++) {
            if (random.nextInt(100) < 55 && !table.isFull()) {
                long slot = EntryFormat.slot(crowdedHash(random), address++);
                table.add(slot);
                expected.add(slot);
                everAdded.add(slot);
            } else if (!everAdded.isEmpty()) {
                long slot = everAdded.get(random.nextInt(everAdded.size()));
                int index = table.indexOf(slot);
                assertThat(index >= 0).isEqualTo(expected.remove(slot));
                if (index >= 0) {
                    table.remove(index);
                }
            }
            assertThat(table.entries()).isEqualTo(expected.size());
        }

        for (long slot : everAdded) {
            int index = table.indexOf(slot);
            assertThat(index >= 0).isEqualTo(expected.contains(slot));
            if (index >= 0) {
                assertThat(table.get(index)).isEqualTo(slot);
            }
        }
        table.release();
    }

    @Test
    void aProbe_wrapsAroundTheEnd() {
        IndexTable table = new IndexTable(memory, 64, 0);
        int last = 63 << 8;
        for (int address = 1; address <= 5; address++) {
            table.add(EntryFormat.slot(last, address));
        }

        assertThat(table.indexOf(EntryFormat.slot(last, 1))).isEqualTo(63);
        assertThat(table.indexOf(EntryFormat.slot(last, 5))).isEqualTo(3);
        table.remove(63);
        for (int address = 2; address <= 5; address++) {
            assertThat(table.indexOf(EntryFormat.slot(last, address))).isNotNegative();
        }
        assertThat(table.indexOf(EntryFormat.slot(last, 1))).isEqualTo(-1);
        table.release();
    }

    @Test
    void aTable_isFullAtThreeQuarters_soThatEveryProbeEnds() {
        IndexTable table = new IndexTable(memory, 64, 0);
        for (int address = 1; address <= 48; address++) {
            assertThat(table.isFull()).isFalse();
            table.add(EntryFormat.slot(0, address));
        }
        assertThat(table.isFull()).isFalse();
        table.add(EntryFormat.slot(0, 49));

        assertThat(table.isFull()).isTrue();
        assertThat(table.indexOf(EntryFormat.slot(0, 50))).isEqualTo(-1);
        table.release();
    }

    @Test
    void aCopy_keepsWhatTheOriginalLosesAfterwards() {
        IndexTable original = new IndexTable(memory, 64, 3);
        long slot = EntryFormat.slot(5 << 8, 1);
        original.add(slot);

        IndexTable copy = original.copy();
        original.remove(original.indexOf(slot));

        assertThat(copy.indexOf(slot)).isNotNegative();
        assertThat(copy.entries()).isEqualTo(1);
        assertThat(copy.depth).isEqualTo(3);
        assertThat(original.entries()).isZero();
        original.release();
        copy.release();
    }

    @Test
    void theLastHolder_freesTheMemory() {
        IndexTable table = new IndexTable(memory, 64, 0);
        assertThat(memory.budget().indexBytes()).isEqualTo(64 * Long.BYTES);
        assertThat(table.isShared()).isFalse();

        table.hold();
        assertThat(table.isShared()).isTrue();
        table.release();
        assertThat(table.isShared()).isFalse();
        assertThat(memory.budget().indexBytes()).isEqualTo(64 * Long.BYTES);

        table.release();
        assertThat(memory.budget().indexBytes()).isZero();
    }
}
