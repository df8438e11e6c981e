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

package dev.dstl.spillable.size;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.offset;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.runtime.state.VoidNamespace;
import org.junit.jupiter.api.Test;

class EntrySizesTest {

    private final EntrySizes sizes = new EntrySizes();

    private static Map<Long, String> map(int entries) {
        Map<Long, String> map = new HashMap<>();
        for (long i = 0; i < entries; i++) {
            map.put(i, "v".repeat(100) + i);
        }
        return map;
    }

    @Test
    void withoutSamples_sizesAreAssumed() {
        assertThat(sizes.heapBytes(10, 0)).isEqualTo(1600);
        assertThat(sizes.heapBytes(10, 100)).isEqualTo(1600 + 8000);
        assertThat(sizes.loadedBytes(100)).isEqualTo(300);
    }

    @Test
    void entriesOnTheHeap_takeWhatTheSampledOnesTake() {
        for (long key = 0; key < 100; key++) {
            sizes.sample(key, VoidNamespace.INSTANCE, "s".repeat(1000) + key);
        }

        assertThat(sizes.heapBytes(1, 0)).isBetween(1100.0, 1250.0);
    }

    @Test
    void largeMaps_countByTheirUserEntries() {
        for (long key = 0; key < 10; key++) {
            sizes.sample(key, VoidNamespace.INSTANCE, map(1 + (int) key * 100));
        }

        assertThat(sizes.heapBytes(1, 0)).as("of an empty map").isBetween(80.0, 250.0);
        assertThat(sizes.heapBytes(1, 1_000_000)).isBetween(190e6, 280e6);
    }

    @Test
    void aStateOfOneEntry_isMeasuredEachTime() {
        List<Tuple2<Long, Long>> list = new ArrayList<>();
        for (long i = 0; i < 100; i++) {
            list.add(Tuple2.of(i, i));
        }
        for (int i = 0; i < 50; i++) {
            sizes.sample("key", VoidNamespace.INSTANCE, list);
        }

        assertThat(sizes.heapBytes(0, 100)).isBetween(7000.0, 9000.0);
        assertThat(sizes.elementsPerEntry()).isEqualTo(100);
    }

    @Test
    void restoredEntries_countByTheBytesTheyHadInTheSnapshot() {
        double serialized = 0;
        for (long key = 0; key < 10_000; key++) {
            int length = key % 100 == 0 ? 10_000 : 20;
            sizes.restored(key, VoidNamespace.INSTANCE, "s".repeat(length), 8 + length);
            serialized += 8 + length;
        }

        assertThat(sizes.heapBytes(10_000, 0)).isBetween(0.9 * serialized, 3 * serialized);
    }

    @Test
    void restoredUserEntries_countOneByOne() {
        for (long i = 0; i < 5000; i++) {
            sizes.restoredElement(i, "value " + i, 20);
        }

        assertThat(sizes.heapBytes(0, 5000)).isBetween(5000.0 * 110, 5000.0 * 160);
        assertThat(sizes.loadedBytes(20 * 5000)).isBetween(5000.0 * 110, 5000.0 * 160);
    }

    @Test
    void whatMoved_tellsWhatSpilledBytesTakeOnTheHeap() {
        sizes.moved(10_000, 1000);
        sizes.moved(30_000, 1000);

        assertThat(sizes.loadedBytes(100)).isCloseTo(2000, offset(0.01));
        sizes.moved(0, 0);
        assertThat(sizes.loadedBytes(100)).as("nothing moved").isCloseTo(2000, offset(0.01));
    }

    @Test
    void sizesFollowAStateThatChanges() {
        for (long key = 0; key < 10_000; key++) {
            sizes.sample(key, VoidNamespace.INSTANCE, "small" + key);
        }
        for (long key = 0; key < 20_000; key++) {
            sizes.sample(key, VoidNamespace.INSTANCE, "l".repeat(5000) + key);
        }

        assertThat(sizes.heapBytes(1, 0)).isGreaterThan(4000);
    }

    @Test
    void listsAndMapsHaveElements_othersDoNot() {
        List<Integer> list = new ArrayList<>(Collections.nCopies(7, 1));
        assertThat(EntrySizes.elementsOf(list)).isEqualTo(7);
        assertThat(EntrySizes.elementsOf(map(5))).isEqualTo(5);
        assertThat(EntrySizes.elementsOf("text")).isZero();
        assertThat(EntrySizes.elementsOf(null)).isZero();
    }
}
