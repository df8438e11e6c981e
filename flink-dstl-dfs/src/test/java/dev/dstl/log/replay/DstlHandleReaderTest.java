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

import static dev.dstl.log.api.TestRecord.meta;
import static dev.dstl.log.api.TestRecord.opaque;
import static dev.dstl.log.api.TestRecord.put;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.dstl.log.api.LogRecord;
import dev.dstl.log.api.RecordCursor;
import dev.dstl.log.api.TestRecord;
import dev.dstl.log.batch.LogBatch;
import dev.dstl.log.batch.TestBatches;
import dev.dstl.log.segment.CorruptSegmentException;
import dev.dstl.log.segment.EncodedSegment;
import dev.dstl.log.segment.SegmentCodec;
import dev.dstl.log.segment.SegmentEncoder;
import dev.dstl.log.segment.TestSegments;
import dev.dstl.log.testing.ForeignException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;
import org.apache.flink.runtime.state.changelog.StateChange;
import org.apache.flink.runtime.state.filesystem.FileStateHandle;
import org.apache.flink.runtime.state.memory.ByteStreamStateHandle;
import org.apache.flink.util.CloseableIterator;
import org.apache.flink.util.InstantiationUtil;
import org.apache.flink.util.SerializedThrowable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How handles are read. {@link ReadAheadTest} runs the same tests with read-ahead. */
class DstlHandleReaderTest {

    private static final UUID OTHER_LOG = new UUID(1, 2);
    private static final long FRAME_OFFSET = segmentOf(OTHER_LOG, 0).frameOffset(0);
    private final DstlHandleReader reader = reader();

    DstlHandleReader reader() {
        return new DstlHandleReader();
    }

    @TempDir private Path directory;

    private static ChangelogStateHandleStreamImpl handle(
            String storage, KeyGroupRange keyGroups, List<Tuple2<StreamStateHandle, Long>> places) {
        return new ChangelogStateHandleStreamImpl(places, keyGroups, 1, 1, storage);
    }

    private List<TestRecord> read(ChangelogStateHandleStreamImpl handle) throws IOException {
        try (RecordCursor cursor = reader.open(handle)) {
            return TestRecord.readAll(cursor);
        }
    }

    private StreamStateHandle file(String name, EncodedSegment segment) throws IOException {
        Path path = directory.resolve(name);
        Files.write(path, TestSegments.bytes(segment));
        return new FileStateHandle(
                new org.apache.flink.core.fs.Path(path.toUri()), segment.length());
    }

    @Test
    void segmentsAreReadInTheOrderOfTheHandleAndNarrowedToItsKeyGroups() throws IOException {
        EncodedSegment first =
                TestSegments.encode(
                        SegmentCodec.LZ4,
                        Arrays.asList(meta(1, "state"), put(1, 1, "a", "1"), put(9, 1, "b", "1")),
                        Arrays.asList(put(2, 1, "a", "2")));
        EncodedSegment second =
                TestSegments.encodeFrom(2, SegmentCodec.NONE, Arrays.asList(put(1, 1, "a", "3")));
        StreamStateHandle firstFile = file("first.seg", first);
        StreamStateHandle secondInMemory = TestSegments.inMemory(TestSegments.bytes(second));

        List<TestRecord> records =
                read(
                        handle(
                                "dstl",
                                KeyGroupRange.of(1, 8),
                                Arrays.asList(
                                        Tuple2.of(firstFile, first.frameOffset(0)),
                                        Tuple2.of(firstFile, first.frameOffset(1)),
                                        Tuple2.of(secondInMemory, second.frameOffset(0)))));

        assertThat(records)
                .containsExactly(
                        meta(1, "state"),
                        put(1, 1, "a", "1"),
                        put(2, 1, "a", "2"),
                        put(1, 1, "a", "3"));
    }

    @Test
    void readThatFailsForAMoment_isTriedAgain_whichIsCounted() throws IOException {
        EncodedSegment segment =
                TestSegments.encode(SegmentCodec.NONE, Arrays.asList(put(1, 1, "a", "1")));
        AtomicInteger failures = new AtomicInteger(2);
        StreamStateHandle unsteady =
                new ByteStreamStateHandle("unsteady.seg", TestSegments.bytes(segment)) {
                    private static final long serialVersionUID = 1L;

                    @Override
                    public Optional<byte[]> asBytesIfInMemory() {
                        return Optional.empty();
                    }

                    @Override
                    public FSDataInputStream openInputStream() throws IOException {
                        if (failures.getAndDecrement() > 0) {
                            throw new IOException("503, SlowDown");
                        }
                        return super.openInputStream();
                    }
                };
        List<Tuple2<StreamStateHandle, Long>> place =
                Arrays.asList(Tuple2.of(unsteady, segment.frameOffset(0)));
        AtomicInteger retries = new AtomicInteger();

        try (RecordCursor cursor =
                reader.open(
                        handle("dstl", KeyGroupRange.of(0, 7), place), retries::incrementAndGet)) {
            assertThat(TestRecord.readAll(cursor)).containsExactly(put(1, 1, "a", "1"));
        }
        assertThat(retries).hasValue(2);
    }

    @ParameterizedTest
    @ValueSource(strings = {"dstl", "filesystem"})
    void whatAPluginThrows_isSaid_butDoesNotLeaveTheLog(String storage) throws Exception {
        ForeignException failure = new ForeignException("403, AccessDenied");
        List<StreamStateHandle> handles =
                Arrays.asList(
                        new FailingHandle(failure, true),
                        new FailingHandle(new IllegalStateException(failure), true),
                        new FailingHandle(failure, false),
                        new FailingHandle(new IllegalStateException(failure), false));
        for (StreamStateHandle failing : handles) {
            // Two, so that a reader that fetches ahead does.
            List<Tuple2<StreamStateHandle, Long>> places =
                    Arrays.asList(
                            Tuple2.of(failing, 16L),
                            Tuple2.of(TestSegments.inMemory(new byte[100]), 16L));
            assertThatThrownBy(() -> read(handle(storage, KeyGroupRange.of(0, 9), places)))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("403, AccessDenied")
                    .satisfies(
                            thrown ->
                                    assertThat(sent(thrown))
                                            .as("what the JobManager gets")
                                            .isNotInstanceOf(SerializedThrowable.class));
        }
    }

    private static Throwable sent(Throwable thrown) throws Exception {
        return InstantiationUtil.clone(new SerializedThrowable(thrown))
                .deserializeError(DstlHandleReaderTest.class.getClassLoader());
    }

    @Test
    @Timeout(60)
    void framesOfOneSegmentAreReadFromOneStream() throws Exception {
        EncodedSegment segment =
                TestSegments.encode(
                        SegmentCodec.NONE,
                        Arrays.asList(put(1, 1, "a", "1")),
                        Arrays.asList(put(1, 1, "a", "2")));
        CountingHandle counting = new CountingHandle(TestSegments.bytes(segment));
        List<TestRecord> records =
                read(
                        handle(
                                "dstl",
                                KeyGroupRange.of(0, 8),
                                Arrays.asList(
                                        Tuple2.of(counting, segment.frameOffset(0)),
                                        Tuple2.of(counting, segment.frameOffset(1)))));
        assertThat(records).hasSize(2);
        assertThat(counting.opened).isEqualTo(1);
        // Read-ahead does not wait until its streams are closed.
        while (counting.closed.get() == 0) {
            Thread.sleep(1);
        }
        assertThat(counting.closed).hasValue(1);
    }

    @Test
    void segmentsThatCannotBeClosed_areReadToTheirEnd() throws IOException {
        List<Tuple2<StreamStateHandle, Long>> places = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            EncodedSegment segment =
                    TestSegments.encodeFrom(
                            i, SegmentCodec.NONE, Arrays.asList(put(1, 1, "a", "1")));
            byte[] bytes = TestSegments.bytes(segment);
            places.add(Tuple2.of(new UnclosableHandle(i + ".seg", bytes), segment.frameOffset(0)));
        }

        assertThat(read(handle("dstl", KeyGroupRange.of(0, 8), places)))
                .hasSize(3)
                .containsOnly(put(1, 1, "a", "1"));
    }

    @Test
    void segmentsOfFlinkThatCannotBeClosed_areReadToTheirEnd() throws IOException {
        byte[] uncompressed = {0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 4, 0, 0, 0, 1, 'a'};
        List<Tuple2<StreamStateHandle, Long>> places = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            places.add(Tuple2.of(new UnclosableHandle(i + ".dstl", uncompressed), 0L));
        }

        assertThat(read(handle("filesystem", KeyGroupRange.of(0, 8), places)))
                .hasSize(3)
                .containsOnly(opaque(4, "a"));
    }

    @Test
    void segmentOfAnotherChangelog_isRefused() throws IOException {
        StreamStateHandle first = file("1.seg", segmentOf(TestBatches.LOG_ID, 1));
        StreamStateHandle other = file("2.seg", segmentOf(OTHER_LOG, 2));
        assertThatThrownBy(() -> read(oneFrameEach(KeyGroupRange.of(0, 8), first, other)))
                .isInstanceOf(CorruptSegmentException.class)
                .hasMessageContaining("2.seg, byte " + FRAME_OFFSET)
                .hasMessageContaining(
                        "expected a frame of changelog "
                                + TestBatches.LOG_ID
                                + " after sequence number 1")
                .hasMessageContaining(
                        "found one of changelog "
                                + OTHER_LOG
                                + ", sequence number 2, key groups 0 to 127");
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2})
    void segmentThatIsNotTheNext_isRefused(long second) throws IOException {
        StreamStateHandle first = file("1.seg", segmentOf(TestBatches.LOG_ID, 2));
        StreamStateHandle before = file("2.seg", segmentOf(TestBatches.LOG_ID, second));
        assertThatThrownBy(() -> read(oneFrameEach(KeyGroupRange.of(0, 8), first, before)))
                .isInstanceOf(CorruptSegmentException.class)
                .hasMessageContaining("2.seg")
                .hasMessageContaining("after sequence number 2")
                .hasMessageContaining("sequence number " + second + ",");
    }

    @Test
    void segmentOfOtherKeyGroups_isRefused() throws IOException {
        StreamStateHandle file = file("1.seg", segmentOf(TestBatches.LOG_ID, 1));
        assertThat(read(oneFrameEach(KeyGroupRange.of(127, 130), file))).isEmpty();
        assertThatThrownBy(() -> read(oneFrameEach(KeyGroupRange.of(128, 130), file)))
                .isInstanceOf(CorruptSegmentException.class)
                .hasMessageContaining("expected a frame of a changelog with key groups of 128 to")
                .hasMessageContaining("key groups 0 to 127");
    }

    private static EncodedSegment segmentOf(UUID changelog, long sequence) {
        LogBatch batch = TestBatches.batch(changelog, sequence, Arrays.asList(put(1, 1, "a", "1")));
        try {
            return new SegmentEncoder(SegmentCodec.NONE).encode(List.of(batch));
        } finally {
            batch.release();
        }
    }

    private static ChangelogStateHandleStreamImpl oneFrameEach(
            KeyGroupRange keyGroups, StreamStateHandle... segments) {
        List<Tuple2<StreamStateHandle, Long>> places = new ArrayList<>();
        for (StreamStateHandle segment : segments) {
            places.add(Tuple2.of(segment, FRAME_OFFSET));
        }
        return handle("dstl", keyGroups, places);
    }

    @Test
    void aHandleOfNoSegmentsHasNoRecords() throws IOException {
        assertThat(read(handle("dstl", KeyGroupRange.of(0, 8), new ArrayList<>()))).isEmpty();
    }

    @Test
    void opaqueRecordsComeBackAsTheChangesTheyWere() throws Exception {
        List<StateChange> changes =
                changes(Arrays.asList(opaque(-1, "metadata"), opaque(4, "change"), opaque(4, "")));
        assertThat(changes)
                .extracting(StateChange::getKeyGroup)
                .containsExactly(StateChange.META_KEY_GROUP, 4, 4);
        assertThat(changes)
                .extracting(change -> new String(change.getChange(), StandardCharsets.US_ASCII))
                .containsExactly("metadata", "change", "");
    }

    @Test
    void otherRecordsComeBackEncodedAsChanges() throws Exception {
        List<StateChange> changes =
                changes(Arrays.asList(meta(7, "state"), put(4, 7, "key", "value")));
        assertThat(changes).hasSize(2);
        LogRecord record = new LogRecord();
        List<TestRecord> decoded = new ArrayList<>();
        for (StateChange change : changes) {
            byte[] bytes = change.getChange();
            record.wrap(change.getKeyGroup(), bytes, 0, bytes.length);
            decoded.add(TestRecord.copyOf(record));
        }
        assertThat(decoded).containsExactly(meta(7, "state"), put(4, 7, "key", "value"));
    }

    private List<StateChange> changes(List<TestRecord> records) throws Exception {
        EncodedSegment segment = TestSegments.encode(SegmentCodec.LZ4, records);
        StreamStateHandle inMemory = TestSegments.inMemory(TestSegments.bytes(segment));
        List<StateChange> changes = new ArrayList<>();
        ChangelogStateHandleStreamImpl handle =
                handle(
                        "dstl",
                        KeyGroupRange.of(0, 8),
                        Arrays.asList(Tuple2.of(inMemory, segment.frameOffset(0))));
        CloseableIterator<StateChange> iterator = reader.getChanges(handle);
        try {
            iterator.forEachRemaining(changes::add);
        } finally {
            iterator.close();
        }
        return changes;
    }

    @Test
    void aHandleOfAnotherStorageIsRefusedByName() {
        assertThatThrownBy(
                        () ->
                                reader.open(
                                        handle(
                                                "elsewhere",
                                                KeyGroupRange.of(0, 8),
                                                new ArrayList<>())))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("written by the storage 'elsewhere'")
                .hasMessageContaining("read with 'dstl'")
                .hasMessageContaining("Restore with the release that wrote the checkpoint");
    }

    @Test
    void aDamagedSegmentFailsTheIterationWithFileAndOffset() throws Exception {
        EncodedSegment segment =
                TestSegments.encode(SegmentCodec.NONE, Arrays.asList(put(1, 1, "a", "1")));
        byte[] bytes = TestSegments.bytes(segment);
        bytes[(int) (segment.frameOffset(0) + segment.frameLength(0)) - 1] ^= 1;
        ChangelogStateHandleStreamImpl handle =
                handle(
                        "dstl",
                        KeyGroupRange.of(0, 8),
                        Arrays.asList(
                                Tuple2.of(TestSegments.inMemory(bytes), segment.frameOffset(0))));
        CloseableIterator<StateChange> iterator = reader.getChanges(handle);
        try {
            assertThatThrownBy(iterator::hasNext)
                    .isInstanceOf(UncheckedIOException.class)
                    .hasMessageContaining("in-memory.seg")
                    .hasMessageContaining("a block with CRC32C");
        } finally {
            iterator.close();
        }
    }
}
