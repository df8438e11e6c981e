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
import dev.dstl.log.batch.ActiveBatch;
import dev.dstl.log.batch.PagePool;
import dev.dstl.log.batch.TestBatches;
import org.junit.jupiter.api.Test;

class BatchDeduplicatorTest {

    private final ActiveBatch batch =
            new ActiveBatch(TestBatches.LOG_ID, TestBatches.KEY_GROUPS, new PagePool(0));
    private final BatchDeduplicator deduplicator = new BatchDeduplicator();

    private int obsolete() {
        BatchRecords records = new BatchRecords();
        records.scan(batch.seal(0));
        return deduplicator.find(records).cardinality();
    }

    private void put(String recordKey) {
        TestBatches.append(batch, TestRecord.put(0, 1, recordKey, "0123456789"));
    }

    @Test
    void ofALargeBatchThatRepeatsATenthOnlyTheSampleIsDeduplicated() {
        int count = 4 * BatchDeduplicator.MIN_RECORDS_TO_SAMPLE;
        putTwice(count, count / 9);
        assertThat(obsolete()).isLessThan(count / 9 / 4);
    }

    @Test
    void aLargeBatchThatRepeatsAQuarterIsDeduplicated() {
        int count = 4 * BatchDeduplicator.MIN_RECORDS_TO_SAMPLE;
        putTwice(count, count / 3);
        assertThat(obsolete()).isEqualTo(count / 3);
    }

    private void putTwice(int keys, int repeated) {
        for (int i = 0; i < keys; i++) {
            put("key " + i);
        }
        for (int i = 0; i < repeated; i++) {
            put("key " + i);
        }
    }

    @Test
    void aLargeBatchOfFewRecordKeysIsDeduplicatedThoughNoneIsInTheSample() {
        for (int i = 0; i < 4 * BatchDeduplicator.MIN_RECORDS_TO_SAMPLE; i++) {
            put("the only key");
        }
        assertThat(obsolete()).isEqualTo(4 * BatchDeduplicator.MIN_RECORDS_TO_SAMPLE - 1);
    }

    @Test
    void aPrefixDeleteAtTheEndOfALargeBatchSupersedesAllOfItsMap() {
        int count = 2 * BatchDeduplicator.MIN_RECORDS_TO_SAMPLE;
        for (int i = 0; i < count; i++) {
            TestBatches.append(
                    batch, TestRecord.of(RecordKind.PUT, 0, 1, "map", "key " + i, "value"));
        }
        TestBatches.append(batch, TestRecord.of(RecordKind.DELETE_PREFIX, 0, 1, "map", "", ""));
        assertThat(obsolete()).isEqualTo(count);
    }

    @Test
    void aSmallBatchAfterALargeOneIsDeduplicatedAllTheSame() {
        aLargeBatchThatRepeatsAQuarterIsDeduplicated();
        put("a");
        put("b");
        put("a");
        assertThat(obsolete()).isEqualTo(1);
    }

    @Test
    void sameBytesInAnotherStateAreAnotherRecordKey() {
        TestBatches.append(batch, TestRecord.put(0, 1, "key", "1"));
        TestBatches.append(batch, TestRecord.put(0, 2, "key", "2"));
        TestBatches.append(batch, TestRecord.of(RecordKind.DELETE_PREFIX, 0, 3, "key", "", ""));
        assertThat(obsolete()).isZero();
    }

    @Test
    void aDeleteIsKeptBecauseTheBaseMayHoldTheEntry() {
        TestBatches.append(batch, TestRecord.put(0, 1, "key", "1"));
        TestBatches.append(batch, TestRecord.of(RecordKind.DELETE, 0, 1, "key", "", ""));
        assertThat(obsolete()).isEqualTo(1);
    }

    @Test
    void aPutAfterAPrefixDeleteLeavesThePrefixDeleteInForce() {
        TestBatches.append(batch, TestRecord.of(RecordKind.DELETE_PREFIX, 0, 1, "key", "", ""));
        TestBatches.append(batch, TestRecord.put(0, 1, "key", "1"));
        assertThat(obsolete()).isZero();
    }

    @Test
    void aPutReplacesWhatWasAppendedBeforeAndNotWhatIsAppendedAfter() {
        TestBatches.append(batch, TestRecord.of(RecordKind.APPEND, 0, 1, "list", "", "1"));
        TestBatches.append(batch, TestRecord.put(0, 1, "list", "2"));
        TestBatches.append(batch, TestRecord.of(RecordKind.APPEND, 0, 1, "list", "", "3"));
        assertThat(obsolete()).isEqualTo(1);
    }
}
