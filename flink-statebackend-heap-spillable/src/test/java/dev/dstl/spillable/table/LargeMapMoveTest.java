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

import dev.dstl.spillable.overlay.PoolOnDisk;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Large maps move in slices, and are replaced, removed or turn back meanwhile. */
class LargeMapMoveTest {

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
    void aLargeMap_movesInSlices_andIsWholeAtAnyTime() throws IOException {
        map.put(LargeMap.SIZE);
        map.group.startSpill(disks.pool());
        long most = 0;
        for (int slices = 0; map.group.residency() == Residency.SPILLING; slices++) {
            long before = disks.pool().putBytes();
            map.group.spill(1, map.layout);
            most = Math.max(most, disks.pool().putBytes() - before);
            assertThat(map.group.size()).isOne();
            if (slices % 50 == 0) {
                assertThat(map.contents()).isEqualTo(map.expected);
            }
        }
        assertThat(most).as("bytes written in one slice").isLessThan(32 << 10);
        assertThat(map.group.spilledSize()).isOne();
        assertThat(map.group.movedBytes()).isGreaterThan(LargeMap.SIZE * 50.0);

        map.group.startLoad();
        int slices = map.loadAll();
        assertThat(slices).isGreaterThan(LargeMap.SIZE / 16);
        assertThat(map.group.hasSpilled()).isFalse();
        assertThat(map.contents()).isEqualTo(map.expected);
    }

    @Test
    void aMoveThatTurnsBack_leavesTheMapWhereItWas() throws IOException {
        map.put(LargeMap.SIZE);
        map.group.startSpill(disks.pool());
        map.group.spill(200, map.layout);
        map.group.startLoad();
        map.loadAll();
        assertThat(map.contents()).isEqualTo(map.expected);
        assertThat(disks.pool().liveBytes()).isZero();

        map.group.startSpill(disks.pool());
        map.spillAll();
        map.group.startLoad();
        map.group.load(100, Double.MAX_VALUE, map.layout);
        map.change(3, "changed");
        map.group.startSpill(disks.pool());
        map.spillAll();

        assertThat(map.group.heapSize()).isZero();
        assertThat(map.contents()).isEqualTo(map.expected);
    }

    @Test
    void aMapThatIsReplacedInTheMidst_leavesNothingBehind() throws IOException {
        map.put(LargeMap.SIZE);
        map.group.startSpill(disks.pool());
        map.group.spill(200, map.layout);
        assertThat(disks.pool().liveBytes()).isPositive();
        map.put(10);
        assertThat(map.contents()).isEqualTo(map.expected);

        map.spillAll();
        long replaced = disks.pool().liveBytes();

        assertThat(map.contents()).isEqualTo(map.expected);
        assertThat(replaced).as("ten user entries").isLessThan(400);
        map.layout.select(1, 0);
        map.group.remove(1, 0, map.layout);
        assertThat(disks.pool().liveBytes()).isZero();
    }

    @Test
    void aMapThatIsRemovedInTheMidst_isGone() throws IOException {
        map.put(LargeMap.SIZE);
        map.group.startSpill(disks.pool());
        map.group.spill(200, map.layout);

        map.layout.select(1, 0);
        map.group.remove(1, 0, map.layout);

        assertThat(map.contents()).isNull();
        map.change(1, "new");
        map.expected.keySet().retainAll(Arrays.asList(1));
        map.spillAll();
        assertThat(map.contents()).isEqualTo(map.expected);
        assertThat(disks.pool().liveBytes()).isLessThan(100);
    }

    @Test
    void whatHasNoRoomOnTheHeap_staysWhereItIs() throws IOException {
        map.put(LargeMap.SIZE);
        for (int key = 2; key < 50; key++) {
            map.layout.select(key, 0);
            map.group.put(key, 0, new HashMap<>(Map.of(key, "small")), map.layout);
        }
        map.group.startSpill(disks.pool());
        map.spillAll();
        map.group.startLoad();

        int loaded = map.group.load(Integer.MAX_VALUE, 100_000, map.layout);

        assertThat(loaded).isEqualTo(48);
        assertThat(map.group.nothingFits(100_000)).isTrue();
        assertThat(map.group.nothingFits(100_000_000)).isFalse();
        assertThat(map.group.spilledSize()).isOne();
        assertThat(map.contents()).isEqualTo(map.expected);
        assertThat(map.group.load(Integer.MAX_VALUE, 100_000_000, map.layout)).isOne();
        assertThat(map.group.residency()).isEqualTo(Residency.ON_HEAP);
        assertThat(map.contents()).isEqualTo(map.expected);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void aMapThatIsHalfLoaded_arrives_thoughTheOneThatHadNoRoomIsRemoved(int withoutRoom)
            throws IOException {
        for (int key = 1; key <= 2; key++) {
            Map<Integer, String> entries = new HashMap<>();
            for (int i = 0; i < (key == withoutRoom ? LargeMap.SIZE : 1000); i++) {
                entries.put(i, "value " + i);
            }
            map.layout.select(key, 0);
            map.group.put(key, 0, entries, map.layout);
        }
        map.group.startSpill(disks.pool());
        map.spillAll();
        map.group.startLoad();
        map.group.load(20, 200_000, map.layout);
        map.layout.select(withoutRoom, 0);
        map.group.remove(withoutRoom, 0, map.layout);

        for (int i = 0; map.group.residency() == Residency.LOADING && i < LargeMap.SIZE; i++) {
            map.group.load(1, 200_000, map.layout);
        }

        assertThat(map.group.residency()).isEqualTo(Residency.ON_HEAP);
        assertThat(map.group.heapState(3 - withoutRoom, 0)).hasSize(1000);
    }
}
