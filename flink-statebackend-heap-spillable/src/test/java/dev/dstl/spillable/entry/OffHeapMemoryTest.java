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

import dev.dstl.spillable.chunk.ChunkFiles;
import dev.dstl.spillable.chunk.Extent;
import dev.dstl.spillable.chunk.SpillDirectories;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Deque;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.flink.core.memory.MemorySegment;
import org.apache.flink.core.memory.MemorySegmentFactory;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class OffHeapMemoryTest {

    @TempDir Path disk;
    private final AtomicInteger releases = new AtomicInteger();
    private final OffHeapBudget budget = new OffHeapBudget(1000, releases::incrementAndGet);
    private OffHeapMemory memory;

    @BeforeEach
    void open() throws IOException {
        memory =
                new OffHeapMemory(
                        budget,
                        new ChunkFiles(
                                new SpillDirectories(Collections.singletonList(disk)),
                                1 << 20,
                                () -> 0));
    }

    @Test
    void memory_isCountedFromItsAllocationToItsEnd() throws IOException {
        MemorySegment index = memory.allocateIndex(512);
        MemorySegment block = memory.allocateBlock(4096);
        assertThat(budget.indexBytes()).isEqualTo(512);
        assertThat(budget.blockBytes()).isEqualTo(4096);

        memory.freeIndex(index);
        memory.freeBlock(block);

        assertThat(budget.indexBytes()).isZero();
        assertThat(budget.blockBytes()).isZero();
        assertThat(index.isFreed()).isTrue();
        assertThat(block.isFreed()).isTrue();
        memory.release();
    }

    @Test
    void whileAnotherThreadLooks_nothingIsFreed() throws IOException {
        MemorySegment block = memory.allocateBlock(4096);
        Extent extent = memory.chunks().write(MemorySegmentFactory.wrap(new byte[] {1, 2, 3}), 3);
        long occupied = memory.chunks().occupiedBytes();
        memory.enterForeign();
        memory.enterForeign();
        memory.freeBlock(block);
        memory.releaseExtent(extent);

        memory.leaveForeign();
        assertThat(block.isFreed()).isFalse();
        assertThat(memory.chunks().occupiedBytes()).isEqualTo(occupied);

        memory.leaveForeign();
        assertThat(block.isFreed()).isTrue();
        assertThat(memory.chunks().occupiedBytes()).isZero();
        memory.release();
    }

    @Test
    void theLastHolder_releasesBudgetAndDirectories() throws IOException {
        memory.hold();
        memory.enterForeign();

        memory.release();
        memory.release();
        assertThat(releases).hasValue(0);
        assertThat(disk).isNotEmptyDirectory();

        memory.leaveForeign();
        assertThat(releases).hasValue(1);
        assertThat(disk).isEmptyDirectory();
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void whateverComesAndGoes_isFreedInTheEndAndNeverUnderAReader(long seed) throws IOException {
        Random random = new Random(seed);
        Deque<MemorySegment> live = new ArrayDeque<>();
        Deque<MemorySegment> givenBackUnderReaders = new ArrayDeque<>();
        int readers = 0;
        for (int i = 0; i < 5000; i++) {
            switch (random.nextInt(5)) {
                case 0:
                case 1:
                    live.add(memory.allocateBlock(64));
                    break;
                case 2:
                    if (!live.isEmpty()) {
                        MemorySegment segment = live.poll();
                        memory.freeBlock(segment);
                        assertThat(segment.isFreed()).isEqualTo(readers == 0);
                        givenBackUnderReaders.add(segment);
                    }
                    break;
                case 3:
                    memory.enterForeign();
                    readers++;
                    break;
                default:
                    if (readers > 0) {
                        memory.leaveForeign();
                        readers--;
                    }
            }
            if (readers == 0) {
                assertThat(givenBackUnderReaders).allMatch(MemorySegment::isFreed);
                givenBackUnderReaders.clear();
                assertThat(budget.blockBytes()).isEqualTo(64L * live.size());
            }
        }
        for (; readers > 0; readers--) {
            memory.leaveForeign();
        }
        live.forEach(memory::freeBlock);
        memory.release();

        assertThat(budget.blockBytes()).isZero();
        assertThat(releases).hasValue(1);
    }
}
