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
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

class RecordPreamblePropertyTest {

    private static final int[] KEY_GROUPS = {
        -1, 0, 126, 127, 128, 16_382, 16_383, 16_384, ActiveBatch.KEY_GROUP_LIMIT - 1
    };
    private static final int[] LENGTHS = {0, 1, 120, 128, 16_370, 16_384, 70_000, 2_100_000};

    @Property(tries = 100)
    void preamblesOfABatch_sayWhatTheRecordsThemselvesSay_alsoAcrossPages(@ForAll long seed) {
        Random random = new Random(seed);
        ActiveBatch batch =
                new ActiveBatch(TestBatches.LOG_ID, TestBatches.KEY_GROUPS, new PagePool(0));
        byte[] bytes = new byte[LENGTHS[LENGTHS.length - 1]];
        int count = 1 + random.nextInt(40);
        for (int i = 0; i < count; i++) {
            int keyGroup = KEY_GROUPS[random.nextInt(KEY_GROUPS.length)];
            int length = LENGTHS[random.nextInt(random.nextInt(8) == 0 ? LENGTHS.length : 6)];
            batch.append(RecordKind.PUT, keyGroup, random.nextInt(300), bytes, 0, 0, length);
        }
        LogBatch sealed = batch.seal(0);
        PagedBytes records = sealed.records();

        PagedRecord record = new PagedRecord();
        long at = 0;
        for (int i = 0; i < count; i++) {
            record.readAt(records, at);
            long preamble = RecordPreamble.at(records, at);
            assertThat(RecordPreamble.keyGroup(preamble)).isEqualTo(record.keyGroup());
            assertThat(RecordPreamble.length(preamble)).isEqualTo(record.length());
            assertThat(
                            at
                                    + RecordPreamble.keyGroupBytes(preamble)
                                    + RecordPreamble.plainBytes(preamble))
                    .isEqualTo(record.end());
            at = record.end();
        }
        assertThat(at).isEqualTo(records.length());
        sealed.release();
    }
}
