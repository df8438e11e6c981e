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

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.flink.core.memory.MemorySegment;
import org.apache.flink.core.memory.MemorySegmentFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Extents come and go in any order, against a list of what was written where. */
class ExtentAllocationTest {

    private static final int CHUNK_BYTES = 1 << 20;

    private static final class Written {
        final Extent extent;
        final byte[] bytes;

        Written(Extent extent, byte[] bytes) {
            this.extent = extent;
            this.bytes = bytes;
        }
    }

    @TempDir Path firstDisk;
    @TempDir Path secondDisk;
    private final AtomicLong clockMillis = new AtomicLong();

    private ChunkFiles chunks(Path... disks) throws IOException {
        return new ChunkFiles(
                new SpillDirectories(Arrays.asList(disks)), CHUNK_BYTES, clockMillis::get);
    }

    private static Extent write(ChunkFiles chunks, int length, int value) throws IOException {
        byte[] bytes = new byte[length];
        Arrays.fill(bytes, (byte) value);
        return chunks.write(MemorySegmentFactory.wrap(bytes), length);
    }

    private static List<Path> chunkFiles(Path disk) throws IOException {
        try (Stream<Path> files = Files.walk(disk)) {
            return files.filter(file -> file.getFileName().toString().startsWith("chunk-"))
                    .collect(Collectors.toList());
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4})
    void extents_neverOverlap_andKeepTheirBytes(long seed) throws IOException {
        Random random = new Random(seed);
        List<Written> live = new ArrayList<>();
        try (ChunkFiles chunks = chunks(firstDisk, secondDisk)) {
            for (int i = 0; i < 600; i++) {
                if (random.nextInt(5) < 3 || live.isEmpty()) {
                    byte[] bytes = new byte[length(random)];
                    random.nextBytes(bytes);
                    MemorySegment source = MemorySegmentFactory.wrap(bytes);
                    live.add(new Written(chunks.write(source, bytes.length), bytes));
                } else {
                    chunks.release(live.remove(random.nextInt(live.size())).extent);
                }
                checkNumbers(chunks, live);
            }
            for (Written written : live) {
                check(written);
            }
            while (!live.isEmpty()) {
                chunks.release(live.remove(random.nextInt(live.size())).extent);
            }
            assertThat(chunks.occupiedBytes()).isZero();
            assertThat(chunks.fileBytes()).as("one file to go on with").isEqualTo(CHUNK_BYTES);
        }
        assertThat(firstDisk).isEmptyDirectory();
        assertThat(secondDisk).isEmptyDirectory();
    }

    private static int length(Random random) {
        switch (random.nextInt(20)) {
            case 0:
                return CHUNK_BYTES + random.nextInt(CHUNK_BYTES);
            case 1:
                return 1;
            case 2:
                return 1 << (12 + random.nextInt(8));
            default:
                return 1 + random.nextInt(256 * 1024);
        }
    }

    private void checkNumbers(ChunkFiles chunks, List<Written> live) throws IOException {
        long occupied = 0;
        for (Written written : live) {
            assertThat(written.extent.length()).isGreaterThanOrEqualTo(written.bytes.length);
            occupied += written.extent.length();
        }
        assertThat(chunks.occupiedBytes()).isEqualTo(occupied);
        long lengths = 0;
        for (Path disk : Arrays.asList(firstDisk, secondDisk)) {
            for (Path file : chunkFiles(disk)) {
                lengths += Files.size(file);
            }
        }
        assertThat(chunks.fileBytes()).isEqualTo(lengths);
    }

    private static void check(Written written) throws IOException {
        byte[] mapped = new byte[written.bytes.length];
        written.extent.segment().get(written.extent.offset(), mapped);
        assertThat(mapped).isEqualTo(written.bytes);
        int from = written.bytes.length / 3;
        ByteBuffer read = ByteBuffer.allocate(written.bytes.length - from);
        written.extent.read(read, from);
        assertThat(read.array())
                .isEqualTo(Arrays.copyOfRange(written.bytes, from, written.bytes.length));
    }

    @Test
    void files_takeTurnsOnTheDisks() throws IOException {
        try (ChunkFiles chunks = chunks(firstDisk, secondDisk)) {
            for (int i = 0; i < 8; i++) {
                write(chunks, CHUNK_BYTES, i);
            }

            assertThat(chunkFiles(firstDisk)).hasSize(4);
            assertThat(chunkFiles(secondDisk)).hasSize(4);
        }
    }

    @Test
    void aDiskThatRefused_isTriedAgainAfterItsPause() throws IOException {
        try (ChunkFiles chunks = chunks(firstDisk, secondDisk)) {
            Path directory = onlyFile(firstDisk);
            Path aside = firstDisk.resolve("aside");
            Files.move(directory, aside);
            for (int i = 0; i < 4; i++) {
                write(chunks, CHUNK_BYTES, i);
            }
            Files.move(aside, directory);
            clockMillis.set(9_999);
            write(chunks, CHUNK_BYTES, 4);
            write(chunks, CHUNK_BYTES, 5);
            assertThat(chunkFiles(firstDisk)).as("within the pause").isEmpty();

            clockMillis.set(10_000);
            write(chunks, CHUNK_BYTES, 6);
            write(chunks, CHUNK_BYTES, 7);

            assertThat(chunkFiles(firstDisk)).isNotEmpty();
            assertThat(chunkFiles(secondDisk)).hasSizeBetween(6, 7);
        }
    }

    @Test
    void aDiskThatRefused_isTriedAgainAfterItsPause_thoughTheClockWasSetBack() throws IOException {
        clockMillis.set(TimeUnit.HOURS.toMillis(2));
        try (ChunkFiles chunks = chunks(firstDisk)) {
            Path directory = onlyFile(firstDisk);
            Path aside = firstDisk.resolve("aside");
            Files.move(directory, aside);
            assertThatThrownBy(() -> write(chunks, 100, 1)).isInstanceOf(IOException.class);
            Files.move(aside, directory);

            clockMillis.set(10_000);
            write(chunks, 100, 1);

            assertThat(chunkFiles(firstDisk)).hasSize(1);
        }
    }

    private static Path onlyFile(Path disk) throws IOException {
        try (Stream<Path> files = Files.list(disk)) {
            return files.findFirst().orElseThrow(IOException::new);
        }
    }

    @Test
    void whenNoDiskHasRoom_allAreNamedWithTheOption() throws IOException {
        try (ChunkFiles chunks = chunks(firstDisk, secondDisk)) {
            Files.move(onlyFile(firstDisk), firstDisk.resolve("aside"));
            Files.move(onlyFile(secondDisk), secondDisk.resolve("aside"));

            assertThatThrownBy(() -> write(chunks, 5000, 1))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("No spill directory takes a chunk of 1048576 bytes")
                    .hasMessageContaining(firstDisk.toString())
                    .hasMessageContaining(secondDisk.toString())
                    .hasMessageContaining("state.backend.spillable.directories");
            assertThat(chunks.occupiedBytes()).isZero();
            assertThat(chunks.fileBytes()).isZero();
        }
    }

    @Test
    void afterTheEnd_anExtentMayStillBeGivenBack() throws IOException {
        ChunkFiles chunks = chunks(firstDisk);
        Extent extent = write(chunks, 100, 1);
        chunks.close();

        chunks.release(extent);
        chunks.close();

        assertThat(firstDisk).isEmptyDirectory();
    }

    @Test
    void aDirectory_isUsableAgainFromTheEndOfItsPauseOn() {
        SpillDirectory directory = new SpillDirectory(firstDisk);
        assertThat(directory.isUsable(Long.MIN_VALUE)).isTrue();

        directory.pause(500);

        assertThat(directory.isUsable(500)).isFalse();
        assertThat(directory.isUsable(10_499)).isFalse();
        assertThat(directory.isUsable(10_500)).isTrue();
        assertThat(directory.path()).isEqualTo(firstDisk);
    }
}
