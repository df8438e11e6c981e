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

import java.util.AbstractList;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.types.Row;
import org.junit.jupiter.api.Test;

class ObjectSizesTest {

    /** A value of a job. */
    @SuppressWarnings("unused") // looked at by reflection
    private static final class Event {
        private final long time;
        private final String name;
        private final Schema schema;

        Event(long time, String name, Schema schema) {
            this.time = time;
            this.name = name;
            this.schema = schema;
        }
    }

    /** What many values share. */
    private static final class Schema {
        @SuppressWarnings("unused") // looked at by reflection
        private final List<String> fields;

        Schema(String... fields) {
            this.fields = Arrays.asList(fields);
        }
    }

    private final ObjectSizes sizes = new ObjectSizes();

    private long sizeOf(Object object) {
        sizes.startEntry(object);
        return sizes.of(object);
    }

    @Test
    void whatHotSpotLaysOut_isKnownExactly() {
        assertThat(sizeOf(null)).isZero();
        assertThat(sizeOf(1L)).isEqualTo(24);
        assertThat(sizeOf(1)).isEqualTo(16);
        assertThat(sizeOf(new byte[100])).isEqualTo(120);
        assertThat(sizeOf(new long[3])).isEqualTo(40);
        assertThat(sizeOf("0123456789")).as("24 and an array of 10 bytes").isBetween(56L, 64L);
        assertThat(sizeOf("\u4e00".repeat(100)))
                .as("two bytes per character")
                .isBetween(240L, 248L);
        assertThat(sizeOf(Thread.State.NEW)).as("shared by all").isZero();
    }

    /** A collection that can be serialized, but not looked at now. */
    private static final class Detached extends AbstractList<String> {
        @Override
        public String get(int index) {
            throw new IllegalStateException("detached");
        }

        @Override
        public int size() {
            throw new IllegalStateException("detached");
        }
    }

    @Test
    void aCollectionThatCannotBeLookedAt_hasSomeSize() {
        assertThat(sizeOf(new Detached())).isPositive();
        assertThat(sizes.perElement(new Detached())).isPositive();
        assertThat(EntrySizes.elementsOf(new Detached())).isZero();
    }

    @Test
    void whatAnObjectRefersTo_counts() {
        long tuple = sizeOf(Tuple2.of(1L, 2L));
        assertThat(tuple).isBetween(24L + 48, 32L + 48);
        assertThat(sizeOf(Row.of("a".repeat(1000), 1L))).isBetween(1100L, 1300L);
        assertThat(sizeOf(new Object[] {new byte[1000], new byte[1000]})).isBetween(2050L, 2100L);
    }

    @Test
    void aCollection_takesItsPlacesAndItsElements() {
        Map<Long, Long> map = new HashMap<>();
        for (long i = 0; i < 10_000; i++) {
            map.put(i, i);
        }
        assertThat(sizeOf(map)).as("node, table and two objects").isBetween(860_000L, 1_200_000L);

        List<byte[]> list = new ArrayList<>();
        for (int i = 0; i < 10_000; i++) {
            list.add(new byte[84]);
        }
        assertThat(sizeOf(list)).isBetween(1_040_000L, 1_160_000L);
    }

    @Test
    void whatTwoEntriesShare_belongsToNeither() {
        Schema schema = new Schema("a".repeat(10_000));
        sizeOf(new Event(1, "first", schema));

        long second = sizeOf(new Event(2, "second", schema));

        assertThat(second).isLessThan(150);
        assertThat(sizeOf(new Event(3, "third", schema))).as("remains known").isLessThan(150);
    }

    @Test
    void anEntryThatIsMeasuredAgain_takesAsMuchAsBefore() {
        Event other = new Event(1, "other", new Schema("other"));
        Event event = new Event(1, "name", new Schema("b".repeat(1000)));
        sizeOf(other);
        long first = sizeOf(event);

        assertThat(first).isGreaterThan(1000);
        assertThat(sizeOf(event)).isEqualTo(first);
        sizeOf(other);
        assertThat(sizeOf(event)).isEqualTo(first);
    }

    @Test
    void anObjectThatContainsItself_isCountedOnce() {
        Object[] loop = new Object[2];
        loop[0] = loop;
        Map<String, Object> map = new LinkedHashMap<>();
        map.put("self", new Object[] {loop, Collections.singletonList(1L)});

        assertThat(sizeOf(map)).isLessThan(1000);
    }

    @Test
    void aHugeGraph_isLookedAtInPart() {
        List<Object> nested = new ArrayList<>();
        for (int depth = 0; depth < 1000; depth++) {
            nested = new ArrayList<>(Arrays.asList(nested, new Object[] {depth, nested}));
        }

        assertThat(sizeOf(nested)).isPositive();
    }
}
