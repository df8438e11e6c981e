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

package dev.dstl.log.commit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.dstl.log.api.TestRecord;
import dev.dstl.log.batch.LogBatch;
import dev.dstl.log.batch.TestBatches;
import dev.dstl.log.testing.LogFixture;
import java.io.IOException;
import java.util.AbstractList;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.configuration.Configuration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class SegmentSharingTest {

    private static final int LOGS = 40;
    private static final int BATCHES_EACH = 400;

    private final LogFixture log = LogFixture.onCallingThread(new Configuration());
    private final LogBatch records = TestBatches.batch(0, List.of(TestRecord.opaque(1, "a")));

    @AfterEach
    void close() {
        log.close();
    }

    @Test
    void waitingBatchesOfManyChangelogs_areEachLookedAtAFewTimesOnly() {
        List<List<SealedBatch>> batches = new ArrayList<>();
        List<SealedBatch> all = new ArrayList<>();
        for (int i = 0; i < LOGS; i++) {
            List<SealedBatch> ofLog = new ArrayList<>();
            for (int j = 0; j < BATCHES_EACH; j++) {
                ofLog.add(batch(1));
            }
            batches.add(ofLog);
            all.addAll(ofLog);
        }
        CountedList ofSegment = new CountedList(all, 2L * all.size());
        rollIntoOne(ofSegment);
        ofSegment.count = 0;

        CountedList omitted = new CountedList(batches.get(0), 10L * BATCHES_EACH);
        assertThat(SegmentSharing.allows(omitted, 2)).isTrue();

        all.forEach(batch -> batch.omitBy(2));
        ofSegment.count = 0;
        omitted.count = 0;
        assertThat(SegmentSharing.allows(omitted, 4)).as("two after what others omitted").isFalse();
    }

    @Test
    void segmentsOfWhichOneIsNamedByAnEarlierCheckpoint_mayNotBeOmitted() {
        SealedBatch mine = batch(3);
        SealedBatch mineInTheOther = batch(3);
        SealedBatch other = batch(1);
        rollIntoOne(List.of(mine, batch(2)));
        rollIntoOne(List.of(mineInTheOther, other));

        assertThat(SegmentSharing.allows(List.of(mine), 3)).isTrue();
        assertThat(SegmentSharing.allows(List.of(mine, mineInTheOther), 3)).isFalse();
        assertThat(SegmentSharing.allows(List.of(mine, mineInTheOther, other), 3)).isTrue();
        other.moveTo(BatchState.RELEASED);
        assertThat(SegmentSharing.allows(List.of(mine, mineInTheOther), 3)).isTrue();
    }

    private void rollIntoOne(List<SealedBatch> batches) {
        RolledSegment segment =
                new RolledSegment(
                        batches,
                        new NoListener(),
                        log.registry(),
                        log.uploader(),
                        log.commit().localCopies(),
                        log.recentSegments(),
                        log.budget());
        batches.forEach(batch -> batch.rollInto(segment));
    }

    private SealedBatch batch(long omittedBy) {
        SealedBatch batch = new SealedBatch(records, new NoListener(), omittedBy);
        batch.moveTo(BatchState.QUEUED);
        return batch;
    }

    /** Fails when its elements are read too often. */
    private static final class CountedList extends AbstractList<SealedBatch> {

        private final List<SealedBatch> batches;
        private final long most;
        private long count;

        private CountedList(List<SealedBatch> batches, long most) {
            this.batches = batches;
            this.most = most;
        }

        @Override
        public SealedBatch get(int index) {
            assertThat(++count).as("elements read").isLessThanOrEqualTo(most);
            return batches.get(index);
        }

        @Override
        public int size() {
            return batches.size();
        }
    }

    private static final class NoListener implements SegmentListener, BatchListener {

        @Override
        public void segmentDurable(RolledSegment segment) {}

        @Override
        public void durable(SealedBatch batch, BatchPosition position) {}

        @Override
        public void suspended(List<SealedBatch> batches, IOException cause) {}

        @Override
        public void durable(BatchPosition position) {}

        @Override
        public void suspended(IOException cause) {}
    }
}
