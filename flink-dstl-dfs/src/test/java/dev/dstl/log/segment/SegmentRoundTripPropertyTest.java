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
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import net.jqwik.api.Assume;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.apache.flink.runtime.state.KeyGroupRange;

class SegmentRoundTripPropertyTest {

    private static final KeyGroupRange ALL = KeyGroupRange.of(0, 127);

    @Property(tries = 300)
    void framesGiveBackTheCombinedRecordsOfTheirBatches(
            @ForAll SegmentCodec codec,
            @ForAll @IntRange(min = 1, max = 5) int batchCount,
            @ForAll @IntRange(min = 16, max = 3000) int blockBytes,
            @ForAll long seed)
            throws IOException {
        Random random = new Random(seed);
        List<List<TestRecord>> batches = randomBatches(random, batchCount);

        EncodedSegment segment =
                TestSegments.encode(new SegmentEncoder(codec, blockBytes), batches);
        byte[] bytes = TestSegments.bytes(segment);

        assertThat(segment.length()).isEqualTo(bytes.length);
        assertThat(segment.frameCount()).isEqualTo(batchCount);
        long recordCount = 0;
        for (int i = 0; i < batchCount; i++) {
            List<TestRecord> expected = DeduplicationOracle.deduplicatedAndOrdered(batches.get(i));
            assertThat(TestSegments.read(bytes, segment.frameOffset(i), ALL)).isEqualTo(expected);
            recordCount += expected.size();
        }
        SegmentInspection inspection = TestSegments.inspect(bytes);
        assertThat(inspection.recordCount()).isEqualTo(recordCount);
        assertThat(inspection.frames()).extracting(FrameHeader::sequence).hasSize(batchCount);
    }

    @Property(tries = 300)
    void aReaderOfSomeKeyGroupsGetsTheseAndWhatHasNoKeyGroup(
            @ForAll SegmentCodec codec,
            @ForAll @IntRange(min = 0, max = 5) int from,
            @ForAll @IntRange(min = 0, max = 5) int count,
            @ForAll @IntRange(min = 16, max = 3000) int blockBytes,
            @ForAll long seed)
            throws IOException {
        Random random = new Random(seed);
        List<TestRecord> records = randomBatches(random, 1).get(0);
        EncodedSegment segment =
                TestSegments.encode(
                        new SegmentEncoder(codec, blockBytes), Collections.singletonList(records));

        List<TestRecord> read =
                TestSegments.read(
                        TestSegments.bytes(segment),
                        segment.frameOffset(0),
                        KeyGroupRange.of(from, from + count));

        KeyGroupRange wanted = KeyGroupRange.of(from, from + count);
        assertThat(read)
                .isEqualTo(
                        DeduplicationOracle.deduplicatedAndOrdered(records).stream()
                                .filter(one -> one.keyGroup < 0 || wanted.contains(one.keyGroup))
                                .collect(Collectors.toList()));
    }

    @Property(tries = 300)
    void replayingCombinedRecordsIsReplayingAllRecords(@ForAll long seed) throws IOException {
        Random random = new Random(seed);
        List<TestRecord> first = RecordArbitraries.records(random, 1 + random.nextInt(60), 5);
        List<TestRecord> second = RecordArbitraries.records(random, 1 + random.nextInt(60), 5);
        EncodedSegment segment = TestSegments.encode(SegmentCodec.LZ4, first, second);
        byte[] bytes = TestSegments.bytes(segment);

        List<TestRecord> all = new ArrayList<>(first);
        all.addAll(second);
        List<TestRecord> deduplicated =
                new ArrayList<>(TestSegments.read(bytes, segment.frameOffset(0), ALL));
        deduplicated.addAll(TestSegments.read(bytes, segment.frameOffset(1), ALL));

        assertThat(DeduplicationOracle.replay(all, deduplicated))
                .isEqualTo(DeduplicationOracle.replay(all, all));
    }

    @Property(tries = 300)
    void framesOfSurveyedBatches_giveBackTheRecordsOrderedByKeyGroup_withOrWithoutObsoleteOnes(
            @ForAll SegmentCodec codec,
            @ForAll @IntRange(min = 1, max = 5) int batchCount,
            @ForAll @IntRange(min = 16, max = 3000) int blockBytes,
            @ForAll long seed)
            throws IOException {
        List<List<TestRecord>> batches = randomBatches(new Random(seed), batchCount);
        batches.forEach(batch -> batch.removeIf(one -> one.kind == RecordKind.DELETE_PREFIX));
        batches.removeIf(List::isEmpty);
        Assume.that(!batches.isEmpty());

        EncodedSegment segment =
                TestSegments.encode(new SegmentEncoder(codec, blockBytes, 1), batches);

        byte[] bytes = TestSegments.bytes(segment);
        for (int i = 0; i < batches.size(); i++) {
            assertThat(TestSegments.read(bytes, segment.frameOffset(i), ALL))
                    .isIn(
                            DeduplicationOracle.ordered(batches.get(i)),
                            DeduplicationOracle.deduplicatedAndOrdered(batches.get(i)));
        }
    }

    @Property(tries = 100)
    void batchOfWhichNothingIsObsolete_isEncodedToTheSameBytesWhetherItIsSurveyedOrNot(
            @ForAll SegmentCodec codec,
            @ForAll @IntRange(min = 16, max = 3000) int blockBytes,
            @ForAll long seed) {
        Random random = new Random(seed);
        List<TestRecord> batch = new ArrayList<>();
        int count = 1 + random.nextInt(300);
        for (int i = 0; i < count; i++) {
            int keyGroup = random.nextInt(RecordArbitraries.KEY_GROUPS + 1) - 1;
            String payload = "p".repeat(random.nextInt(40));
            batch.add(
                    keyGroup < 0
                            ? TestRecord.opaque(keyGroup, payload)
                            : TestRecord.put(keyGroup, random.nextInt(300), "key " + i, payload));
        }

        byte[] surveyed =
                TestSegments.bytes(
                        TestSegments.encode(
                                new SegmentEncoder(codec, blockBytes, 1), List.of(batch)));

        byte[] deduplicated =
                TestSegments.bytes(
                        TestSegments.encode(new SegmentEncoder(codec, blockBytes), List.of(batch)));
        assertThat(surveyed).isEqualTo(deduplicated);
    }

    private static List<List<TestRecord>> randomBatches(Random random, int count) {
        List<List<TestRecord>> batches = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            int maxPayload = random.nextInt(4) == 0 ? 5000 : 30;
            batches.add(RecordArbitraries.records(random, 1 + random.nextInt(80), maxPayload));
        }
        return batches;
    }
}
