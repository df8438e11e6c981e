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
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.dstl.spillable.partition.KeyHash;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.flink.core.memory.MemorySegmentFactory;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ForeignViewTest {

    private static final int SHORTEST = 40;
    private static final int LENGTHS = 50;

    @TempDir Path disk;
    private PoolOnDisk disks;
    private PartitionedMap map;

    @BeforeEach
    void open() throws IOException {
        disks = new PoolOnDisk(disk, 256 << 10);
        map = disks.newMap();
    }

    private static byte[] key(int i) {
        return new byte[] {(byte) (i >>> 16), (byte) (i >>> 8), (byte) i};
    }

    private void put(int key, byte[] value) {
        map.put(key(key), 3, map.entries().keyHash().of(key(key), 3), false, value, value.length);
    }

    private static boolean find(EntryReader reader, int key) {
        return reader.find(key(key), 3, reader.keyHash().of(key(key), 3), false) != 0;
    }

    @Test
    void whatIsRemovedMeanwhile_staysReadable() throws IOException {
        for (int i = 0; i < 5000; i++) {
            put(i, new byte[100]);
        }
        ForeignView view = map.foreignView();
        view.startLooking();
        long blocks = disks.pool().overlayBytes();

        map.close();
        disks.pool().close();

        assertThat(disks.pool().overlayBytes()).isEqualTo(blocks);
        assertThat(disks.isReleased()).isFalse();
        view.close();
        assertThat(disks.pool().overlayBytes()).isZero();
        assertThat(disks.pool().budget().usedBytes()).isZero();
        assertThat(disks.isReleased()).isTrue();
        assertThat(disk).isEmptyDirectory();
    }

    @Test
    void anotherThread_readsWholeValuesOrNoticesThatTheyChange() throws Exception {
        int keys = 2000;
        for (int i = 0; i < keys; i++) {
            put(i, value(i, SHORTEST));
        }
        AtomicBoolean done = new AtomicBoolean();
        Set<Integer> lengths = ConcurrentHashMap.newKeySet();
        ExecutorService threads = Executors.newSingleThreadExecutor();
        Future<?> reads = threads.submit(() -> readUntil(done, keys, lengths));
        for (int round = 1; round < 60 || (lengths.size() < 10 && !reads.isDone()); round++) {
            for (int i = 0; i < keys; i++) {
                // Other lengths: never in place, so overlays come and go all the time.
                put(i, value(i, SHORTEST + (round + i) % LENGTHS));
            }
        }
        done.set(true);

        reads.get();
        threads.shutdown();
        map.close();
        disks.close();
    }

    /** What a key has as a value of that length. */
    private static byte[] value(int key, int length) {
        byte[] value = new byte[length];
        Arrays.fill(value, (byte) (31 * key + length));
        return value;
    }

    /** All keys are there throughout. */
    private void readUntil(AtomicBoolean done, int keys, Set<Integer> lengths) {
        for (int i = 0; !done.get(); i = (i + 1) % keys) {
            try (ForeignView view = map.foreignView()) {
                EntryReader reader = view.entries();
                assertThat(find(reader, i)).as("key %d is found", i).isTrue();
                int length = reader.valueLength();
                assertThat(length).isBetween(SHORTEST, SHORTEST + LENGTHS - 1);
                byte[] found = new byte[length];
                reader.copy(reader.valueOffset(), found, length);
                assertThat(found).isEqualTo(value(i, length));
                lengths.add(length);
            } catch (IllegalStateException e) {
                // It changed all the time; a query looks again.
            }
        }
    }

    @Test
    void whatAMergeHasWritten_isFoundAtAnyMoment() throws IOException {
        map.close();
        disks.close();
        Runnable[] onFree = {() -> {}};
        disks =
                new PoolOnDisk(
                        disk,
                        256 << 10,
                        newDirectExecutorService(),
                        new KeyHash(7),
                        bytes ->
                                MemorySegmentFactory.allocateOffHeapUnsafeMemory(
                                        bytes, null, () -> onFree[0].run()));
        map = disks.newMap();
        // Long enough to have memory of its own, which is freed while the merge is taken over.
        put(1, new byte[100_000]);
        disks.pool().sealLargeOverlays();
        List<Boolean> looks = new ArrayList<>();
        onFree[0] =
                () -> {
                    try (ForeignView view = map.foreignView()) {
                        looks.add(find(view.entries(), 1));
                    }
                };

        disks.pool().sealLargeOverlays();

        onFree[0] = () -> {};
        assertThat(disks.pool().merges()).isOne();
        assertThat(looks).isNotEmpty().containsOnly(true);
        map.close();
        disks.close();
    }

    @Test
    void aValueThatChangesWhereItLies_isReadAsItOnceWas() throws Exception {
        put(1, new byte[64]);
        AtomicBoolean done = new AtomicBoolean();
        ExecutorService threads = Executors.newSingleThreadExecutor();
        Future<?> writes =
                threads.submit(
                        () -> {
                            byte[] value = new byte[64];
                            for (int round = 0; !done.get(); round++) {
                                Arrays.fill(value, (byte) round);
                                put(1, value);
                            }
                        });
        byte[] found = new byte[64];
        Set<Byte> values = new HashSet<>();
        int missed = 0;
        int torn = 0;
        for (int i = 0; i < 100_000 || (values.size() < 10 && !writes.isDone()); i++) {
            try (ForeignView view = map.foreignView()) {
                EntryReader reader = view.entries();
                missed += find(reader, 1) ? 0 : 1;
                reader.copy(reader.valueOffset(), found, found.length);
                values.add(found[0]);
                for (byte one : found) {
                    torn += one == found[0] ? 0 : 1;
                }
            } catch (IllegalStateException e) {
                // It changed all the time; a query looks again.
            }
        }
        done.set(true);
        writes.get();

        assertThat(missed).as("looks that did not find the key").isZero();
        assertThat(torn).as("bytes of another value").isZero();
        threads.shutdown();
        map.close();
        disks.close();
    }

    @Test
    void aViewThatIsOpenForLong_keepsNoMemory() throws IOException {
        map.close();
        disks.close();
        int limit = 1 << 20;
        disks = new PoolOnDisk(disk, limit);
        map = disks.newMap();
        put(0, new byte[10_000]);
        ForeignView view = map.foreignView();

        for (int i = 1; i < 4_000; i++) {
            put(i, new byte[10_000]);
            assertThat(disks.pool().overlayBytes()).isLessThan(limit + limit / 20);
        }

        assertThat(find(view.entries(), 0)).isTrue();
        assertThat(find(view.entries(), 3_999)).isTrue();
        view.close();
        map.close();
        disks.close();
    }

    @Test
    void aReaderThatIsStuck_isNamedWhenMemoryIsUsedUp() throws IOException {
        ForeignView view = map.foreignView();
        view.startLooking();

        assertThatThrownBy(
                        () -> {
                            for (int i = 0; i < 100_000; i++) {
                                put(i, new byte[10_000]);
                            }
                        })
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("a query that does not end holds the rest");

        view.close();
        put(1, new byte[1]);
        assertThat(disks.pool().overlayBytes()).isLessThan(256 << 10);
        map.close();
        disks.close();
    }
}
