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

package dev.dstl.spillable.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.dstl.spillable.layout.ListLayout;
import dev.dstl.spillable.layout.PlainLayout;
import dev.dstl.spillable.overlay.PoolOnDisk;
import dev.dstl.spillable.partition.StateIdentity;
import dev.dstl.spillable.size.EntrySizes;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.common.typeutils.base.ListSerializer;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.api.java.typeutils.runtime.CopyableValueSerializer;
import org.apache.flink.api.java.typeutils.runtime.NullableSerializer;
import org.apache.flink.types.IntValue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Entries on two sides, in every residency, against one plain map. */
class KeyGroupMapTest {

    private static final int KEYS = 300;

    @TempDir Path disk;
    private PoolOnDisk disks;
    private final KeyGroupMap<Integer, Integer, String> map =
            new KeyGroupMap<>(
                    StringSerializer.INSTANCE, new StateIdentity(0, "state", 0), new EntrySizes());
    private final PlainLayout<Integer, Integer, String> layout =
            new PlainLayout<>(
                    IntSerializer.INSTANCE, IntSerializer.INSTANCE, StringSerializer.INSTANCE);
    private final Map<List<Integer>, String> expected = new HashMap<>();

    @BeforeEach
    void open() throws IOException {
        disks = new PoolOnDisk(disk, 512 << 10);
    }

    @AfterEach
    void close() throws IOException {
        map.close();
        disks.close();
    }

    private void put(int key, String state) throws IOException {
        layout.select(key, 0);
        map.put(key, 0, state, layout);
        expected.put(Arrays.asList(key, 0), state);
    }

    private void fill(int keys) throws IOException {
        for (int key = 0; key < keys; key++) {
            put(key, "state " + key);
        }
    }

    private void verify() throws IOException {
        assertThat(map.size()).isEqualTo(expected.size());
        assertThat(map.heapSize() + map.spilledSize()).isEqualTo(expected.size());
        for (int key = 0; key < KEYS; key++) {
            for (int namespace = 0; namespace < 2; namespace++) {
                layout.select(key, namespace);
                String state = expected.get(Arrays.asList(key, namespace));
                assertThat(map.get(key, namespace, layout)).isEqualTo(state);
            }
        }
        Set<List<Integer>> keys = new HashSet<>();
        map.forEachKey(
                layout,
                (key, namespace) -> assertThat(keys.add(Arrays.asList(key, namespace))).isTrue());
        assertThat(keys).isEqualTo(expected.keySet());
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void randomChangesAndMoves_leaveWhatOneMapHolds_inViewsToo(long seed) throws IOException {
        Random random = new Random(seed);
        Set<Residency> met = new HashSet<>();
        for (int round = 0; round < 60; round++) {
            for (int i = 0; i < 60; i++) {
                change(random, random.nextInt(KEYS), random.nextInt(2));
                if (random.nextInt(3) == 0) {
                    move(random);
                }
                met.add(map.residency());
            }
            verify();
            if (random.nextInt(4) == 0) {
                checkView(random);
            }
        }
        assertThat(met).containsExactlyInAnyOrder(Residency.values());
    }

    private void change(Random random, int key, int namespace) throws IOException {
        List<Integer> identity = Arrays.asList(key, namespace);
        layout.select(key, namespace);
        switch (random.nextInt(5)) {
            case 0:
                map.remove(key, namespace, layout);
                expected.remove(identity);
                break;
            case 1:
                assertThat(map.removeAndGet(key, namespace, layout))
                        .isEqualTo(expected.remove(identity));
                break;
            default:
                String state = "s".repeat(random.nextInt(50));
                map.put(key, namespace, state, layout);
                expected.put(identity, state);
        }
    }

    private void move(Random random) throws IOException {
        int entries = random.nextInt(40);
        switch (map.residency()) {
            case ON_HEAP:
                map.startSpill(disks.pool());
                break;
            case SPILLING:
                if (random.nextInt(6) == 0) {
                    map.startLoad();
                } else {
                    map.spill(entries, layout);
                }
                break;
            case SPILLED:
                if (random.nextInt(6) == 0) {
                    map.startLoad();
                }
                break;
            default:
                if (random.nextInt(6) == 0) {
                    map.startSpill(disks.pool());
                } else {
                    map.load(entries, Double.MAX_VALUE, layout);
                }
        }
    }

    private void checkView(Random random) throws IOException {
        KeyGroupView<Integer, Integer, String> view = map.view();
        Map<List<Integer>, String> then = new HashMap<>(expected);
        for (int i = 0; i < 100; i++) {
            change(random, random.nextInt(KEYS), random.nextInt(2));
            move(random);
        }
        Map<List<Integer>, String> seen = new HashMap<>();
        view.iterator(layout.duplicate(), null)
                .forEachRemaining(
                        e ->
                                assertThat(
                                                seen.put(
                                                        Arrays.asList(e.getKey(), e.getNamespace()),
                                                        e.getState()))
                                        .as("met twice")
                                        .isNull());
        assertThat(seen).isEqualTo(then);
        view.close();
    }

    @Test
    void aGroupThatSpills_takesNewEntriesOffHeap_andKeepsOldOnesOnItsHeap() throws IOException {
        fill(10);
        map.startSpill(disks.pool());
        put(100, "new");
        put(3, "changed");

        assertThat(map.heapSize()).isEqualTo(10);
        assertThat(map.spilledSize()).isEqualTo(1);
        verify();
        assertThat(map.spill(Integer.MAX_VALUE, layout)).isEqualTo(10);
        assertThat(map.residency()).isEqualTo(Residency.SPILLED);
        verify();
    }

    @Test
    void aGroupThatLoads_takesChangedEntriesToTheHeap() throws IOException {
        fill(10);
        map.startSpill(disks.pool());
        map.spill(Integer.MAX_VALUE, layout);
        map.startLoad();
        put(3, "changed");
        put(100, "new");

        assertThat(map.heapSize()).isEqualTo(2);
        assertThat(map.spilledSize()).isEqualTo(9);
        verify();
        assertThat(map.load(Integer.MAX_VALUE, Double.MAX_VALUE, layout)).isEqualTo(9);
        assertThat(map.residency()).isEqualTo(Residency.ON_HEAP);
        assertThat(map.hasSpilled()).isFalse();
        verify();
    }

    @Test
    void steps_moveNoMoreThanTheyAreAskedTo() throws IOException {
        fill(100);
        map.startSpill(disks.pool());
        for (int left = 100; left > 0; left -= 10) {
            assertThat(map.heapSize()).isEqualTo(left);
            assertThat(map.spill(10, layout)).isEqualTo(10);
        }
        map.startLoad();
        int loaded = 0;
        while (map.residency() == Residency.LOADING) {
            int moved = map.load(7, Double.MAX_VALUE, layout);
            assertThat(moved).isBetween(1, 7);
            loaded += moved;
        }
        assertThat(loaded).isEqualTo(100);
        verify();
    }

    @Test
    void anEmptyGroup_isSpilledAtOnce() throws IOException {
        map.startSpill(disks.pool());
        assertThat(map.spill(1, layout)).isZero();
        assertThat(map.residency()).isEqualTo(Residency.SPILLED);

        put(1, "new");
        assertThat(map.spilledSize()).isEqualTo(1);
    }

    @Test
    void aStepInTheWrongResidency_isAnError() {
        assertThatThrownBy(map::startLoad)
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("A key group cannot go from ON_HEAP to LOADING");
        map.startSpill(disks.pool());
        assertThatThrownBy(() -> map.startSpill(disks.pool()))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("SPILLING to SPILLING");
    }

    @Test
    void heat_countsAccessesAndHalvesAsItCools() throws IOException {
        fill(4);
        assertThat(map.heat()).isEqualTo(4);
        for (int i = 0; i < 6; i++) {
            map.heapState(1, 0);
        }
        assertThat(map.heat()).isEqualTo(10);
        assertThat(map.coolDown()).isEqualTo(10);
        assertThat(map.coolDown()).isEqualTo(5);
        layout.select(1, 0);
        map.get(1, 0, layout);
        assertThat(map.heat()).isEqualTo(6);
        map.remove(1, 0, layout);
        expected.remove(Arrays.asList(1, 0));
        assertThat(map.heat()).isEqualTo(7);
    }

    @Test
    void aWalkOverCursors_meetsEveryKeyOfBothSides() throws IOException {
        fill(200);
        map.startSpill(disks.pool());
        map.spill(90, layout);
        List<Integer> keys = new ArrayList<>();
        for (int cursor = 0; cursor < map.cursorEnd() + 3; cursor++) {
            map.keysAt(cursor, layout, (key, namespace) -> keys.add(key));
        }

        assertThat(keys).hasSize(200).doesNotHaveDuplicates();
    }

    @Test
    void aNewLayout_rewritesWhatIsSpilled() throws IOException {
        fill(50);
        map.startSpill(disks.pool());
        map.spill(30, layout);
        PlainLayout<Integer, Integer, String> other = layout.duplicate();

        map.reencode(disks.pool(), layout, other);

        assertThat(map.spilledSize()).isEqualTo(30);
        assertThat(map.heapSize()).isEqualTo(20);
        verify();
    }

    @ParameterizedTest
    @ValueSource(ints = {32, 64, 128, 256})
    void aNewLayout_rewritesEveryEntry_thoughWritingMergesWhatIsRead(
            int budgetKilobytes, @TempDir Path smallDisk) throws IOException {
        PlainLayout<Integer, Integer, String> other =
                new PlainLayout<>(
                        IntSerializer.INSTANCE,
                        IntSerializer.INSTANCE,
                        NullableSerializer.wrap(StringSerializer.INSTANCE, false));
        int keys = 30_000;
        try (PoolOnDisk small = new PoolOnDisk(smallDisk, budgetKilobytes << 10)) {
            map.startSpill(small.pool());
            map.spill(1, layout);
            fill(keys);
            for (int key = 0; key < keys; key += 7) {
                put(key, "changed " + key);
            }
            assertThat(small.pool().overlayBytes()).isPositive();

            map.reencode(small.pool(), layout, other);

            assertThat(map.spilledSize()).isEqualTo(keys);
            for (int key = 0; key < keys; key++) {
                other.select(key, 0);
                assertThat(map.get(key, 0, other)).isEqualTo(expected.get(Arrays.asList(key, 0)));
            }
            map.close();
        }
    }

    /** With the first list that is written, the partition that is read becomes two. */
    @Test
    void aNewLayout_rewritesEachListOnce_thoughWritingSplitsWhatIsRead(@TempDir Path largeDisk)
            throws IOException {
        ListSerializer<String> serializer = new ListSerializer<>(StringSerializer.INSTANCE);
        ListLayout<Integer, Integer, String> from = listLayout(serializer);
        KeyGroupMap<Integer, Integer, List<String>> lists =
                new KeyGroupMap<>(serializer, new StateIdentity(0, "state", 0), new EntrySizes());
        int keys = 30;
        try (PoolOnDisk large = new PoolOnDisk(largeDisk, 16 << 20)) {
            lists.startSpill(large.pool());
            lists.spill(1, from);
            for (int key = 0; key < keys; key++) {
                from.select(key, 0);
                lists.put(key, 0, twoLongElements(key), from);
            }
            assertThat(lists.spilledHome(from).entries().cursorEnd()).isOne();
            large.pool().sealLargeOverlays();

            ListLayout<Integer, Integer, String> to = listLayout(serializer);
            lists.reencode(large.pool(), from, to);

            for (int key = 0; key < keys; key++) {
                to.select(key, 0);
                assertThat(lists.get(key, 0, to)).isEqualTo(twoLongElements(key));
            }
            lists.close();
        }
    }

    private static ListLayout<Integer, Integer, String> listLayout(
            ListSerializer<String> serializer) {
        return new ListLayout<>(IntSerializer.INSTANCE, IntSerializer.INSTANCE, serializer);
    }

    private static List<String> twoLongElements(int key) {
        return Arrays.asList(key + "a".repeat(10_000), key + "b".repeat(10_000));
    }

    @ParameterizedTest
    @ValueSource(ints = {128, 256, 1024, 4096})
    void aNewLayout_rewritesEachListOnce_whateverMemoryThereIs(
            int budgetKilobytes, @TempDir Path smallDisk) throws IOException {
        ListSerializer<String> serializer = new ListSerializer<>(StringSerializer.INSTANCE);
        ListLayout<Integer, Integer, String> from = listLayout(serializer);
        KeyGroupMap<Integer, Integer, List<String>> lists =
                new KeyGroupMap<>(serializer, new StateIdentity(0, "state", 0), new EntrySizes());
        Map<Integer, List<String>> all = new HashMap<>();
        try (PoolOnDisk small = new PoolOnDisk(smallDisk, budgetKilobytes << 10)) {
            lists.startSpill(small.pool());
            lists.spill(1, from);
            for (int i = 0; i < 20_000; i++) {
                int key = i % 777;
                String element = i + "x".repeat(i % 500);
                from.select(key, 0);
                from.add(lists.spilledHome(from), element);
                all.computeIfAbsent(key, k -> new ArrayList<>()).add(element);
            }

            ListLayout<Integer, Integer, String> to = listLayout(serializer);
            lists.reencode(small.pool(), from, to);

            assertThat(lists.spilledSize()).isEqualTo(all.size());
            for (Map.Entry<Integer, List<String>> entry : all.entrySet()) {
                to.select(entry.getKey(), 0);
                assertThat(lists.get(entry.getKey(), 0, to)).isEqualTo(entry.getValue());
            }
            lists.close();
        }
    }

    /** A state that counts its copies, and cannot be copied more than once. */
    private static final class CountedCopies extends IntValue {
        private static final long serialVersionUID = 1L;

        private int copies;

        @Override
        public void copyTo(IntValue target) {
            if (++copies > 1) {
                throw new IllegalStateException("copied twice");
            }
            super.copyTo(target);
        }
    }

    @Test
    void aStateThatAViewSees_isCopiedWhenItIsHandedOut_andNotWhenItIsRemoved() throws IOException {
        CopyableValueSerializer<IntValue> serializer =
                new CopyableValueSerializer<>(IntValue.class);
        PlainLayout<Integer, Integer, IntValue> values =
                new PlainLayout<>(IntSerializer.INSTANCE, IntSerializer.INSTANCE, serializer);
        KeyGroupMap<Integer, Integer, IntValue> group =
                new KeyGroupMap<>(serializer, new StateIdentity(0, "state", 0), new EntrySizes());
        CountedCopies removed = new CountedCopies();
        CountedCopies handedOut = new CountedCopies();
        group.put(1, 0, removed, values);
        group.put(2, 0, handedOut, values);
        KeyGroupView<Integer, Integer, IntValue> view = group.view();

        group.remove(1, 0, values);
        IntValue copy = group.removeAndGet(2, 0, values);

        assertThat(removed.copies).isZero();
        assertThat(handedOut.copies).isOne();
        assertThat(copy).isNotSameAs(handedOut).isEqualTo(handedOut);
        assertThat(group.size()).isZero();
        List<IntValue> seen = new ArrayList<>();
        view.iterator(values.duplicate(), null).forEachRemaining(e -> seen.add(e.getState()));
        assertThat(seen).containsExactlyInAnyOrder(removed, handedOut);
        view.close();
    }

    @Test
    void aStateThatCannotBeCopied_isNotRemovedUnseen() throws IOException {
        CopyableValueSerializer<IntValue> serializer =
                new CopyableValueSerializer<>(IntValue.class);
        HeapMap<Integer, Integer, IntValue> heap = new HeapMap<>(serializer);
        CountedCopies state = new CountedCopies();
        state.copies = 1;
        heap.put(1, 0, state);
        HeapView<Integer, Integer, IntValue> view = heap.view();

        assertThatThrownBy(() -> heap.removeAndGet(1, 0)).hasMessage("copied twice");

        assertThat(heap.peek(1, 0)).isSameAs(state);
        view.close();
    }

    @Test
    void peek_findsEntriesOnBothSides() throws IOException {
        fill(50);
        map.startSpill(disks.pool());
        map.spill(25, layout);
        PlainLayout<Integer, Integer, String> own = layout.duplicate();
        for (int key = 0; key < 50; key++) {
            assertThat(map.peek(key, 0, own)).isEqualTo("state " + key);
        }
        assertThat(map.peek(99, 0, own)).isNull();
    }
}
