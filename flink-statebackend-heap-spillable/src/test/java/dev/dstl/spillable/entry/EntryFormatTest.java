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

package dev.dstl.spillable.entry;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.BitSet;
import java.util.Random;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.apache.flink.core.memory.MemorySegment;
import org.apache.flink.core.memory.MemorySegmentFactory;

class EntryFormatTest {

    @Property
    void anAddress_givesBackBlockAndOffset(
            @ForAll @IntRange(min = 1, max = EntryFormat.MAX_BLOCK_NUMBER) int block,
            @ForAll @IntRange(max = EntryFormat.BLOCK_BYTES / 8 - 1) int word) {
        long address = EntryFormat.address(block, word * 8);

        assertThat(address).isPositive();
        assertThat(EntryFormat.blockNumber(address)).isEqualTo(block);
        assertThat(EntryFormat.offset(address)).isEqualTo(word * 8);
    }

    @Property
    void aSlot_givesBackItsAddressAndTheTopOfTheHash(
            @ForAll int hash,
            @ForAll @IntRange(min = 1, max = EntryFormat.MAX_BLOCK_NUMBER) int block,
            @ForAll @IntRange(max = EntryFormat.BLOCK_BYTES / 8 - 1) int word) {
        long address = EntryFormat.address(block, word * 8);
        long slot = EntryFormat.slot(hash, address);

        assertThat(slot).as("0 is an empty slot").isNotZero();
        assertThat(EntryFormat.slotAddress(slot)).isEqualTo(address);
        assertThat(EntryFormat.slotHash(slot)).isEqualTo(hash >>> 8);
    }

    @Property
    void aVarint_takesTheBytesThatItIsSaidToTake(@ForAll @IntRange int value) {
        MemorySegment segment = MemorySegmentFactory.allocateUnpooledSegment(16);

        int end = EntryFormat.putVarint(segment, 3, value);

        assertThat(end - 3).isEqualTo(EntryFormat.varintBytes(value)).isBetween(1, 5);
        int read = 0;
        for (int i = 3; i < end; i++) {
            read |= (segment.get(i) & 0x7F) << (7 * (i - 3));
            assertThat(segment.get(i) < 0).as("more to come").isEqualTo(i < end - 1);
        }
        assertThat(read).isEqualTo(value);
    }

    @Property
    void anEntry_endsAlignedWithLessThanAWordOfPadding(
            @ForAll @IntRange(max = 1 << 20) int keyLength, @ForAll @IntRange int valueLength) {
        long bytes = EntryFormat.entryBytes(keyLength, valueLength);
        long content =
                (long) EntryFormat.HASH_BYTES
                        + EntryFormat.varintBytes(keyLength << 1)
                        + EntryFormat.varintBytes(valueLength)
                        + keyLength
                        + valueLength;

        assertThat(bytes % EntryFormat.ALIGNMENT).isZero();
        assertThat(bytes - content).isBetween(0L, 7L);
    }

    @Property
    void copies_giveBackEveryByteAndTouchNoOther(
            @ForAll @Size(max = 200) byte[] bytes, @ForAll @IntRange(max = 9) int offset) {
        MemorySegment segment = MemorySegmentFactory.allocateUnpooledSegment(240);
        for (int i = 0; i < 240; i++) {
            segment.put(i, (byte) 0x55);
        }

        EntryFormat.copyIn(bytes, segment, offset, bytes.length);
        byte[] read = new byte[bytes.length + 1];
        EntryFormat.copyOut(segment, offset, read, bytes.length);

        assertThat(Arrays.copyOf(read, bytes.length)).isEqualTo(bytes);
        assertThat(read[bytes.length]).isZero();
        for (int i = 0; i < 240; i++) {
            if (i < offset || i >= offset + bytes.length) {
                assertThat(segment.get(i)).isEqualTo((byte) 0x55);
            }
        }
    }

    @Property
    void aHash_dependsOnTheCountedBytesOnly(
            @ForAll @Size(max = 60) byte[] bytes, @ForAll byte behind) {
        byte[] longer = Arrays.copyOf(bytes, bytes.length + 1);
        longer[bytes.length] = behind;

        assertThat(EntryFormat.hash(longer, bytes.length))
                .isEqualTo(EntryFormat.hash(bytes, bytes.length));
    }

    /** Directory bits are at the top of the hash, those of a table from bit 8 on. */
    @Example
    void hashesOfNeighbouringKeys_fillDirectoryAndTablesEvenly() {
        byte[] key = new byte[12];
        BitSet directory = new BitSet(1 << 13);
        BitSet slots = new BitSet(1 << 13);
        int keys = 8 << 13;
        for (int i = 0; i < keys; i++) {
            key[9] = (byte) (i >>> 16);
            key[10] = (byte) (i >>> 8);
            key[11] = (byte) i;
            int hash = EntryFormat.hash(key, key.length);
            directory.set(hash >>> 19);
            slots.set((hash >>> 8) & 0x1FFF);
        }

        // Of n places hit by 8 n keys at random, one in e^8 = 3000 is missed.
        assertThat(directory.cardinality()).isGreaterThan((1 << 13) - 20);
        assertThat(slots.cardinality()).isGreaterThan((1 << 13) - 20);
    }

    @Example
    void keysThatDifferInOneBit_differInTheirHash() {
        Random random = new Random(3);
        byte[] key = new byte[25];
        for (int round = 0; round < 200; round++) {
            random.nextBytes(key);
            int length = 1 + random.nextInt(25);
            int hash = EntryFormat.hash(key, length);
            int bit = random.nextInt(length * 8);
            key[bit / 8] ^= (byte) (1 << (bit % 8));
            assertThat(EntryFormat.hash(key, length)).isNotEqualTo(hash);
        }
    }
}
