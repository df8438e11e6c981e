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
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.flink.core.memory.MemorySegment;
import org.apache.flink.core.memory.MemorySegmentFactory;
import org.apache.flink.util.FileUtils;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ChunkFilesTest {

    private static final int CHUNK_BYTES = 1 << 20;

    @TempDir Path firstDisk;
    @TempDir Path secondDisk;
    private final AtomicLong clockMillis = new AtomicLong();

    private static MemorySegment filled(int length, int value) {
        byte[] bytes = new byte[length];
        Arrays.fill(bytes, (byte) value);
        return MemorySegmentFactory.wrap(bytes);
    }

    private static byte[] read(Extent extent, int length) {
        byte[] bytes = new byte[length];
        extent.segment().get(extent.offset(), bytes, 0, length);
        return bytes;
    }

    @Test
    void whatIsWritten_isReadThroughTheMapping() throws Exception {
        try (ChunkFiles chunks = chunks(firstDisk)) {
            Extent small = chunks.write(filled(100, 1), 100);
            Extent large = chunks.write(filled(300_000, 2), 300_000);
            Extent longerThanAChunk = chunks.write(filled(CHUNK_BYTES * 2 + 5, 3), CHUNK_BYTES * 2);

            assertThat(read(small, 100)).containsOnly(1);
            assertThat(read(large, 300_000)).containsOnly(2);
            assertThat(read(longerThanAChunk, CHUNK_BYTES * 2)).containsOnly(3);
        }
    }

    @Test
    void spaceGivenBack_isUsedAgain_andEmptyFilesGo() throws Exception {
        try (ChunkFiles chunks = chunks(firstDisk)) {
            for (int i = 0; i < 100; i++) {
                chunks.release(chunks.write(filled(200_000, i), 200_000));
            }
            assertThat(chunks.fileBytes()).isEqualTo(CHUNK_BYTES);

            Extent large = chunks.write(filled(CHUNK_BYTES * 3, 1), CHUNK_BYTES * 3);
            assertThat(chunks.fileBytes()).isEqualTo(4L * CHUNK_BYTES);
            chunks.release(large);

            assertThat(chunks.fileBytes()).isEqualTo(CHUNK_BYTES);
            assertThat(chunks.occupiedBytes()).isZero();
        }
    }

    @Test
    @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void aDiskThatHangsAsAFileIsMade_holdsUpNoMetrics() throws Exception {
        CountDownLatch making = new CountDownLatch(1);
        CountDownLatch disk = new CountDownLatch(1);
        ChunkFiles chunks =
                new ChunkFiles(
                        new SpillDirectories(Collections.singletonList(firstDisk)),
                        CHUNK_BYTES,
                        () -> {
                            making.countDown();
                            await(disk);
                            return 0;
                        });
        Thread writer = new Thread(() -> write(chunks));
        writer.start();
        making.await();

        assertThat(chunks.fileBytes()).isZero();
        assertThat(chunks.occupiedBytes()).isZero();

        disk.countDown();
        writer.join();
        assertThat(chunks.fileBytes()).isEqualTo(CHUNK_BYTES);
        chunks.close();
    }

    private static void await(CountDownLatch event) {
        try {
            event.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void write(ChunkFiles chunks) {
        try {
            Extent unused = chunks.write(filled(100, 1), 100);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void aWriteThatFailsForAnotherReasonThanTheDisk_occupiesNothing() throws Exception {
        try (ChunkFiles chunks = chunks(firstDisk)) {
            assertThatThrownBy(() -> chunks.write(filled(10, 1), 100))
                    .isInstanceOf(IndexOutOfBoundsException.class);

            assertThat(chunks.occupiedBytes()).isZero();
        }
    }

    @Test
    void aFileThatNobodyNeeds_isDeletedByAnotherThread_whichMayBeGone() throws Exception {
        List<Runnable> deletions = new ArrayList<>();
        AtomicBoolean isShutDown = new AtomicBoolean();
        ChunkFiles chunks =
                new ChunkFiles(
                        new SpillDirectories(Collections.singletonList(firstDisk)),
                        CHUNK_BYTES,
                        clockMillis::get,
                        deletion -> {
                            if (isShutDown.get()) {
                                throw new RejectedExecutionException();
                            }
                            deletions.add(deletion);
                        });
        chunks.release(chunks.write(filled(CHUNK_BYTES * 2, 1), CHUNK_BYTES * 2));

        assertThat(chunkFiles()).hasSize(1);
        assertThat(chunks.fileBytes()).isZero();
        deletions.remove(0).run();
        assertThat(chunkFiles()).isEmpty();

        Extent early = chunks.write(filled(CHUNK_BYTES * 2, 1), CHUNK_BYTES * 2);
        Extent late = chunks.write(filled(CHUNK_BYTES * 2, 1), CHUNK_BYTES * 2);
        chunks.release(early);
        isShutDown.set(true);
        chunks.release(late);
        assertThat(chunkFiles()).hasSize(1);

        chunks.close();
        assertThat(firstDisk).isEmptyDirectory();
        deletions.remove(0).run();
    }

    private List<Path> chunkFiles() throws IOException {
        try (Stream<Path> files = Files.walk(firstDisk)) {
            return files.filter(file -> file.getFileName().toString().startsWith("chunk-"))
                    .collect(Collectors.toList());
        }
    }

    @Test
    void aDiskThatRefuses_isLeftAloneWhileAnotherTakesTheBytes() throws Exception {
        try (ChunkFiles chunks = chunks(firstDisk, secondDisk)) {
            breakDisk(firstDisk);

            for (int i = 0; i < 20; i++) {
                assertThat(read(chunks.write(filled(200_000, i), 200_000), 200_000))
                        .containsOnly(i);
            }
        }
    }

    @Test
    void noDiskThatTakesTheBytes_isAnErrorThatNamesThem_andNothingIsOccupied() throws Exception {
        try (ChunkFiles chunks = chunks(firstDisk)) {
            breakDisk(firstDisk);

            assertThatThrownBy(() -> chunks.write(filled(100, 1), 100))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining(firstDisk.toString())
                    .hasMessageContaining("Free disk space");
            assertThat(chunks.occupiedBytes()).isZero();
        }
    }

    @Test
    void whatAFileSystemRefusesFor_isInTheMessage_alsoWhileItIsNotAskedAgain() throws Exception {
        try (ChunkFiles chunks =
                new ChunkFiles(
                        new SpillDirectories(Collections.singletonList(firstDisk)),
                        CHUNK_BYTES,
                        clockMillis::get,
                        Runnable::run,
                        (directory, number, length) -> {
                            throw new FileSystemException(
                                    "chunk-" + number, null, "Too many open files");
                        })) {
            for (int i = 0; i < 2; i++) {
                assertThatThrownBy(() -> write(chunks))
                        .hasRootCauseInstanceOf(IOException.class)
                        .hasMessageContaining("chunk-0: Too many open files")
                        .hasMessageContaining("if files or mappings are too many, raise the limits")
                        .hasMessageContaining("state.backend.spillable.chunk-size");
            }
        }
    }

    @Test
    void anInterruptedThread_writesAndReadsAllTheSame_andStaysInterrupted() throws Exception {
        try (ChunkFiles chunks = chunks(firstDisk)) {
            for (int i = 0; i < 10; i++) {
                Thread.currentThread().interrupt();
                Extent extent = chunks.write(filled(10_000, i), 10_000);
                ByteBuffer bytes = ByteBuffer.allocate(10_000);
                extent.read(bytes, 0);

                assertThat(Thread.interrupted()).isTrue();
                assertThat(bytes.array()).containsOnly(i);
                assertThat(read(extent, 10_000)).containsOnly(i);
            }
        }
    }

    @Test
    void anInterruptWhileAFileIsMade_isNoFaultOfTheDisk() throws Exception {
        AtomicInteger interrupts = new AtomicInteger(2);
        SpillDirectories directories = new SpillDirectories(Arrays.asList(firstDisk, secondDisk));
        try (ChunkFiles chunks =
                new ChunkFiles(
                        directories,
                        CHUNK_BYTES,
                        () -> {
                            // Asked just before a file is made.
                            if (interrupts.getAndDecrement() > 0) {
                                Thread.currentThread().interrupt();
                            }
                            return 0;
                        })) {
            Extent first = chunks.write(filled(700_000, 1), 700_000);
            assertThat(Thread.interrupted()).isTrue();
            Extent second = chunks.write(filled(700_000, 2), 700_000);
            assertThat(Thread.interrupted()).isTrue();

            assertThat(read(first, 700_000)).containsOnly(1);
            assertThat(read(second, 700_000)).containsOnly(2);
            assertThat(directories.directories()).allMatch(directory -> directory.isUsable(0));
        }
    }

    @Test
    void aFileOfWhichAWriteFailed_takesNoMore_andWhatItHasStaysReadable() throws Exception {
        try (ChunkFiles chunks = chunks(firstDisk)) {
            Extent before = chunks.write(filled(10_000, 1), 10_000);
            // Closes the channel, as an interrupt does that comes during a write.
            before.chunk.closeChannel();
            clockMillis.addAndGet(60_000);
            Extent after = null;
            for (int i = 0; i < 3 && after == null; i++) {
                try {
                    after = chunks.write(filled(10_000, 2), 10_000);
                } catch (IOException e) {
                    clockMillis.addAndGet(60_000);
                }
            }

            assertThat(after.file()).isNotEqualTo(before.file());
            assertThat(read(before, 10_000)).containsOnly(1);
            ByteBuffer bytes = ByteBuffer.allocate(10_000);
            before.read(bytes, 0);
            assertThat(bytes.array()).containsOnly(1);
            assertThat(read(after, 10_000)).containsOnly(2);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aChannelClosedByAnInterruptedReader_isNoFaultOfTheDisk(boolean openedAgain)
            throws Exception {
        try (ChunkFiles chunks = chunks(firstDisk)) {
            Extent before = chunks.write(filled(10_000, 1), 10_000);
            before.chunk.closeChannel();
            if (openedAgain) {
                before.read(ByteBuffer.allocate(10_000), 0);
            }

            Extent after = chunks.write(filled(10_000, 2), 10_000);

            assertThat(read(before, 10_000)).containsOnly(1);
            assertThat(read(after, 10_000)).containsOnly(2);
        }
    }

    @Test
    void aFileThatCannotBeDeleted_keepsNoWriteFromTheNextDisk() throws Exception {
        try (ChunkFiles chunks = chunks(firstDisk, secondDisk)) {
            Extent onFirstDisk = chunks.write(filled(100, 1), 100);
            chunks.release(onFirstDisk);
            makeUndeletable(onFirstDisk.file());
            onFirstDisk.chunk.closeChannel();

            Extent onSecondDisk = chunks.write(filled(100, 2), 100);

            assertThat(read(onSecondDisk, 100)).containsOnly(2);
            assertThat(chunks.fileBytes()).isEqualTo(CHUNK_BYTES);
        }
    }

    @Test
    void close_goesOnWithTheOtherFiles_ifOneCannotBeDeleted() throws Exception {
        ChunkFiles chunks = chunks(firstDisk, secondDisk);
        for (int i = 0; i < 4; i++) {
            makeUndeletable(chunks.write(filled(700_000, i), 700_000).file());
        }

        chunks.close();

        assertThat(firstDisk).isEmptyDirectory();
        assertThat(secondDisk).isEmptyDirectory();
    }

    /** As on a disk that has become read-only. */
    private static void makeUndeletable(Path file) throws IOException {
        Files.delete(file);
        Files.createDirectories(file.resolve("a directory that is not empty"));
    }

    private ChunkFiles chunks(Path... disks) throws IOException {
        return new ChunkFiles(
                new SpillDirectories(Arrays.asList(disks)), CHUNK_BYTES, clockMillis::get);
    }

    /** Takes the backend's directory away: whatever is created there fails. */
    private static void breakDisk(Path disk) throws IOException {
        Path directory;
        try (Stream<Path> files = Files.list(disk)) {
            directory = files.findFirst().orElseThrow(IOException::new);
        }
        FileUtils.deleteDirectory(directory.toFile());
    }
}
