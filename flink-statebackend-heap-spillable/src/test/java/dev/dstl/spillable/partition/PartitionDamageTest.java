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
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.StandardOpenOption;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Whatever is damaged: an error that names it, never a key that seems to be missing. */
class PartitionDamageTest extends PartitionFixture {

    enum Damage {
        FLIPPED,
        ZEROED,
        FILLED
    }

    private static Map<String, byte[]> entries() {
        Random random = new Random(1);
        Map<String, byte[]> entries = new HashMap<>();
        for (int i = 0; i < 1000; i++) {
            byte[] value = new byte[1 + random.nextInt(i % 100 == 0 ? 9000 : 40)];
            random.nextBytes(value);
            entries.put("key " + i, value);
        }
        return entries;
    }

    private static void damage(SealedPartition partition, int page, Damage damage)
            throws IOException {
        int length = Math.min(4096, partition.length() - page * 4096);
        ByteBuffer bytes = ByteBuffer.allocate(length);
        long position = partition.extent().offset() + page * 4096L;
        try (FileChannel file =
                FileChannel.open(
                        partition.file(), StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            file.read(bytes, position);
            switch (damage) {
                case FLIPPED:
                    int at = length - 1 - length / 3;
                    bytes.put(at, (byte) (bytes.get(at) ^ 4));
                    break;
                case ZEROED:
                    bytes = ByteBuffer.allocate(length);
                    break;
                default:
                    bytes = ByteBuffer.allocate(length);
                    while (bytes.hasRemaining()) {
                        bytes.put((byte) 0xFF);
                    }
            }
            bytes.rewind();
            file.write(bytes, position);
        }
    }

    @ParameterizedTest
    @EnumSource(Damage.class)
    void eachPage_isMissedByNobody(Damage damage) throws IOException {
        Map<String, byte[]> entries = entries();
        int pages = (write(entries).length() + 4095) / 4096;
        assertThat(pages).isGreaterThan(10);
        for (int page = 0; page < pages; page++) {
            SealedPartition partition = write(entries);
            damage(partition, page, damage);

            int refused = 0;
            for (Map.Entry<String, byte[]> entry : entries.entrySet()) {
                try {
                    assertThat(get(partition, entry.getKey())).isEqualTo(entry.getValue());
                } catch (DamagedPartitionException e) {
                    refused++;
                    assertNames(e, partition);
                }
            }
            assertThat(refused).as("keys refused with page %s", page).isPositive();
            assertThatThrownBy(partition::check)
                    .isInstanceOfSatisfying(
                            DamagedPartitionException.class, e -> assertNames(e, partition));
        }
    }

    private static void assertNames(DamagedPartitionException e, SealedPartition partition) {
        assertThat(e)
                .hasMessageContaining("state 'counts', key group 17")
                .hasMessageContaining(partition.file().toString())
                .hasMessageMatching(".* at byte \\d+ of .* is [0-9a-f]+, [0-9a-f]+ was written.*");
    }

    @ParameterizedTest
    @EnumSource(Damage.class)
    void aDamagedHeader_isNoPartition(Damage damage) throws IOException {
        SealedPartition partition = write(entries());
        damage(partition, 0, damage);

        assertThatThrownBy(
                        () -> {
                            SealedPartition again =
                                    new SealedPartition(partition.extent(), IDENTITY);
                            again.check();
                        })
                .isInstanceOf(DamagedPartitionException.class);
    }

    @Test
    void aPageReadBefore_isLookedAtAgainByACheck() throws IOException {
        Map<String, byte[]> entries = entries();
        SealedPartition partition = write(entries);
        entries.keySet().forEach(key -> get(partition, key));
        damage(partition, 5, Damage.FLIPPED);

        assertThatThrownBy(partition::check).isInstanceOf(DamagedPartitionException.class);
    }
}
