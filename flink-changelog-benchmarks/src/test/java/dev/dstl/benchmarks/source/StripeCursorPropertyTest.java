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

package dev.dstl.benchmarks.source;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

class StripeCursorPropertyTest {

    @Property
    void restoredCursor_goesOnWithTheNextEvent(
            @ForAll @Size(min = 1, max = 20) List<@IntRange(min = 0, max = 5) Integer> stripeSizes,
            @ForAll @IntRange(min = 1, max = 4) int stride,
            @ForAll @IntRange(min = 0, max = 50) int restoredAfter)
            throws IOException {
        Stripes input = new Stripes(stripeSizes);
        List<String> seen = new ArrayList<>();
        long emitted = 0;
        for (int split = 0; split < stride; split++) {
            StripeCursor<String> cursor =
                    new StripeCursor<>(input, StripeSplit.atStart(split, stride));
            for (int taken = 0; !cursor.isExhausted(); taken++) {
                if (taken == restoredAfter) {
                    cursor = new StripeCursor<>(input, throughBytes(cursor.position()));
                }
                seen.add(cursor.next());
            }
            assertThat(cursor.fraction()).isEqualTo(1);
            emitted += cursor.emitted();
        }

        assertThat(seen).containsExactlyInAnyOrderElementsOf(input.all());
        assertThat(emitted).isEqualTo(seen.size());
    }

    @Property
    void fraction_neverGoesBack(
            @ForAll @Size(min = 1, max = 20) List<@IntRange(min = 0, max = 5) Integer> stripeSizes)
            throws IOException {
        StripeCursor<String> cursor =
                new StripeCursor<>(new Stripes(stripeSizes), StripeSplit.atStart(0, 2));
        double last = 0;
        while (!cursor.isExhausted()) {
            assertThat(cursor.fraction()).isBetween(last, 1.0);
            last = cursor.fraction();
            cursor.next();
        }
    }

    private static StripeSplit throughBytes(StripeSplit split) throws IOException {
        StripeSplitSerializer serializer = new StripeSplitSerializer();
        return serializer
                .single()
                .deserialize(serializer.getVersion(), serializer.single().serialize(split));
    }

    /** Stripes of given sizes; the events are called after their place. */
    private static final class Stripes implements StripedInput<String> {

        private static final long serialVersionUID = 1L;

        private final int[] sizes;

        private Stripes(List<Integer> sizes) {
            this.sizes = sizes.stream().mapToInt(size -> size).toArray();
        }

        private List<String> all() {
            List<String> all = new ArrayList<>();
            for (int stripe = 0; stripe < sizes.length; stripe++) {
                all.addAll(read(stripe));
            }
            return all;
        }

        @Override
        public long stripeCount() {
            return sizes.length;
        }

        @Override
        public List<String> read(long stripe) {
            return IntStream.range(0, sizes[(int) stripe])
                    .mapToObj(event -> stripe + "." + event)
                    .collect(Collectors.toList());
        }

        @Override
        public long eventTimeMillis(String event) {
            return Long.parseLong(event.substring(0, event.indexOf('.')));
        }
    }
}
