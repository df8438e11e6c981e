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

import dev.dstl.log.api.LogRecord;
import dev.dstl.log.api.TestRecord;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.apache.flink.runtime.state.KeyGroupRange;

/** Batches of given records, for tests. */
public final class TestBatches {

    public static final UUID LOG_ID = new UUID(0x0123_4567_89AB_CDEFL, 0x8123_4567_89AB_CDEFL);
    public static final KeyGroupRange KEY_GROUPS = KeyGroupRange.of(0, 127);

    private TestBatches() {}

    public static LogBatch batch(long sequence, List<TestRecord> records) {
        return batch(LOG_ID, sequence, records);
    }

    public static LogBatch batch(UUID logId, long sequence, List<TestRecord> records) {
        ActiveBatch active = new ActiveBatch(logId, KEY_GROUPS, new PagePool(0));
        for (TestRecord record : records) {
            append(active, record);
        }
        return active.seal(sequence);
    }

    public static void append(ActiveBatch active, TestRecord record) {
        byte[] bytes = record.bytes();
        active.append(
                record.kind,
                record.keyGroup,
                record.stateId,
                bytes,
                record.keyPrefixLength,
                record.recordKey.length,
                bytes.length);
    }

    /** Records of a batch, in the order of writing. */
    public static List<TestRecord> records(LogBatch batch) {
        List<TestRecord> records = new ArrayList<>();
        PagedBytes bytes = batch.records();
        PagedRecord paged = new PagedRecord();
        LogRecord record = new LogRecord();
        for (long at = 0; at < bytes.length(); at = paged.end()) {
            paged.readAt(bytes, at);
            byte[] copy = new byte[paged.length()];
            bytes.copyTo(paged.position(), copy, 0, copy.length);
            record.wrap(paged.keyGroup(), copy, 0, copy.length);
            records.add(TestRecord.copyOf(record));
        }
        return records;
    }
}
