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

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.dstl.log.api.RecordKind;
import dev.dstl.log.api.TestRecord;
import dev.dstl.log.testing.FaultyStore;
import java.io.EOFException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.core.fs.FSDataInputStreamWrapper;
import org.apache.flink.core.fs.FSDataOutputStream;
import org.apache.flink.core.fs.FileSystem.WriteMode;
import org.apache.flink.core.fs.Path;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.runtime.state.filesystem.FileStateHandle;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Clients report a lost connection as the end of the file, which a segment's size disproves. */
@Timeout(60)
class LostConnectionTest {

    private static final KeyGroupRange ALL = KeyGroupRange.of(0, 127);

    /** No request is slow or hangs, so only lost connections are retried. */
    private static final long HOUR_MILLIS = TimeUnit.HOURS.toMillis(1);

    /**
     * Bytes of the segment's places before it ends: the header of the file, a frame, its blocks.
     */
    private static final int[] PLACES = {
        0,
        5,
        SegmentFormat.HEADER_BYTES,
        SegmentFormat.HEADER_BYTES + 10,
        SegmentFormat.HEADER_BYTES + SegmentFormat.FRAME_HEADER_BYTES,
        SegmentFormat.HEADER_BYTES + SegmentFormat.FRAME_HEADER_BYTES + 7,
        3_000,
        20_000,
        49_999
    };

    private final FaultyStore store = FaultyStore.create();
    private final Path path = new Path(store.basePath(), "1.seg");
    private final AtomicInteger retries = new AtomicInteger();
    private final AtomicInteger opened = new AtomicInteger();
    private final List<TestRecord> records = new ArrayList<>();
    private EncodedSegment encoded;
    private byte[] bytes;

    private enum Reader {
        RESTORE,
        COMPACTION
    }

    /** How the client reports that the connection is lost. */
    private enum Report {
        END_OF_FILE,
        EXCEPTION
    }

    static Stream<Arguments> losses() {
        return Stream.of(Reader.values())
                .flatMap(
                        reader ->
                                Stream.of(Report.values())
                                        .flatMap(
                                                report ->
                                                        IntStream.of(PLACES)
                                                                .mapToObj(
                                                                        place ->
                                                                                Arguments.of(
                                                                                        reader,
                                                                                        report,
                                                                                        place))));
    }

    @BeforeEach
    void write() throws IOException {
        Random random = new Random(5);
        for (int keyGroup = 0; keyGroup < 50; keyGroup++) {
            byte[] payload = new byte[1000];
            random.nextBytes(payload);
            records.add(
                    new TestRecord(
                            RecordKind.PUT, keyGroup, 1, 1, new byte[] {(byte) keyGroup}, payload));
        }
        encoded =
                TestSegments.encode(new SegmentEncoder(SegmentCodec.NONE, 1024), List.of(records));
        bytes = TestSegments.bytes(encoded);
        write(bytes);
    }

    private void write(byte[] content) throws IOException {
        try (FSDataOutputStream out = path.getFileSystem().create(path, WriteMode.OVERWRITE)) {
            out.write(content);
        }
    }

    @AfterEach
    void close() {
        store.close();
    }

    @ParameterizedTest
    @MethodSource("losses")
    void connectionThatIsLostOnce_isNotTakenForTheEndOfTheSegment(
            Reader reader, Report report, int place) throws IOException {
        assertThat(read(segment(1, report, place), session(reader))).isEqualTo(records);
        assertThat(opened).hasValue(2);
        assertThat(retries).hasValue(1);
    }

    @ParameterizedTest
    @EnumSource
    void connectionsThatAreAllLost_failTheRead_butTheSegmentIsNotDamaged(Report report) {
        ReadSession session = session(Reader.COMPACTION);
        StreamStateHandle segment = segment(Integer.MAX_VALUE, report, 3_000);
        assertThatThrownBy(() -> read(segment, session))
                .isInstanceOf(IOException.class)
                .isNotInstanceOf(CorruptSegmentException.class)
                .hasMessageContaining("Segment " + path + " cannot be read")
                .hasMessageContaining("the file ends after 3000 of " + bytes.length + " bytes");
        assertThat(opened).hasValue(4);
        assertThat(session.unreadable()).containsExactly(segment);
    }

    @ParameterizedTest
    @EnumSource
    void segmentThatIsTruncated_isDamaged_onceItWasReadAgain(Reader reader) throws IOException {
        write(Arrays.copyOf(bytes, SegmentFormat.HEADER_BYTES + 48));
        assertThatThrownBy(() -> read(new FileStateHandle(path, bytes.length), session(reader)))
                .isInstanceOf(CorruptSegmentException.class)
                .hasMessageContaining("Segment " + path + ", byte 12")
                .hasMessageContaining("expected a frame's header of 76 bytes")
                .hasMessageContaining("found the end of the file after 48 bytes")
                .hasMessageContaining("The file is damaged. Restore from another checkpoint");
        assertThat(retries).hasValue(3);
    }

    @Test
    void segmentThatIsTruncatedInABlock_isDamaged() throws IOException {
        write(Arrays.copyOf(bytes, 20_000));
        assertThatThrownBy(
                        () ->
                                read(
                                        new FileStateHandle(path, bytes.length),
                                        session(Reader.COMPACTION)))
                .isInstanceOf(CorruptSegmentException.class)
                .hasMessageContaining("expected a block of ")
                .hasMessageContaining("found the end of the file after ");
        assertThat(retries).hasValue(3);
    }

    @Test
    void segmentOfUnknownSize_isReadToItsEnd_andDamagedIfThatIsEarly() throws IOException {
        FileStateHandle segment = new FileStateHandle(path, 0);
        assertThat(read(segment, session(Reader.COMPACTION))).isEqualTo(records);
        write(Arrays.copyOf(bytes, 20_000));
        assertThatThrownBy(() -> read(segment, session(Reader.COMPACTION)))
                .isInstanceOf(CorruptSegmentException.class);
        assertThat(retries).hasValue(0);
    }

    private ReadSession session(Reader reader) {
        return reader == Reader.RESTORE
                ? ReadSession.ofRestore(
                        HOUR_MILLIS,
                        new AnswerTimes(HOUR_MILLIS, HOUR_MILLIS),
                        retries::incrementAndGet)
                : new ReadSession(4, 0, System::nanoTime, retries::incrementAndGet, () -> {});
    }

    /** The segment, whose first connections are lost. */
    private FileStateHandle segment(int lost, Report report, int place) {
        return new FileStateHandle(path, bytes.length) {
            private static final long serialVersionUID = 1L;

            @Override
            public FSDataInputStream openInputStream() throws IOException {
                FSDataInputStream stream = super.openInputStream();
                return opened.getAndIncrement() < lost ? new Lost(stream, report, place) : stream;
            }
        };
    }

    private List<TestRecord> read(StreamStateHandle handle, ReadSession session)
            throws IOException {
        try (SegmentReader reader = SegmentReader.open(handle, session);
                FrameCursor cursor = new FrameCursor()) {
            cursor.start(reader, reader.frameAt(encoded.frameOffset(0)), ALL);
            return TestRecord.readAll(cursor);
        }
    }

    /** Ends at a place. */
    private static final class Lost extends FSDataInputStreamWrapper {

        private final Report report;
        private final int place;

        private Lost(FSDataInputStream stream, Report report, int place) {
            super(stream);
            this.report = report;
            this.place = place;
        }

        @Override
        public int read() throws IOException {
            return getPos() < place ? super.read() : end();
        }

        @Override
        public int read(byte[] target, int offset, int length) throws IOException {
            int left = (int) (place - getPos());
            if (length > 0 && left <= 0) {
                return end();
            }
            return super.read(target, offset, Math.min(left, length));
        }

        @Override
        public long skip(long count) throws IOException {
            return super.skip(Math.max(0, Math.min(count, place - getPos())));
        }

        private int end() throws IOException {
            if (report == Report.EXCEPTION) {
                throw new EOFException("Premature end of body");
            }
            return -1;
        }
    }
}
