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
import org.junit.jupiter.params.provider.ValueSource;

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

    /** The value of a key, read with calls, or null. */
    private byte[] get(SealedPartition partition, String key, PageWindow window) {
        byte[] wanted = bytes(key);
        int entry = partition.find(wanted, wanted.length, false, hashOf(wanted), window);
        if (entry == 0) {
            return null;
        }
        int at = partition.locate(entry, window);
        int length = EntryFormat.entryBytesAt(window.segment(), at);
        int word = EntryFormat.varintAt(window.segment(), at);
        byte[] value =
                new byte
                        [EntryFormat.varintAt(
                                window.segment(), at + EntryFormat.varintBytes(word))];
        window.segment().get(at + length - value.length, value);
        return value;
    }

    private static void flip(SealedPartition partition, int at) throws IOException {
        ByteBuffer one = ByteBuffer.allocate(1);
        long position = (long) partition.extent().offset() + at;
        try (FileChannel file =
                FileChannel.open(
                        partition.file(), StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            file.read(one, position);
            one.put(0, (byte) (one.get(0) ^ 0x40)).rewind();
            file.write(one, position);
        }
    }

    /** Where the cell of a key starts whose entry lies in it. */
    private int cellOf(SealedPartition partition, String key) {
        byte[] wanted = bytes(key);
        int cell =
                partition.find(wanted, wanted.length, false, hashOf(wanted))
                        - PartitionFormat.CELL_ENTRY_AT;
        assertThat(partition.segment().getIntLittleEndian(partition.base() + cell))
                .as("the hash in the cell")
                .isEqualTo(hashOf(wanted));
        return cell;
    }

    /** What a call reads comes from the disk each time, which may be wrong the second time. */
    @Test
    void aHashDamagedAfterItWasRead_isNoMissingKey_whenPagesAreReadWithCalls() throws IOException {
        Map<String, byte[]> entries = entries();
        entries.put("key", new byte[1]);
        SealedPartition partition = write(entries);
        PageWindow window = new PageWindow();
        entries.forEach((key, value) -> assertThat(get(partition, key, window)).isEqualTo(value));
        flip(partition, cellOf(partition, "key") + 3);
        window.forget();

        for (int i = 0; i < 2; i++) {
            assertThatThrownBy(() -> get(partition, "key", window))
                    .isInstanceOfSatisfying(
                            DamagedPartitionException.class, e -> assertNames(e, partition));
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {100_000, 3_000_000})
    void aLongValueDamagedAfterItWasRead_isRefused_whenPagesAreReadWithCalls(int length)
            throws IOException {
        Map<String, byte[]> entries = entries();
        entries.put("long", new byte[length]);
        SealedPartition partition = write(entries);
        PageWindow window = new PageWindow();
        assertThat(get(partition, "long", window)).isEqualTo(new byte[length]);
        byte[] wanted = bytes("long");
        int entry = partition.find(wanted, wanted.length, false, hashOf(wanted));
        flip(partition, entry + length / 2);
        window.forget();

        for (int i = 0; i < 2; i++) {
            assertThatThrownBy(() -> get(partition, "long", window))
                    .isInstanceOfSatisfying(
                            DamagedPartitionException.class, e -> assertNames(e, partition));
        }
    }
}
