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
import dev.dstl.spillable.overlay.PoolOnDisk;
import dev.dstl.spillable.overlay.RestoredPartition;
import dev.dstl.spillable.partition.KeyHash;
import dev.dstl.spillable.partition.StateIdentity;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Random;
import java.util.Set;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.common.typeutils.base.MapSerializer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class UserEntryIteratorTest {

    /** One map, spilled or on the heap as the test likes. */
    private final class Source
            implements UserEntryIterator.Source<Integer, Integer, Integer, Integer> {
        private Map<Integer, Integer> heap;

        @Override
        public PartitionedMap select() throws IOException {
            layout.select(1, 1);
            return heap == null ? map : null;
        }

        @Override
        public Map<Integer, Integer> onHeap() {
            return heap;
        }

        @Override
        public void put(Integer userKey, Integer userValue) {
            if (heap != null) {
                heap.put(userKey, userValue);
                return;
            }
            try {
                layout.put(select(), userKey, userValue);
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        }

        @Override
        public void remove(Integer userKey) {
            if (heap != null) {
                heap.remove(userKey);
                return;
            }
            try {
                layout.remove(select(), userKey);
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        }

        void load() throws IOException {
            heap = new HashMap<>(whole());
        }

        void spill(PartitionedMap target) throws IOException {
            map = target;
            layout.select(1, 1);
            layout.write(map, heap);
            heap = null;
        }

        Map<Integer, Integer> whole() throws IOException {
            if (heap != null) {
                return heap;
            }
            layout.select(1, 1);
            Map<Integer, Integer> whole = layout.read(map.entries());
            return whole == null ? new HashMap<>() : whole;
        }
    }

    @TempDir Path disk;
    private PoolOnDisk disks;
    private PartitionedMap map;

    /** Finds its keys by other hashes than {@link #map} does at first. */
    private PartitionedMap other;

    private final MapLayout<Integer, Integer, Integer, Integer> layout =
            new MapLayout<>(
                    IntSerializer.INSTANCE,
                    IntSerializer.INSTANCE,
                    new MapSerializer<>(new CountingSerializer(), IntSerializer.INSTANCE));
    private final Source source = new Source();

    @BeforeEach
    void open() throws IOException {
        disks = new PoolOnDisk(disk, 1 << 20);
        map = disks.newMap();
        other =
                new PartitionedMap(
                        disks.pool(),
                        new StateIdentity(1, "a state", 5),
                        new KeyHash(8),
                        List.of(new RestoredPartition(0, 0, null)));
    }

    @AfterEach
    void close() throws IOException {
        map.close();
        other.close();
        disks.close();
    }

    private void fill(int userEntries) {
        for (int i = 0; i < userEntries; i++) {
            source.put(i, 10 * i);
        }
    }

    private UserEntryIterator<Integer, Integer, Integer, Integer> iterator() throws IOException {
        return new UserEntryIterator<>(layout, source);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 5, 8, 9, 100, 2000})
    void everyUserEntry_isMetOnce(int userEntries) throws IOException {
        fill(userEntries);
        Map<Integer, Integer> met = new HashMap<>();
        iterator().forEachRemaining(e -> assertThat(met.put(e.getKey(), e.getValue())).isNull());

        assertThat(met).isEqualTo(source.whole());
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void whatIsThereFromStartToEnd_isMetOnce_whateverComesGoesAndMoves(long seed)
            throws IOException {
        Random random = new Random(seed);
        fill(200);
        Set<Integer> throughout = new HashSet<>(source.whole().keySet());
        Set<Integer> met = new HashSet<>();
        UserEntryIterator<Integer, Integer, Integer, Integer> iterator = iterator();
        while (iterator.hasNext()) {
            int userKey = iterator.next().getKey();
            assertThat(met.add(userKey)).as("user key %d met twice", userKey).isTrue();
            for (int i = random.nextInt(4); i > 0; i--) {
                source.put(1000 + random.nextInt(2000), 1);
            }
            if (random.nextInt(3) == 0) {
                int removed = random.nextInt(200);
                source.remove(removed);
                throughout.remove(removed);
            }
            if (random.nextInt(20) == 0) {
                if (source.heap == null) {
                    source.load();
                    layout.select(1, 1);
                    layout.delete(map);
                } else {
                    // As a map is that was restored, loaded and spilled again.
                    if (random.nextInt(3) == 0) {
                        PartitionedMap former = map;
                        source.spill(other);
                        other = former;
                    } else {
                        source.spill(map);
                    }
                }
            }
        }

        assertThat(met).containsAll(throughout);
    }

    @ParameterizedTest
    @ValueSource(ints = {2000, 200_000})
    void aSpilledMap_isReadOnce_alsoWhenMostOfItWasRemoved(int userEntries) throws IOException {
        fill(userEntries);
        CountingSerializer.reset();
        iterator().forEachRemaining(e -> {});

        assertThat(CountingSerializer.deserialized()).isBetween(userEntries, 2 * userEntries);

        for (int i = 10; i < userEntries; i++) {
            source.remove(i);
        }
        CountingSerializer.reset();
        iterator().forEachRemaining(e -> {});

        assertThat(CountingSerializer.deserialized()).isBetween(10, 20);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 50})
    void aMapThatGoesToTheHeap_isWalkedOnce(int metBefore) throws IOException {
        fill(2000);
        UserEntryIterator<Integer, Integer, Integer, Integer> iterator = iterator();
        int met = 0;
        while (met < metBefore) {
            iterator.next();
            met++;
        }
        source.load();
        CountingSerializer.reset();
        while (iterator.hasNext()) {
            iterator.next();
            met++;
        }

        assertThat(met).isEqualTo(2000);
        assertThat(CountingSerializer.serialized()).isLessThanOrEqualTo(2000);
    }

    @Test
    void onTheHeap_valuesAreThoseOfTheMomentAndRemovedUserEntriesAreNotMet() throws IOException {
        fill(2000);
        UserEntryIterator<Integer, Integer, Integer, Integer> iterator = iterator();
        iterator.next();
        source.load();
        for (int i = 0; i < 100; i++) {
            iterator.next();
        }
        source.heap.keySet().removeIf(userKey -> userKey % 2 == 1);
        source.heap.replaceAll((userKey, before) -> -userKey);
        int stale = 0;
        while (iterator.hasNext()) {
            Map.Entry<Integer, Integer> entry = iterator.next();
            if (entry.getKey() % 2 == 1 || entry.getValue() > 0) {
                stale++;
            }
        }

        // Of the bucket that was read before.
        assertThat(stale).isLessThan(50);
    }

    @Test
    void remove_takesWhatWasMetLast() throws IOException {
        fill(100);
        UserEntryIterator<Integer, Integer, Integer, Integer> iterator = iterator();
        while (iterator.hasNext()) {
            if (iterator.next().getKey() % 3 == 0) {
                iterator.remove();
            }
        }

        assertThat(source.whole()).hasSize(66).doesNotContainKeys(0, 3, 99);
    }

    @Test
    void setValue_changesTheMap() throws IOException {
        fill(100);
        iterator()
                .forEachRemaining(
                        e -> {
                            assertThat(e.setValue(-e.getKey())).isEqualTo(10 * e.getKey());
                            assertThat(e.getValue()).isEqualTo(-e.getKey());
                        });

        source.whole().forEach((key, value) -> assertThat(value).isEqualTo(-key));
    }

    @Test
    void removeWithoutNext_saysSo() throws IOException {
        fill(2);
        UserEntryIterator<Integer, Integer, Integer, Integer> iterator = iterator();
        assertThatThrownBy(iterator::remove)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("next()");

        iterator.next();
        iterator.remove();
        assertThatThrownBy(iterator::remove).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void atTheEnd_thereIsNoNext() throws IOException {
        UserEntryIterator<Integer, Integer, Integer, Integer> iterator = iterator();

        assertThat(iterator.hasNext()).isFalse();
        assertThatThrownBy(iterator::next).isInstanceOf(NoSuchElementException.class);
    }
}
