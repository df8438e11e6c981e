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

import dev.dstl.spillable.layout.ListLayout;
import dev.dstl.spillable.layout.MapLayout;
import dev.dstl.spillable.layout.SpilledLayout;
import dev.dstl.spillable.overlay.PartitionedMap;
import dev.dstl.spillable.overlay.PoolOnDisk;
import dev.dstl.spillable.partition.StateIdentity;
import dev.dstl.spillable.size.EntrySizes;
import dev.dstl.spillable.spill.PickySerializer;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.common.typeutils.base.IntValueSerializer;
import org.apache.flink.api.common.typeutils.base.ListSerializer;
import org.apache.flink.api.common.typeutils.base.MapSerializer;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.types.IntValue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Large maps and lists that move in slices, while they change. */
class LargeEntryMoveTest {

    private static final int SIZE = 5000;
    private static final int CHANGES_PER_SLICE = 200;

    @TempDir Path disk;
    private PoolOnDisk disks;

    private final MapSerializer<Integer, String> mapSerializer =
            new MapSerializer<>(IntSerializer.INSTANCE, StringSerializer.INSTANCE);
    private final MapLayout<Integer, Integer, Integer, String> mapLayout =
            new MapLayout<>(IntSerializer.INSTANCE, IntSerializer.INSTANCE, mapSerializer);
    private final KeyGroupMap<Integer, Integer, Map<Integer, String>> maps = group(mapSerializer);
    private final ListSerializer<String> listSerializer =
            new ListSerializer<>(StringSerializer.INSTANCE);
    private final ListLayout<Integer, Integer, String> listLayout =
            new ListLayout<>(IntSerializer.INSTANCE, IntSerializer.INSTANCE, listSerializer);
    private final KeyGroupMap<Integer, Integer, List<String>> lists = group(listSerializer);
    private final Map<Integer, String> expected = new HashMap<>();

    private static <S> KeyGroupMap<Integer, Integer, S> group(TypeSerializer<S> serializer) {
        return new KeyGroupMap<>(serializer, new StateIdentity(0, "state", 0), new EntrySizes());
    }

    @BeforeEach
    void open() throws IOException {
        disks = new PoolOnDisk(disk, 4 << 20);
    }

    @AfterEach
    void close() throws IOException {
        maps.close();
        lists.close();
        disks.close();
    }

    private void putMap(int size) throws IOException {
        Map<Integer, String> map = new HashMap<>();
        for (int i = 0; i < size; i++) {
            map.put(i, "value " + i);
        }
        expected.clear();
        expected.putAll(map);
        mapLayout.select(1, 0);
        maps.put(1, 0, map, mapLayout);
    }

    /** Sets a user entry as a state object does, or removes it if the value is null. */
    private void change(int userKey, String value) throws IOException {
        mapLayout.select(1, 0);
        Map<Integer, String> map = maps.heapState(1, 0);
        if (map != null) {
            if (value == null) {
                map.remove(userKey);
            } else {
                map.put(userKey, value);
            }
        } else {
            PartitionedMap spilled = maps.spilledHome(mapLayout);
            if (value == null) {
                mapLayout.remove(spilled, userKey);
            } else {
                mapLayout.put(spilled, userKey, value);
            }
        }
        maps.userKeyChanged(1, 0, userKey);
        if (value == null) {
            expected.remove(userKey);
        } else {
            expected.put(userKey, value);
        }
    }

    private Map<Integer, String> map() throws IOException {
        mapLayout.select(1, 0);
        return maps.get(1, 0, mapLayout);
    }

    private static <S> void spillAll(
            KeyGroupMap<Integer, Integer, S> group, SpilledLayout<Integer, Integer, S> layout)
            throws IOException {
        while (group.residency() == Residency.SPILLING) {
            group.spill(1, layout);
        }
    }

    private static <S> int loadAll(
            KeyGroupMap<Integer, Integer, S> group, SpilledLayout<Integer, Integer, S> layout)
            throws IOException {
        int slices = 0;
        while (group.residency() == Residency.LOADING) {
            group.load(1, Double.MAX_VALUE, layout);
            slices++;
        }
        return slices;
    }

    @Test
    void aLargeMap_movesInSlices_andIsWholeAtAnyTime() throws IOException {
        putMap(SIZE);
        maps.startSpill(disks.pool());
        long most = 0;
        for (int slices = 0; maps.residency() == Residency.SPILLING; slices++) {
            long before = disks.pool().putBytes();
            maps.spill(1, mapLayout);
            most = Math.max(most, disks.pool().putBytes() - before);
            assertThat(maps.size()).isOne();
            if (slices % 50 == 0) {
                assertThat(map()).isEqualTo(expected);
            }
        }
        assertThat(most).as("bytes written in one slice").isLessThan(32 << 10);
        assertThat(maps.spilledSize()).isOne();
        assertThat(maps.movedBytes()).isGreaterThan(SIZE * 50.0);

        maps.startLoad();
        int slices = loadAll(maps, mapLayout);
        assertThat(slices).isGreaterThan(SIZE / 16);
        assertThat(maps.hasSpilled()).isFalse();
        assertThat(map()).isEqualTo(expected);
    }

    private static List<String> list(String elements) {
        List<String> list = new ArrayList<>();
        for (int i = 0; i < SIZE; i++) {
            list.add(elements + i);
        }
        return list;
    }

    private void putList(int key, List<String> list) throws IOException {
        listLayout.select(key, 0);
        lists.put(key, 0, list, listLayout);
    }

    private List<String> spilledList(int key) throws IOException {
        listLayout.select(key, 0);
        return lists.get(key, 0, listLayout);
    }

    /** As list state with a time to live that each access renews. */
    @Test
    void aListThatTheJobReplacesAllTheTime_isSpilled_andSoIsWhatComesAfterIt() throws IOException {
        for (int key = 0; key < 20; key++) {
            putList(key, list("old "));
        }
        lists.startSpill(disks.pool());
        for (int round = 0; lists.residency() == Residency.SPILLING && round < 500; round++) {
            lists.spill(16, listLayout);
            for (int key = 0; key < 20; key++) {
                if (lists.isLeaving(key, 0)) {
                    putList(key, list("round " + round + ", "));
                    assertThat(lists.size()).isEqualTo(20);
                    assertThat(spilledList(key)).isEqualTo(list("round " + round + ", "));
                }
            }
        }

        assertThat(lists.residency()).isEqualTo(Residency.SPILLED);
        assertThat(lists.heapBytes()).isZero();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                PickySerializer.REFUSED,
                PickySerializer.TOO_DEEP,
                PickySerializer.INCOMPLETE
            })
    void aListThatReplacesOneOnItsWay_andCannotBeSerialized_staysOnTheHeap(String refused)
            throws IOException {
        ListSerializer<String> picky = new ListSerializer<>(new PickySerializer());
        ListLayout<Integer, Integer, String> layout =
                new ListLayout<>(IntSerializer.INSTANCE, IntSerializer.INSTANCE, picky);
        KeyGroupMap<Integer, Integer, List<String>> group = group(picky);
        layout.select(1, 0);
        group.put(1, 0, list("old "), layout);
        group.startSpill(disks.pool());
        group.spill(3, layout);
        assertThat(group.isLeaving(1, 0)).isTrue();
        List<String> replacing = list("new ");
        replacing.set(SIZE / 2, refused);

        layout.select(1, 0);
        group.put(1, 0, replacing, layout);

        layout.select(1, 0);
        assertThat(group.get(1, 0, layout)).isEqualTo(replacing);
        assertThat(group.size()).isOne();
        assertThat(group.heapSize()).isOne();
        group.close();
    }

    @Test
    void aMapWhoseTableIsMuchMemory_isLoadedWithTheChangesMadeMeanwhile() throws IOException {
        putMap(150_000);
        maps.startSpill(disks.pool());
        spillAll(maps, mapLayout);

        maps.startLoad();
        for (int slice = 0; maps.residency() == Residency.LOADING; slice++) {
            maps.load(1, Double.MAX_VALUE, mapLayout);
            if (slice < 1000) {
                change(slice * 200, slice % 2 == 0 ? "changed" : null);
            }
        }

        assertThat(maps.hasSpilled()).isFalse();
        assertThat(map()).isEqualTo(expected);
    }

    @Test
    void aMapThatChangesAllTheTime_isSpilledInAsManySlicesAsOneThatDoesNot() throws IOException {
        putMap(SIZE);
        maps.startSpill(disks.pool());
        int slices = 0;
        for (; maps.residency() == Residency.SPILLING && slices < SIZE; slices++) {
            maps.spill(1, mapLayout);
            change(slices, CHANGES_PER_SLICE);
        }

        assertThat(maps.residency()).isEqualTo(Residency.SPILLED);
        assertThat(slices * CHANGES_PER_SLICE).isGreaterThan(1 << 16);
        assertThat(slices).as("slices of 16 places").isLessThan(2 * SIZE / 16);
        assertThat(map()).isEqualTo(expected);
    }

    @Test
    void aMapThatChangesAllTheTime_isLoadedInAsManySlicesAsOneThatDoesNot() throws IOException {
        putMap(SIZE);
        maps.startSpill(disks.pool());
        spillAll(maps, mapLayout);
        maps.startLoad();
        int slices = 0;
        for (; maps.residency() == Residency.LOADING && slices < SIZE; slices++) {
            maps.load(1, Double.MAX_VALUE, mapLayout);
            change(slices, CHANGES_PER_SLICE);
        }

        assertThat(maps.residency()).isEqualTo(Residency.ON_HEAP);
        assertThat(slices * CHANGES_PER_SLICE).isGreaterThan(1 << 16);
        assertThat(slices).as("buckets of 8 entries").isLessThan(2 * SIZE / 8);
        assertThat(map()).isEqualTo(expected);
    }

    private void change(int slice, int changes) throws IOException {
        for (int i = 0; i < changes; i++) {
            change((slice * 37 + i) % SIZE, "changed after slice " + slice);
        }
    }

    @Test
    void aUserKeyThatTheJobChangesAfterwards_isRemovedAllTheSame() throws IOException {
        MapSerializer<IntValue, String> serializer =
                new MapSerializer<>(IntValueSerializer.INSTANCE, StringSerializer.INSTANCE);
        MapLayout<Integer, Integer, IntValue, String> layout =
                new MapLayout<>(IntSerializer.INSTANCE, IntSerializer.INSTANCE, serializer);
        KeyGroupMap<Integer, Integer, Map<IntValue, String>> group = group(serializer);
        Map<IntValue, String> map = new HashMap<>();
        for (int i = 0; i < 200; i++) {
            map.put(new IntValue(i), "value " + i);
        }
        group.put(1, 0, map, layout);
        group.startSpill(disks.pool());
        group.spill(3, layout);

        IntValue reused = new IntValue(1);
        group.userKeyChanged(1, 0, reused);
        map.remove(reused);
        reused.setValue(100);
        spillAll(group, layout);

        layout.select(1, 0);
        assertThat(group.get(1, 0, layout))
                .hasSize(199)
                .doesNotContainKey(new IntValue(1))
                .containsEntry(new IntValue(100), "value 100");
        group.close();
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6})
    void changesWhileAMapMoves_areNotLost(long seed) throws IOException {
        Random random = new Random(seed);
        putMap(random.nextInt(SIZE));
        for (int move = 0; move < 4; move++) {
            boolean grows = random.nextBoolean();
            if (maps.residency() == Residency.ON_HEAP) {
                maps.startSpill(disks.pool());
            } else {
                maps.startLoad();
            }
            Residency moving = maps.residency();
            for (int step = 0; maps.residency() == moving; step++) {
                if (moving == Residency.SPILLING) {
                    maps.spill(1, mapLayout);
                } else {
                    maps.load(1, Double.MAX_VALUE, mapLayout);
                }
                for (int i = random.nextInt(5); i > 0 && step < 2000; i--) {
                    int userKey = random.nextInt(2 * SIZE);
                    boolean removes = random.nextInt(grows ? 10 : 2) == 0;
                    if (!removes || expected.size() > 1) {
                        change(userKey, removes ? null : "changed " + random.nextInt());
                    }
                }
                if (random.nextInt(200) == 0) {
                    assertThat(map()).isEqualTo(expected);
                }
            }
            assertThat(map()).isEqualTo(expected);
            assertThat(maps.size()).isOne();
        }
    }

    @Test
    void aSnapshotInTheMidst_hasTheMapOnce_asItWas() throws IOException {
        putMap(SIZE);
        maps.startSpill(disks.pool());
        Map<Integer, String> then = new HashMap<>();
        List<KeyGroupView<Integer, Integer, Map<Integer, String>>> views = new ArrayList<>();
        for (int slices = 0; maps.residency() == Residency.SPILLING; slices++) {
            maps.spill(1, mapLayout);
            if (slices == 100) {
                views.add(maps.view());
                then.putAll(expected);
            }
            change(slices * 7 % SIZE, "changed");
        }
        views.add(maps.view());

        assertThat(entries(views.get(0))).containsExactly(then);
        assertThat(entries(views.get(1))).containsExactly(expected);
        assertThat(map()).isEqualTo(expected);
        views.forEach(KeyGroupView::close);
    }

    private List<Map<Integer, String>> entries(
            KeyGroupView<Integer, Integer, Map<Integer, String>> view) {
        List<Map<Integer, String>> entries = new ArrayList<>();
        view.iterator(mapLayout.duplicate(), null)
                .forEachRemaining(entry -> entries.add(entry.getState()));
        return entries;
    }

    @Test
    void aMapThatIsReplacedInTheMidst_leavesNothingBehind() throws IOException {
        putMap(SIZE);
        maps.startSpill(disks.pool());
        maps.spill(200, mapLayout);
        assertThat(disks.pool().liveBytes()).isPositive();
        putMap(10);
        assertThat(map()).isEqualTo(expected);

        spillAll(maps, mapLayout);
        long replaced = disks.pool().liveBytes();

        assertThat(map()).isEqualTo(expected);
        assertThat(replaced).as("ten user entries").isLessThan(400);
        mapLayout.select(1, 0);
        maps.remove(1, 0, mapLayout);
        assertThat(disks.pool().liveBytes()).isZero();
    }

    @Test
    void aMapThatIsRemovedInTheMidst_isGone() throws IOException {
        putMap(SIZE);
        maps.startSpill(disks.pool());
        maps.spill(200, mapLayout);

        mapLayout.select(1, 0);
        maps.remove(1, 0, mapLayout);

        assertThat(map()).isNull();
        change(1, "new");
        expected.keySet().retainAll(Arrays.asList(1));
        spillAll(maps, mapLayout);
        assertThat(map()).isEqualTo(expected);
        assertThat(disks.pool().liveBytes()).isLessThan(100);
    }

    @Test
    void aMoveThatTurnsBack_leavesTheMapWhereItWas() throws IOException {
        putMap(SIZE);
        maps.startSpill(disks.pool());
        maps.spill(200, mapLayout);
        maps.startLoad();
        loadAll(maps, mapLayout);
        assertThat(map()).isEqualTo(expected);
        assertThat(disks.pool().liveBytes()).isZero();

        maps.startSpill(disks.pool());
        spillAll(maps, mapLayout);
        maps.startLoad();
        maps.load(100, Double.MAX_VALUE, mapLayout);
        change(3, "changed");
        maps.startSpill(disks.pool());
        spillAll(maps, mapLayout);

        assertThat(maps.heapSize()).isZero();
        assertThat(map()).isEqualTo(expected);
    }

    @Test
    void whatHasNoRoomOnTheHeap_staysWhereItIs() throws IOException {
        putMap(SIZE);
        for (int key = 2; key < 50; key++) {
            mapLayout.select(key, 0);
            maps.put(key, 0, new HashMap<>(Map.of(key, "small")), mapLayout);
        }
        maps.startSpill(disks.pool());
        spillAll(maps, mapLayout);
        maps.startLoad();

        int loaded = maps.load(Integer.MAX_VALUE, 100_000, mapLayout);

        assertThat(loaded).isEqualTo(48);
        assertThat(maps.nothingFits(100_000)).isTrue();
        assertThat(maps.nothingFits(100_000_000)).isFalse();
        assertThat(maps.spilledSize()).isOne();
        assertThat(map()).isEqualTo(expected);
        assertThat(maps.load(Integer.MAX_VALUE, 100_000_000, mapLayout)).isOne();
        assertThat(maps.residency()).isEqualTo(Residency.ON_HEAP);
        assertThat(map()).isEqualTo(expected);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void aMapThatIsHalfLoaded_arrives_thoughTheOneThatHadNoRoomIsRemoved(int withoutRoom)
            throws IOException {
        for (int key = 1; key <= 2; key++) {
            Map<Integer, String> map = new HashMap<>();
            for (int i = 0; i < (key == withoutRoom ? SIZE : 1000); i++) {
                map.put(i, "value " + i);
            }
            mapLayout.select(key, 0);
            maps.put(key, 0, map, mapLayout);
        }
        maps.startSpill(disks.pool());
        spillAll(maps, mapLayout);
        maps.startLoad();
        maps.load(20, 200_000, mapLayout);
        mapLayout.select(withoutRoom, 0);
        maps.remove(withoutRoom, 0, mapLayout);

        for (int i = 0; maps.residency() == Residency.LOADING && i < SIZE; i++) {
            maps.load(1, 200_000, mapLayout);
        }

        assertThat(maps.residency()).isEqualTo(Residency.ON_HEAP);
        assertThat(maps.heapState(3 - withoutRoom, 0)).hasSize(1000);
    }

    @Test
    void aLargeList_movesInSlices_whileElementsAreAdded() throws IOException {
        List<String> all = new ArrayList<>();
        for (int i = 0; i < SIZE; i++) {
            all.add("element " + i);
        }
        listLayout.select(1, 0);
        lists.put(1, 0, new ArrayList<>(all), listLayout);
        lists.startSpill(disks.pool());
        while (lists.residency() == Residency.SPILLING) {
            lists.spill(1, listLayout);
            addElement(all);
        }
        assertThat(all).hasSizeGreaterThan(SIZE + 20);
        listLayout.select(1, 0);
        assertThat(lists.get(1, 0, listLayout)).isEqualTo(all);

        lists.startLoad();
        while (lists.residency() == Residency.LOADING) {
            lists.load(1, Double.MAX_VALUE, listLayout);
            addElement(all);
        }
        listLayout.select(1, 0);
        assertThat(lists.get(1, 0, listLayout)).isEqualTo(all);
        assertThat(lists.size()).isOne();
    }

    private void addElement(List<String> all) throws IOException {
        String element = "added " + all.size();
        all.add(element);
        listLayout.select(1, 0);
        List<String> list = lists.heapState(1, 0);
        if (list != null) {
            list.add(element);
        } else {
            listLayout.add(lists.spilledHome(listLayout), element);
        }
    }
}
