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
import static dev.dstl.log.api.TestRecord.put;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.dstl.log.api.TestRecord;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Whatever happens to the bytes of a segment, a reader never returns records that were not written.
 */
class SegmentCorruptionTest {

    private static final KeyGroupRange ALL = KeyGroupRange.of(0, 127);
    private static final List<TestRecord> FIRST =
            Arrays.asList(meta(1, "registration"), put(3, 1, "key", "vvvvvvvvvvvvvvvvvvvvvvvvvv"));
    private static final List<TestRecord> SECOND =
            Arrays.asList(put(5, 1, "key 2", "wwwwwwwwwwwwwwwwwwwwwwwwwww"), put(9, 1, "k", "v"));

    @ParameterizedTest
    @EnumSource
    void aSegmentCutAnywhereIsReadRightOrRefused(SegmentCodec codec) {
        EncodedSegment segment = TestSegments.encode(codec, FIRST, SECOND);
        byte[] bytes = TestSegments.bytes(segment);
        for (int length = 0; length < bytes.length; length++) {
            byte[] cut = Arrays.copyOf(bytes, length);
            String what = "cut to " + length;
            boolean[] expected = {
                length >= segment.frameOffset(0) + segment.frameLength(0),
                length >= segment.frameOffset(1) + segment.frameLength(1)
            };
            assertThat(isReadable(cut, segment.frameOffset(0), FIRST, what)).isEqualTo(expected[0]);
            assertThat(isReadable(cut, segment.frameOffset(1), SECOND, what))
                    .isEqualTo(expected[1]);
            assertInspectionFails(cut, what);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aFlippedBitAnywhereIsHarmlessOrRefused(SegmentCodec codec) {
        EncodedSegment segment = TestSegments.encode(codec, FIRST, SECOND);
        byte[] bytes = TestSegments.bytes(segment);
        for (int bit = 0; bit < 8 * bytes.length; bit++) {
            byte[] flipped = bytes.clone();
            int at = bit / 8;
            flipped[at] ^= (byte) (1 << (bit % 8));
            String what = "bit " + bit % 8 + " of byte " + at + " flipped";
            assertThat(isReadable(flipped, segment.frameOffset(0), FIRST, what))
                    .as(what)
                    .isEqualTo(!isInFrame(segment, 0, at));
            assertThat(isReadable(flipped, segment.frameOffset(1), SECOND, what))
                    .as(what)
                    .isEqualTo(!isInFrame(segment, 1, at));
            assertInspectionFails(flipped, what);
        }
    }

    @ParameterizedTest
    @EnumSource
    void anOffsetThatPointsBesideAFrameIsRefused(SegmentCodec codec) {
        EncodedSegment segment = TestSegments.encode(codec, FIRST, SECOND);
        byte[] bytes = TestSegments.bytes(segment);
        for (int offset = 0; offset < bytes.length + 100; offset++) {
            if (offset != segment.frameOffset(0) && offset != segment.frameOffset(1)) {
                long wrong = offset;
                assertThatThrownBy(() -> TestSegments.read(bytes, wrong, ALL))
                        .isInstanceOf(CorruptSegmentException.class)
                        .hasMessageContaining("in-memory.seg")
                        .hasMessageContaining("byte " + offset)
                        .hasMessageContaining("a frame");
            }
        }
    }

    private static boolean isInFrame(EncodedSegment segment, int frame, int at) {
        long start = segment.frameOffset(frame);
        return at >= start && at < start + segment.frameLength(frame);
    }

    private static boolean isReadable(
            byte[] bytes, long offset, List<TestRecord> expected, String what) {
        try {
            assertThat(TestSegments.read(bytes, offset, ALL)).as(what).isEqualTo(expected);
            return true;
        } catch (CorruptSegmentException e) {
            assertThat(e)
                    .as(what)
                    .hasMessageContaining("in-memory.seg")
                    .hasMessageContaining("expected " + e.expected() + ", found " + e.found())
                    .hasMessageContaining("estore");
            return false;
        } catch (IOException e) {
            throw new AssertionError(what, e);
        }
    }

    private static void assertInspectionFails(byte[] bytes, String what) {
        assertThatThrownBy(() -> TestSegments.inspect(bytes))
                .as(what)
                .isInstanceOf(CorruptSegmentException.class)
                .hasMessageStartingWith("Segment inspected.seg, byte ");
    }
}
