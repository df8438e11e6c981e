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
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SealedPartitionTest extends PartitionFixture {

    private static Map<String, byte[]> entries(Random random, int count, int longest) {
        Map<String, byte[]> entries = new HashMap<>();
        for (int i = 0; i < count; i++) {
            byte[] value = new byte[random.nextInt(longest + 1)];
            random.nextBytes(value);
            entries.put((random.nextInt(4) == 0 ? "part " : "key ") + random.nextInt(), value);
        }
        return entries;
    }

    private void check(SealedPartition partition, Map<String, byte[]> expected) {
        partition.check();
        assertThat(partition.entries()).isEqualTo(expected.size());
        assertThat(partition.parts())
                .isEqualTo(
                        (int) expected.keySet().stream().filter(k -> k.startsWith("part")).count());
        expected.forEach((key, value) -> assertThat(get(partition, key)).isEqualTo(value));
        for (int i = 0; i < 1000; i++) {
            assertThat(get(partition, "absent " + i)).isNull();
        }
        int met = 0;
        int before = 0;
        for (int cell = 0; cell < partition.cells(); cell++) {
            if (partition.entryAt(cell) != 0) {
                met++;
                assertThat(Integer.compareUnsigned(before, partition.hashAt(cell)))
                        .as("in the order of hashes")
                        .isLessThanOrEqualTo(0);
                before = partition.hashAt(cell);
            }
        }
        assertThat(met).isEqualTo(expected.size());
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 7, 100, 4096, 10_000})
    void whateverIsWritten_isFound_andNothingElse(int count) throws IOException {
        for (int longest : new int[] {0, 8, 60, 300}) {
            Map<String, byte[]> entries = entries(new Random(count + longest), count, longest);
            check(write(entries), entries);
        }
    }

    /** What chooses the partition does not choose the place in it once more. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 7, 12, 16})
    void hashesOfAPartition_areSpreadOverItsCells_howeverManyBitsTheyShare(int depth) {
        Random random = new Random(depth);
        int[] counts = new int[128];
        for (int i = 0; i < 128 * 100; i++) {
            int hash = depth == 0 ? random.nextInt() : 5 << -depth | random.nextInt() >>> depth;
            counts[PartitionFormat.home(hash, depth, counts.length)]++;
        }
        for (int count : counts) {
            // A hundred expected, so a deviation of ten is usual.
            assertThat(count).isBetween(40, 170);
        }
    }

    @Test
    void entriesOfVeryDifferentLengths_shareAPartition() throws IOException {
        Random random = new Random(3);
        Map<String, byte[]> entries = entries(random, 500, 20);
        entries.put("large", new byte[3 << 20]);
        entries.put("part large", new byte[70_000]);

        check(write(entries), entries);
    }

    @Test
    void itsHeader_saysWhoseItIs() throws IOException {
        Map<String, byte[]> entries = entries(new Random(4), 10, 8);
        SealedPartition partition = write(entries);

        assertThat(partition.seed()).isEqualTo(hash.seed());
        assertThat(partition.depth()).isZero();
        assertThat(partition.firstHash()).isZero();
        assertThat(partition.id()).isNotEqualTo(write(entries).id());
        assertThatThrownBy(
                        () ->
                                new SealedPartition(
                                        partition.extent(), new StateIdentity(3, "counts", 18)))
                .isInstanceOf(DamagedPartitionException.class)
                .hasMessageContaining("is 00000011, 00000012 was written");
        assertThatThrownBy(
                        () ->
                                new SealedPartition(
                                        partition.extent(), new StateIdentity(4, "other", 17)))
                .isInstanceOf(DamagedPartitionException.class)
                .hasMessageContaining("state id");
    }

    @Test
    void aSmallEntry_takesNoMoreThanFiftyBytes() throws IOException {
        Map<String, byte[]> entries = new HashMap<>();
        for (int i = 0; i < 4096; i++) {
            entries.put(String.format("key of 18 by %05d", i), new byte[8]);
        }

        assertThat(write(entries).length() / 4096).isLessThanOrEqualTo(50);
    }
}
