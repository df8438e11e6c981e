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

package dev.dstl.log.replay;

import static dev.dstl.log.api.TestRecord.put;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.dstl.log.api.LogRecord;
import dev.dstl.log.api.RecordCursor;
import dev.dstl.log.api.TestRecord;
import dev.dstl.log.execution.DaemonThreads;
import dev.dstl.log.segment.CorruptSegmentException;
import dev.dstl.log.segment.EncodedSegment;
import dev.dstl.log.segment.ReadSession;
import dev.dstl.log.segment.SegmentCodec;
import dev.dstl.log.segment.TestSegments;
import dev.dstl.log.testing.UnstartableThread;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.core.fs.FSDataInputStreamWrapper;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;
import org.apache.flink.runtime.state.memory.ByteStreamStateHandle;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Reading with and without read-ahead. */
class ReadAheadTest extends DstlHandleReaderTest {

    private static final int SEGMENTS = 30;
    private static final EncodedSegment SEGMENT = segment(0);

    private static EncodedSegment segment(int number) {
        return TestSegments.encodeFrom(
                2L * number,
                SegmentCodec.NONE,
                Arrays.asList(put(1, 1, "a", "1"), put(9, 1, "b", "1")),
                Arrays.asList(put(1, 1, "a", "2")));
    }

    private ReadAheadBudget budget;

    @Override
    DstlHandleReader reader() {
        return readerWithin(1 << 20);
    }

    private DstlHandleReader readerWithin(long bytes) {
        budget = new ReadAheadBudget(bytes);
        return new DstlHandleReader(budget);
    }

    @AfterEach
    void nothingIsLeftInMemory() throws Exception {
        // A fetch that was interrupted gives its bytes back when it ends.
        while (budget.reservedBytes() != 0) {
            Thread.sleep(1);
        }
    }

    @Test
    void manySegments_comeInTheirOrder() throws Exception {
        assertThat(read(readerWithin(1 << 20), handles(null))).hasSize(2 * SEGMENTS);
    }

    @Test
    void whatThereIsNoRoomFor_isReadInItsTurn() throws Exception {
        List<TestRecord> expected = read(new DstlHandleReader(), handles(null));

        assertThat(read(readerWithin(0), handles(null))).isEqualTo(expected);
        assertThat(read(readerWithin(3 * SEGMENT.frameLength(0)), handles(null)))
                .isEqualTo(expected);
    }

    @Test
    void severalSegments_areFetchedAtATime() throws Exception {
        CountDownLatch together = new CountDownLatch(ReadAhead.SEGMENTS_AHEAD);

        assertThat(read(readerWithin(1 << 20), handles(together))).hasSize(2 * SEGMENTS);
    }

    @Test
    void damage_isReportedInItsTurn() throws Exception {
        List<StreamStateHandle> segments = handles(null);
        byte[] damaged = TestSegments.bytes(segment(3));
        damaged[(int) SEGMENT.frameOffset(1) - 1] ^= 1;
        segments.set(3, new ByteStreamStateHandle("damaged.seg", damaged));
        List<TestRecord> before = new ArrayList<>();

        assertThatThrownBy(
                        () -> {
                            try (RecordCursor cursor =
                                    readerWithin(1 << 20).open(handle(segments))) {
                                LogRecord record = new LogRecord();
                                while (cursor.next(record)) {
                                    before.add(TestRecord.copyOf(record));
                                }
                            }
                        })
                .isInstanceOf(CorruptSegmentException.class)
                .hasMessageContaining("damaged.seg");
        assertThat(before).hasSize(6);
    }

    @Test
    void cursorThatIsClosedEarly_doesNotWaitForAStoreThatHangs() throws Exception {
        CountDownLatch never = new CountDownLatch(Integer.MAX_VALUE);
        List<StreamStateHandle> segments = handles(never);
        segments.set(0, new ByteStreamStateHandle("0.seg", TestSegments.bytes(SEGMENT)));
        try (RecordCursor cursor = readerWithin(1 << 20).open(handle(segments))) {
            assertThat(cursor.next(new LogRecord())).isTrue();
        }
    }

    @Test
    @Timeout(60)
    void segmentWhoseStreamDoesNotClose_isReadWithoutWaitingForThat() throws Exception {
        CountDownLatch closing = new CountDownLatch(1);
        List<StreamStateHandle> segments = handles(null);
        for (int i = 0; i < ReadAhead.SEGMENTS_AHEAD - 1; i++) {
            segments.set(i, new UnclosingHandle(i, closing));
        }

        assertThat(read(readerWithin(1 << 20), segments)).hasSize(2 * SEGMENTS);

        assertThat(closing.getCount()).isEqualTo(1);
        closing.countDown();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 3})
    void segmentsForWhichNoThreadCanBeStarted_areReadInTheirTurn(int startable) throws Exception {
        List<TestRecord> expected = read(new DstlHandleReader(), handles(null));
        budget = new ReadAheadBudget(1 << 20);
        AtomicInteger left = new AtomicInteger(startable);
        ThreadFactory threads = new DaemonThreads("test");

        ReadAhead frames =
                new ReadAhead(
                        handle(handles(null)),
                        budget,
                        ReadSession.ofRestore(),
                        work ->
                                left.getAndDecrement() > 0
                                        ? threads.newThread(work)
                                        : new UnstartableThread(work));
        try (RecordCursor cursor = new HandleCursor(frames, KeyGroupRange.of(0, 8))) {
            assertThat(TestRecord.readAll(cursor)).isEqualTo(expected);
        }
    }

    private static List<TestRecord> read(DstlHandleReader reader, List<StreamStateHandle> segments)
            throws IOException {
        try (RecordCursor cursor = reader.open(handle(segments))) {
            return TestRecord.readAll(cursor);
        }
    }

    private static ChangelogStateHandleStreamImpl handle(List<StreamStateHandle> segments) {
        List<Tuple2<StreamStateHandle, Long>> positions = new ArrayList<>();
        for (StreamStateHandle segment : segments) {
            positions.add(Tuple2.of(segment, SEGMENT.frameOffset(0)));
            positions.add(Tuple2.of(segment, SEGMENT.frameOffset(1)));
        }
        return new ChangelogStateHandleStreamImpl(positions, KeyGroupRange.of(0, 8), 1, 1, "dstl");
    }

    /** Segments whose open returns once enough of them are being opened concurrently. */
    private static List<StreamStateHandle> handles(CountDownLatch together) {
        List<StreamStateHandle> handles = new ArrayList<>();
        for (int i = 0; i < SEGMENTS; i++) {
            handles.add(new GatedHandle(i + ".seg", TestSegments.bytes(segment(i)), together));
        }
        return handles;
    }

    /** A segment whose stream takes long to close. */
    private static final class UnclosingHandle extends ByteStreamStateHandle {
        private static final long serialVersionUID = 1L;
        private final transient CountDownLatch closing;

        UnclosingHandle(int number, CountDownLatch closing) {
            super(number + ".seg", TestSegments.bytes(segment(number)));
            this.closing = closing;
        }

        @Override
        public FSDataInputStream openInputStream() throws IOException {
            return new FSDataInputStreamWrapper(super.openInputStream()) {
                @Override
                public void close() throws IOException {
                    try {
                        closing.await();
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                        throw new InterruptedIOException();
                    }
                    super.close();
                }
            };
        }
    }

    private static final class GatedHandle extends ByteStreamStateHandle {
        private static final long serialVersionUID = 1L;
        private final transient CountDownLatch together;

        GatedHandle(String name, byte[] segment, CountDownLatch together) {
            super(name, segment);
            this.together = together;
        }

        @Override
        public FSDataInputStream openInputStream() throws IOException {
            if (together != null) {
                together.countDown();
                try {
                    together.await();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                    throw new InterruptedIOException();
                }
            }
            return super.openInputStream();
        }
    }
}
