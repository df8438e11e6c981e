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

import dev.dstl.spillable.overlay.PartitionedMap;
import dev.dstl.spillable.overlay.PartitionedMapFixture;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.common.typeutils.base.ListSerializer;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.api.common.typeutils.base.MapSerializer;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class EntryRewriteTest extends PartitionedMapFixture {

    private static final int KEY = 7;
    private static final int IN_A_BUCKET = 200;

    /** Of 16 KiB. */
    private static final int IN_A_FRAGMENT = 4096;

    private <S> S rewritten(
            SpilledLayout<Integer, Long, S> from,
            SpilledLayout<Integer, Long, S> to,
            S state,
            int most)
            throws IOException {
        from.select(KEY, 0L);
        from.write(map, state);
        byte[] key = from.copySelected();
        try (PartitionedMap target = disks.newMap()) {
            CountingSerializer.reset();
            new EntryRewrite<>(from, to).rewrite(map.entries(), key, target);
            assertThat(CountingSerializer.mostUnwritten()).isLessThanOrEqualTo(most);
            to.select(KEY, 0L);
            return to.read(target.entries());
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 60, 20_000})
    void ofALargeMap_onlyAPartIsOnTheHeap(int size) throws IOException {
        MapLayout<Integer, Long, Integer, Integer> layout =
                new MapLayout<>(
                        IntSerializer.INSTANCE,
                        LongSerializer.INSTANCE,
                        new MapSerializer<>(IntSerializer.INSTANCE, new CountingSerializer()));
        Map<Integer, Integer> state = new HashMap<>();
        for (int i = 0; i < size; i++) {
            state.put(i, i % 5 == 0 ? null : 2 * i);
        }

        assertThat(rewritten(layout, layout.duplicate(), state, IN_A_BUCKET)).isEqualTo(state);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 60, 20_000})
    void ofALargeList_onlyAPartIsOnTheHeap(int size) throws IOException {
        ListLayout<Integer, Long, Integer> layout =
                new ListLayout<>(
                        IntSerializer.INSTANCE,
                        LongSerializer.INSTANCE,
                        new ListSerializer<>(new CountingSerializer()));
        List<Integer> state = IntStream.range(0, size).boxed().collect(Collectors.toList());

        assertThat(rewritten(layout, layout.duplicate(), state, IN_A_FRAGMENT)).isEqualTo(state);
    }
}
