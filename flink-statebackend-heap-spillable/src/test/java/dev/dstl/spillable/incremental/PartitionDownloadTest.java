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

package dev.dstl.spillable.incremental;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.dstl.spillable.overlay.PoolOnDisk;
import dev.dstl.spillable.overlay.SpillSpace;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.zip.CRC32C;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.runtime.state.memory.ByteStreamStateHandle;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PartitionDownloadTest {

    private static final int VERSION_AT = 8;
    private static final int HEADER_CRC_AT = 76;
    private static final int PAGE_CRCS_AT = 80;
    private static final int LARGEST_CELL = 128;
    private static final int PAGE_BYTES = 4096;

    /** In front of the partition in its file. */
    private static final int OFFSET = 5;

    @TempDir private Path disk;

    private static byte[] golden() throws IOException {
        try (InputStream in =
                PartitionDownloadTest.class.getResourceAsStream("/partition-v1.bin")) {
            return in.readAllBytes();
        }
    }

    /** The golden partition as a release would write it that has another version. */
    private static byte[] partition(int version) throws IOException {
        byte[] bytes = golden();
        int pages = (bytes.length + PAGE_BYTES - 1) / PAGE_BYTES;
        int headerBytes = (PAGE_CRCS_AT + 4 * pages + LARGEST_CELL - 1) & -LARGEST_CELL;
        ByteBuffer header = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        int expected = header.getInt(HEADER_CRC_AT);
        header.putInt(HEADER_CRC_AT, 0);
        assertThat(checksum(bytes, headerBytes)).isEqualTo(expected);
        header.putInt(VERSION_AT, version);
        header.putInt(HEADER_CRC_AT, checksum(bytes, headerBytes));
        return bytes;
    }

    private static int checksum(byte[] bytes, int length) {
        CRC32C crc = new CRC32C();
        crc.update(bytes, 0, length);
        return (int) crc.getValue();
    }

    private DirectoryMap.Range download(byte[] partition) throws Exception {
        byte[] file = new byte[OFFSET + partition.length];
        System.arraycopy(partition, 0, file, OFFSET, partition.length);
        ByteBuffer header = ByteBuffer.wrap(partition).order(ByteOrder.LITTLE_ENDIAN);
        DirectoryMap map =
                new DirectoryMap("a state", header.getInt(44), header.getLong(32), 40, 0);
        map.ranges.add(
                new DirectoryMap.Range(
                        header.getInt(52),
                        header.getInt(48),
                        header.getInt(40),
                        new PartitionLocation(
                                new SharedFile("7", new ByteStreamStateHandle("shared", file)),
                                OFFSET,
                                partition.length,
                                checksum(partition, partition.length))));
        try (SpillSpace space = PoolOnDisk.space(disk, 1 << 20)) {
            PartitionDownload download = new PartitionDownload(space, new CloseableRegistry());
            download.add(map);
            download.run();
        }
        return map.ranges.get(0);
    }

    @Test
    void aPartition_isOpened() throws Exception {
        assertThat(download(partition(1)).sealed.entries()).isEqualTo(50);
    }

    @Test
    void aPartitionOfALaterVersion_isLeftToTheReleaseThatWroteIt() throws Exception {
        byte[] later = partition(2);

        assertThatThrownBy(() -> download(later))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("shared")
                .hasMessageContaining(
                        "has a partition of version 2 at byte 5, expected 1; restore it with the"
                                + " release that wrote it.");
    }
}
