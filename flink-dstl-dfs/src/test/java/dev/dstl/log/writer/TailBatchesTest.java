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

package dev.dstl.log.writer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.dstl.log.api.TestRecord;
import dev.dstl.log.batch.TestBatches;
import dev.dstl.log.commit.BatchPosition;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.SortedMap;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TailBatchesTest {

    private static final int BATCHES = 100;

    private final FullMap map = new FullMap();
    private final TailBatches batches = new TailBatches(map);
    private final List<TailBatch> expected = new ArrayList<>();

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5})
    void compactedBatches_takeThePlaceOfTheirInputs_andOfNoOthers(long seed) {
        addBatches();
        Random random = new Random(seed);
        while (expected.size() > 1) {
            int from = random.nextInt(expected.size() - 1);
            int count = 2 + random.nextInt(Math.min(4, expected.size() - from - 1));
            List<TailBatch> inputs = expected.subList(from, from + count);
            TailBatch compacted = compacted(inputs);
            batches.replaceBy(compacted);
            inputs.clear();
            expected.add(from, compacted);

            assertThat(batches.range(0, BATCHES)).isEqualTo(expected);
        }
    }

    @Test
    void compactedBatchForWhichThereIsNoMemory_leavesItsInputs() {
        addBatches();
        List<TailBatch> inputs = expected.subList(3, 7);
        TailBatch compacted = compacted(inputs);
        map.full = true;
        assertThatThrownBy(() -> batches.replaceBy(compacted)).isInstanceOf(OutOfMemoryError.class);
        map.full = false;
        assertThat(batches.range(0, BATCHES)).isEqualTo(expected);
        assertThat(batches.holds(inputs)).isTrue();
    }

    private void addBatches() {
        for (int i = 0; i < BATCHES; i++) {
            TailBatch batch =
                    new TailBatch(
                            new NoListener(),
                            TestBatches.batch(i, List.of(TestRecord.opaque(1, "a"))),
                            false,
                            0);
            batches.add(batch);
            expected.add(batch);
        }
    }

    private static TailBatch compacted(List<TailBatch> inputs) {
        return new TailBatch(
                new NoListener(), new ArrayList<>(inputs), inputs.get(0).sealed(), null, 0);
    }

    /** A map for whose entries and views there may be no memory. */
    private static final class FullMap extends TreeMap<Long, TailBatch> {

        private static final long serialVersionUID = 1L;

        private boolean full;

        @Override
        public TailBatch put(Long sequence, TailBatch batch) {
            allocate();
            return super.put(sequence, batch);
        }

        @Override
        public SortedMap<Long, TailBatch> subMap(Long from, Long to) {
            allocate();
            return super.subMap(from, to);
        }

        private void allocate() {
            if (full) {
                throw new OutOfMemoryError("Java heap space");
            }
        }
    }

    private static final class NoListener implements TailBatchListener {

        @Override
        public void durable(TailBatch batch, BatchPosition position) {}

        @Override
        public void suspended(TailBatch batch, IOException cause) {}
    }
}
