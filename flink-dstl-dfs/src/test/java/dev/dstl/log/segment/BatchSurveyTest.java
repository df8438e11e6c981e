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
import java.util.List;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class BatchSurveyTest {

    private static final int LARGE = 4 * BatchSurvey.MIN_RECORDS;
    private static final KeyGroupRange FEW_KEY_GROUPS =
            KeyGroupRange.of(0, BatchSurvey.SAMPLE_RATE - 2);

    private final BatchSurvey survey =
            new BatchSurvey(BatchSurvey.MIN_RECORDS, new BatchDeduplicator());
    private ActiveBatch batch;

    static List<KeyGroupRange> keyGroups() {
        return List.of(TestBatches.KEY_GROUPS, FEW_KEY_GROUPS);
    }

    private void begin(KeyGroupRange keyGroups) {
        batch = new ActiveBatch(TestBatches.LOG_ID, keyGroups, new PagePool(0));
    }

    private boolean isBestLeftAsItIs() {
        LogBatch sealed = batch.seal(0);
        boolean result = survey.isBestLeftAsItIs(sealed);
        sealed.release();
        return result;
    }

    private void put(int key) {
        TestBatches.append(batch, TestRecord.put(keyGroup(key), 1, "key " + key, "0123456789"));
    }

    private static int keyGroup(int key) {
        return key % FEW_KEY_GROUPS.getNumberOfKeyGroups();
    }

    private void putTwice(int keys, int repeated) {
        for (int i = 0; i < keys; i++) {
            put(i);
        }
        for (int i = 0; i < repeated; i++) {
            put(i);
        }
    }

    @ParameterizedTest
    @MethodSource("keyGroups")
    void largeBatchThatRepeatsATenth_isBestLeftAsItIs(KeyGroupRange keyGroups) {
        begin(keyGroups);
        putTwice(LARGE, LARGE / 9);
        assertThat(isBestLeftAsItIs()).isTrue();
    }

    @ParameterizedTest
    @MethodSource("keyGroups")
    void largeBatchThatRepeatsAQuarter_isNot(KeyGroupRange keyGroups) {
        begin(keyGroups);
        putTwice(LARGE, LARGE / 3);
        assertThat(isBestLeftAsItIs()).isFalse();
    }

    @ParameterizedTest
    @MethodSource("keyGroups")
    void smallBatch_isNot_sinceDroppingItsObsoleteRecordsIsCheap(KeyGroupRange keyGroups) {
        begin(keyGroups);
        putTwice(BatchSurvey.MIN_RECORDS - 1, 0);
        assertThat(isBestLeftAsItIs()).isFalse();
        putTwice(BatchSurvey.MIN_RECORDS, 0);
        assertThat(isBestLeftAsItIs()).isTrue();
    }

    @ParameterizedTest
    @MethodSource("keyGroups")
    void largeBatchOfFewRecordKeys_isNot_thoughNoneIsInTheSample(KeyGroupRange keyGroups) {
        begin(keyGroups);
        for (int i = 0; i < LARGE; i++) {
            put(1);
        }
        assertThat(isBestLeftAsItIs()).isFalse();
    }

    @ParameterizedTest
    @MethodSource("keyGroups")
    void keyThatHasAThirdOfALargeBatch_isNoticed_whateverItsKeyGroupAndHash(
            KeyGroupRange keyGroups) {
        for (int hot = 0; hot < 2 * BatchSurvey.SAMPLE_RATE; hot++) {
            begin(keyGroups);
            putSpread(LARGE, keyGroups);
            putHot("hot " + hot, hot % keyGroups.getNumberOfKeyGroups(), LARGE / 2);
            assertThat(isBestLeftAsItIs()).as("hot key %d", hot).isFalse();
        }
    }

    @Test
    void keyOfManyLargeValues_isNoticed_thoughItHasFewOfTheRecords() {
        begin(TestBatches.KEY_GROUPS);
        putSpread(LARGE, TestBatches.KEY_GROUPS);
        for (int i = 0; i < LARGE / 100; i++) {
            TestBatches.append(batch, TestRecord.put(5, 1, "hot", "0123456789".repeat(500)));
        }
        assertThat(isBestLeftAsItIs()).isFalse();
    }

    @Test
    void keyGroupOfAHugeMap_isNoReason_sinceItsRecordKeysDiffer() {
        begin(TestBatches.KEY_GROUPS);
        putSpread(LARGE, TestBatches.KEY_GROUPS);
        for (int i = 0; i < 2 * LARGE; i++) {
            TestBatches.append(
                    batch, TestRecord.of(RecordKind.PUT, 5, 1, "map", "key " + i, "0123456789"));
        }
        assertThat(isBestLeftAsItIs()).isTrue();
        assertThat(survey.sizes().records(5)).isEqualTo(2 * LARGE + LARGE / 128);
    }

    @Test
    void rangeThatBeginsBetweenSampledKeyGroups_isMeasuredByThoseInIt() {
        for (int first = 16; first <= 32; first++) {
            KeyGroupRange keyGroups = KeyGroupRange.of(first, first + 24);
            begin(keyGroups);
            putSpread(LARGE, keyGroups);
            assertThat(isBestLeftAsItIs()).as("key groups from %d", first).isTrue();
        }
    }

    private void putSpread(int keys, KeyGroupRange keyGroups) {
        for (int i = 0; i < keys; i++) {
            int keyGroup = keyGroups.getStartKeyGroup() + i % keyGroups.getNumberOfKeyGroups();
            TestBatches.append(batch, TestRecord.put(keyGroup, 1, "key " + i, "0123456789"));
        }
    }

    private void putHot(String key, int keyGroup, int versions) {
        for (int i = 0; i < versions; i++) {
            TestBatches.append(batch, TestRecord.put(keyGroup, 1, key, "0123456789"));
        }
    }

    @Test
    void fewRepeatedKeysAmongManyRecordsWithoutAKey_areLittleOfTheBatch() {
        begin(TestBatches.KEY_GROUPS);
        for (int i = 0; i < LARGE; i++) {
            TestBatches.append(batch, TestRecord.of(RecordKind.OPAQUE, 0, 1, "", "", "bytes"));
        }
        put(0);
        put(0);
        assertThat(isBestLeftAsItIs()).isTrue();
    }

    @Test
    void largeBatchOfASampledKeyGroup_isNot_sinceTheSampleWouldBeAllOfIt() {
        begin(TestBatches.KEY_GROUPS);
        for (int i = 0; i < LARGE; i++) {
            TestBatches.append(batch, TestRecord.put(16, 1, "key " + i, "0123456789"));
        }
        assertThat(isBestLeftAsItIs()).isFalse();
        assertThat(survey.keptBytes())
                .isLessThan((long) LARGE * BatchSurvey.MOST_BYTES_PER_RECORD + 4096);
    }

    @Test
    void prefixDelete_coversKeysOutsideOfTheSample_unlessThatIsAllOfAKeyGroup() {
        begin(FEW_KEY_GROUPS);
        putTwice(LARGE, 0);
        deletePrefix();
        assertThat(isBestLeftAsItIs()).isFalse();
        begin(TestBatches.KEY_GROUPS);
        putTwice(LARGE, 0);
        deletePrefix();
        assertThat(isBestLeftAsItIs()).isTrue();
    }

    private void deletePrefix() {
        TestBatches.append(batch, TestRecord.of(RecordKind.DELETE_PREFIX, 0, 1, "map", "", ""));
    }

    @Test
    void largeMapsThatAreClearedAtTheEnd_areNot() {
        begin(TestBatches.KEY_GROUPS);
        for (int keyGroup = 0; keyGroup < 128; keyGroup++) {
            for (int i = 0; i < LARGE / 128; i++) {
                TestBatches.append(
                        batch, TestRecord.of(RecordKind.PUT, keyGroup, 1, "map", "key " + i, ""));
            }
            TestBatches.append(
                    batch, TestRecord.of(RecordKind.DELETE_PREFIX, keyGroup, 1, "map", "", ""));
        }
        assertThat(isBestLeftAsItIs()).isFalse();
    }

    @ParameterizedTest
    @MethodSource("keyGroups")
    void largeBatchWithoutRecordKeys_isBestLeftAsItIs(KeyGroupRange keyGroups) {
        begin(keyGroups);
        for (int i = 0; i < LARGE; i++) {
            TestBatches.append(batch, TestRecord.of(RecordKind.OPAQUE, 0, 1, "", "", "bytes"));
        }
        assertThat(isBestLeftAsItIs()).isTrue();
    }

    @Test
    void sizesOfKeyGroups_areThoseOfTheLatestBatchOnly() {
        begin(TestBatches.KEY_GROUPS);
        TestBatches.append(batch, TestRecord.put(99, 1, "key", "value"));
        putTwice(LARGE, 0);
        assertThat(isBestLeftAsItIs()).isTrue();
        assertThat(survey.sizes().highestKeyGroup()).isEqualTo(99);
        putTwice(LARGE, 0);
        assertThat(isBestLeftAsItIs()).isTrue();
        assertThat(survey.sizes().highestKeyGroup()).isEqualTo(FEW_KEY_GROUPS.getEndKeyGroup());
        assertThat(survey.sizes().records(-1)).isZero();
        assertThat(survey.sizes().records(0))
                .isEqualTo((LARGE - 1) / FEW_KEY_GROUPS.getNumberOfKeyGroups() + 1);
    }
}
