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

import dev.dstl.log.api.TestRecord;
import java.io.IOException;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.apache.flink.runtime.state.KeyGroupRange;

/** Bytes that no encoder writes always fail with a {@code CorruptSegmentException}. */
class SegmentFuzzPropertyTest {

    private static final KeyGroupRange ALL = KeyGroupRange.of(0, 127);

    @Property
    void arbitraryBytesAreRefused(
            @ForAll @Size(max = 300) byte[] bytes, @ForAll @IntRange(max = 400) int offset) {
        assertThatThrownBy(() -> TestSegments.read(bytes, offset, ALL))
                .isInstanceOf(CorruptSegmentException.class);
        assertThatThrownBy(() -> TestSegments.inspect(bytes))
                .isInstanceOf(CorruptSegmentException.class);
    }

    /** Simulates a defective encoder: correct checksums over wrong content. */
    @Property
    void anIndexThatContradictsItselfIsRefusedOrTellsOfOtherRecordsOfTheSameFrame(
            @ForAll SegmentCodec codec, @ForAll long seed) throws IOException {
        Random random = new Random(seed);
        List<TestRecord> records = RecordArbitraries.records(random, 20, 40);
        EncodedSegment segment =
                TestSegments.encode(
                        new SegmentEncoder(codec, 128), Collections.singletonList(records));
        byte[] bytes = TestSegments.bytes(segment);
        int frame = (int) segment.frameOffset(0);
        int index = frame + SegmentFormat.FRAME_HEADER_BYTES;
        int indexLength = TestSegments.indexLength(bytes, frame);
        for (int change = 0; change <= random.nextInt(3); change++) {
            bytes[index + random.nextInt(indexLength)] = (byte) random.nextInt(256);
        }
        TestSegments.correctChecksums(bytes, frame);

        List<TestRecord> written = DeduplicationOracle.deduplicatedAndOrdered(records);
        try {
            assertThat(TestSegments.read(bytes, frame, ALL))
                    .hasSizeLessThanOrEqualTo(written.size());
        } catch (CorruptSegmentException expected) {
            assertThat(expected).hasMessageContaining("in-memory.seg");
        }
    }
}
