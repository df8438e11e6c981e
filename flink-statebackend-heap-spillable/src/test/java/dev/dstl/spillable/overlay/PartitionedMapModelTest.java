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

import static org.apache.flink.util.concurrent.Executors.newDirectExecutorService;
import static org.assertj.core.api.Assertions.assertThat;

import dev.dstl.spillable.partition.EntryFormat;
import dev.dstl.spillable.partition.KeyHash;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.flink.core.memory.MemorySegmentFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A map whose merges run on another thread, with views, interrupts and disks that refuse, against
 * plain maps.
 */
class PartitionedMapModelTest {

    private static final int LIMIT = 512 << 10;

    private static final class Then {
        final SpilledView view;
        final Map<String, byte[]> entries;

        Then(SpilledView view, Map<String, byte[]> entries) {
            this.view = view;
            this.entries = new HashMap<>(entries);
        }
    }

    @TempDir Path disk;
    private PoolOnDisk disks;
    private PartitionedMap map;
    private final Map<String, byte[]> expected = new HashMap<>();
    private final Presence presence = new Presence();

    private void open(long limit, KeyHash hash) throws IOException {
        disks = new PoolOnDisk(disk, limit, Executors.newSingleThreadExecutor(), hash);
        map = disks.newMap();
    }

    private void close() throws Exception {
        map.close();
        disks.pool().close();
        awaitMerges();
        disks.close();
        assertThat(disk).isEmptyDirectory();
    }

    /** A merge that runs when the pool is closed gives back what it has when it ends. */
    private void awaitMerges() throws Exception {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
        while (!disks.isReleased() && System.nanoTime() < deadline) {
            Thread.sleep(1);
        }
    }

    private static byte[] bytes(String key) {
        return key.getBytes(StandardCharsets.UTF_8);
    }

    private int hash(byte[] key) {
        return map.entries().keyHash().of(key, key.length);
    }

    private void put(String key, byte[] value) {
        byte[] bytes = bytes(key);
        map.put(bytes, bytes.length, hash(bytes), false, value, value.length);
        expected.put(key, value);
    }

    /** As a state does it: the read and the write that follows share what is known of the key. */
    private void update(String key, byte[] value) {
        byte[] bytes = bytes(key);
        presence.forget();
        long found = map.entries().find(bytes, bytes.length, hash(bytes), false, presence);
        assertThat(found != 0).isEqualTo(expected.containsKey(key));
        if (found != 0) {
            assertThat(value(map.entries())).isEqualTo(expected.get(key));
        }
        map.put(bytes, bytes.length, hash(bytes), false, value, value.length, presence);
        map.put(bytes, bytes.length, hash(bytes), false, value, value.length, presence);
        expected.put(key, value);
    }

    /** As lists do it: in place if there is room, else by a put. */
    private void extend(String key, Random random) {
        byte[] bytes = bytes(key);
        long address = map.entries().find(bytes, bytes.length, hash(bytes), false);
        if (address == 0) {
            return;
        }
        byte[] before = expected.get(key);
        byte[] added = new byte[8];
        random.nextBytes(added);
        byte[] after = Arrays.copyOf(before, before.length + added.length);
        System.arraycopy(added, 0, after, before.length, added.length);
        if (map.extend(address, added.length)) {
            assertThat(map.overwrite(address, before.length, added, added.length)).isTrue();
            expected.put(key, after);
        } else {
            put(key, after);
        }
    }

    private void remove(String key) {
        byte[] bytes = bytes(key);
        assertThat(map.remove(bytes, bytes.length, hash(bytes), false))
                .isEqualTo(expected.remove(key) != null);
    }

    private static byte[] get(EntryReader reader, String key) {
        byte[] bytes = bytes(key);
        int hash = reader.keyHash().of(bytes, bytes.length);
        return reader.find(bytes, bytes.length, hash, false) == 0 ? null : value(reader);
    }

    private static byte[] value(EntryReader reader) {
        byte[] value = new byte[reader.valueLength()];
        reader.copy(reader.valueOffset(), value, value.length);
        return value;
    }

    private void change(Random random, int keys, int changes) {
        for (int i = 0; i < changes; i++) {
            String key = "key " + random.nextInt(keys);
            switch (random.nextInt(10)) {
                case 0:
                case 1:
                    remove(key);
                    break;
                case 2:
                    put(key, value(random, random.nextInt(50) == 0 ? 5000 : 200));
                    break;
                case 3:
                case 4:
                    extend(key, random);
                    break;
                default:
                    update(key, value(random, 40));
            }
        }
    }

    private static byte[] value(Random random, int longest) {
        byte[] value = new byte[random.nextInt(longest / 8) * 8];
        random.nextBytes(value);
        return value;
    }

    private void verify() {
        assertThat(map.size()).isEqualTo(expected.size());
        expected.forEach((key, value) -> assertThat(get(map.entries(), key)).isEqualTo(value));
    }

    private static void verify(Then then) throws IOException {
        assertThat(then.view.size()).isEqualTo(then.entries.size());
        Map<String, byte[]> seen = new HashMap<>();
        then.view.forEachAsItLies(
                address -> {
                    EntryReader reader = then.view.entries();
                    String key = new String(reader.copyKey(), StandardCharsets.UTF_8);
                    assertThat(seen.put(key, value(reader))).as("met twice").isNull();
                });
        then.entries.forEach((key, value) -> assertThat(seen.get(key)).isEqualTo(value));
        then.entries.forEach(
                (key, value) -> assertThat(get(then.view.entries(), key)).isEqualTo(value));
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6})
    void changesViewsAndMerges_leaveWhatPlainMapsHold(long seed) throws Exception {
        open(LIMIT, new KeyHash(seed));
        Random random = new Random(seed);
        ExecutorService readers = Executors.newFixedThreadPool(2);
        Deque<Future<?>> reads = new ArrayDeque<>();
        for (int round = 0; round < 60; round++) {
            change(random, 20_000, 3000);
            if (random.nextInt(3) == 0) {
                Then then = new Then(map.view(), expected);
                int delayMillis = random.nextInt(30);
                reads.add(
                        readers.submit(
                                () -> {
                                    Thread.sleep(delayMillis);
                                    verify(then);
                                    then.view.close();
                                    return null;
                                }));
            }
            if (random.nextInt(10) == 0) {
                Thread.currentThread().interrupt();
                change(random, 20_000, 500);
                assertThat(Thread.interrupted()).as("still interrupted").isTrue();
            }
            while (reads.size() > 3) {
                reads.poll().get();
            }
        }
        verify();
        for (Future<?> read : reads) {
            read.get();
        }
        readers.shutdown();
        assertThat(disks.pool().merges()).isPositive();
        expected.clear();
        close();
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void disksThatRefuseForAWhile_loseNothing(long seed) throws Exception {
        open(LIMIT, new KeyHash(seed));
        Random random = new Random(seed);
        int refusals = 0;
        Path aside = disk.resolveSibling(disk.getFileName() + "-aside");
        for (int round = 0; round < 20; round++) {
            change(random, 10_000, 2000);
            Path directory;
            try (Stream<Path> files = Files.list(disk)) {
                directory = files.findFirst().orElseThrow(IOException::new);
            }
            Files.move(directory, aside);
            change(random, 10_000, 4000);
            verify();
            refusals += disks.pool().diskRefuses() ? 1 : 0;
            Files.move(aside, directory);
            disks.clockMillis.addAndGet(60_000);
        }
        verify();
        assertThat(refusals).isPositive();
        assertThat(disks.pool().diskTakesMore()).isTrue();
        assertThat(disks.pool().diskRefuses()).isFalse();
        assertThat(disks.pool().sealedBytes()).isPositive();
        close();
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4})
    void memoryThatTheSystemRefusesNowAndThen_losesNothing(long seed) throws Exception {
        Random random = new Random(seed);
        boolean[] refuses = {false};
        disks =
                new PoolOnDisk(
                        disk,
                        LIMIT,
                        newDirectExecutorService(),
                        new KeyHash(seed),
                        bytes -> {
                            if (refuses[0] && random.nextInt(3) == 0) {
                                throw new OutOfMemoryError("refused by the test");
                            }
                            return MemorySegmentFactory.allocateOffHeapUnsafeMemory(bytes);
                        });
        map = disks.newMap();
        int failures = 0;
        for (int round = 0; round < 20; round++) {
            refuses[0] = true;
            for (int i = 0; i < 3000; i++) {
                failures += changeUnlessRefused(random, "key " + random.nextInt(20_000)) ? 0 : 1;
            }
            refuses[0] = false;
            verify();
        }
        assertThat(failures).isGreaterThan(10);
        assertThat(disks.pool().merges()).isPositive();
        close();
    }

    /** A change that fails was made or not made. */
    private boolean changeUnlessRefused(Random random, String key) {
        byte[] before = expected.get(key);
        byte[] after = random.nextInt(4) == 0 ? null : value(random, 400);
        try {
            if (after == null) {
                remove(key);
            } else {
                put(key, after);
            }
            return true;
        } catch (OutOfMemoryError e) {
            byte[] found = get(map.entries(), key);
            assertThat(Arrays.equals(found, before) || Arrays.equals(found, after)).isTrue();
            if (found == null) {
                expected.remove(key);
            } else {
                expected.put(key, found);
            }
            return false;
        }
    }

    @Test
    void threeViewsNobodyReads_takeNoMoreMemoryThanIsAllowed() throws Exception {
        int limit = 8 << 20;
        open(limit, new KeyHash(3));
        Random random = new Random(3);
        for (int i = 0; i < 200_000; i++) {
            put("key " + i, new byte[] {1, 2, 3, 4, 5, 6, 7, 8});
        }
        Then[] views = new Then[3];
        long most = 0;
        for (int i = 0; i < views.length; i++) {
            views[i] = new Then(map.view(), expected);
            for (int j = 0; j < 200_000; j++) {
                byte[] value = new byte[8];
                random.nextBytes(value);
                put("key " + random.nextInt(200_000), value);
                most = Math.max(most, disks.pool().budget().usedBytes());
            }
        }
        assertThat(most).isLessThanOrEqualTo(limit * 105L / 100);
        for (Then then : views) {
            verify(then);
            then.view.close();
        }
        verify();
        close();
    }

    @Test
    void manyKeysOfOneHash_neitherLoopNorGrowTheDirectory() throws Exception {
        open(
                LIMIT,
                new KeyHash(0) {
                    @Override
                    public int of(byte[] bytes, int length) {
                        return 0x1234_5678;
                    }
                });
        for (int i = 0; i < 10_000; i++) {
            put("key " + i, new byte[8]);
        }
        for (int i = 0; i < 10_000; i += 100) {
            put("key " + i, new byte[20]);
            remove("key " + (i + 50));
        }
        assertThat(map.entries().cursorEnd()).isLessThanOrEqualTo(2);
        for (int i = 0; i < 10_000; i += 37) {
            assertThat(get(map.entries(), "key " + i)).isEqualTo(expected.get("key " + i));
        }
        close();
    }

    @Test
    void aGroupOfMillions_isFound() throws Exception {
        open(16 << 20, new KeyHash(9));
        byte[] key = new byte[8];
        byte[] value = new byte[8];
        int keys = 2_000_000;
        for (int i = 0; i < keys; i++) {
            number(key, i);
            map.put(key, 8, hash(key), false, value, 8);
        }
        assertThat(map.size()).isEqualTo(keys);
        for (int i = 0; i < keys; i += 7) {
            number(key, i);
            assertThat(map.entries().find(key, 8, hash(key), false)).isNotZero();
        }
        number(key, -1);
        assertThat(map.entries().find(key, 8, hash(key), false)).isZero();
        assertThat(EntryFormat.keyLength(EntryFormat.keyWord(8, false))).isEqualTo(8);
        close();
    }

    private static void number(byte[] key, int number) {
        for (int i = 0; i < 4; i++) {
            key[i] = (byte) (number >>> (8 * i));
        }
    }
}
