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
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.dstl.log.api.TestRecord;
import dev.dstl.log.batch.TestBatches;
import dev.dstl.log.segment.EncodedSegment;
import dev.dstl.log.segment.SegmentCodec;
import dev.dstl.log.segment.TestSegments;
import dev.dstl.log.testing.FailingLog;
import dev.dstl.log.testing.LogFixture;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.core.fs.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class RolledSegmentTest {

    private final LogFixture log = LogFixture.onCallingThread(new Configuration());
    private final Listener listener = new Listener();
    private int created;

    @AfterEach
    void close() {
        log.close();
    }

    @Test
    void segmentThatCannotBeCreated_leavesTheOthersBatchesToTheNextRoll() {
        List<SealedBatch> queued = List.of(batch(1), batch(5));
        SegmentRoller roller =
                new SegmentRoller(
                        batches -> {
                            if (++created == 2) {
                                throw new OutOfMemoryError("Java heap space");
                            }
                            return segment(batches);
                        });
        assertThatThrownBy(() -> roller.roll(queued)).isInstanceOf(OutOfMemoryError.class);

        List<RolledSegment> rolled = roller.roll(queued);

        assertThat(rolled).hasSize(2);
        rolled.forEach(segment -> segment.upload().ensureRunning());
        assertThat(listener.durable).containsExactlyElementsOf(queued);
        assertThat(log.store().segments()).hasSize(2);
    }

    @Test
    void listenerThatThrows_keepsNoOtherBatchOfTheSegmentFromBecomingDurable() {
        List<SealedBatch> batches = List.of(batch(1), batch(1), batch(1));
        listener.failures = 1;

        segment(batches).upload().ensureRunning();

        assertThat(listener.durable).containsExactlyElementsOf(batches);
    }

    @Test
    void listenerWhoseErrorCannotBeLogged_keepsNoOtherBatchOfTheSegmentFromBecomingDurable() {
        List<SealedBatch> batches = List.of(batch(1), batch(1), batch(1));
        listener.failures = 2;

        try (FailingLog failing = new FailingLog()) {
            segment(batches).upload().ensureRunning();
            assertThat(failing.refused()).as("errors that were not logged").isEqualTo(2);
        }

        assertThat(listener.durable).containsExactlyElementsOf(batches);
    }

    @Test
    void reportThatCannotBePrepared_reportsNothing() {
        List<SealedBatch> batches = List.of(batch(1), batch(1));
        RolledSegment segment = segment(batches);
        EncodedSegment ofOneBatch =
                TestSegments.encode(SegmentCodec.NONE, List.of(TestRecord.opaque(1, "a")));
        assertThatThrownBy(() -> segment.durableAs(new Path("faulty://store/1.seg"), ofOneBatch))
                .isInstanceOf(ArrayIndexOutOfBoundsException.class);
        assertThat(segment.isDurable()).isFalse();
        assertThat(listener.durable).isEmpty();

        segment.upload().ensureRunning();

        assertThat(listener.durable).containsExactlyElementsOf(batches);
    }

    private RolledSegment segment(List<SealedBatch> batches) {
        return new RolledSegment(
                batches,
                listener,
                log.registry(),
                log.uploader(),
                log.commit().localCopies(),
                log.recentSegments(),
                log.budget());
    }

    private static SealedBatch batch(long omittedBy) {
        SealedBatch batch =
                new SealedBatch(
                        TestBatches.batch(0, List.of(TestRecord.opaque(1, "a"))),
                        new BatchListener() {
                            @Override
                            public void durable(BatchPosition position) {}

                            @Override
                            public void suspended(IOException cause) {}
                        },
                        omittedBy);
        batch.moveTo(BatchState.QUEUED);
        return batch;
    }

    private static final class Listener implements SegmentListener {

        private final List<SealedBatch> durable = new ArrayList<>();
        private int failures;

        @Override
        public void segmentDurable(RolledSegment segment) {}

        @Override
        public void durable(SealedBatch batch, BatchPosition position) {
            durable.add(batch);
            if (failures-- > 0) {
                throw new OutOfMemoryError("Java heap space");
            }
        }

        @Override
        public void suspended(List<SealedBatch> batches, IOException cause) {
            throw new AssertionError(cause);
        }
    }
}
