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

import dev.dstl.log.api.TestRecord;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

class LogBatchTest {

    private final PagePool pool = new PagePool(10L * PagePool.PAGE_BYTES);

    private LogBatch batch(int megabytes) {
        ActiveBatch active = new ActiveBatch(TestBatches.LOG_ID, TestBatches.KEY_GROUPS, pool);
        TestBatches.append(active, TestRecord.put(1, 1, "key", "x".repeat(megabytes << 20)));
        return active.seal(3);
    }

    @Test
    void releasingTwiceGivesPagesBackOnce() {
        ActiveBatch active = new ActiveBatch(TestBatches.LOG_ID, TestBatches.KEY_GROUPS, pool);
        TestBatches.append(active, TestRecord.put(1, 1, "key", "value"));
        LogBatch batch = active.seal(3);
        batch.release();
        batch.release();
        assertThat(pool.freeBytes()).isEqualTo(PagePool.PAGE_BYTES);
    }

    @Test
    void releasingFromManyThreadsGivesPagesBackOnce() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(4);
        try {
            for (int round = 0; round < 200; round++) {
                PagePool own = new PagePool(10L * PagePool.PAGE_BYTES);
                ActiveBatch active =
                        new ActiveBatch(TestBatches.LOG_ID, TestBatches.KEY_GROUPS, own);
                TestBatches.append(active, TestRecord.put(1, 1, "key", "value"));
                LogBatch batch = active.seal(round);
                CountDownLatch start = new CountDownLatch(1);
                List<Future<?>> ends = new ArrayList<>();
                for (int i = 0; i < 4; i++) {
                    ends.add(
                            threads.submit(
                                    () -> {
                                        start.await();
                                        batch.release();
                                        return null;
                                    }));
                }
                start.countDown();
                for (Future<?> end : ends) {
                    end.get();
                }
                assertThat(own.freeBytes()).isEqualTo(PagePool.PAGE_BYTES);
            }
        } finally {
            threads.shutdownNow();
        }
    }

    @Test
    void aReleasedBatchCannotBeReadButStillKnowsItsSize() {
        LogBatch batch = batch(1);
        long size = batch.sizeBytes();
        batch.release();
        assertThat(batch.sizeBytes()).isEqualTo(size);
        assertThatThrownBy(batch::records)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("batch 3 of changelog " + TestBatches.LOG_ID)
                .hasMessageContaining("already released");
    }

    @Test
    void pagesOfSeveralOwnersGoBackWithTheLast() {
        LogBatch batch = batch(1);
        LogBatch second = batch.secondOwner();
        batch.release();
        batch.release();
        assertThat(pool.freeBytes()).isZero();
        assertThat(second.records().length()).isEqualTo(second.sizeBytes());
        assertThat(second.sequence()).isEqualTo(3);
        second.release();
        assertThat(pool.freeBytes()).isEqualTo(10L * PagePool.PAGE_BYTES);
        assertThatThrownBy(second::secondOwner).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void aSmallBatchDoesNotKeepAPage() {
        ActiveBatch active = new ActiveBatch(TestBatches.LOG_ID, TestBatches.KEY_GROUPS, pool);
        TestBatches.append(active, TestRecord.put(1, 1, "key", "value"));
        LogBatch batch = active.seal(3);
        assertThat(pool.freeBytes()).isEqualTo(PagePool.PAGE_BYTES);
        assertThat(batch.records().length()).isEqualTo(batch.sizeBytes());
        batch.release();
        assertThat(pool.freeBytes()).isEqualTo(PagePool.PAGE_BYTES);
    }

    @Test
    void thePoolKeepsNoMoreThanItsBound() {
        batch(2).release();
        assertThat(pool.freeBytes()).isEqualTo(10L * PagePool.PAGE_BYTES);
    }

    @Test
    void aPoolTakesNoNegativeBound() {
        assertThatThrownBy(() -> new PagePool(-1))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("maxFreeBytes is negative: -1");
    }
}
