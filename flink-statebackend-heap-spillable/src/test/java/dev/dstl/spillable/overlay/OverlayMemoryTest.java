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
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import dev.dstl.spillable.chunk.ChunkFiles;
import dev.dstl.spillable.chunk.SpillDirectories;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.flink.core.memory.MemorySegmentFactory;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class OverlayMemoryTest {

    private static final int LIMIT = 1 << 20;

    @TempDir Path disk;
    private final AtomicInteger releases = new AtomicInteger();
    private final OffHeapBudget budget = new OffHeapBudget(LIMIT, releases::incrementAndGet);
    private OverlayMemory memory;

    @BeforeEach
    void open() throws IOException {
        memory = new OverlayMemory(budget, newFiles());
    }

    private ChunkFiles newFiles() throws IOException {
        return new ChunkFiles(
                new SpillDirectories(Collections.singletonList(disk)), 1 << 20, () -> 0);
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4})
    void blocks_neverOverlap_andJoinAgainWhenTheyAreFreed(long seed) throws IOException {
        Random random = new Random(seed);
        List<MemoryBlock> live = new ArrayList<>();
        long bytes = 0;
        for (int i = 0; i < 20_000; i++) {
            if (random.nextInt(2) == 0 || live.isEmpty()) {
                MemoryBlock block = memory.allocate(1 + random.nextInt(1 << random.nextInt(18)));
                fill(block, System.identityHashCode(block));
                live.add(block);
                bytes += block.bytes;
            } else {
                MemoryBlock block = live.remove(random.nextInt(live.size()));
                check(block, System.identityHashCode(block));
                memory.free(block);
                bytes -= block.bytes;
            }
            assertThat(memory.blockBytes()).isEqualTo(bytes);
        }
        assertThat(budget.usedBytes()).isLessThan(3 * bytes + LIMIT);
        for (MemoryBlock block : live) {
            check(block, System.identityHashCode(block));
            memory.free(block);
        }
        assertThat(memory.blockBytes()).isZero();
        assertThat(budget.usedBytes()).as("one slab is kept").isEqualTo(memory.slabBytes());
        memory.release();
        assertThat(budget.usedBytes()).isZero();
    }

    @Test
    void blocksThatAFailureHasLeft_areGivenBackWithTheLastHolder() throws IOException {
        memory.allocate(4096);
        MemoryBlock freedTooLate = memory.allocate(LIMIT);
        memory.hold();
        memory.release();
        assertThat(budget.usedBytes()).isGreaterThan(LIMIT);

        memory.release();
        memory.free(freedTooLate);

        assertThat(budget.usedBytes()).isZero();
        assertThat(releases).hasValue(1);
    }

    private static void fill(MemoryBlock block, int value) {
        for (int i = 0; i < block.bytes; i += 64) {
            block.segment.putInt(block.offset + i, value);
        }
    }

    private static void check(MemoryBlock block, int value) {
        for (int i = 0; i < block.bytes; i += 64) {
            assertThat(block.segment.getInt(block.offset + i)).isEqualTo(value);
        }
    }

    @Test
    void manyFreeBlocksWithoutANeighbour_areFreedInNoTime() throws IOException {
        List<MemoryBlock> blocks = new ArrayList<>();
        for (int i = 0; i < 200_000; i++) {
            blocks.add(memory.allocate(SlabAllocator.UNIT_BYTES));
        }
        assertTimeoutPreemptively(
                Duration.ofSeconds(30),
                () -> {
                    for (int first = 0; first < 2; first++) {
                        for (int i = first; i < blocks.size(); i += 2) {
                            memory.free(blocks.get(i));
                        }
                    }
                });

        assertThat(budget.usedBytes()).as("one slab is kept").isEqualTo(memory.slabBytes());
        memory.release();
    }

    @Test
    void whileAnotherThreadLooks_nothingIsFreed() throws IOException {
        MemoryBlock block = memory.allocate(4096);
        memory.enterForeign();
        memory.enterForeign();
        memory.free(block);

        memory.leaveForeign();
        assertThat(memory.blockBytes()).isEqualTo(4096);

        memory.leaveForeign();
        assertThat(memory.blockBytes()).isZero();
        memory.release();
    }

    @Test
    void whatIsGivenBackWhileTheLastReaderLeaves_isFreed() throws IOException {
        memory.release();
        memory =
                new OverlayMemory(
                        budget,
                        newFiles(),
                        new ConcurrentLinkedQueue<>() {
                            @Override
                            public boolean add(Object blockOrExtent) {
                                leave();
                                return super.add(blockOrExtent);
                            }
                        });
        MemoryBlock block = memory.allocate(4096);
        memory.enterForeign();

        memory.free(block);

        assertThat(memory.blockBytes()).isZero();
        memory.release();
        assertThat(budget.usedBytes()).isZero();
    }

    @Test
    void whileReadersKeepMuch_othersWait() throws IOException {
        MemoryBlock block = memory.allocate(LIMIT / 8);
        MemoryBlock another = memory.allocate(4096);
        memory.enterForeign();

        memory.free(block);
        assertThat(memory.takesReaders()).isTrue();
        memory.free(another);

        assertThat(memory.takesReaders()).isFalse();
        assertThat(memory.blockBytes()).isGreaterThan(LIMIT / 8);
        assertThat(memory.neededBytes()).isZero();
        memory.leaveForeign();
        assertThat(memory.takesReaders()).isTrue();
        memory.release();
    }

    private void leave() {
        try {
            memory.leaveForeign();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void aReaderThatComesAfterTheEnd_isRefused_andNothingIsReleasedTwice() throws IOException {
        memory.release();

        assertThatThrownBy(memory::enterForeign)
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("The state backend is closed");

        assertThat(releases).hasValue(1);
    }

    @ParameterizedTest
    @ValueSource(ints = {100, LIMIT})
    void memoryThatTheSystemRefuses_isNotUsed_andIsAskedForAgain(int bytes) throws IOException {
        memory.release();
        AtomicBoolean refuses = new AtomicBoolean(true);
        OffHeapBudget refused =
                new OffHeapBudget(
                        LIMIT,
                        () -> {},
                        length -> {
                            if (refuses.get()) {
                                throw new OutOfMemoryError("refused by the test");
                            }
                            return MemorySegmentFactory.allocateOffHeapUnsafeMemory(length);
                        });
        memory = new OverlayMemory(refused, newFiles());

        assertThatThrownBy(() -> memory.allocate(bytes)).isInstanceOf(OutOfMemoryError.class);
        assertThat(refused.usedBytes()).isZero();
        assertThat(memory.blockBytes()).isZero();

        refuses.set(false);
        memory.free(memory.allocate(bytes));
        memory.release();
        assertThat(refused.usedBytes()).isZero();
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
}
