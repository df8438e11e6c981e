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

import dev.dstl.spillable.partition.EntryFormat;
import dev.dstl.spillable.partition.KeyHash;
import dev.dstl.spillable.partition.SealedPartition;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.flink.core.memory.MemorySegment;
import org.apache.flink.core.memory.MemorySegmentFactory;
import org.apache.flink.core.testutils.ManuallyTriggeredScheduledExecutorService;
import org.apache.flink.util.concurrent.Executors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A map made of another backend's partitions and changes goes on as that one would have, although
 * its pool has another seed. The seed of the operations is the test's parameter.
 */
class RestoredMapTest {

    private static final int KEYS = 3_000;
    private static final int BUDGET_BYTES = 512 << 10;

    @TempDir Path disk;

    private final Map<String, byte[]> model = new HashMap<>();
    private Random random;

    private void operate(PartitionedMap map, int operations) {
        for (int i = 0; i < operations; i++) {
            String name = (random.nextInt(4) == 0 ? "part " : "key ") + random.nextInt(KEYS);
            byte[] key = name.getBytes(StandardCharsets.UTF_8);
            int hash = map.entries().keyHash().of(key, key.length);
            boolean part = name.startsWith("part");
            if (random.nextInt(3) == 0) {
                assertThat(map.remove(key, key.length, hash, part))
                        .isEqualTo(model.remove(name) != null);
            } else {
                byte[] value = new byte[random.nextInt(300)];
                random.nextBytes(value);
                map.put(key, key.length, hash, part, value, value.length);
                model.put(name, value);
            }
        }
    }

    private void verify(PartitionedMap map) {
        long bytes = 0;
        int wholes = 0;
        for (int i = 0; i < KEYS; i++) {
            for (String prefix : new String[] {"part ", "key "}) {
                byte[] key = (prefix + i).getBytes(StandardCharsets.UTF_8);
                int hash = map.entries().keyHash().of(key, key.length);
                boolean part = prefix.equals("part ");
                long address = map.entries().find(key, key.length, hash, part);
                byte[] expected = model.get(prefix + i);
                assertThat(address != 0).isEqualTo(expected != null);
                if (expected != null) {
                    byte[] found = new byte[map.entries().valueLength()];
                    map.entries().copy(map.entries().valueOffset(), found, found.length);
                    assertThat(found).isEqualTo(expected);
                    bytes += EntryFormat.entryBytes(key.length, found.length);
                    wholes += part ? 0 : 1;
                }
            }
        }
        assertThat(map.size()).isEqualTo(wholes);
        assertThat(map.liveBytes()).isEqualTo(bytes);
    }

    /** As a snapshot and a restore do it. */
    private static PartitionedMap copy(PartitionedMap map, PoolOnDisk target) throws IOException {
        try (SpilledView view = map.view()) {
            List<RestoredPartition> partitions = new ArrayList<>();
            for (RestoredPartition one : view.partitions()) {
                partitions.add(
                        new RestoredPartition(
                                one.depth(), one.firstHash(), copy(one.sealed(), target)));
            }
            KeyHash hash = new KeyHash(view.entries().keyHash().seed());
            PartitionedMap restored =
                    new PartitionedMap(target.pool(), PoolOnDisk.IDENTITY, hash, partitions);
            view.forEachChange(
                    (segment, entry, removed, covers) ->
                            change(restored, segment, entry, removed, covers));
            restored.restoredBytes(view.liveBytes());
            assertThat(restored.size()).isEqualTo(view.size());
            return restored;
        }
    }

    private static SealedPartition copy(SealedPartition sealed, PoolOnDisk target)
            throws IOException {
        if (sealed == null) {
            return null;
        }
        byte[] bytes = new byte[sealed.length()];
        sealed.segment().get(sealed.base(), bytes);
        return new SealedPartition(
                target.pool().chunks().write(MemorySegmentFactory.wrap(bytes), bytes.length),
                PoolOnDisk.IDENTITY);
    }

    private static void change(
            PartitionedMap map, MemorySegment segment, int entry, boolean removed, boolean covers) {
        int word = EntryFormat.varintAt(segment, entry);
        int length = EntryFormat.keyLength(word);
        byte[] key = EntryFormat.copyKey(segment, entry, new byte[64]);
        int hash = map.entries().keyHash().of(key, length);
        assertThat(map.entries().find(key, length, hash, EntryFormat.isPart(word)) != 0)
                .as("the sealed partition has the key")
                .isEqualTo(covers);
        int valueLength = EntryFormat.varintAt(segment, entry + EntryFormat.varintBytes(word));
        byte[] value = new byte[valueLength];
        segment.get(entry + EntryFormat.entryBytesAt(segment, entry) - valueLength, value);
        map.restoreChange(
                key, length, hash, EntryFormat.isPart(word), value, valueLength, removed, covers);
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4})
    void restoredMap_goesOnWithItsOwnSeed(long seed) throws IOException {
        random = new Random(seed);
        Path first = Files.createDirectory(disk.resolve("first"));
        Path second = Files.createDirectory(disk.resolve("second"));
        try (PoolOnDisk source = new PoolOnDisk(first, BUDGET_BYTES);
                PoolOnDisk target =
                        new PoolOnDisk(
                                second,
                                BUDGET_BYTES,
                                Executors.newDirectExecutorService(),
                                new KeyHash(8))) {
            PartitionedMap map = source.newMap();
            operate(map, 8_000);
            source.pool().sealLargeOverlays();
            operate(map, 1_500);

            PartitionedMap restored = copy(map, target);

            map.close();
            verify(restored);
            operate(restored, 8_000);
            target.pool().sealLargeOverlays();
            operate(restored, 8_000);
            assertThat(target.pool().merges()).isPositive();
            verify(restored);
            restored.close();
        }
    }

    private void operateUntilAMergeWaits(
            PartitionedMap map,
            PoolOnDisk source,
            ManuallyTriggeredScheduledExecutorService merges) {
        operate(map, 2_000);
        source.pool().sealLargeOverlays();
        merges.triggerAll();
        operate(map, 1_500);
        source.pool().sealLargeOverlays();
        assertThat(merges.numQueuedRunnables()).as("overlays are frozen").isPositive();
    }

    @Test
    void partitionOfWhichAllWasRemoved_isGivenUpByTheRestore() throws IOException {
        random = new Random(1);
        Path first = Files.createDirectory(disk.resolve("first"));
        Path second = Files.createDirectory(disk.resolve("second"));
        ManuallyTriggeredScheduledExecutorService merges =
                new ManuallyTriggeredScheduledExecutorService();
        try (PoolOnDisk source = new PoolOnDisk(first, 32 * BUDGET_BYTES, merges);
                PoolOnDisk target = new PoolOnDisk(second, BUDGET_BYTES)) {
            PartitionedMap map = source.newMap();
            operateUntilAMergeWaits(map, source, merges);
            for (String name : List.copyOf(model.keySet())) {
                byte[] key = name.getBytes(StandardCharsets.UTF_8);
                int hash = map.entries().keyHash().of(key, key.length);
                assertThat(map.remove(key, key.length, hash, name.startsWith("part "))).isTrue();
                model.remove(name);
            }

            PartitionedMap restored = copy(map, target);

            verify(restored);
            assertThat(target.pool().overlayBytes()).isZero();
            assertThat(target.pool().chunks().occupiedBytes()).isZero();
            restored.close();
            merges.triggerAll();
            map.close();
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6})
    void mapRestoredFromACheckpointDuringAMerge_hasWhatBothOverlaysHave(long seed)
            throws IOException {
        random = new Random(seed);
        Path first = Files.createDirectory(disk.resolve("first"));
        Path second = Files.createDirectory(disk.resolve("second"));
        ManuallyTriggeredScheduledExecutorService merges =
                new ManuallyTriggeredScheduledExecutorService();
        try (PoolOnDisk source = new PoolOnDisk(first, 32 * BUDGET_BYTES, merges);
                PoolOnDisk target = new PoolOnDisk(second, BUDGET_BYTES)) {
            PartitionedMap map = source.newMap();
            operateUntilAMergeWaits(map, source, merges);
            operate(map, 1_500);

            PartitionedMap restored = copy(map, target);

            assertThat(merges.numQueuedRunnables()).as("overlays are frozen").isPositive();
            verify(restored);
            operate(restored, 3_000);
            target.pool().sealLargeOverlays();
            verify(restored);
            restored.close();
            merges.triggerAll();
            map.close();
        }
    }
}
