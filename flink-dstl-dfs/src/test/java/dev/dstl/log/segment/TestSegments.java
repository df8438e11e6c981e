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

import static dev.dstl.log.api.TestRecord.readAll;

import dev.dstl.log.api.TestRecord;
import dev.dstl.log.batch.LogBatch;
import dev.dstl.log.batch.TestBatches;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.memory.ByteStreamStateHandle;

/** Segments of given records, for tests. */
public final class TestSegments {

    private TestSegments() {}

    /** One frame per list of records, with sequence numbers from 0. */
    @SafeVarargs
    public static EncodedSegment encode(SegmentCodec codec, List<TestRecord>... batches) {
        List<List<TestRecord>> list = new ArrayList<>();
        for (List<TestRecord> batch : batches) {
            list.add(batch);
        }
        return encode(new SegmentEncoder(codec), list);
    }

    static EncodedSegment encode(SegmentEncoder encoder, List<List<TestRecord>> batches) {
        List<LogBatch> sealed = new ArrayList<>();
        for (List<TestRecord> records : batches) {
            sealed.add(TestBatches.batch(sealed.size(), records));
        }
        EncodedSegment segment = encoder.encode(sealed);
        sealed.forEach(LogBatch::release);
        return segment;
    }

    public static byte[] bytes(EncodedSegment segment) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try {
            segment.writeTo(bytes);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
        return bytes.toByteArray();
    }

    static List<TestRecord> read(byte[] segment, long offset, KeyGroupRange keyGroups)
            throws IOException {
        try (SegmentReader reader = SegmentReader.open(inMemory(segment));
                FrameCursor cursor = new FrameCursor()) {
            cursor.start(reader, reader.frameAt(offset), keyGroups);
            return readAll(cursor);
        }
    }

    static SegmentInspection inspect(byte[] segment) throws IOException {
        return SegmentInspection.inspect(
                "inspected.seg", inMemory(segment).openInputStream(), segment.length);
    }

    public static ByteStreamStateHandle inMemory(byte[] segment) {
        return new ByteStreamStateHandle("in-memory.seg", segment);
    }
}
