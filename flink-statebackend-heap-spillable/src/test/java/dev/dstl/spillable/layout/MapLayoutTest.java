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

package dev.dstl.spillable.layout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.dstl.spillable.overlay.PartitionedMap;
import dev.dstl.spillable.overlay.PartitionedMapFixture;
import dev.dstl.spillable.overlay.PoolOnDisk;
import dev.dstl.spillable.overlay.RestoredPartition;
import dev.dstl.spillable.overlay.SpilledView;
import dev.dstl.spillable.partition.KeyHash;
import dev.dstl.spillable.partition.StateIdentity;
import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.api.common.typeutils.base.MapSerializer;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MapLayoutTest extends PartitionedMapFixture {

    private static final MapSerializer<String, String> MAPS =
            new MapSerializer<>(StringSerializer.INSTANCE, StringSerializer.INSTANCE);

    private final MapLayout<Integer, Long, String, String> layout =
            new MapLayout<>(IntSerializer.INSTANCE, LongSerializer.INSTANCE, MAPS);

    private Map<String, String> read(int key) throws IOException {
        layout.select(key, 0L);
        return layout.read(map.entries());
    }

    @Test
    void aMapWithoutOneOfItsBuckets_isNotWrittenToASnapshot() throws IOException {
        Map<String, String> large = new HashMap<>();
        for (int i = 0; i < 500; i++) {
            large.put("user key " + i, "value");
        }
        layout.select(7, 0L);
        layout.write(map, large);
        assertThat(layout.removePart(map, 3)).isTrue();

        assertThatThrownBy(() -> layout.copyState(map.entries(), new DataOutputSerializer(64)))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageStartingWith("Spilled state has lost user entries of a map.");
    }

    @Test
    void aMapWithAsManyUserEntriesAsCanBeCounted_takesNoMore() throws IOException {
        layout.select(7, 0L);
        ByteBuffer head = ByteBuffer.allocate(9).order(ByteOrder.LITTLE_ENDIAN);
        head.put((byte) 255).putInt(Integer.MAX_VALUE - 1).putInt(2);
        layout.put(map, head.array(), head.capacity());

        layout.put(map, "the last one", "value");

        assertThat(layout.elements(map.entries())).isEqualTo(Integer.MAX_VALUE);
        assertThatThrownBy(() -> layout.put(map, "one too many", "value"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageStartingWith("A map in state has 2147483647 entries");
        assertThat(layout.elements(map.entries())).isEqualTo(Integer.MAX_VALUE);
        assertThat(layout.contains(map.entries(), "one too many")).isFalse();
        layout.put(map, "the last one", "another value");
        assertThat(layout.get(map.entries(), "the last one")).isEqualTo("another value");
    }

    @ParameterizedTest
    @ValueSource(ints = {8, 300})
    void aValueOfTheSameLength_isReplacedInPlace_unlessAViewHasIt(int userEntries)
            throws IOException {
        Map<String, String> expected = new HashMap<>();
        layout.select(1, 0L);
        for (int i = 0; i < userEntries; i++) {
            layout.put(map, "key " + i, "old");
            expected.put("key " + i, "old");
        }
        long written = disks.pool().putBytes();

        layout.put(map, "key 5", "new");
        expected.put("key 5", "new");
        assertThat(disks.pool().putBytes()).as("bytes written").isEqualTo(written);
        assertThat(read(1)).isEqualTo(expected);

        try (SpilledView view = map.view()) {
            layout.put(map, "key 5", "NEW");

            assertThat(Serialized.states(layout.duplicate(), view, MAPS))
                    .containsOnly(Map.entry(1, expected));
        }
        assertThat(read(1)).containsEntry("key 5", "NEW").hasSize(userEntries);
    }

    private PartitionedMap mapHashedBy(KeyHash hash) {
        return new PartitionedMap(
                disks.pool(),
                new StateIdentity(2, "another state", 5),
                hash,
                List.of(new RestoredPartition(0, 0, null)));
    }

    @Test
    void userKeysChosenToCollideInOneProcess_areSpreadInAnother() throws IOException {
        KeyHash known = new KeyHash(1);
        DataOutputSerializer out = new DataOutputSerializer(64);
        List<String> chosen = new ArrayList<>();
        for (int i = 0; chosen.size() < 1000; i++) {
            out.clear();
            StringSerializer.INSTANCE.serialize("user key " + i, out);
            if ((known.of(out.getSharedBuffer(), out.length()) & 4095) == 0) {
                chosen.add("user key " + i);
            }
        }

        assertThat(bytesToPut(chosen, known)).as("bytes where they collide").isGreaterThan(5_000);
        assertThat(bytesToPut(chosen, new KeyHash(2))).as("bytes elsewhere").isLessThan(500);
    }

    /** On average, for each of the user keys. */
    private long bytesToPut(List<String> userKeys, KeyHash hash) throws IOException {
        try (PartitionedMap other = mapHashedBy(hash)) {
            long before = disks.pool().putBytes();
            layout.select(1, 0L);
            for (String userKey : userKeys) {
                layout.put(other, userKey, "value");
            }
            assertThat(layout.read(other.entries())).hasSize(userKeys.size());
            return (disks.pool().putBytes() - before) / userKeys.size();
        }
    }

    @Test
    void userKeysWhoseHashesAllAgree_takeTimeButNoMemory() throws IOException {
        KeyHash equal =
                new KeyHash(1) {
                    @Override
                    public int of(byte[] bytes, int offset, int length) {
                        return 0xABCD_EF01;
                    }
                };
        try (PartitionedMap other = mapHashedBy(equal)) {
            Map<String, String> expected = new HashMap<>();
            layout.select(1, 0L);
            for (int i = 0; i < 2000; i++) {
                layout.put(other, "user key " + i, "value " + i);
                expected.put("user key " + i, "value " + i);
            }
            for (int i = 0; i < 2000; i += 3) {
                layout.remove(other, "user key " + i);
                expected.remove("user key " + i);
            }

            assertThat(layout.read(other.entries())).isEqualTo(expected);
            assertThat(other.liveBytes()).isLessThan(2000 * 50);
            assertThat(other.entries().cursorEnd()).as("directory").isOne();
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4})
    void randomChanges_leaveWhatPlainMapsHold_inEveryViewToo(long seed) throws IOException {
        Random random = new Random(seed);
        Map<Integer, Map<String, String>> expected = new HashMap<>();
        for (int round = 0; round < 8; round++) {
            change(random, expected, 1000);
            Map<Integer, Map<String, String>> then = new HashMap<>();
            expected.forEach((key, value) -> then.put(key, new HashMap<>(value)));
            try (SpilledView view = map.view()) {
                change(random, expected, 300);
                assertThat(Serialized.states(layout.duplicate(), view, MAPS)).isEqualTo(then);
            }
            for (int key = 0; key < 6; key++) {
                assertThat(read(key)).isEqualTo(expected.get(key));
            }
            assertThat(map.size()).isEqualTo(expected.size());
        }
    }

    private void change(Random random, Map<Integer, Map<String, String>> expected, int changes)
            throws IOException {
        for (int i = 0; i < changes; i++) {
            int key = random.nextInt(6);
            // From maps of one entry to maps of hundreds.
            String userKey = "user key " + random.nextInt(1 << (2 * key));
            layout.select(key, 0L);
            Map<String, String> model = expected.getOrDefault(key, Collections.emptyMap());
            switch (random.nextInt(200)) {
                case 0:
                    assertThat(layout.delete(map)).isEqualTo(expected.remove(key) != null);
                    break;
                case 1:
                    Map<String, String> whole = new HashMap<>();
                    for (int j = random.nextInt(100); j > 0; j--) {
                        whole.put("user key " + random.nextInt(1000), value(random));
                    }
                    layout.write(map, whole);
                    expected.put(key, whole);
                    break;
                default:
                    assertThat(layout.contains(map.entries(), userKey))
                            .isEqualTo(model.containsKey(userKey));
                    assertThat(layout.get(map.entries(), userKey)).isEqualTo(model.get(userKey));
                    assertThat(layout.isEmpty(map.entries())).isEqualTo(model.isEmpty());
                    changeOne(random, expected, key, userKey);
            }
        }
    }

    private void changeOne(
            Random random, Map<Integer, Map<String, String>> expected, int key, String userKey)
            throws IOException {
        if (random.nextInt(4) == 0) {
            layout.remove(map, userKey);
            Map<String, String> model = expected.get(key);
            if (model != null && model.containsKey(userKey)) {
                model.remove(userKey);
                if (model.isEmpty()) {
                    expected.remove(key);
                }
            }
        } else {
            String value = value(random);
            layout.put(map, userKey, value);
            expected.computeIfAbsent(key, k -> new HashMap<>()).put(userKey, value);
        }
    }

    private static String value(Random random) {
        int kind = random.nextInt(100);
        return kind < 5 ? null : "v".repeat(kind == 5 ? 3000 : random.nextInt(30));
    }

    @Test
    void anEmptyMapThatWasWritten_exists() throws IOException {
        layout.select(1, 0L);
        layout.write(map, Collections.emptyMap());

        assertThat(layout.exists(map.entries())).isTrue();
        assertThat(layout.isEmpty(map.entries())).isTrue();
        assertThat(read(1)).isEmpty();
        layout.put(map, "a", "b");
        assertThat(read(1)).containsExactly(Map.entry("a", "b"));
    }

    @Test
    void aMap_goesWithItsLastUserEntry() throws IOException {
        layout.select(1, 0L);
        for (int i = 0; i < 500; i++) {
            layout.put(map, "user key " + i, "value");
        }
        for (int i = 0; i < 500; i++) {
            assertThat(layout.exists(map.entries())).isTrue();
            layout.remove(map, "user key " + i);
        }

        assertThat(layout.exists(map.entries())).isFalse();
        assertThat(read(1)).isNull();
        assertThat(disks.pool().liveBytes()).as("live bytes").isZero();
    }

    @Test
    void changingOneUserEntryOfALargeMap_writesAboutOneBucket() throws IOException {
        layout.select(1, 0L);
        for (int i = 0; i < 20_000; i++) {
            layout.put(map, "user key " + i, "value");
        }
        long before = disks.pool().putBytes();
        for (int i = 0; i < 1000; i++) {
            layout.put(map, "user key " + i, "longer value");
        }

        assertThat((disks.pool().putBytes() - before) / 1000)
                .as("bytes written per change of a map of 20,000")
                .isLessThan(1024);
    }

    @Test
    void everyHash_hasItsBucketBelowTheirNumber_andASplitMovesItToTheNewOneOnly() {
        Random random = new Random(5);
        for (int i = 0; i < 20_000; i++) {
            int hash = random.nextInt();
            int buckets = 1 + random.nextInt(3000);
            int bucket = MapHead.bucketOf(hash, buckets);
            int after = MapHead.bucketOf(hash, buckets + 1);

            assertThat(bucket).isBetween(0, buckets - 1);
            if (after != bucket) {
                assertThat(after).as("the new bucket").isEqualTo(buckets);
                assertThat(bucket)
                        .as("the bucket that is split")
                        .isEqualTo(buckets - Integer.highestOneBit(buckets));
            }
        }
    }

    @Test
    void aNullValue_isNotAMissingOne() throws IOException {
        layout.select(1, 0L);
        layout.put(map, "null", null);

        assertThat(layout.contains(map.entries(), "null")).isTrue();
        assertThat(layout.get(map.entries(), "null")).isNull();
        assertThat(layout.contains(map.entries(), "missing")).isFalse();
        assertThat(layout.isEmpty(map.entries())).isFalse();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3 << 20})
    void aLongUserEntryThatIsGone_takesNoHeap(int keyLength, @TempDir Path disk)
            throws IOException, ReflectiveOperationException {
        String longKey = "k".repeat(keyLength);
        try (PoolOnDisk roomy = new PoolOnDisk(disk, 256 << 20)) {
            PartitionedMap itsMap = roomy.newMap();
            layout.select(1, 0L);
            layout.put(itsMap, "user key", "value");
            layout.put(itsMap, longKey, "v".repeat(3 << 20));
            assertThat(layout.get(itsMap.entries(), longKey)).hasSize(3 << 20);
            layout.remove(itsMap, longKey);
            assertThat(longestArray(layout)).as("while it was there").isGreaterThan(3 << 20);

            layout.select(2, 0L);
            for (int i = 0; i < 10; i++) {
                layout.put(itsMap, "user key " + i, "value");
            }

            assertThat(longestArray(layout)).isLessThanOrEqualTo(1 << 20);
            itsMap.close();
        }
    }

    /** Length of the longest array that an object has, in buffers too. */
    private static int longestArray(Object owner) throws ReflectiveOperationException {
        int longest = 0;
        for (Class<?> type = owner.getClass(); type != Object.class; type = type.getSuperclass()) {
            for (Field field : type.getDeclaredFields()) {
                if (Modifier.isStatic(field.getModifiers())) {
                    continue;
                }
                field.setAccessible(true);
                Object value = field.get(owner);
                if (value instanceof byte[]) {
                    longest = Math.max(longest, ((byte[]) value).length);
                } else if (value instanceof DataOutputSerializer
                        || value instanceof DataInputDeserializer
                        || value instanceof UserEntries) {
                    longest = Math.max(longest, longestArray(value));
                }
            }
        }
        return longest;
    }
}
