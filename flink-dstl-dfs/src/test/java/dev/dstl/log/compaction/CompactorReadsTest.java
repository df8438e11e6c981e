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

package dev.dstl.log.compaction;

import static org.assertj.core.api.Assertions.assertThat;

import dev.dstl.log.batch.PagePool;
import dev.dstl.log.replay.DstlHandleReader;
import dev.dstl.log.replay.ReadAheadBudget;
import dev.dstl.log.testing.FaultyTimers;
import dev.dstl.log.testing.LogFixture;
import dev.dstl.log.testing.RecordedMetrics;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Compactions whose reads hang, or whose streams do not close. */
class CompactorReadsTest {

    private final RecordedCompactions recorded = new RecordedCompactions();

    @AfterEach
    void close() {
        recorded.close();
    }

    @Test
    void readsThatHangOneAfterTheOther_takeNoMoreThreadsThanThoseThatHangTogether()
            throws Exception {
        CountDownLatch store = new CountDownLatch(1);
        Semaphore opened = new Semaphore(0);
        StreamStateHandle hanging = new HangingHandle(opened, store);
        AtomicInteger started = new AtomicInteger();
        ExecutorService threads = Executors.newCachedThreadPool();
        Executor counted =
                task -> {
                    started.incrementAndGet();
                    threads.execute(task);
                };
        try (LogFixture hangs =
                LogFixture.withCompactionsOn(counted, Runnable::run, new Configuration())) {
            for (int i = 0; i < Compactor.MAX_HANGING - 1; i++) {
                hangs.compactor().start(recorded.compaction(hangs, "first", hanging, () -> {}));
            }
            assertThat(opened.tryAcquire(Compactor.MAX_HANGING - 1, 30, TimeUnit.SECONDS)).isTrue();
            // The timeout doubles each time.
            hangs.timers().advanceMillis(20_000);
            assertThat(hangs.metrics().value("hangingCompactionReads"))
                    .isEqualTo(Compactor.MAX_HANGING - 1);

            for (int i = 0; i < Compactor.MAX_READING; i++) {
                hangs.compactor().start(recorded.compaction(hangs, "second", hanging, () -> {}));
            }

            assertThat(started).hasValue(Compactor.MAX_HANGING);
        } finally {
            store.countDown();
            threads.shutdown();
            assertThat(threads.awaitTermination(30, TimeUnit.SECONDS)).isTrue();
        }
    }

    /** Read-ahead delivers the records of a segment before it closes its stream. */
    @Test
    @Timeout(60)
    void readsWhoseStreamsDoNotClose_areBounded_andTheNextOnesStartWhenTheyDo() throws Exception {
        int count = 20;
        CountDownLatch store = new CountDownLatch(1);
        Semaphore closing = new Semaphore(0);
        AtomicInteger started = new AtomicInteger();
        Semaphore ended = new Semaphore(0);
        ExecutorService threads = Executors.newCachedThreadPool();
        Executor counted =
                task -> {
                    started.incrementAndGet();
                    threads.execute(
                            () -> {
                                task.run();
                                ended.release();
                            });
                };
        RecordedMetrics metrics = new RecordedMetrics();
        Compactor ahead =
                recorded.compactor(
                        counted,
                        new PagePool(0),
                        new DstlHandleReader(new ReadAheadBudget(1 << 20)),
                        metrics);
        List<Compaction<FakeInput>> compactions = new ArrayList<>();
        try {
            for (int i = 0; i < count; i++) {
                Compaction<FakeInput> next =
                        recorded.compaction(
                                ahead,
                                recorded.log.commit(),
                                "read",
                                List.of(
                                        new UnclosingHandle("1.seg", closing, store),
                                        new UnclosingHandle("2.seg", closing, store)),
                                UnclosingHandle.FRAME_OFFSET,
                                () -> {});
                compactions.add(next);
                ahead.start(next);
                if (started.get() == i + 1) {
                    assertThat(ended.tryAcquire(30, TimeUnit.SECONDS)).as("ends").isTrue();
                }
            }
            assertThat(started).hasValue(Compactor.MAX_HANGING);
            assertThat(metrics.value("hangingCompactionReads")).isEqualTo(Compactor.MAX_HANGING);
            assertThat(closing.tryAcquire(2 * Compactor.MAX_HANGING, 30, TimeUnit.SECONDS))
                    .isTrue();

            store.countDown();

            // An output that is being uploaded comes first.
            while (!ended.tryAcquire(count - Compactor.MAX_HANGING, 1, TimeUnit.MILLISECONDS)) {
                recorded.log.timers().advanceMillis(1);
            }
            assertThat(recorded.events).doesNotContain("read has ended");
            assertThat(started).hasValue(count);
            while (!metrics.value("hangingCompactionReads").equals(0)) {
                Thread.sleep(1);
            }
        } finally {
            store.countDown();
            compactions.forEach(Compaction::abandon);
            threads.shutdown();
            assertThat(threads.awaitTermination(30, TimeUnit.SECONDS)).isTrue();
        }
    }

    @Test
    void readsWhoseStreamsCloseOnlyWhenInterrupted_areInterrupted_andCompactionGoesOn()
            throws Exception {
        int count = 2 * Compactor.MAX_HANGING;
        Semaphore closing = new Semaphore(0);
        AtomicInteger started = new AtomicInteger();
        ExecutorService threads = Executors.newCachedThreadPool();
        RecordedMetrics metrics = new RecordedMetrics();
        Compactor ahead =
                recorded.compactor(
                        task -> {
                            started.incrementAndGet();
                            threads.execute(task);
                        },
                        new PagePool(0),
                        new DstlHandleReader(new ReadAheadBudget(1 << 20)),
                        metrics);
        CountDownLatch never = new CountDownLatch(1);
        List<Compaction<FakeInput>> compactions = new ArrayList<>();
        try {
            for (int i = 0; i < count; i++) {
                Compaction<FakeInput> next =
                        recorded.compaction(
                                ahead,
                                recorded.log.commit(),
                                "read",
                                List.of(
                                        new UnclosingHandle("1.seg", closing, never::await),
                                        new UnclosingHandle("2.seg", closing, never::await)),
                                UnclosingHandle.FRAME_OFFSET,
                                () -> {});
                compactions.add(next);
                ahead.start(next);
            }
            long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
            while (started.get() < count || !metrics.value("hangingCompactionReads").equals(0)) {
                assertThat(System.nanoTime()).isLessThan(deadline);
                recorded.log.timers().advanceMillis(1_000);
                Thread.sleep(5);
            }
            assertThat(Thread.getAllStackTraces().keySet())
                    .extracting(Thread::getName)
                    .noneMatch(name -> name.startsWith("changelog-read-close"));
        } finally {
            never.countDown();
            compactions.forEach(Compaction::abandon);
            threads.shutdown();
            assertThat(threads.awaitTermination(30, TimeUnit.SECONDS)).isTrue();
        }
    }

    @Test
    void readWhoseTimeLimitCannotBeScheduledAgain_isGivenUp() throws Exception {
        CountDownLatch firstAnswer = new CountDownLatch(1);
        CountDownLatch store = new CountDownLatch(1);
        Semaphore opened = new Semaphore(0);
        FaultyTimers timers = new FaultyTimers(recorded.log.timers());
        RecordedMetrics metrics = new RecordedMetrics();
        ExecutorService threads = Executors.newCachedThreadPool();
        Compactor compactor =
                recorded.compactor(
                        threads, new PagePool(0), new DstlHandleReader(), metrics, timers);
        try {
            compactor.start(
                    recorded.compaction(
                            compactor,
                            recorded.log.commit(),
                            "read",
                            List.of(
                                    new UnclosingHandle("1.seg", opened, firstAnswer::await),
                                    new HangingHandle(opened, store)),
                            UnclosingHandle.FRAME_OFFSET,
                            () -> {}));
            assertThat(opened.tryAcquire(30, TimeUnit.SECONDS)).isTrue();
            recorded.log.timers().advanceMillis(1_500);
            firstAnswer.countDown();
            assertThat(opened.tryAcquire(30, TimeUnit.SECONDS)).isTrue();
            timers.failCall(timers.calls() + 1);

            recorded.log.timers().advanceMillis(600_000);

            assertThat(recorded.events).containsExactly("read has ended");
        } finally {
            firstAnswer.countDown();
            store.countDown();
            threads.shutdown();
            assertThat(threads.awaitTermination(30, TimeUnit.SECONDS)).isTrue();
        }
    }

    @Test
    void readThatIsGivenUpWhileItsStreamDoesNotClose_freesItsRecords() throws Exception {
        CountDownLatch store = new CountDownLatch(1);
        Semaphore closing = new Semaphore(0);
        PagePool pages = new PagePool(1 << 24);
        RecordedMetrics metrics = new RecordedMetrics();
        ExecutorService threads = Executors.newCachedThreadPool();
        Compactor compactor = recorded.compactor(threads, pages, new DstlHandleReader(), metrics);
        try {
            compactor.start(
                    recorded.compaction(
                            compactor,
                            recorded.log.commit(),
                            "read",
                            List.of(new UnclosingHandle("1.seg", closing, store)),
                            UnclosingHandle.FRAME_OFFSET,
                            () -> {}));
            assertThat(closing.tryAcquire(30, TimeUnit.SECONDS)).isTrue();
            assertThat(pages.freeBytes()).isZero();

            recorded.log.timers().advanceMillis(20_000);

            assertThat(recorded.events).containsExactly("read has ended");
            assertThat(metrics.value("hangingCompactionReads")).isEqualTo(1);
            assertThat(pages.freeBytes()).isPositive();
        } finally {
            store.countDown();
            threads.shutdown();
            assertThat(threads.awaitTermination(30, TimeUnit.SECONDS)).isTrue();
        }
    }
}
