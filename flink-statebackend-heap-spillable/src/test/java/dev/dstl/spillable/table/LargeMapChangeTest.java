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

import dev.dstl.spillable.layout.MapLayout;
import dev.dstl.spillable.overlay.PoolOnDisk;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.common.typeutils.base.IntValueSerializer;
import org.apache.flink.api.common.typeutils.base.MapSerializer;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.types.IntValue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Changes of the user entries of large maps that move in slices. */
class LargeMapChangeTest {

    private static final int CHANGES_PER_SLICE = 200;

    @TempDir Path disk;
    private PoolOnDisk disks;
    private final LargeMap map = new LargeMap();

    @BeforeEach
    void open() throws IOException {
        disks = new PoolOnDisk(disk, 4 << 20);
    }

    @AfterEach
    void close() throws IOException {
        map.close();
        disks.close();
    }

    @Test
    void aMapWhoseTableIsMuchMemory_isLoadedWithTheChangesMadeMeanwhile() throws IOException {
        map.put(150_000);
        map.group.startSpill(disks.pool());
        map.spillAll();

        map.group.startLoad();
        for (int slice = 0; map.group.residency() == Residency.LOADING; slice++) {
            map.group.load(1, Double.MAX_VALUE, map.layout);
            if (slice < 1000) {
                map.change(slice * 200, slice % 2 == 0 ? "changed" : null);
            }
        }

        assertThat(map.group.hasSpilled()).isFalse();
        assertThat(map.contents()).isEqualTo(map.expected);
    }

    @Test
    void aMapThatChangesAllTheTime_isSpilledInAsManySlicesAsOneThatDoesNot() throws IOException {
        map.put(LargeMap.SIZE);
        map.group.startSpill(disks.pool());
        int slices = 0;
        for (; map.group.residency() == Residency.SPILLING && slices < LargeMap.SIZE; slices++) {
            map.group.spill(1, map.layout);
            map.change(slices, CHANGES_PER_SLICE);
        }

        assertThat(map.group.residency()).isEqualTo(Residency.SPILLED);
        assertThat(slices * CHANGES_PER_SLICE).isGreaterThan(1 << 16);
        assertThat(slices).as("slices of 16 places").isLessThan(2 * LargeMap.SIZE / 16);
        assertThat(map.contents()).isEqualTo(map.expected);
    }

    @Test
    void aMapThatChangesAllTheTime_isLoadedInAsManySlicesAsOneThatDoesNot() throws IOException {
        map.put(LargeMap.SIZE);
        map.group.startSpill(disks.pool());
        map.spillAll();
        map.group.startLoad();
        int slices = 0;
        for (; map.group.residency() == Residency.LOADING && slices < LargeMap.SIZE; slices++) {
            map.group.load(1, Double.MAX_VALUE, map.layout);
            map.change(slices, CHANGES_PER_SLICE);
        }

        assertThat(map.group.residency()).isEqualTo(Residency.ON_HEAP);
        assertThat(slices * CHANGES_PER_SLICE).isGreaterThan(1 << 16);
        assertThat(slices).as("buckets of 8 entries").isLessThan(2 * LargeMap.SIZE / 8);
        assertThat(map.contents()).isEqualTo(map.expected);
    }

    @Test
    void aUserKeyThatTheJobChangesAfterwards_isRemovedAllTheSame() throws IOException {
        MapSerializer<IntValue, String> serializer =
                new MapSerializer<>(IntValueSerializer.INSTANCE, StringSerializer.INSTANCE);
        MapLayout<Integer, Integer, IntValue, String> layout =
                new MapLayout<>(IntSerializer.INSTANCE, IntSerializer.INSTANCE, serializer);
        KeyGroupMap<Integer, Integer, Map<IntValue, String>> group = LargeMap.group(serializer);
        Map<IntValue, String> entries = new HashMap<>();
        for (int i = 0; i < 200; i++) {
            entries.put(new IntValue(i), "value " + i);
        }
        group.put(1, 0, entries, layout);
        group.startSpill(disks.pool());
        group.spill(3, layout);

        IntValue reused = new IntValue(1);
        group.userKeyChanged(1, 0, reused);
        entries.remove(reused);
        reused.setValue(100);
        LargeMap.spillAll(group, layout);

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
        map.put(random.nextInt(LargeMap.SIZE));
        for (int move = 0; move < 4; move++) {
            boolean grows = random.nextBoolean();
            if (map.group.residency() == Residency.ON_HEAP) {
                map.group.startSpill(disks.pool());
            } else {
                map.group.startLoad();
            }
            Residency moving = map.group.residency();
            for (int step = 0; map.group.residency() == moving; step++) {
                if (moving == Residency.SPILLING) {
                    map.group.spill(1, map.layout);
                } else {
                    map.group.load(1, Double.MAX_VALUE, map.layout);
                }
                for (int i = random.nextInt(5); i > 0 && step < 2000; i--) {
                    int userKey = random.nextInt(2 * LargeMap.SIZE);
                    boolean removes = random.nextInt(grows ? 10 : 2) == 0;
                    if (!removes || map.expected.size() > 1) {
                        map.change(userKey, removes ? null : "changed " + random.nextInt());
                    }
                }
                if (random.nextInt(200) == 0) {
                    assertThat(map.contents()).isEqualTo(map.expected);
                }
            }
            assertThat(map.contents()).isEqualTo(map.expected);
            assertThat(map.group.size()).isOne();
        }
    }

    @Test
    void aSnapshotInTheMidst_hasTheMapOnce_asItWas() throws IOException {
        map.put(LargeMap.SIZE);
        map.group.startSpill(disks.pool());
        Map<Integer, String> then = new HashMap<>();
        List<KeyGroupView<Integer, Integer, Map<Integer, String>>> views = new ArrayList<>();
        for (int slices = 0; map.group.residency() == Residency.SPILLING; slices++) {
            map.group.spill(1, map.layout);
            if (slices == 100) {
                views.add(map.group.view());
                then.putAll(map.expected);
            }
            map.change(slices * 7 % LargeMap.SIZE, "changed");
        }
        views.add(map.group.view());

        assertThat(entries(views.get(0))).containsExactly(then);
        assertThat(entries(views.get(1))).containsExactly(map.expected);
        assertThat(map.contents()).isEqualTo(map.expected);
        views.forEach(KeyGroupView::close);
    }

    private List<Map<Integer, String>> entries(
            KeyGroupView<Integer, Integer, Map<Integer, String>> view) {
        List<Map<Integer, String>> entries = new ArrayList<>();
        view.iterator(map.layout.duplicate(), null)
                .forEachRemaining(entry -> entries.add(entry.getState()));
        return entries;
    }
}
