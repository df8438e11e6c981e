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
import dev.dstl.log.batch.ActiveBatch;
import dev.dstl.log.batch.LogBatch;
import dev.dstl.log.batch.PagePool;
import dev.dstl.log.batch.TestBatches;
import java.io.IOException;
import java.util.List;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SegmentEncoderTest {

    @ParameterizedTest
    @ValueSource(ints = {8, 64})
    void hotKey_hasOneRecordInTheFrame(int keyGroups) throws IOException {
        KeyGroupRange range = KeyGroupRange.of(0, keyGroups - 1);
        ActiveBatch batch = new ActiveBatch(TestBatches.LOG_ID, range, new PagePool(0));
        for (int i = 0; i < 100_000; i++) {
            boolean hot = i % 5 < 3;
            TestBatches.append(
                    batch,
                    hot
                            ? TestRecord.put(5, 1, "a", "value " + i)
                            : TestRecord.put(i % keyGroups, 1, "key " + i, "value " + i));
        }
        byte[] segment = encode(new SegmentEncoder(SegmentCodec.LZ4), batch.seal(0));

        assertThat(TestSegments.inspect(segment).recordCount()).isEqualTo(40_001);
        List<TestRecord> read = TestSegments.read(segment, SegmentFormat.HEADER_BYTES, range);
        assertThat(read).contains(TestRecord.put(5, 1, "a", "value 99997"));
    }

    private static byte[] encode(SegmentEncoder encoder, LogBatch... batches) {
        byte[] segment = TestSegments.bytes(encoder.encode(List.of(batches)));
        for (LogBatch batch : batches) {
            batch.release();
        }
        return segment;
    }
}
