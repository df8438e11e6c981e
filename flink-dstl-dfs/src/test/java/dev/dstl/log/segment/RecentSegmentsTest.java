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

import dev.dstl.log.api.RecordKind;
import dev.dstl.log.api.TestRecord;
import dev.dstl.log.memory.JobMemory;
import dev.dstl.log.memory.MemoryUse;
import dev.dstl.log.memory.ProcessMemory;
import dev.dstl.log.metrics.DstlMetrics;
import dev.dstl.log.testing.RecordedMetrics;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.runtime.state.memory.ByteStreamStateHandle;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class RecentSegmentsTest {

    private static final KeyGroupRange ALL = KeyGroupRange.of(0, 7);

    private final RecordedMetrics recorded = new RecordedMetrics();
    private final DstlMetrics metrics = new DstlMetrics(recorded);
    private final ProcessMemory process = new ProcessMemory();
    private final JobMemory job = process.join(1 << 20);
    private final List<TestRecord> records = records();
    private final EncodedSegment encoded =
            TestSegments.encode(new SegmentEncoder(SegmentCodec.NONE, 512), List.of(records));
    private final long bytes = encoded.heldBytes();
    private final RecentSegments segments = new RecentSegments(16 * bytes, process, metrics);
    private final CountedOriginal original = new CountedOriginal(TestSegments.bytes(encoded));

    @AfterEach
    void nothingStaysReserved() {
        segments.close();
        assertThat(segments.keptBytes()).isZero();
        assertThat(process.reservedBytes(MemoryUse.IDLE)).isZero();
        job.close();
    }

    @Test
    void keptSegment_isReadInsteadOfTheOriginal_andCounted() throws Exception {
        RecentSegment segment = durable();
        assertThat(read(segment.orElse(original))).isEqualTo(records);
        assertThat(original.opened).isZero();
        assertThat(recorded.count("numberOfRecentSegmentReads")).isEqualTo(1);
        assertThat(process.reservedBytes(MemoryUse.IDLE)).isEqualTo(bytes);
    }

    @Test
    void segmentThatIsNotKeptAnyMore_isReadFromTheOriginal() throws Exception {
        StreamStateHandle handle = durable().orElse(original);
        segments.drop();
        assertThat(read(handle)).isEqualTo(records);
        assertThat(original.opened).isEqualTo(1);
        assertThat(recorded.count("numberOfRecentSegmentMisses")).isEqualTo(1);
    }

    @Test
    void segmentThatIsDroppedWhileItIsRead_isReadToItsEndFromTheOriginal() throws Exception {
        StreamStateHandle handle = durable().orElse(original);
        try (SegmentReader reader = SegmentReader.open(handle);
                FrameCursor cursor = new FrameCursor()) {
            cursor.start(reader, reader.frameAt(encoded.frameOffset(0)), ALL);
            segments.drop();
            assertThat(TestRecord.readAll(cursor)).isEqualTo(records);
        }
        assertThat(original.opened).isEqualTo(1);
    }

    /** Read from memory first, then from the local disk, then from the store. */
    @Test
    void copyThatFailsAfterTheSegmentWasDropped_isLeftForTheStore() throws Exception {
        byte[] damaged = TestSegments.bytes(encoded);
        damaged[damaged.length / 2] ^= 1;
        List<String> failed = new ArrayList<>();
        SegmentCopy onDisk =
                new SegmentCopy(
                        new ByteStreamStateHandle("damaged", damaged),
                        original,
                        () -> failed.add("copy"));
        StreamStateHandle handle = durable().orElse(onDisk);
        assertThat(read(handle)).isEqualTo(records);
        assertThat(failed).isEmpty();
        segments.drop();
        assertThat(read(handle)).isEqualTo(records);
        assertThat(failed).containsExactly("copy");
        assertThat(original.opened).isEqualTo(1);
    }

    @Test
    void moreSegmentsThanFit_keepTheNewest() throws Exception {
        List<RecentSegment> written = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            written.add(durable());
        }
        assertThat(segments.keptBytes()).isEqualTo(16 * bytes);
        for (RecentSegment segment : written) {
            assertThat(read(segment.orElse(original))).isEqualTo(records);
        }
        assertThat(original.opened).isEqualTo(4);
        assertThat(recorded.count("numberOfRecentSegmentMisses")).isEqualTo(4);
    }

    @Test
    void segmentOfWhichTooFewFit_isNotKept() {
        RecentSegments few = new RecentSegments(15 * bytes, process, metrics);
        few.open().durable(encoded);
        assertThat(few.keptBytes()).isZero();
        assertThat(new RecentSegments(0, process, metrics).open()).isNull();
    }

    @Test
    void memoryThatOthersNeed_isGivenUp_andNotTakenAgain() {
        job.addCache(segments::drop);
        durable();
        job.reserve(MemoryUse.IN_FLIGHT, 1 << 20);
        assertThat(segments.keptBytes()).isZero();
        durable();
        assertThat(segments.keptBytes()).isZero();
        job.release(MemoryUse.IN_FLIGHT, 1 << 20);
        durable();
        assertThat(segments.keptBytes()).isEqualTo(bytes);
    }

    @Test
    void releasedSegment_isNotKept_whetherItWasDurableBefore_orNot() {
        durable().release();
        assertThat(segments.keptBytes()).isZero();
        RecentSegment abandoned = segments.open();
        abandoned.release();
        abandoned.durable(encoded);
        assertThat(segments.keptBytes()).isZero();
    }

    @Test
    void segmentThatIsDurableAfterTheJobEnded_isNotKept() {
        segments.close();
        durable();
        assertThat(segments.keptBytes()).isZero();
    }

    private RecentSegment durable() {
        RecentSegment segment = segments.open();
        segment.durable(encoded);
        return segment;
    }

    private List<TestRecord> read(StreamStateHandle handle) throws IOException {
        try (SegmentReader reader = SegmentReader.open(handle);
                FrameCursor cursor = new FrameCursor()) {
            cursor.start(reader, reader.frameAt(encoded.frameOffset(0)), ALL);
            return TestRecord.readAll(cursor);
        }
    }

    private static List<TestRecord> records() {
        Random random = new Random(3);
        List<TestRecord> records = new ArrayList<>();
        for (int keyGroup = 0; keyGroup < 8; keyGroup++) {
            byte[] payload = new byte[400];
            random.nextBytes(payload);
            byte[] recordKey = {(byte) keyGroup};
            records.add(new TestRecord(RecordKind.PUT, keyGroup, 1, 1, recordKey, payload));
        }
        return records;
    }

    /** A segment in the store. */
    private static final class CountedOriginal extends ByteStreamStateHandle {
        private static final long serialVersionUID = 1L;

        private int opened;

        private CountedOriginal(byte[] bytes) {
            super("original", bytes);
        }

        @Override
        public FSDataInputStream openInputStream() throws IOException {
            opened++;
            return super.openInputStream();
        }
    }
}
