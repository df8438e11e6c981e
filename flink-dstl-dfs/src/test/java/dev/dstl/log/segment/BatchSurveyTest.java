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
import dev.dstl.log.batch.LogBatch;
import dev.dstl.log.batch.PagePool;
import dev.dstl.log.batch.TestBatches;
import org.junit.jupiter.api.Test;

class BatchSurveyTest {

    private static final int LARGE = 4 * BatchSurvey.MIN_RECORDS;

    private final ActiveBatch batch =
            new ActiveBatch(TestBatches.LOG_ID, TestBatches.KEY_GROUPS, new PagePool(0));
    private final BatchSurvey survey =
            new BatchSurvey(BatchSurvey.MIN_RECORDS, new BatchDeduplicator());

    private boolean isBestLeftAsItIs() {
        LogBatch sealed = batch.seal(0);
        boolean result = survey.isBestLeftAsItIs(sealed);
        sealed.release();
        return result;
    }

    private void put(String recordKey) {
        TestBatches.append(batch, TestRecord.put(0, 1, recordKey, "0123456789"));
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
    void largeBatchThatRepeatsATenth_isBestLeftAsItIs() {
        putTwice(LARGE, LARGE / 9);
        assertThat(isBestLeftAsItIs()).isTrue();
    }

    @Test
    void largeBatchThatRepeatsAQuarter_isNot() {
        putTwice(LARGE, LARGE / 3);
        assertThat(isBestLeftAsItIs()).isFalse();
    }

    @Test
    void smallBatch_isNot_sinceDroppingItsObsoleteRecordsIsCheap() {
        putTwice(BatchSurvey.MIN_RECORDS - 1, 0);
        assertThat(isBestLeftAsItIs()).isFalse();
        putTwice(BatchSurvey.MIN_RECORDS, 0);
        assertThat(isBestLeftAsItIs()).isTrue();
    }

    @Test
    void largeBatchOfFewRecordKeys_isNot_thoughNoneIsInTheSample() {
        for (int i = 0; i < LARGE; i++) {
            put("the only key");
        }
        assertThat(isBestLeftAsItIs()).isFalse();
    }

    @Test
    void largeBatchWithAPrefixDelete_isNot_sinceThatCoversKeysOutsideOfTheSample() {
        putTwice(LARGE, 0);
        TestBatches.append(batch, TestRecord.of(RecordKind.DELETE_PREFIX, 0, 1, "map", "", ""));
        assertThat(isBestLeftAsItIs()).isFalse();
    }

    @Test
    void largeBatchWithoutRecordKeys_isBestLeftAsItIs() {
        for (int i = 0; i < LARGE; i++) {
            TestBatches.append(batch, TestRecord.of(RecordKind.OPAQUE, 0, 1, "", "", "bytes"));
        }
        assertThat(isBestLeftAsItIs()).isTrue();
    }

    @Test
    void sizesOfKeyGroups_areThoseOfTheLatestBatchOnly() {
        TestBatches.append(batch, TestRecord.put(9, 1, "key", "value"));
        putTwice(LARGE, 0);
        assertThat(isBestLeftAsItIs()).isTrue();
        assertThat(survey.sizes().highestKeyGroup()).isEqualTo(9);
        putTwice(LARGE, 0);
        assertThat(isBestLeftAsItIs()).isTrue();
        assertThat(survey.sizes().highestKeyGroup()).isZero();
        assertThat(survey.sizes().records(-1)).isZero();
        assertThat(survey.sizes().records(0)).isEqualTo(LARGE);
    }
}
