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

import com.sun.management.ThreadMXBean;
import dev.dstl.log.api.TestRecord;
import dev.dstl.log.batch.ActiveBatch;
import dev.dstl.log.batch.LogBatch;
import dev.dstl.log.batch.PagePool;
import dev.dstl.log.batch.TestBatches;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.function.IntFunction;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class SegmentEncoderTest {

    /** Of about a thousand records. */
    private static final int BLOCK_BYTES = 1 << 17;

    private static final UUID NOISE = new UUID(0, 1);
    private static final UUID TEXT = new UUID(0, 2);

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

    @Test
    void changelogThatShrinks_isCompressed_thoughAnotherInTheSegmentDoesNot() {
        SegmentEncoder encoder = new SegmentEncoder(SegmentCodec.LZ4, BLOCK_BYTES);
        Random random = new Random(1);
        for (int segment = 0; segment < 40; segment++) {
            LogBatch noise = batch(NOISE, 7, key -> noise(random));
            LogBatch text = batch(TEXT, 1, key -> "text ".repeat(20));
            long textBytes = text.sizeBytes();
            EncodedSegment encoded = encoder.encode(List.of(noise, text));
            assertThat(encoded.frameLength(1)).as("segment %d", segment).isLessThan(textBytes / 2);
            noise.release();
            text.release();
        }
    }

    @Test
    void changelogThatDoesNotShrink_isTriedRarely_thoughAnotherInTheSegmentDoes() {
        CompressionTrials trials = new CompressionTrials();
        int tried = 0;
        for (int block = 0; block < 1_000; block++) {
            trials.of(TEXT).isDue();
            trials.of(TEXT).tried(true);
            if (trials.of(NOISE).isDue()) {
                trials.of(NOISE).tried(false);
                tried++;
            }
        }
        assertThat(tried).isLessThan(1_000 / CompressionTrials.MAX_UNTRIED + 6);
    }

    @Test
    void changelogsThatEnd_takeNoMemoryInTheEncoder() {
        CompressionTrials trials = new CompressionTrials();
        UUID used = new UUID(0, -1);
        CompressionTrials.Trials kept = trials.of(used);
        for (int i = 0; i < 10 * CompressionTrials.MAX_CHANGELOGS; i++) {
            trials.of(new UUID(0, i)).tried(true);
            assertThat(trials.of(used)).isSameAs(kept);
        }
        assertThat(trials.keptBytes()).isLessThan(200L * CompressionTrials.MAX_CHANGELOGS);
    }

    @ParameterizedTest
    @EnumSource
    void encodingABatchAsItIs_allocatesNoMoreThanItsSegment(SegmentCodec codec) {
        SegmentEncoder encoder = new SegmentEncoder(codec);
        LogBatch batch = batch(TEXT, 16, key -> "text ".repeat(4));
        EncodedSegment segment = encoder.encode(List.of(batch));
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long thread = Thread.currentThread().getId();
        long before = threads.getThreadAllocatedBytes(thread);
        for (int i = 0; i < 20; i++) {
            segment = encoder.encode(List.of(batch));
        }
        long allocated = (threads.getThreadAllocatedBytes(thread) - before) / 20;
        assertThat(allocated).as("bytes").isLessThan(segment.heldBytes() + batch.sizeBytes() / 10);
    }

    @Test
    void blocksOfASegment_stayAsTheyAre_whileTheEncoderEncodesOthers() {
        SegmentEncoder encoder = new SegmentEncoder(SegmentCodec.LZ4, BLOCK_BYTES, 1);
        Random random = new Random(1);
        List<EncodedSegment> segments = new ArrayList<>();
        List<byte[]> bytes = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            boolean shrinks = random.nextBoolean();
            LogBatch batch =
                    batch(
                            shrinks ? TEXT : NOISE,
                            1 + random.nextInt(40),
                            key -> shrinks ? "text ".repeat(20) : noise(random));
            segments.add(encoder.encode(List.of(batch)));
            bytes.add(TestSegments.bytes(segments.get(i)));
            batch.release();
        }
        for (int i = 0; i < segments.size(); i++) {
            assertThat(TestSegments.bytes(segments.get(i))).isEqualTo(bytes.get(i));
        }
    }

    private static String noise(Random random) {
        StringBuilder noise = new StringBuilder();
        for (int i = 0; i < 100; i++) {
            noise.append((char) random.nextInt(256));
        }
        return noise.toString();
    }

    /** Of distinct keys. */
    private static LogBatch batch(UUID logId, int blocks, IntFunction<String> payload) {
        List<TestRecord> records = new ArrayList<>();
        for (int key = 0; key < blocks * 1_000; key++) {
            records.add(TestRecord.put(key % 128, 1, "key " + key, payload.apply(key)));
        }
        return TestBatches.batch(logId, 0, records);
    }

    private static byte[] encode(SegmentEncoder encoder, LogBatch... batches) {
        byte[] segment = TestSegments.bytes(encoder.encode(List.of(batches)));
        for (LogBatch batch : batches) {
            batch.release();
        }
        return segment;
    }
}
