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

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.apache.flink.util.FileUtils;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PartitionedMapTest {

    @TempDir Path disk;
    private PoolOnDisk disks;
    private PartitionPool pool;
    private PartitionedMap map;

    @BeforeEach
    void open() throws IOException {
        disks = new PoolOnDisk(disk, 4 << 20);
        pool = disks.pool();
        map = disks.newMap();
    }

    @AfterEach
    void close() throws IOException {
        map.close();
        disks.close();
    }

    static byte[] key(int i) {
        return ("key number " + i).getBytes(StandardCharsets.UTF_8);
    }

    void put(int key, byte[] value) {
        put(map, key, value);
    }

    private static void put(PartitionedMap target, int key, byte[] value) {
        byte[] bytes = key(key);
        target.put(
                bytes,
                bytes.length,
                target.entries().keyHash().of(bytes, bytes.length),
                false,
                value,
                value.length);
    }

    private boolean remove(int key) {
        byte[] bytes = key(key);
        return map.remove(
                bytes, bytes.length, map.entries().keyHash().of(bytes, bytes.length), false);
    }

    static byte[] get(EntryReader entries, int key) {
        byte[] bytes = key(key);
        if (entries.find(bytes, bytes.length, entries.keyHash().of(bytes, bytes.length), false)
                == 0) {
            return null;
        }
        byte[] value = new byte[entries.valueLength()];
        entries.segment().get(entries.valueOffset(), value);
        return value;
    }

    static byte[] value(Random random, int maxLength) {
        byte[] value = new byte[random.nextInt(maxLength)];
        random.nextBytes(value);
        return value;
    }

    @Test
    void anOverlayWhoseEntriesGrow_isSplitAsOneThatGetsMoreOfThem(@TempDir Path otherDisk)
            throws IOException {
        try (PoolOnDisk large = new PoolOnDisk(otherDisk, 512L << 20);
                PartitionedMap growing = large.newMap()) {
            for (int key = 0; key < 1_000; key++) {
                put(growing, key, new byte[8]);
            }
            assertThat(growing.entries().cursorEnd()).isOne();
            for (int key = 0; key < 1_000; key++) {
                put(growing, key, new byte[100_000]);
            }
            assertThat(growing.entries().cursorEnd()).isGreaterThan(1);

            SpilledView view = growing.view();
            long before = large.pool().overlayBytes();
            put(growing, 1, new byte[100_001]);
            assertThat(large.pool().overlayBytes() - before)
                    .as("copied by the first change behind a view")
                    .isLessThan(40L << 20);
            view.close();
            for (int key = 0; key < 1_000; key++) {
                assertThat(get(growing.entries(), key)).hasSize(key == 1 ? 100_001 : 100_000);
            }
        }
    }

    @Test
    void aPartitionThatGrowsWhileNoDiskTakesIt_isMergedNowAndThenOnly(@TempDir Path fullDisk)
            throws IOException {
        CallingThread merges = new CallingThread();
        try (PoolOnDisk full = new PoolOnDisk(fullDisk, 512L << 20, merges);
                PartitionedMap growing = full.newMap()) {
            for (int key = 0; key < 1_000; key++) {
                put(growing, key, new byte[100]);
            }
            full.pool().sealLargeOverlays();
            full.pool().maintain();
            assertThat(full.pool().sealedBytes()).isPositive();
            try (Stream<Path> directories = Files.list(fullDisk)) {
                FileUtils.deleteDirectory(directories.findFirst().orElseThrow().toFile());
            }
            merges.tasks = 0;

            for (int key = 0; key < 40_000; key++) {
                put(growing, key, new byte[100]);
            }

            assertThat(merges.tasks).isBetween(1, 50);
            for (int key = 0; key < 40_000; key++) {
                assertThat(get(growing.entries(), key)).hasSize(100);
            }
        }
    }

    @Test
    void overlaysOfATaskWithoutInput_areSealedAfterAFewCheckpoints(@TempDir Path otherDisk)
            throws IOException {
        try (PoolOnDisk large = new PoolOnDisk(otherDisk, 128 << 20)) {
            List<PartitionedMap> maps = new ArrayList<>();
            for (int i = 0; i < 1_500; i++) {
                PartitionedMap one = large.newMap();
                for (int key = 0; key < 200; key++) {
                    put(one, key, new byte[100]);
                }
                maps.add(one);
            }
            for (int checkpoint = 0; checkpoint < 3; checkpoint++) {
                large.pool().sealLargeOverlays();
            }
            assertThat(large.pool().overlayBytes()).isZero();
            maps.forEach(PartitionedMap::close);
        }
    }

    /** A key group that is spilled and loaded in turns is a new map each time. */
    @Test
    void mapsThatWereClosed_areNotKept() throws IOException {
        for (int i = 0; i < 2_000; i++) {
            try (PartitionedMap one = disks.newMap()) {
                for (int key = 0; key < 50; key++) {
                    put(one, key, new byte[100]);
                }
                disks.pool().sealLargeOverlays();
                if (i % 2 == 0) {
                    put(one, 1, new byte[100]);
                }
            }
        }
        assertThat(disks.pool().listed()).isLessThan(200);
    }

    @Test
    void smallOverlaysOverLargePartitions_stayWithinTheBudget(@TempDir Path otherDisk)
            throws IOException {
        int budget = 32 << 10;
        PoolOnDisk small = new PoolOnDisk(otherDisk, budget);
        PartitionedMap largeEntries = small.newMap();
        for (int key = 0; key < 300; key++) {
            put(largeEntries, key, new byte[250_000]);
        }

        for (int key = 1000; key < 1600; key++) {
            put(largeEntries, key, new byte[8]);
            assertThat(small.pool().overlayBytes()).isLessThanOrEqualTo(budget + 4096);
        }

        assertThat(get(largeEntries.entries(), 1599)).hasSize(8);
        largeEntries.close();
        small.close();
    }

    @Test
    void randomChangesOverSealingAndCompaction_leaveWhatAPlainMapHolds() {
        Random random = new Random(11);
        Map<Integer, byte[]> expected = new HashMap<>();
        for (int i = 0; i < 400_000; i++) {
            int key = random.nextInt(60_000);
            if (random.nextInt(8) == 0) {
                assertThat(remove(key)).isEqualTo(expected.remove(key) != null);
            } else {
                byte[] value = value(random, 120);
                put(key, value);
                expected.put(key, value);
            }
        }

        assertThat(map.size()).isEqualTo(expected.size());
        for (int key = 0; key < 60_000; key++) {
            assertThat(get(map.entries(), key)).isEqualTo(expected.get(key));
        }
        assertThat(pool.sealedBytes()).isPositive();
        assertThat(pool.merges()).isPositive();
        assertThat(pool.chunks().fileBytes())
                .as("files with what was replaced")
                .isLessThan(3 * pool.liveBytes());
        assertThat(pool.budget().usedBytes()).isLessThan(4 << 20);
    }

    @Test
    void aView_keepsWhatItSawWhileEverythingChanges() {
        Random random = new Random(12);
        Map<Integer, byte[]> then = new HashMap<>();
        for (int key = 0; key < 20_000; key++) {
            byte[] value = value(random, 60);
            put(key, value);
            then.put(key, value);
        }

        try (SpilledView view = map.view()) {
            for (int i = 0; i < 100_000; i++) {
                int key = random.nextInt(40_000);
                if (random.nextBoolean()) {
                    put(key, value(random, 60));
                } else {
                    remove(key);
                }
            }

            assertThat(view.size()).isEqualTo(20_000);
            for (int key = 0; key < 40_000; key++) {
                assertThat(get(view.entries(), key)).isEqualTo(then.get(key));
            }
        }
    }

    private long find(int key) {
        byte[] bytes = key(key);
        EntryReader entries = map.entries();
        return entries.find(bytes, bytes.length, entries.keyHash().of(bytes, bytes.length), false);
    }

    @Test
    void anEntryWithRoomBehindIt_getsLongerInPlace_unlessAViewHasIt() {
        put(1, new byte[] {1});
        put(1, new byte[40]);
        long liveBytes = pool.liveBytes();
        long written = pool.putBytes();

        assertThat(map.extend(find(1), 4)).isTrue();
        assertThat(map.overwrite(find(1), 40, new byte[] {1, 2, 3, 4, 5}, 4)).isTrue();
        byte[] extended = Arrays.copyOf(new byte[40], 44);
        System.arraycopy(new byte[] {1, 2, 3, 4}, 0, extended, 40, 4);
        assertThat(get(map.entries(), 1)).isEqualTo(extended);
        assertThat(pool.liveBytes()).isEqualTo(liveBytes + 4);
        assertThat(pool.putBytes()).isEqualTo(written);
        assertThat(map.extend(find(1), 500)).as("more than there is room for").isFalse();

        try (SpilledView view = map.view()) {
            assertThat(map.extend(find(1), 4)).isFalse();
            assertThat(map.overwrite(find(1), 0, new byte[] {1}, 1)).isFalse();
            put(1, new byte[] {2});
            assertThat(get(view.entries(), 1)).isEqualTo(extended);
        }
        assertThat(get(map.entries(), 1)).containsExactly(2);
    }

    @Test
    void entriesThatGrow_leaveLittleMemoryBehind() {
        int keys = 5000;
        for (int length = 8; length <= 160; length += 8) {
            for (int key = 0; key < keys; key++) {
                put(key, new byte[length]);
            }
        }

        assertThat(pool.merges()).as("all entries are in memory").isZero();
        assertThat(pool.overlayBytes()).isLessThan(2 * pool.liveBytes());
        for (int key = 0; key < keys; key++) {
            remove(key);
        }
        assertThat(pool.overlayBytes()).isZero();
    }

    @Test
    void aViewOutlivesTheMap() throws IOException {
        put(1, new byte[] {1});
        SpilledView view = map.view();
        map.close();
        pool.close();

        assertThat(get(view.entries(), 1)).containsExactly(1);

        view.close();
        assertThat(disks.isReleased()).isTrue();
        open();
    }

    @Test
    void entriesLongerThanAChunkFile_areKept() {
        byte[] longer = new byte[700_000];
        Arrays.fill(longer, (byte) 7);
        put(1, longer);
        put(2, new byte[2_000_000]);
        for (int i = 0; i < 100; i++) {
            put(3 + i, new byte[60_000]);
        }

        assertThat(get(map.entries(), 1)).isEqualTo(longer);
        assertThat(get(map.entries(), 2)).hasSize(2_000_000);
    }

    @Test
    void manyMapsOverASmallBudget_stayWithinIt() {
        PartitionedMap first = map;
        PartitionedMap[] maps = new PartitionedMap[64];
        for (int i = 0; i < maps.length; i++) {
            maps[i] = disks.newMap();
        }
        Random random = new Random(13);
        for (int i = 0; i < 400_000; i++) {
            map = maps[random.nextInt(maps.length)];
            put(random.nextInt(2000), new byte[40]);
            if (i % 1000 == 0) {
                assertThat(pool.budget().usedBytes()).isLessThanOrEqualTo(4 << 20);
            }
        }

        assertThat(pool.chunks().occupiedBytes()).isLessThan(3 * pool.liveBytes());
        for (PartitionedMap one : maps) {
            one.close();
        }
        map = first;
    }

    @Test
    void aRefusingDisk_keepsEntriesInMemory_untilTheBudgetIsFarExceeded() throws IOException {
        breakDisk();
        byte[] value = new byte[1000];
        int key = 0;
        while (pool.overlayBytes() < 16 << 20) {
            put(key++, value);
        }

        assertThat(pool.diskRefuses()).isTrue();
        for (int i = 0; i < key; i++) {
            assertThat(get(map.entries(), i)).hasSize(1000);
        }
        assertThatThrownBy(
                        () -> {
                            for (int i = 0; i < 200_000; i++) {
                                put(i, new byte[1000 + (i & 255)]);
                            }
                        })
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("no disk takes it")
                .hasMessageContaining("state.backend.spillable.off-heap.size");
    }

    private void breakDisk() throws IOException {
        Path directory;
        try (Stream<Path> files = Files.list(disk)) {
            directory = files.findFirst().orElseThrow(IOException::new);
        }
        FileUtils.deleteDirectory(directory.toFile());
    }
}
