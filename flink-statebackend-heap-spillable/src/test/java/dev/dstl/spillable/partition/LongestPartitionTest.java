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

import org.apache.flink.core.memory.MemorySegment;
import org.apache.flink.core.memory.MemorySegmentFactory;
import org.junit.jupiter.api.Test;

/** Entries of up to 2 GiB, of which only the first bytes are there: lengths depend on no others. */
class LongestPartitionTest extends PartitionFixture {

    private static final int KEY_LENGTH = 3;

    /** In place of the memory for a partition. */
    private static final class Asked extends RuntimeException {
        private static final long serialVersionUID = 1;
        private final int bytes;

        private Asked(int bytes) {
            this.bytes = bytes;
        }
    }

    private static MemorySegment noMemory(int bytes) {
        throw new Asked(bytes);
    }

    private static boolean isAccepted(int valueLength) {
        try {
            EntryFormat.entryBytes(KEY_LENGTH, valueLength);
            return true;
        } catch (IllegalStateException e) {
            return false;
        }
    }

    private static int longestValue() {
        int accepted = 0;
        int refused = Integer.MAX_VALUE;
        while (refused - accepted > 1) {
            int middle = accepted + (refused - accepted) / 2;
            if (isAccepted(middle)) {
                accepted = middle;
            } else {
                refused = middle;
            }
        }
        return accepted;
    }

    private PartitionWriter writerOf(int... valueLengths) {
        PartitionWriter writer = new PartitionWriter(LongestPartitionTest::noMemory);
        writer.start(IDENTITY, hash, 0, 0);
        for (int valueLength : valueLengths) {
            MemorySegment start = MemorySegmentFactory.wrap(new byte[64]);
            EntryFormat.put(start, 0, new byte[KEY_LENGTH], KEY_LENGTH, false, new byte[0], 0);
            putVarint(start, 1, valueLength);
            assertThat(EntryFormat.entryBytesAt(start, 0))
                    .isEqualTo(EntryFormat.entryBytes(KEY_LENGTH, valueLength));
            writer.add(7, start, 0);
        }
        return writer;
    }

    private static void putVarint(MemorySegment segment, int offset, int value) {
        int position = offset;
        for (int rest = value; ; rest >>>= 7) {
            boolean more = rest >>> 7 != 0;
            segment.put(position++, (byte) (more ? rest | 0x80 : rest));
            if (!more) {
                return;
            }
        }
    }

    @Test
    void theLongestEntry_hasRoomInAPartition() {
        int longest = longestValue();

        assertThat(longest).isGreaterThan(2_000_000_000);
        assertThatThrownBy(() -> writerOf(longest).finish(files))
                .isInstanceOfSatisfying(
                        Asked.class, asked -> assertThat(asked.bytes).isGreaterThan(longest));
    }

    /** A full disk would be tried again, and nothing else would leave the memory meanwhile. */
    @Test
    void entriesTooLongForAPartition_areNoFullDisk() {
        assertThatThrownBy(() -> writerOf(1_100_000_000, 1_100_000_000).finish(files))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("state 'counts', key group 17")
                .hasMessageContaining("more than 2 GiB, 220");
    }
}
