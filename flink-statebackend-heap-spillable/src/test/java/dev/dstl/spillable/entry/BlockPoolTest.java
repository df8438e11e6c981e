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
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.flink.util.FileUtils;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is sealed and compacted when, with an owner of blocks that has no entries in them. */
class BlockPoolTest {

    private static final int BLOCK = 128 * 1024;

    /** Takes note of what the pool does to its blocks. */
    private final class RecordingOwner extends BlockOwner {
        final Map<Integer, Block> blocks = new HashMap<>();
        final List<Integer> sealed = new ArrayList<>();
        final List<Integer> compacted = new ArrayList<>();
        int open = -1;

        void add(int number, int used) {
            Block block = pool.allocateBlock(BLOCK);
            block.used = used;
            blocks.put(number, block);
            pool.appended(used);
            pool.blockAdded(this, number);
        }

        void kill(int number, int bytes) {
            blocks.get(number).dead += bytes;
            pool.died(bytes);
        }

        void drop(int number) {
            Block block = blocks.remove(number);
            pool.blockDropped(block);
            block.release();
        }

        @Override
        Block block(int number) {
            return blocks.get(number);
        }

        @Override
        boolean isOpen(int number) {
            return number == open;
        }

        @Override
        void replaceBlock(int number, Block block) {
            sealed.add(number);
            blocks.put(number, block);
        }

        @Override
        int compact(int number, int from, int bytes) {
            compacted.add(number);
            int to = from + bytes;
            if (to < blocks.get(number).used) {
                return to;
            }
            drop(number);
            return -1;
        }

        void close() {
            for (Integer number : new ArrayList<>(blocks.keySet())) {
                drop(number);
            }
        }
    }

    @TempDir Path disk;
    private PoolOnDisk disks;
    private BlockPool pool;
    private RecordingOwner owner;

    @BeforeEach
    void open() throws IOException {
        disks = new PoolOnDisk(disk, 1 << 20);
        pool = disks.pool();
        owner = new RecordingOwner();
    }

    @AfterEach
    void close() throws IOException {
        owner.close();
        disks.close();
    }

    @Test
    void blocksOverTheBudget_areSealedOldestFirst() {
        for (int number = 0; number < 8; number++) {
            owner.add(number, 1000);
            pool.maintain();
        }
        assertThat(owner.sealed).as("within the budget").isEmpty();

        owner.add(8, 1000);
        owner.add(9, 1000);
        pool.maintain();

        assertThat(owner.sealed).containsExactly(0, 1);
        assertThat(owner.blocks.get(0).isSealed()).isTrue();
        assertThat(owner.blocks.get(2).isSealed()).isFalse();
        assertThat(pool.sealedBytes()).isEqualTo(2000);
        assertThat(pool.budget().blockBytes()).isEqualTo(8L * BLOCK);
    }

    @Test
    void blocksThatWereDropped_areNotSealed() {
        for (int number = 0; number < 8; number++) {
            owner.add(number, 1000);
        }
        owner.drop(0);
        owner.drop(1);
        owner.add(8, 1000);
        owner.add(9, 1000);
        owner.add(10, 1000);
        pool.maintain();

        assertThat(owner.sealed).containsExactly(2);
    }

    @Test
    void aNumberUsedAgain_isAnotherBlock() {
        for (int number = 0; number < 8; number++) {
            owner.add(number, 1000);
        }
        owner.drop(0);
        owner.add(0, 1000);
        owner.add(8, 1000);
        pool.maintain();

        assertThat(owner.sealed).as("the new block 0 is not the oldest").containsExactly(1);
    }

    @Test
    void mostlyDeadBlocks_areCompacted_theDeadestFirst() {
        for (int number = 0; number < 40; number++) {
            owner.add(number, BLOCK);
            owner.kill(number, BLOCK / 4 + number * 2048);
        }
        assertThat(owner.compacted).isEmpty();

        for (int i = 0; i < BLOCK / 2048; i++) {
            pool.maintain();
        }

        int first = owner.compacted.get(0);
        assertThat(owner.compacted).as("one block after the other").containsOnly(first);
        assertThat(owner.blocks).doesNotContainKey(first);
        // The deadest of 24 draws out of 40 blocks, where a higher number is deader.
        assertThat(first).isGreaterThan(30);
        assertThat(pool.compactedBytes()).isEqualTo(BLOCK - 2048L);
    }

    @Test
    void fewDeadBytes_areLeftAlone() {
        owner.add(1, BLOCK);
        owner.kill(1, BLOCK);
        pool.maintain();
        assertThat(owner.compacted).as("below one MiB").isEmpty();

        for (int number = 2; number < 40; number++) {
            owner.add(number, BLOCK);
            owner.kill(number, BLOCK / 4);
        }
        pool.maintain();
        assertThat(owner.compacted).as("below half of what lives").isEmpty();
    }

    @Test
    void theOpenBlock_isNotCompacted() {
        for (int number = 0; number < 20; number++) {
            owner.add(number, BLOCK);
        }
        for (int number = 0; number < 20; number++) {
            owner.kill(number, number == 5 ? BLOCK : BLOCK / 2 - 8);
        }
        owner.open = 5;

        for (int i = 0; i < 200; i++) {
            pool.maintain();
        }

        assertThat(owner.compacted).isNotEmpty().doesNotContain(5);
    }

    @Test
    void aDiskThatRefuses_isTriedAgainWhenAsked() throws IOException {
        Path directory = directory();
        Path aside = disk.resolveSibling(disk.getFileName() + "-aside");
        Files.move(directory, aside);
        for (int number = 0; number < 10; number++) {
            owner.add(number, 1000);
        }
        pool.maintain();
        assertThat(owner.sealed).isEmpty();
        assertThat(pool.diskRefuses()).isTrue();
        assertThat(pool.diskTakesMore()).isFalse();

        owner.drop(0);
        owner.drop(1);

        assertThat(pool.diskTakesMore()).as("memory has room again").isTrue();
        assertThat(pool.diskRefuses()).isFalse();
        Files.move(aside, directory);
    }

    @Test
    void farOverTheBudgetWithoutADisk_isAnErrorThatNamesBothAndTheFix() throws IOException {
        FileUtils.deleteDirectory(directory().toFile());

        assertThatThrownBy(
                        () -> {
                            for (int number = 0; number < 5000; number++) {
                                owner.add(number, 1000);
                                pool.maintain();
                            }
                        })
                .isInstanceOf(IllegalStateException.class)
                .hasMessageMatching(
                        "Spilled state needs \\d+ bytes in memory, its budget is 1048576, and no"
                                + " disk takes it\\. Free space in the spill directories, or raise"
                                + " state\\.backend\\.spillable\\.off-heap\\.size\\.")
                .hasCauseInstanceOf(IOException.class);
        long mostBytes = 2 * (1L << 20) + (32L << 20);
        assertThat(pool.budget().blockBytes()).isBetween(mostBytes, mostBytes + 1024L * BLOCK);
    }

    private Path directory() throws IOException {
        try (Stream<Path> files = Files.list(disk)) {
            return files.findFirst().orElseThrow(IOException::new);
        }
    }
}
