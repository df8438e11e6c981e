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
