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

package dev.dstl.log.segment;

import static dev.dstl.log.api.TestRecord.put;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.dstl.log.api.LogRecord;
import dev.dstl.log.api.RecordKind;
import dev.dstl.log.api.TestRecord;
import dev.dstl.log.batch.ActiveBatch;
import dev.dstl.log.batch.PagePool;
import dev.dstl.log.batch.TestBatches;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.core.fs.FSDataInputStreamWrapper;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.filesystem.FileStateHandle;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SegmentReaderTest {

    private static final KeyGroupRange ALL = KeyGroupRange.of(0, 127);

    @TempDir private Path directory;

    private FileStateHandle file(byte[] content) throws IOException {
        Path path = directory.resolve("1.seg");
        Files.write(path, content);
        return new FileStateHandle(new org.apache.flink.core.fs.Path(path.toUri()), content.length);
    }

    private static byte[] segment() {
        return TestSegments.bytes(
                TestSegments.encode(
                        SegmentCodec.LZ4, Collections.singletonList(put(1, 2, "key", "value"))));
    }

    @Test
    void aSegmentInAFileReadsLikeOneInMemory() throws IOException {
        try (SegmentReader reader = SegmentReader.open(file(segment()));
                FrameCursor cursor = new FrameCursor()) {
            cursor.start(reader, reader.frameAt(SegmentFormat.HEADER_BYTES), ALL);
            assertThat(TestRecord.readAll(cursor)).containsExactly(put(1, 2, "key", "value"));
        }
    }

    @Test
    void streamThatCannotBeClosed_leavesNoThread() throws Exception {
        FileStateHandle file = file(segment());
        AtomicReference<Thread> requests = new AtomicReference<>();
        FileStateHandle unclosable =
                new FileStateHandle(file.getFilePath(), file.getStateSize()) {
                    private static final long serialVersionUID = 1L;

                    @Override
                    public FSDataInputStream openInputStream() throws IOException {
                        requests.set(Thread.currentThread());
                        return new UnclosableStream(super.openInputStream());
                    }
                };
        SegmentReader reader = SegmentReader.open(unclosable);
        assertThatThrownBy(reader::close).isInstanceOf(IOException.class);

        requests.get().join(10_000);
        assertThat(requests.get().isAlive()).isFalse();
    }

    private static final class UnclosableStream extends FSDataInputStreamWrapper {

        private UnclosableStream(FSDataInputStream stream) {
            super(stream);
        }

        @Override
        public void close() throws IOException {
            super.close();
            throw new IOException("Connection reset while closing");
        }
    }

    @Test
    void stream_isClosed_thoughSoManyReadsHangThatNoThreadClosesIt() throws Exception {
        FileStateHandle file = file(segment());
        CountDownLatch closed = new CountDownLatch(1);
        FileStateHandle watched =
                new FileStateHandle(file.getFilePath(), file.getStateSize()) {
                    private static final long serialVersionUID = 1L;

                    @Override
                    public FSDataInputStream openInputStream() throws IOException {
                        return new FSDataInputStreamWrapper(super.openInputStream()) {
                            @Override
                            public void close() throws IOException {
                                super.close();
                                closed.countDown();
                            }
                        };
                    }
                };
        SegmentReader reader = SegmentReader.open(watched);
        List<Object> hanging = new ArrayList<>();
        for (int i = 0; i < HangingReads.MAX; i++) {
            Object read = new Object();
            hanging.add(read);
            HangingReads.ofProcess().abandoned(read);
        }
        try {
            assertThatThrownBy(reader::close).hasMessageContaining("hang in reads");
        } finally {
            hanging.forEach(HangingReads.ofProcess()::returned);
        }
        assertThat(closed.await(10, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void anEmptyFile_isNamedAsNoSegment() throws IOException {
        assertRefused(new byte[0], 12)
                .hasMessageContaining("1.seg, byte 0: expected the magic bytes of a DSTL segment")
                .hasMessageContaining("found an empty file")
                .hasMessageContaining("Restore from another checkpoint");
    }

    @Test
    void aForeignFile_isNamedAsNoSegment() throws IOException {
        byte[] content =
                "PNG, or whatever else was put here. "
                        .repeat(10)
                        .getBytes(StandardCharsets.US_ASCII);
        assertRefused(content, 12)
                .hasMessageContaining("1.seg, byte 0: expected the magic bytes of a DSTL segment")
                .hasMessageContaining("found 50 4e 47 2c 20 6f 72 20")
                .hasMessageContaining("something else was written under its name");
    }

    @Test
    void aFileCutInsideAFrame_isNamedWithWhatIsMissing() throws IOException {
        byte[] content = segment();
        assertRefused(Arrays.copyOf(content, 60), 12)
                .hasMessageContaining("1.seg, byte 12: expected a frame's header of 76 bytes")
                .hasMessageContaining("found the end of the file after 48 bytes")
                .hasMessageContaining("The file is damaged. Restore from another checkpoint");
    }

    @Test
    void anOffsetBehindTheEndOfAFile_isNamedWithWhatIsMissing() throws IOException {
        assertRefused(segment(), 5000)
                .hasMessageContaining("1.seg, byte 5000: expected a frame's header of 76 bytes")
                .hasMessageContaining("found the end of the file after 0 bytes");
    }

    @Test
    void aSegmentOfAnotherVersion_namesBothVersionsAndTheWayOut() throws IOException {
        byte[] content = segment();
        content[11] = 9;
        content[SegmentFormat.HEADER_BYTES + 7] = 9;
        assertRefused(content, 12)
                .hasMessageContaining("expected segment format version 1, found version 9")
                .hasMessageContaining("restore it with that release");
    }

    @Test
    void codecThatOnlyANewerReleaseKnows_isNotReportedAsDamage() {
        byte[] content = smallSegment();
        assertThatThrownBy(
                        () ->
                                TestSegments.read(
                                        TestSegments.withCodec(content, (byte) 2),
                                        SegmentFormat.HEADER_BYTES,
                                        ALL))
                .isInstanceOf(CorruptSegmentException.class)
                .hasMessage(
                        "Segment ByteStreamStateHandle{handleName='in-memory.seg',"
                                + " dataBytes=174}, byte 97: expected a block of 13 plain bytes, found"
                                + " codec 2 and 13 stored bytes. The checksums match, so the file"
                                + " is probably not damaged. If a newer release wrote this"
                                + " checkpoint, restore it with that release. Otherwise restore"
                                + " from another checkpoint or savepoint.");
    }

    @Test
    void recordKindThatOnlyANewerReleaseKnows_isNotReportedAsDamage() {
        byte[] content = smallSegment();
        assertThatThrownBy(
                        () ->
                                TestSegments.read(
                                        TestSegments.withRecordKind(content, (byte) 7),
                                        SegmentFormat.HEADER_BYTES,
                                        ALL))
                .isInstanceOf(CorruptSegmentException.class)
                .hasMessageContaining("found Unknown record kind 7, expected 1 to 6. The checksums")
                .hasMessageContaining("If a newer release wrote this checkpoint")
                .hasMessageNotContaining("The file is damaged");
    }

    private static byte[] smallSegment() {
        return TestSegments.bytes(
                TestSegments.encode(SegmentCodec.NONE, List.of(put(1, 2, "key", "value"))));
    }

    private org.assertj.core.api.AbstractThrowableAssert<?, ? extends Throwable> assertRefused(
            byte[] content, long offset) throws IOException {
        FileStateHandle handle = file(content);
        return assertThatThrownBy(
                        () -> {
                            try (SegmentReader reader = SegmentReader.open(handle)) {
                                reader.frameAt(offset);
                            }
                        })
                .isInstanceOf(CorruptSegmentException.class)
                .satisfies(
                        e -> {
                            CorruptSegmentException corrupt = (CorruptSegmentException) e;
                            assertThat(corrupt.file()).isEqualTo(handle.getFilePath().toString());
                        });
    }

    @Test
    void aDeletedSegment_isNamedWithWhatToDo() throws IOException {
        FileStateHandle handle = file(segment());
        Files.delete(directory.resolve("1.seg"));
        assertThatThrownBy(() -> SegmentReader.open(handle))
                .isInstanceOf(FileNotFoundException.class)
                .hasMessageContaining("Segment " + handle.getFilePath() + " is gone")
                .hasMessageContaining("restore from another checkpoint or savepoint");
    }

    @Test
    void aStoreThatOpensLazilyAndThenFails_isNamedToo() {
        SegmentReader gone =
                new SegmentReader(
                        "s3://b/1.seg", failing(new FileNotFoundException("404")), Long.MAX_VALUE);
        assertThatThrownBy(() -> gone.frameAt(12))
                .isInstanceOf(FileNotFoundException.class)
                .hasMessageContaining("Segment s3://b/1.seg is gone (FileNotFoundException: 404)");
        SegmentReader broken =
                new SegmentReader("s3://b/1.seg", failing(new IOException("503")), Long.MAX_VALUE);
        assertThatThrownBy(() -> broken.frameAt(12))
                .isInstanceOf(IOException.class)
                .isNotInstanceOf(CorruptSegmentException.class)
                .hasMessage("Segment s3://b/1.seg cannot be read: IOException: 503");
    }

    private static FSDataInputStream failing(IOException failure) {
        return new FSDataInputStream() {
            @Override
            public void seek(long position) {}

            @Override
            public long getPos() {
                return 0;
            }

            @Override
            public int read() throws IOException {
                throw failure;
            }

            @Override
            public int read(byte[] target, int offset, int length) throws IOException {
                throw failure;
            }
        };
    }

    @Test
    void onlyBlocksOfWantedKeyGroupsAreRead() throws IOException {
        List<TestRecord> records = new ArrayList<>();
        Random random = new Random(5);
        for (int keyGroup = 0; keyGroup < 100; keyGroup++) {
            byte[] payload = new byte[1000];
            random.nextBytes(payload);
            records.add(
                    new TestRecord(
                            RecordKind.PUT, keyGroup, 1, 1, new byte[] {(byte) keyGroup}, payload));
        }
        EncodedSegment segment =
                TestSegments.encode(
                        new SegmentEncoder(SegmentCodec.NONE, 1024),
                        Collections.singletonList(records));
        byte[] bytes = TestSegments.bytes(segment);
        CountingStream stream = new CountingStream(TestSegments.inMemory(bytes).openInputStream());

        try (SegmentReader reader = new SegmentReader("counted.seg", stream, Long.MAX_VALUE);
                FrameCursor cursor = new FrameCursor()) {
            FrameHeader frame = reader.frameAt(segment.frameOffset(0));
            long headerBytes = stream.bytes;
            cursor.start(reader, frame, KeyGroupRange.of(50, 51));
            assertThat(TestRecord.readAll(cursor)).isEqualTo(records.subList(50, 52));
            assertThat(stream.bytes - headerBytes).isLessThanOrEqualTo(3 * 1024);
        }
        assertThat(stream.seeks).as("to the frame, to the first block").isEqualTo(2);
    }

    private static final class CountingStream extends FSDataInputStream {
        private final FSDataInputStream stream;
        private long bytes;
        private int seeks;

        CountingStream(FSDataInputStream stream) {
            this.stream = stream;
        }

        @Override
        public void seek(long position) throws IOException {
            seeks++;
            stream.seek(position);
        }

        @Override
        public long skip(long count) throws IOException {
            seeks++;
            return stream.skip(count);
        }

        @Override
        public long getPos() throws IOException {
            return stream.getPos();
        }

        @Override
        public int read() throws IOException {
            bytes++;
            return stream.read();
        }

        @Override
        public int read(byte[] target, int offset, int length) throws IOException {
            int read = stream.read(target, offset, length);
            bytes += Math.max(read, 0);
            return read;
        }
    }

    @Test
    void aValueOfManyMegabytesSurvives() throws IOException {
        byte[] payload = new byte[40 << 20];
        new Random(3).nextBytes(payload);
        ActiveBatch active =
                new ActiveBatch(TestBatches.LOG_ID, TestBatches.KEY_GROUPS, new PagePool(0));
        active.append(RecordKind.PUT, 4, 1, payload, 10, 20, payload.length);
        byte[] bytes =
                TestSegments.bytes(
                        new SegmentEncoder(SegmentCodec.LZ4)
                                .encode(Collections.singletonList(active.seal(0))));
        try (SegmentReader reader = SegmentReader.open(TestSegments.inMemory(bytes));
                FrameCursor cursor = new FrameCursor()) {
            cursor.start(reader, reader.frameAt(SegmentFormat.HEADER_BYTES), ALL);
            LogRecord record = new LogRecord();
            assertThat(cursor.next(record)).isTrue();
            int from = record.keyOffset();
            assertThat(
                            Arrays.equals(
                                    payload,
                                    0,
                                    payload.length,
                                    record.buffer(),
                                    from,
                                    from + payload.length))
                    .isTrue();
            assertThat(cursor.next(record)).isFalse();
        }
    }

    @Test
    void aSegmentCanBeWrittenMoreThanOnceAndAfterItsBatchesWereReleased() {
        EncodedSegment segment =
                TestSegments.encode(
                        SegmentCodec.LZ4, Collections.singletonList(put(1, 2, "key", "value")));
        assertThat(TestSegments.bytes(segment)).isEqualTo(TestSegments.bytes(segment));
    }

    @Test
    void anEncoderNeedsABatch() {
        assertThatThrownBy(
                        () -> new SegmentEncoder(SegmentCodec.NONE).encode(Collections.emptyList()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("A segment needs at least one batch");
    }
}
