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
import dev.dstl.spillable.overlay.PoolOnDisk;
import dev.dstl.spillable.partition.StateIdentity;
import dev.dstl.spillable.size.EntrySizes;
import dev.dstl.spillable.spill.PickySerializer;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.common.typeutils.base.ListSerializer;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Large lists move in slices, while elements are added and lists are replaced. */
class LargeListMoveTest {

    private static final int SIZE = 5000;

    @TempDir Path disk;
    private PoolOnDisk disks;

    private final ListSerializer<String> listSerializer =
            new ListSerializer<>(StringSerializer.INSTANCE);
    private final ListLayout<Integer, Integer, String> listLayout =
            new ListLayout<>(IntSerializer.INSTANCE, IntSerializer.INSTANCE, listSerializer);
    private final KeyGroupMap<Integer, Integer, List<String>> lists = group(listSerializer);

    @BeforeEach
    void open() throws IOException {
        disks = new PoolOnDisk(disk, 4 << 20);
    }

    @AfterEach
    void close() throws IOException {
        lists.close();
        disks.close();
    }

    private static <S> KeyGroupMap<Integer, Integer, S> group(TypeSerializer<S> serializer) {
        return new KeyGroupMap<>(serializer, new StateIdentity(0, "state", 0), new EntrySizes());
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
}
