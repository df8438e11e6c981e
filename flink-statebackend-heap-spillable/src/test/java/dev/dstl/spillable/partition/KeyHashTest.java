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

package dev.dstl.spillable.partition;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class KeyHashTest {

    private static final int PAIRS = 12;

    @ParameterizedTest
    @ValueSource(longs = {0, 1, -1, 0x1234_5678_9ABC_DEF0L, Long.MIN_VALUE})
    void keysChosenSoThatTheirDifferencesCancelOut_haveDifferentHashes(long seed) {
        KeyHash hash = new KeyHash(seed);
        Set<Integer> hashes = new HashSet<>();
        for (int choice = 0; choice < 1 << PAIRS; choice++) {
            ByteBuffer key = ByteBuffer.allocate(PAIRS * 16).order(ByteOrder.LITTLE_ENDIAN);
            for (int pair = 0; pair < PAIRS; pair++) {
                boolean changed = (choice & 1 << pair) != 0;
                key.putLong(changed ? 1L << 63 : 0).putLong(changed ? 1L << 63 | 1L << 31 : 0);
            }
            hashes.add(hash.of(key.array(), key.capacity()));
        }
        assertThat(hashes).hasSizeGreaterThan((1 << PAIRS) - 8);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 25, 16})
    void numbersInARow_areSpreadEvenlyOverTheBitsThatChooseTagPartitionAndBucket(int shift) {
        Random random = new Random(shift);
        for (int run = 0; run < 50; run++) {
            KeyHash hash = new KeyHash(random.nextLong());
            int[] counts = new int[128];
            int first = random.nextInt();
            for (int i = 0; i < 128 * 100; i++) {
                byte[] key =
                        ByteBuffer.allocate(Integer.BYTES).putInt(first + (i << run % 20)).array();
                counts[hash.of(key, key.length) >>> shift & 127]++;
            }
            for (int count : counts) {
                // A hundred expected, so a deviation of ten is usual.
                assertThat(count).isBetween(40, 170);
            }
        }
    }

    @Test
    void anotherSeed_makesOtherHashes_andTheSameOneTheSame() {
        byte[] key = new byte[13];
        int hash = new KeyHash(1).of(key, 13);
        assertThat(new KeyHash(1).of(key, 13)).isEqualTo(hash);
        assertThat(new KeyHash(2).of(key, 13)).isNotEqualTo(hash);
        assertThat(new KeyHash(1).of(key, 12)).isNotEqualTo(hash);
    }

    @Test
    void bytesInTheMiddleOfAnArray_haveTheHashOfTheirCopy() {
        byte[] bytes = new byte[40];
        new Random(1).nextBytes(bytes);
        for (int length = 0; length <= 30; length++) {
            byte[] copy = new byte[length];
            System.arraycopy(bytes, 7, copy, 0, length);
            assertThat(new KeyHash(5).of(bytes, 7, length))
                    .isEqualTo(new KeyHash(5).of(copy, length));
        }
    }
}
