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

package dev.dstl.changelog.sorting;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.Comparator;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

class RadixSortTest {

    @Property(tries = 500)
    void rangeIsSortedByItsUpperBits_andEqualOnesKeepTheirOrder(
            @ForAll @IntRange(max = 3_000) int count,
            @ForAll @IntRange(max = 62) int ignoredBits,
            @ForAll @IntRange(min = 1, max = 63) int randomBits,
            @ForAll int seed) {
        Random random = new Random(seed);
        long[] elements =
                random.longs(count).map(element -> element >>> (64 - randomBits)).toArray();
        int from = random.nextInt(count + 1);
        int to = from + random.nextInt(count + 1 - from);
        long[] expected = elements.clone();
        Long[] range =
                Arrays.stream(elements, from, to)
                        .boxed()
                        .sorted(Comparator.comparingLong(element -> element >>> ignoredBits))
                        .toArray(Long[]::new);
        for (int i = from; i < to; i++) {
            expected[i] = range[i - from];
        }
        new RadixSort().sort(elements, from, to, ignoredBits);
        assertThat(elements).isEqualTo(expected);
    }
}
