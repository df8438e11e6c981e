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

package dev.dstl.log.batch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.dstl.log.api.RecordKind;
import dev.dstl.log.api.TestRecord;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

class ActiveBatchPropertyTest {

    @Property(tries = 200)
    void aSealedBatchHoldsWhatWasAppended(@ForAll long seed) {
        Random random = new Random(seed);
        List<TestRecord> records = new ArrayList<>();
        ActiveBatch batch =
                new ActiveBatch(TestBatches.LOG_ID, TestBatches.KEY_GROUPS, new PagePool(0));
        int count = 1 + random.nextInt(60);
        for (int i = 0; i < count; i++) {
            byte[] recordKey = new byte[random.nextInt(random.nextInt(50) == 0 ? 70_000 : 40)];
            byte[] payload = new byte[random.nextInt(random.nextInt(20) == 0 ? 150_000 : 9_000)];
            random.nextBytes(recordKey);
            random.nextBytes(payload);
            TestRecord record =
                    new TestRecord(
                            RecordKind.PUT,
                            random.nextInt(ActiveBatch.KEY_GROUP_LIMIT + 1) - 1,
                            random.nextInt() >>> (1 + random.nextInt(31)),
                            random.nextInt(recordKey.length + 1),
                            recordKey,
                            payload);
            records.add(record);
            TestBatches.append(batch, record);
        }
        long size = batch.sizeBytes();
        assertThat(batch.recordCount()).isEqualTo(count);

        LogBatch sealed = batch.seal(7);

        assertThat(TestBatches.records(sealed)).isEqualTo(records);
        assertThat(sealed.sizeBytes()).isEqualTo(size);
        assertThat(sealed.recordCount()).isEqualTo(count);
        assertThat(sealed.sequence()).isEqualTo(7);
        assertThat(sealed.logId()).isEqualTo(TestBatches.LOG_ID);
        assertThat(sealed.keyGroupRange()).isEqualTo(TestBatches.KEY_GROUPS);
    }
}
