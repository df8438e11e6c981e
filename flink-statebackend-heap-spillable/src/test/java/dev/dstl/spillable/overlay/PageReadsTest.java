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
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.flink.util.concurrent.Executors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PageReadsTest {

    @TempDir Path disk;
    private final AtomicLong faults = new AtomicLong();
    private final PageReads reads = new PageReads(faults::get);

    private boolean askOften(int times, int faultsPerThousand) {
        boolean byPage = false;
        for (int i = 1; i <= times; i++) {
            byPage = reads.isByPage();
            if (i % 1000 < faultsPerThousand) {
                faults.incrementAndGet();
            }
        }
        return byPage;
    }

    @Test
    void withoutFaults_theMappingIsRead_howeverLongItTakes() {
        assertThat(askOften(1_000_000, 0)).isFalse();
    }

    @Test
    void manyFaults_makeItReadPages_untilTheMappingWorksAgain() {
        assertThat(askOften(20_000, 100)).isTrue();

        // No call of its own faults; the mapping is tried now and then and goes on faulting.
        boolean tried = false;
        for (int i = 0; i < 200_000; i++) {
            boolean byPage = reads.isByPage();
            tried |= !byPage;
            if (!byPage) {
                faults.incrementAndGet();
            }
        }
        assertThat(tried).isTrue();
        assertThat(askOften(10_000, 0)).as("back to pages").isTrue();

        assertThat(askOften(1_000_000, 0)).as("the cache holds all again").isFalse();
    }

    @Test
    void theKernelsLine_isReadBehindTheNameOfTheProgram() {
        byte[] line =
                "4711 (a (strange) name) S 1 2 3 4 5 6 77 8 99 10 11 12\n"
                        .getBytes(StandardCharsets.US_ASCII);
        assertThat(MajorFaults.parse(line, line.length)).isEqualTo(99);
        try (MajorFaults counter = new MajorFaults()) {
            assertThat(counter.getAsLong()).isNotNegative();
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    private PartitionPool poolWithFaults() throws IOException {
        return new PartitionPool(
                new OffHeapBudget(256 << 10, () -> {}),
                new ChunkFiles(
                        new SpillDirectories(Collections.singletonList(disk)), 1 << 20, () -> 0),
                new KeyHash(1),
                Executors.newDirectExecutorService(),
                // Each look finds many more.
                () -> faults.addAndGet(1000));
    }

    @Test
    void readByPage_aLongEntryIsFoundAtItsAddress() throws IOException {
        checkLongEntries(40, 30_000);
    }

    @Test
    void readByPage_anEntryTakesNoDirectMemoryInProportion() throws IOException {
        long before = directBytes();
        checkLongEntries(3, 20 << 20);
        assertThat(directBytes() - before).isLessThan(8 << 20);
    }

    private void checkLongEntries(int keys, int length) throws IOException {
        PartitionPool pool = poolWithFaults();
        PartitionedMap map = new PartitionedMap(pool, PoolOnDisk.IDENTITY);
        byte[] value = new byte[length];
        Arrays.fill(value, (byte) 7);
        Set<String> expected = new HashSet<>();
        for (int key = 0; key < keys; key++) {
            byte[] bytes = bytes(key);
            map.put(bytes, bytes.length, hash(map, bytes), false, value, length);
            expected.add("key " + key);
        }
        for (int absent = keys; absent < keys + 20_000; absent++) {
            byte[] bytes = bytes(absent);
            assertThat(map.entries().find(bytes, bytes.length, hash(map, bytes), false)).isZero();
        }
        assertThat(pool.pageReadCount()).isPositive();

        Addresses addresses = new Addresses();
        for (int cursor = 0; cursor < map.entries().cursorEnd(); cursor++) {
            map.entries().addressesAt(cursor, addresses);
        }
        for (int i = 0; i < addresses.count(); i++) {
            long address = addresses.get(i);
            map.entries().read(address);
            EntryReader entry = map.entries();
            assertThat(entry.valueLength()).isEqualTo(length);
            assertThat(entry.segment().get(entry.valueOffset() + length - 1)).isEqualTo((byte) 7);
            assertThat(expected.remove(new String(entry.copyKey(), StandardCharsets.UTF_8)))
                    .isTrue();
        }
        assertThat(expected).isEmpty();
        map.close();
        pool.close();
    }

    private static long directBytes() {
        return ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
                .filter(pool -> pool.getName().equals("direct"))
                .mapToLong(BufferPoolMXBean::getMemoryUsed)
                .sum();
    }

    @Test
    void readByPage_entriesAreTheSame() throws IOException {
        PartitionPool pool = poolWithFaults();
        PartitionedMap map = new PartitionedMap(pool, PoolOnDisk.IDENTITY);
        Random random = new Random(1);
        int keys = 20_000;
        int[] lengths = new int[keys];
        for (int i = 0; i < 3 * keys; i++) {
            int key = random.nextInt(keys);
            lengths[key] = 1 + random.nextInt(random.nextInt(100) == 0 ? 20_000 : 60);
            byte[] bytes = bytes(key);
            map.put(bytes, bytes.length, hash(map, bytes), false, new byte[20_000], lengths[key]);
        }
        for (int key = 0; key < keys; key++) {
            byte[] bytes = bytes(key);
            long address = map.entries().find(bytes, bytes.length, hash(map, bytes), false);
            assertThat(address != 0).isEqualTo(lengths[key] > 0);
            if (address != 0) {
                assertThat(map.entries().valueLength()).isEqualTo(lengths[key]);
                assertThat(map.entries().copyKey()).isEqualTo(bytes);
                map.entries().read(address);
                assertThat(map.entries().copyKey()).isEqualTo(bytes);
            }
        }
        assertThat(pool.pageReadCount()).isPositive();
        map.close();
        pool.close();
    }

    private static byte[] bytes(int key) {
        return ("key " + key).getBytes(StandardCharsets.UTF_8);
    }

    private static int hash(PartitionedMap map, byte[] key) {
        return map.entries().keyHash().of(key, key.length);
    }
}
