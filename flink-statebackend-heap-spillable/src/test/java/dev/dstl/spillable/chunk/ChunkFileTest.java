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

package dev.dstl.spillable.chunk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ChunkFileTest {

    private static final int LENGTH = 64 * 1024;

    @TempDir Path disk;
    private SpillDirectory directory;

    @BeforeEach
    void open() {
        directory = new SpillDirectory(disk);
    }

    @Test
    void aFile_hasItsWholeLengthFromTheStart_andReadsAsZeros() throws IOException {
        ChunkFile chunk = ChunkFile.create(directory, 3, LENGTH);

        assertThat(Files.size(disk.resolve("chunk-3"))).isEqualTo(LENGTH);
        assertThat(chunk.segment().size()).isEqualTo(LENGTH);
        assertThat(chunk.segment().get(LENGTH - 1)).isZero();
        chunk.delete();
    }

    @Test
    void whatIsWritten_isSeenInTheMappingAndByReads() throws IOException {
        ChunkFile chunk = ChunkFile.create(directory, 0, LENGTH);

        chunk.write(ByteBuffer.wrap(new byte[] {1, 2, 3}), 4095);

        assertThat(chunk.segment().get(4096)).isEqualTo((byte) 2);
        ByteBuffer read = ByteBuffer.allocate(5);
        chunk.read(read, 4094);
        assertThat(read.array()).containsExactly(0, 1, 2, 3, 0);
        chunk.delete();
    }

    @Test
    void theMapping_cannotBeWrittenThrough() throws IOException {
        ChunkFile chunk = ChunkFile.create(directory, 0, LENGTH);

        assertThat(chunk.segment().wrap(0, 1).isReadOnly()).isTrue();
        chunk.delete();
    }

    @Test
    void aFileThatSomethingShortened_isNamedWithPositionAndLength() throws IOException {
        ChunkFile chunk = ChunkFile.create(directory, 5, LENGTH);
        try (FileChannel other =
                FileChannel.open(disk.resolve("chunk-5"), StandardOpenOption.WRITE)) {
            other.truncate(1000);
        }

        assertThatThrownBy(() -> chunk.read(ByteBuffer.allocate(64), 960))
                .isInstanceOf(EOFException.class)
                .hasMessage(
                        disk.resolve("chunk-5")
                                + " ends at byte 1000, 64 bytes at 960 were expected. Something"
                                + " else has shortened it.");
        chunk.delete();
    }

    @Test
    void aFileThatIsThere_isNotTakenOver() throws IOException {
        Files.write(disk.resolve("chunk-1"), new byte[] {1});

        assertThatThrownBy(() -> ChunkFile.create(directory, 1, LENGTH))
                .isInstanceOf(FileAlreadyExistsException.class);
        assertThat(Files.size(disk.resolve("chunk-1"))).isEqualTo(1);
    }

    @Test
    void delete_leavesNothing_andMayFindTheFileGone() throws IOException {
        ChunkFile first = ChunkFile.create(directory, 1, LENGTH);
        ChunkFile second = ChunkFile.create(directory, 2, LENGTH);
        Files.delete(disk.resolve("chunk-2"));

        first.delete();
        second.delete();

        assertThat(disk).isEmptyDirectory();
        assertThat(first.segment().isFreed()).isTrue();
    }
}
