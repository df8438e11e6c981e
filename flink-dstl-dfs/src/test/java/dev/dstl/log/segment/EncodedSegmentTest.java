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

import dev.dstl.log.api.TestRecord;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class EncodedSegmentTest {

    @ParameterizedTest
    @ValueSource(ints = {1, 7, 1_000, 1 << 16, 1 << 24})
    void readInPieces_itIsWhatIsWritten(int pieceBytes) {
        List<List<TestRecord>> batches = new ArrayList<>();
        for (int batch = 0; batch < 3; batch++) {
            List<TestRecord> records = new ArrayList<>();
            for (int i = 0; i < 200; i++) {
                records.add(TestRecord.put(i % 128, 1, "key " + i, ("value " + i).repeat(batch)));
            }
            batches.add(records);
        }
        EncodedSegment segment =
                TestSegments.encode(new SegmentEncoder(SegmentCodec.NONE), batches);
        ByteArrayOutputStream read = new ByteArrayOutputStream();
        byte[] piece = new byte[pieceBytes];
        while (read.size() < segment.length()) {
            int bytes = segment.read(read.size(), piece);
            assertThat(bytes).isPositive();
            read.write(piece, 0, bytes);
        }
        assertThat(read.toByteArray()).isEqualTo(TestSegments.bytes(segment));
    }
}
