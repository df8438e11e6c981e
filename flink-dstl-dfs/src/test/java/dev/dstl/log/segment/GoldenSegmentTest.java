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

import static dev.dstl.log.api.TestRecord.meta;
import static dev.dstl.log.api.TestRecord.opaque;
import static dev.dstl.log.api.TestRecord.put;
import static org.assertj.core.api.Assertions.assertThat;

import dev.dstl.log.api.RecordKind;
import dev.dstl.log.api.TestRecord;
import dev.dstl.log.batch.LogBatch;
import dev.dstl.log.batch.TestBatches;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.junit.jupiter.api.Test;

/**
 * Files of format version 1 as they were released. They never change: a release that cannot read
 * them cannot restore its users' checkpoints.
 */
class GoldenSegmentTest {

    private static final KeyGroupRange ALL = KeyGroupRange.of(0, 127);
    private static final UUID OTHER_LOG = new UUID(1, 2);

    /** Several blocks, all kinds, records without key group, one record larger than a block. */
    private static final List<TestRecord> FIRST =
            Arrays.asList(
                    meta(300, "registration of a state"),
                    put(3, 300, "key", "obsolete"),
                    TestRecord.of(RecordKind.APPEND, 127, 1, "list", "", "element"),
                    TestRecord.of(RecordKind.DELETE_PREFIX, 3, 2, "map", "", ""),
                    TestRecord.of(RecordKind.PUT, 3, 2, "map", "key", "value"),
                    put(3, 300, "key", "newest"),
                    TestRecord.of(RecordKind.DELETE, 64, 300, "gone", "", ""),
                    put(65, 300, "large", "0123456789".repeat(20)),
                    put(66, 300, "incompressible", noise(200)));

    private static final List<TestRecord> SECOND =
            Arrays.asList(opaque(5, "bytes of a foreign wrapper"), opaque(-1, "its metadata"));

    private static String noise(int length) {
        StringBuilder noise = new StringBuilder();
        long state = 1;
        for (int i = 0; i < length; i++) {
            state = state * 0x5851_F42D_4C95_7F2DL + 1;
            noise.append((char) (state >>> 56));
        }
        return noise.toString();
    }

    private static EncodedSegment encode(SegmentCodec codec) {
        List<LogBatch> batches =
                Arrays.asList(TestBatches.batch(7, FIRST), TestBatches.batch(OTHER_LOG, 0, SECOND));
        return new SegmentEncoder(codec, 128).encode(batches);
    }

    private static byte[] golden(String name) throws IOException {
        try (InputStream file = GoldenSegmentTest.class.getResourceAsStream("/golden/" + name)) {
            return file.readAllBytes();
        }
    }

    @Test
    void theEncoderStillWritesVersion1ByteForByte() throws IOException {
        assertThat(TestSegments.bytes(encode(SegmentCodec.NONE)))
                .isEqualTo(golden("version-1-none.seg"));
    }

    /** Compressed bytes may differ between releases of the compressor, so contents are compared. */
    @Test
    void theEncoderStillWritesWhatVersion1CompressedHolds() throws IOException {
        EncodedSegment segment = encode(SegmentCodec.LZ4);
        assertHoldsTheRecords(TestSegments.bytes(segment));
    }

    @Test
    void version1IsStillReadable() throws IOException {
        assertHoldsTheRecords(golden("version-1-none.seg"));
    }

    @Test
    void version1CompressedIsStillReadable() throws IOException {
        byte[] segment = golden("version-1-lz4.seg");
        assertHoldsTheRecords(segment);
        assertThat(TestSegments.inspect(segment).frames().get(0))
                .satisfies(
                        frame -> {
                            List<Byte> codecs = new ArrayList<>();
                            for (int block = 0; block < frame.blockCount(); block++) {
                                codecs.add(frame.blockCodec(block));
                            }
                            assertThat(codecs)
                                    .contains(SegmentCodec.NONE.code(), SegmentCodec.LZ4.code());
                        });
    }

    private static void assertHoldsTheRecords(byte[] segment) throws IOException {
        List<FrameHeader> frames = TestSegments.inspect(segment).frames();
        assertThat(frames).hasSize(2);
        assertThat(frames.get(0).logId()).isEqualTo(TestBatches.LOG_ID);
        assertThat(frames.get(0).sequence()).isEqualTo(7);
        assertThat(frames.get(0).fromKeyGroup()).isZero();
        assertThat(frames.get(0).toKeyGroup()).isEqualTo(128);
        assertThat(frames.get(1).logId()).isEqualTo(OTHER_LOG);
        assertThat(frames.get(1).sequence()).isZero();
        assertThat(TestSegments.read(segment, frames.get(0).offset(), ALL))
                .isEqualTo(DeduplicationOracle.deduplicatedAndOrdered(FIRST));
        assertThat(TestSegments.read(segment, frames.get(1).offset(), ALL))
                .isEqualTo(DeduplicationOracle.ordered(SECOND));
    }
}
