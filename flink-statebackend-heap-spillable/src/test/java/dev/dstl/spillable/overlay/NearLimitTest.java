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

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A budget of which nearly all is taken by overlays that views hold. */
class NearLimitTest {

    private static final int BUDGET = 4 << 20;
    private static final int NEAR_LIMIT = BUDGET / 8 * 7;

    @TempDir Path disk;
    private PoolOnDisk disks;
    private PartitionPool pool;
    private final List<PartitionedMap> maps = new ArrayList<>();
    private final List<SpilledView> views = new ArrayList<>();
    private PartitionedMap other;

    @BeforeEach
    void fill() throws IOException {
        disks = new PoolOnDisk(disk, BUDGET);
        pool = disks.pool();
        other = newMap();
        while (pool.overlayBytes() < BUDGET / 4 * 3 - (16 << 10)) {
            PartitionedMap map = newMap();
            for (int key = 0; key < 20; key++) {
                put(map, key, 200);
            }
        }
        assertThat(maps).hasSizeGreaterThan(300);
        assertThat(pool.merges()).isZero();
        maps.forEach(map -> views.add(map.view()));
    }

    @AfterEach
    void close() throws IOException {
        views.forEach(SpilledView::close);
        maps.forEach(PartitionedMap::close);
        disks.close();
    }

    private PartitionedMap newMap() {
        PartitionedMap map = disks.newMap();
        maps.add(map);
        return map;
    }

    private static void put(PartitionedMap map, int key, int valueLength) {
        byte[] bytes = PartitionedMapTest.key(key);
        int hash = map.entries().keyHash().of(bytes, bytes.length);
        map.put(bytes, bytes.length, hash, false, new byte[valueLength], valueLength);
    }

    @Test
    void whatReadersOfViewsKeepInMemory_isNotMergedToNoAvail() {
        views.forEach(SpilledView::entries);

        put(other, 1, 800_000);

        assertThat(pool.merges()).isLessThan(8);
        assertThat(pool.overlayBytes()).isLessThan(BUDGET);

        views.forEach(SpilledView::close);
        put(other, 2, 1);
        assertThat(pool.overlayBytes()).isLessThan(NEAR_LIMIT);
    }

    @Test
    void smallChanges_letNothingBeMergedThatReadersOfViewsKeep() throws IOException {
        views.forEach(SpilledView::entries);
        List<PartitionedMap> pinned = new ArrayList<>(maps.subList(1, maps.size()));
        List<PartitionedMap> fresh = new ArrayList<>();
        for (int i = 0; i < 60; i++) {
            fresh.add(newMap());
        }

        for (int i = 0; i < 12_000; i++) {
            put(fresh.get(i % fresh.size()), i, 100);
            assertThat(pool.overlayBytes()).isLessThan(BUDGET);
        }

        assertThat(pool.merges()).as("merges of what was put meanwhile").isPositive();
        long merged = pinned.stream().filter(NearLimitTest::isSealed).count();
        assertThat(merged).as("of %s maps that views keep", pinned.size()).isLessThan(8);

        views.forEach(SpilledView::close);
        for (int i = 0; i < 1000; i++) {
            put(other, i, 100);
        }
        assertThat(pinned.stream().filter(NearLimitTest::isSealed).count()).isPositive();
        assertThat(pool.overlayBytes()).isLessThan(NEAR_LIMIT);
    }

    private static boolean isSealed(PartitionedMap map) {
        try (SpilledView view = map.view()) {
            return view.partitions().stream().anyMatch(one -> one.sealed != null);
        }
    }

    @Test
    void whatNobodyReadsYet_isMerged_andLeavesMemory() throws IOException {
        put(other, 1, 800_000);

        assertThat(pool.merges()).isPositive();
        assertThat(pool.overlayBytes()).isLessThan(NEAR_LIMIT);
        for (SpilledView view : views) {
            view.forEachAsItLies(
                    address -> assertThat(view.entries().valueLength()).isEqualTo(200));
        }
    }

    @Test
    void changesWhileViewsAreRead_stayWithinTheBudget() {
        views.forEach(SpilledView::entries);
        for (int round = 0; round < 20; round++) {
            for (PartitionedMap map : maps) {
                put(map, round, 100);
                assertThat(pool.overlayBytes()).isLessThan(BUDGET + BUDGET / 8);
            }
        }
        assertThat(pool.merges()).isPositive();
    }
}
