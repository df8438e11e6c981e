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

package dev.dstl.benchmarks.cost;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.WeakHashMap;
import org.junit.jupiter.api.Test;
import org.openjdk.jol.info.GraphLayout;

class WalkedHeapTest {

    @Test
    void graphWithAWeakReference_isRefused_sinceTheCollectorLinksItToForeignOnes() {
        assertThatThrownBy(() -> WalkedHeap.bytes(List.of(Map.of(1, new WeakReference<>("a")))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("WeakReference");
    }

    @Test
    void weakMap_hasTheSizeOfOneWithoutItsKeys() {
        for (int entries : new int[] {1, 11, 12, 13, 1_000}) {
            List<Object> keys = new ArrayList<>();
            Map<Object, WeakReference<Object>> map = new WeakHashMap<>();
            for (int i = 0; i < entries; i++) {
                Object key = new Object();
                keys.add(key);
                map.put(key, new WeakReference<>(key));
            }
            // Walks weak references all the same: too few objects for a collection in between.
            long all = GraphLayout.parseInstance(map, keys).totalSize();
            long withoutMap = GraphLayout.parseInstance(keys).totalSize();
            assertThat(WalkedHeap.weakMapBytes(entries))
                    .as("%d entries", entries)
                    .isCloseTo(all - withoutMap, within(200L));
        }
    }
}
