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

import dev.dstl.spillable.chunk.Extent;
import java.io.IOException;
import java.io.InputStream;
import java.util.Map;
import java.util.TreeMap;
import org.apache.flink.core.memory.MemorySegmentFactory;
import org.junit.jupiter.api.Test;

/** A partition as version 1 wrote it can always be read, and is written byte for byte. */
class PartitionGoldenFileTest extends PartitionFixture {

    private static final String FILE = "/partition-v1.bin";

    private static Map<String, byte[]> entries() {
        Map<String, byte[]> entries = new TreeMap<>();
        for (int i = 0; i < 50; i++) {
            byte[] value = new byte[i % 10 == 0 ? 500 + i : i % 7];
            for (int j = 0; j < value.length; j++) {
                value[j] = (byte) (i + j);
            }
            entries.put((i % 5 == 0 ? "part " : "key ") + i, value);
        }
        return entries;
    }

    private static byte[] golden() throws IOException {
        try (InputStream in = PartitionGoldenFileTest.class.getResourceAsStream(FILE)) {
            return in.readAllBytes();
        }
    }

    @Test
    void isRead() throws IOException {
        byte[] golden = golden();
        Extent extent = files.write(MemorySegmentFactory.wrap(golden), golden.length);
        SealedPartition partition = new SealedPartition(extent, IDENTITY);

        partition.check();
        entries().forEach((key, value) -> assertThat(get(partition, key)).isEqualTo(value));
        assertThat(partition.entries()).isEqualTo(50);
        assertThat(partition.parts()).isEqualTo(10);
        assertThat(partition.seed()).isEqualTo(hash.seed());
    }

    @Test
    void isWritten_butForItsIdAndTheChecksumOfTheHeader() throws IOException {
        SealedPartition partition = write(entries());
        byte[] written = new byte[partition.length()];
        partition.segment().get(partition.base(), written);
        byte[] golden = golden();
        for (int i = 0; i < 16; i++) {
            written[PartitionFormat.ID_AT + i] = golden[PartitionFormat.ID_AT + i];
        }
        for (int i = 0; i < 4; i++) {
            written[PartitionFormat.HEADER_CRC_AT + i] = golden[PartitionFormat.HEADER_CRC_AT + i];
        }

        assertThat(written).isEqualTo(golden);
    }
}
