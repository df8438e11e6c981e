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
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.zip.CRC32C;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.memory.ByteStreamStateHandle;

/** Segments of given records, for tests. */
public final class TestSegments {

    /** Where the checksums of index and header lie in a frame, see {@link SegmentFormat}. */
    private static final int CHECKSUMS = SegmentFormat.FRAME_HEADER_BYTES - 2 * Integer.BYTES;

    /** Where the stored bytes of all blocks lie in a frame. */
    private static final int STORED_BYTES = 48;

    private TestSegments() {}

    /** One frame per list of records, with sequence numbers from 0. */
    @SafeVarargs
    public static EncodedSegment encode(SegmentCodec codec, List<TestRecord>... batches) {
        return encodeFrom(0, codec, batches);
    }

    /** One frame per list of records, with consecutive sequence numbers. */
    @SafeVarargs
    public static EncodedSegment encodeFrom(
            long sequence, SegmentCodec codec, List<TestRecord>... batches) {
        List<List<TestRecord>> list = new ArrayList<>();
        for (List<TestRecord> batch : batches) {
            list.add(batch);
        }
        return encode(new SegmentEncoder(codec), sequence, list);
    }

    static EncodedSegment encode(SegmentEncoder encoder, List<List<TestRecord>> batches) {
        return encode(encoder, 0, batches);
    }

    static EncodedSegment encode(
            SegmentEncoder encoder, long sequence, List<List<TestRecord>> batches) {
        List<LogBatch> sealed = new ArrayList<>();
        for (List<TestRecord> records : batches) {
            sealed.add(TestBatches.batch(sequence + sealed.size(), records));
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

    /**
     * Returns what a defective encoder writes: a segment whose first frame has correct checksums
     * over bytes that are no records.
     *
     * @param segment whose first frame has one block
     */
    public static byte[] withoutRecords(byte[] segment) {
        byte[] bytes = segment.clone();
        ByteBuffer fields = ByteBuffer.wrap(bytes);
        int frame = SegmentFormat.HEADER_BYTES;
        int block = frame + SegmentFormat.FRAME_HEADER_BYTES + indexLength(bytes, frame);
        int blockLength = (int) fields.getLong(frame + STORED_BYTES);
        Arrays.fill(bytes, block, block + blockLength, (byte) -1);
        fields.putInt(block - Integer.BYTES, checksum(bytes, block, blockLength));
        correctChecksums(bytes, frame);
        return bytes;
    }

    /**
     * Returns a segment that names another codec, with correct checksums.
     *
     * @param segment whose first frame has one block of fewer than 128 bytes
     */
    static byte[] withCodec(byte[] segment, byte codec) {
        byte[] bytes = segment.clone();
        int frame = SegmentFormat.HEADER_BYTES;
        int block = frame + SegmentFormat.FRAME_HEADER_BYTES + indexLength(bytes, frame);
        bytes[block - Integer.BYTES - 2] = codec;
        correctChecksums(bytes, frame);
        return bytes;
    }

    /**
     * Returns a segment whose first record is of another kind, with correct checksums.
     *
     * @param segment whose first frame has one block, of fewer than 128 bytes and uncompressed
     */
    static byte[] withRecordKind(byte[] segment, byte kind) {
        byte[] bytes = segment.clone();
        ByteBuffer fields = ByteBuffer.wrap(bytes);
        int frame = SegmentFormat.HEADER_BYTES;
        int block = frame + SegmentFormat.FRAME_HEADER_BYTES + indexLength(bytes, frame);
        bytes[block + 1] = kind;
        int blockLength = (int) fields.getLong(frame + STORED_BYTES);
        fields.putInt(block - Integer.BYTES, checksum(bytes, block, blockLength));
        correctChecksums(bytes, frame);
        return bytes;
    }

    /** Returns the bytes of a frame's index, which follows its header. */
    static int indexLength(byte[] bytes, int frame) {
        return ByteBuffer.wrap(bytes).getInt(frame + CHECKSUMS - Integer.BYTES);
    }

    /** Writes the checksums of a frame's index and header anew. */
    static void correctChecksums(byte[] bytes, int frame) {
        ByteBuffer fields = ByteBuffer.wrap(bytes);
        int index = frame + SegmentFormat.FRAME_HEADER_BYTES;
        int ofHeader = frame + CHECKSUMS + Integer.BYTES;
        fields.putInt(frame + CHECKSUMS, checksum(bytes, index, indexLength(bytes, frame)));
        fields.putInt(ofHeader, checksum(bytes, frame, ofHeader - frame));
    }

    private static int checksum(byte[] bytes, int offset, int length) {
        CRC32C checksum = new CRC32C();
        checksum.update(bytes, offset, length);
        return (int) checksum.getValue();
    }

    public static ByteStreamStateHandle inMemory(byte[] segment) {
        return new ByteStreamStateHandle("in-memory.seg", segment);
    }
}
