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
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import dev.dstl.log.api.LogRecord;
import dev.dstl.log.api.RecordKind;
import dev.dstl.log.api.TestRecord;
import dev.dstl.log.memory.JobMemory;
import dev.dstl.log.memory.MemoryUse;
import dev.dstl.log.memory.ProcessMemory;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ActiveBatchTest {

    private static final int APPENDS = 1_000_000;

    private final PagePool pool = new PagePool(1 << 24);
    private final ActiveBatch active =
            new ActiveBatch(TestBatches.LOG_ID, TestBatches.KEY_GROUPS, pool);

    @Test
    void aBatchIsEmptyAgainAfterItWasSealed() {
        TestBatches.append(active, TestRecord.put(1, 1, "a", "b"));
        LogBatch first = active.seal(0);
        assertThat(active.isEmpty()).isTrue();
        assertThat(active.sizeBytes()).isZero();

        TestBatches.append(active, TestRecord.put(1, 1, "c", "d"));
        LogBatch second = active.seal(1);

        assertThat(TestBatches.records(first)).containsExactly(TestRecord.put(1, 1, "a", "b"));
        assertThat(TestBatches.records(second)).containsExactly(TestRecord.put(1, 1, "c", "d"));
    }

    @Test
    void aBatchWithoutRecordsCannotBeSealed() {
        assertThatThrownBy(() -> active.seal(5))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("Nothing to seal as sequence number 5");
    }

    @Test
    void discardedRecordsAreGoneAndTheirPagesBackInThePool() {
        TestBatches.append(active, TestRecord.put(1, 1, "a", "b"));
        active.discard();
        assertThat(active.isEmpty()).isTrue();
        assertThat(pool.freeBytes()).isEqualTo(PagePool.PAGE_BYTES);
    }

    @Test
    void aRecordOfManyMegabytesFits() {
        byte[] bytes = new byte[100 << 20];
        bytes[bytes.length - 1] = 7;
        active.append(RecordKind.PUT, 3, 4, bytes, 1, 2, bytes.length);
        LogBatch sealed = active.seal(0);
        PagedRecord record = new PagedRecord();
        record.readAt(sealed.records(), 0);
        assertThat(record.end()).isEqualTo(sealed.sizeBytes());
        assertThat(sealed.records().byteAt(record.end() - 1)).isEqualTo((byte) 7);
    }

    @Test
    void numbersThatContradictEachOtherAreRefusedAndNothingIsAppended() {
        byte[] bytes = new byte[10];
        assertRefused(() -> active.append(RecordKind.PUT, 0, 0, bytes, 3, 2, 10));
        assertRefused(() -> active.append(RecordKind.PUT, 0, 0, bytes, -1, 2, 10));
        assertRefused(() -> active.append(RecordKind.PUT, 0, 0, bytes, 1, 8, 7));
        assertRefused(() -> active.append(RecordKind.PUT, 0, 0, bytes, 1, 2, 11));
        assertRefused(() -> active.append(RecordKind.PUT, 0, -1, bytes, 1, 2, 10));
        assertRefused(() -> active.append(RecordKind.PUT, -2, 0, bytes, 1, 2, 10));
        assertRefused(() -> active.append(RecordKind.PUT, 32768, 0, bytes, 1, 2, 10));
        assertRefused(() -> active.append(RecordKind.DELETE_PREFIX, 0, 0, bytes, 1, 2, 10));
        assertThat(active.isEmpty()).isTrue();
        assertThat(active.sizeBytes()).isZero();
    }

    @Test
    void recordThatWasRead_isAppendedAsItIs_whereverAPageEnds() {
        List<TestRecord> records = new ArrayList<>();
        for (int i = 0; i < 3_000; i++) {
            String payload = "p".repeat(i % 100 == 0 ? 2 * PagePool.PAGE_BYTES : i % 61);
            records.add(TestRecord.of(RecordKind.PUT, i % 128, i, "key " + i, "map key", payload));
            records.add(TestRecord.of(RecordKind.DELETE_PREFIX, i % 128, 1, "key", "", ""));
            records.add(TestRecord.opaque(-1, payload));
        }
        records.forEach(record -> TestBatches.append(active, record));
        LogBatch batch = active.seal(0);
        PagedRecord paged = new PagedRecord();
        LogRecord record = new LogRecord();
        for (long at = 0; at < batch.sizeBytes(); at = paged.end()) {
            paged.readAt(batch.records(), at);
            byte[] copy = new byte[paged.length() + 3];
            batch.records().copyTo(paged.position(), copy, 3, paged.length());
            record.wrap(paged.keyGroup(), copy, 3, paged.length());
            active.append(record);
        }
        assertThat(active.sizeBytes()).isEqualTo(batch.sizeBytes());
        assertThat(active.recordCount()).isEqualTo(batch.recordCount());
        assertThat(TestBatches.records(active.seal(1))).isEqualTo(records);
    }

    @Test
    void recordThatWasRead_isRefused_ifNoWriterAppendsIt() {
        byte[] put = {RecordKind.PUT.code(), 1, 1, 1, 'k'};
        LogRecord record = new LogRecord();
        record.wrap(ActiveBatch.KEY_GROUP_LIMIT, put, 0, put.length);
        assertRefused(() -> active.append(record));
        byte[] prefix = {RecordKind.DELETE_PREFIX.code(), 1, 1, 2, 'k', 'l'};
        record.wrap(1, prefix, 0, prefix.length);
        assertRefused(() -> active.append(record));
        assertThat(active.isEmpty()).isTrue();
    }

    @Test
    void recordThatFailsHalfway_leavesNoTrace() {
        ProcessMemory process = new ProcessMemory();
        JobMemory memory = process.join(1 << 24);
        PagePool failing = new PagePool(1 << 24, process);
        ActiveBatch batch =
                new ActiveBatch(TestBatches.LOG_ID, TestBatches.KEY_GROUPS, failing, memory);
        TestBatches.append(batch, TestRecord.put(1, 1, "a", "b"));
        long size = batch.sizeBytes();
        byte[] twoPages = new byte[2 * PagePool.PAGE_BYTES];
        makeNextPageFail(failing, process);

        assertThatThrownBy(
                        () -> batch.append(RecordKind.PUT, 1, 1, twoPages, 1, 1, twoPages.length))
                .isInstanceOf(IllegalStateException.class);

        assertThat(batch.sizeBytes()).isEqualTo(size);
        assertThat(process.reservedBytes(MemoryUse.ACTIVE)).isZero();
        TestBatches.append(batch, TestRecord.put(1, 1, "c", "d"));
        assertThat(TestBatches.records(batch.seal(0)))
                .containsExactly(TestRecord.put(1, 1, "a", "b"), TestRecord.put(1, 1, "c", "d"));
    }

    @Test
    void firstRecordThatFailsHalfway_leavesAnEmptyBatch() {
        ProcessMemory process = new ProcessMemory();
        JobMemory memory = process.join(1 << 24);
        PagePool failing = new PagePool(1 << 24, process);
        ActiveBatch batch =
                new ActiveBatch(TestBatches.LOG_ID, TestBatches.KEY_GROUPS, failing, memory);
        byte[] bytes = new byte[10];
        makeNextPageFail(failing, process);

        assertThatThrownBy(() -> batch.append(RecordKind.PUT, 1, 1, bytes, 1, 1, bytes.length))
                .isInstanceOf(IllegalStateException.class);

        assertThat(batch.isEmpty()).isTrue();
        assertThat(batch.sizeBytes()).isZero();
        TestBatches.append(batch, TestRecord.put(1, 1, "c", "d"));
        assertThat(TestBatches.records(batch.seal(0)))
                .containsExactly(TestRecord.put(1, 1, "c", "d"));
    }

    @Test
    void pageOfASmallBatch_isInThePoolOnce_evenIfSealingFails() {
        PagePool failing = new FailingPool();
        ActiveBatch batch = new ActiveBatch(TestBatches.LOG_ID, TestBatches.KEY_GROUPS, failing);
        TestBatches.append(batch, TestRecord.put(1, 1, "a", "b"));

        assertThatThrownBy(() -> batch.seal(0)).isInstanceOf(OutOfMemoryError.class);
        batch.discard();

        assertNoPageIsThereTwice(failing, 2);
    }

    @Test
    void pagesOfABatch_areInThePoolOnce_evenIfDiscardingFails() {
        PagePool failing = new FailingPool();
        ActiveBatch batch = new ActiveBatch(TestBatches.LOG_ID, TestBatches.KEY_GROUPS, failing);
        byte[] twoPages = new byte[2 * PagePool.PAGE_BYTES];
        batch.append(RecordKind.PUT, 1, 1, twoPages, 1, 1, twoPages.length);

        assertThatThrownBy(batch::discard).isInstanceOf(OutOfMemoryError.class);
        batch.discard();

        assertNoPageIsThereTwice(failing, 6);
    }

    private static void assertNoPageIsThereTwice(PagePool pool, int pages) {
        Set<byte[]> taken = Collections.newSetFromMap(new IdentityHashMap<>());
        for (int i = 0; i < pages; i++) {
            assertThat(taken.add(pool.take())).as("page %d is new", i).isTrue();
        }
    }

    /** Takes the first page back and fails all the same. */
    private static final class FailingPool extends PagePool {

        private boolean failed;

        private FailingPool() {
            super(1 << 24);
        }

        @Override
        void give(byte[] page) {
            super.give(page);
            if (!failed) {
                failed = true;
                throw new OutOfMemoryError("Java heap space");
            }
        }
    }

    /** Taking the only free page fails as it would without memory for a new one. */
    private static void makeNextPageFail(PagePool pages, ProcessMemory process) {
        ActiveBatch other = new ActiveBatch(TestBatches.LOG_ID, TestBatches.KEY_GROUPS, pages);
        TestBatches.append(other, TestRecord.put(1, 1, "a", "b"));
        other.discard();
        process.take(PagePool.PAGE_BYTES);
    }

    private static void assertRefused(org.assertj.core.api.ThrowableAssert.ThrowingCallable call) {
        assertThatThrownBy(call)
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("Not a record: ");
    }

    @Test
    void appendingAllocatesNothingPerRecord() {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long thread = Thread.currentThread().getId();
        byte[] bytes = new byte[60];
        appendMillion(bytes);

        long before = threads.getThreadAllocatedBytes(thread);
        appendMillion(bytes);
        long allocated = threads.getThreadAllocatedBytes(thread) - before;

        // Each page that goes back to the pool costs a queue node, a thousandth of a record.
        assertThat((double) allocated / APPENDS).as("bytes per record").isLessThan(0.1);
    }

    private void appendMillion(byte[] bytes) {
        for (int i = 0; i < APPENDS; i++) {
            active.append(RecordKind.PUT, i & 127, i & 15, bytes, 10, 20, bytes.length);
            if (active.sizeBytes() > 4 << 20) {
                active.discard();
            }
        }
    }
}
