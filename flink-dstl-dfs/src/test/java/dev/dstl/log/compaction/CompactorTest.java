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

import static dev.dstl.log.api.TestRecord.put;
import static org.assertj.core.api.Assertions.assertThat;

import dev.dstl.log.batch.PagePool;
import dev.dstl.log.commit.BatchPosition;
import dev.dstl.log.commit.GroupCommit;
import dev.dstl.log.config.DstlOptions;
import dev.dstl.log.config.DstlSettings;
import dev.dstl.log.execution.Timers;
import dev.dstl.log.metrics.DstlMetrics;
import dev.dstl.log.replay.DstlHandleReader;
import dev.dstl.log.replay.ReadAheadBudget;
import dev.dstl.log.segment.EncodedSegment;
import dev.dstl.log.segment.SegmentCodec;
import dev.dstl.log.segment.TestSegments;
import dev.dstl.log.testing.DeafWait;
import dev.dstl.log.testing.FaultyTimers;
import dev.dstl.log.testing.LogFixture;
import dev.dstl.log.testing.RecordedMetrics;
import dev.dstl.log.writer.DstlLogWriter;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import javax.annotation.Nullable;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.core.fs.FSDataInputStreamWrapper;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;
import org.apache.flink.runtime.state.memory.ByteStreamStateHandle;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class CompactorTest {

    private static final EncodedSegment SEGMENT = segment(0);

    private static EncodedSegment segment(long sequence) {
        return TestSegments.encodeFrom(
                sequence, SegmentCodec.NONE, List.of(put(1, 1, "key", "value")));
    }

    private final LogFixture log = LogFixture.onCallingThread(new Configuration());
    private final Compactor compactor = log.compactor();
    private final List<String> events = Collections.synchronizedList(new ArrayList<>());
    private final List<DstlLogWriter> writers = new ArrayList<>();
    private Runnable whenDurable = () -> {};

    /** Outputs of several changelogs wait for each other. */
    @BeforeEach
    void open() {
        writers.add(log.writer());
        writers.add(log.writer());
    }

    @AfterEach
    void close() {
        writers.forEach(DstlLogWriter::close);
        log.close();
    }

    /** A changelog may close on another thread just before the output of its compaction waits. */
    @Test
    void compactionThatStartsWhileUnneededOutputsAreDropped_isRead() {
        Compaction<Input> next = compaction("next", () -> {});
        Compaction<Input> closed = compaction("closed", () -> compactor.start(next));
        closed.abandon();
        compactor.gather(closed, log.commit(), 100);
        assertThat(events).isEmpty();

        log.timers().advanceMillis(GatheredOutputs.LINGER_MILLIS);

        assertThat(events).containsExactly("closed is submitted", "next has ended");
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
                hangs.compactor().start(compaction(hangs, "first", hanging, () -> {}));
            }
            assertThat(opened.tryAcquire(Compactor.MAX_HANGING - 1, 30, TimeUnit.SECONDS)).isTrue();
            // The timeout doubles each time.
            hangs.timers().advanceMillis(20_000);
            assertThat(hangs.metrics().value("hangingCompactionReads"))
                    .isEqualTo(Compactor.MAX_HANGING - 1);

            for (int i = 0; i < Compactor.MAX_READING; i++) {
                hangs.compactor().start(compaction(hangs, "second", hanging, () -> {}));
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
                compactor(
                        counted,
                        new PagePool(0),
                        new DstlHandleReader(new ReadAheadBudget(1 << 20)),
                        metrics);
        List<Compaction<Input>> compactions = new ArrayList<>();
        try {
            for (int i = 0; i < count; i++) {
                Compaction<Input> next =
                        compaction(
                                ahead,
                                log.commit(),
                                "read",
                                List.of(
                                        new UnclosingHandle("1.seg", closing, store),
                                        new UnclosingHandle("2.seg", closing, store)),
                                SEGMENT.frameOffset(0),
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
                log.timers().advanceMillis(1);
            }
            assertThat(events).doesNotContain("read has ended");
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
                compactor(
                        task -> {
                            started.incrementAndGet();
                            threads.execute(task);
                        },
                        new PagePool(0),
                        new DstlHandleReader(new ReadAheadBudget(1 << 20)),
                        metrics);
        CountDownLatch never = new CountDownLatch(1);
        List<Compaction<Input>> compactions = new ArrayList<>();
        try {
            for (int i = 0; i < count; i++) {
                Compaction<Input> next =
                        compaction(
                                ahead,
                                log.commit(),
                                "read",
                                List.of(
                                        new UnclosingHandle("1.seg", closing, never::await),
                                        new UnclosingHandle("2.seg", closing, never::await)),
                                SEGMENT.frameOffset(0),
                                () -> {});
                compactions.add(next);
                ahead.start(next);
            }
            long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
            while (started.get() < count || !metrics.value("hangingCompactionReads").equals(0)) {
                assertThat(System.nanoTime()).isLessThan(deadline);
                log.timers().advanceMillis(1_000);
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
        FaultyTimers timers = new FaultyTimers(log.timers());
        RecordedMetrics metrics = new RecordedMetrics();
        ExecutorService threads = Executors.newCachedThreadPool();
        Compactor compactor =
                compactor(threads, new PagePool(0), new DstlHandleReader(), metrics, timers);
        try {
            compactor.start(
                    compaction(
                            compactor,
                            log.commit(),
                            "read",
                            List.of(
                                    new UnclosingHandle("1.seg", opened, firstAnswer::await),
                                    new HangingHandle(opened, store)),
                            SEGMENT.frameOffset(0),
                            () -> {}));
            assertThat(opened.tryAcquire(30, TimeUnit.SECONDS)).isTrue();
            log.timers().advanceMillis(1_500);
            firstAnswer.countDown();
            assertThat(opened.tryAcquire(30, TimeUnit.SECONDS)).isTrue();
            timers.failCall(timers.calls() + 1);

            log.timers().advanceMillis(600_000);

            assertThat(events).containsExactly("read has ended");
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
        Compactor compactor = compactor(threads, pages, new DstlHandleReader(), metrics);
        try {
            compactor.start(
                    compaction(
                            compactor,
                            log.commit(),
                            "read",
                            List.of(new UnclosingHandle("1.seg", closing, store)),
                            SEGMENT.frameOffset(0),
                            () -> {}));
            assertThat(closing.tryAcquire(30, TimeUnit.SECONDS)).isTrue();
            assertThat(pages.freeBytes()).isZero();

            log.timers().advanceMillis(20_000);

            assertThat(events).containsExactly("read has ended");
            assertThat(metrics.value("hangingCompactionReads")).isEqualTo(1);
            assertThat(pages.freeBytes()).isPositive();
        } finally {
            store.countDown();
            threads.shutdown();
            assertThat(threads.awaitTermination(30, TimeUnit.SECONDS)).isTrue();
        }
    }

    private Compactor compactor(
            Executor threads, PagePool pages, DstlHandleReader reader, RecordedMetrics metrics) {
        return compactor(threads, pages, reader, metrics, log.timers());
    }

    private Compactor compactor(
            Executor threads,
            PagePool pages,
            DstlHandleReader reader,
            RecordedMetrics metrics,
            Timers timers) {
        return new Compactor(
                DstlSettings.from(
                        new Configuration()
                                .set(DstlOptions.BASE_PATH, log.store().basePath().toString())),
                threads,
                pages,
                reader,
                timers,
                new DstlMetrics(metrics));
    }

    /** A segment whose streams do not close before they may. */
    private static final class UnclosingHandle extends ByteStreamStateHandle {

        private static final long serialVersionUID = 1L;

        private final transient Semaphore closing;
        private final transient Wait answer;

        private UnclosingHandle(String name, Semaphore closing, CountDownLatch store) {
            this(name, closing, () -> DeafWait.on(store));
        }

        private UnclosingHandle(String name, Semaphore closing, Wait answer) {
            super(name, TestSegments.bytes(segment(name.charAt(0))));
            this.closing = closing;
            this.answer = answer;
        }

        @Override
        public Optional<byte[]> asBytesIfInMemory() {
            return Optional.empty();
        }

        @Override
        public FSDataInputStream openInputStream() throws IOException {
            return new FSDataInputStreamWrapper(super.openInputStream()) {
                @Override
                public void close() throws IOException {
                    closing.release();
                    try {
                        answer.await();
                    } catch (InterruptedException e) {
                        throw new InterruptedIOException("Interrupted while closing");
                    }
                    super.close();
                }
            };
        }
    }

    @FunctionalInterface
    private interface Wait {
        void await() throws InterruptedException;
    }

    /** Each that ends lets the next one start, so the stack would grow with the queue. */
    @Test
    void whereNoThreadCanBeStarted_allThatWaitEnd_howeverManyTheyAre() {
        int count = 10_000;
        AtomicBoolean noThread = new AtomicBoolean();
        Executor threads =
                task -> {
                    if (noThread.get()) {
                        throw new OutOfMemoryError("unable to create native thread");
                    }
                };
        StreamStateHandle source = new ByteStreamStateHandle("1.seg", new byte[100]);
        try (LogFixture changelogs =
                LogFixture.withCompactionsOn(threads, Runnable::run, new Configuration())) {
            List<Compaction<Input>> reading = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                Compaction<Input> compaction = compaction(changelogs, "one", source, () -> {});
                changelogs.compactor().start(compaction);
                if (i < Compactor.MAX_READING) {
                    reading.add(compaction);
                }
            }
            noThread.set(true);

            reading.forEach(Compaction::abandon);

            assertThat(events).hasSize(count - Compactor.MAX_READING).containsOnly("one has ended");
        }
    }

    /** Otherwise its changelog would have no compaction any more. */
    @Test
    void compactionThatCannotBeStartedForLackOfMemory_fails_andTheNextOneReads() {
        List<Runnable> started = new ArrayList<>();
        AtomicInteger asked = new AtomicInteger();
        CompactionQueue queue =
                new CompactionQueue(
                        started::add,
                        reading -> {
                            if (asked.incrementAndGet() == 1) {
                                throw new OutOfMemoryError("Java heap space");
                            }
                            return reading == 0;
                        });
        Compaction<Input> next = compaction("next", () -> {});
        queue.add(compaction("first", () -> {}));
        queue.add(next);

        queue.runNext();

        assertThat(events).containsExactly("first has ended");
        assertThat(started).containsExactly(next);
        queue.remove(next);
        assertThat(queue.isReading()).isFalse();
    }

    /** Otherwise its changelog would have no compaction any more, and the output would stay. */
    @Test
    void compactionWhoseOutputCannotTakeThePlaceOfItsInputs_fails_andCanBeAbandoned() {
        whenDurable =
                () -> {
                    throw new OutOfMemoryError("Java heap space");
                };
        Compaction<Input> compaction =
                compaction(
                        compactor,
                        log.commit(),
                        "one",
                        List.of(new ByteStreamStateHandle("1.seg", TestSegments.bytes(SEGMENT))),
                        SEGMENT.frameOffset(0),
                        () -> {});
        compactor.start(compaction);
        log.timers().advanceMillis(GatheredOutputs.LINGER_MILLIS);
        assertThat(events).containsExactly("one is submitted", "one is durable", "one has ended");

        compaction.abandon();

        assertThat(log.store().segments()).isEmpty();
    }

    /** A segment whose store does not answer and whose client ignores interrupts. */
    private static final class HangingHandle extends ByteStreamStateHandle {

        private static final long serialVersionUID = 1L;

        private final transient Semaphore opened;
        private final transient CountDownLatch store;

        private HangingHandle(Semaphore opened, CountDownLatch store) {
            super("hanging.seg", new byte[100]);
            this.opened = opened;
            this.store = store;
        }

        @Override
        public Optional<byte[]> asBytesIfInMemory() {
            return Optional.empty();
        }

        @Override
        public FSDataInputStream openInputStream() throws IOException {
            opened.release();
            DeafWait.on(store);
            throw new IOException("Connection reset");
        }
    }

    private Compaction<Input> compaction(String name, Runnable whenSubmitted) {
        return compaction(
                log, name, new ByteStreamStateHandle("1.seg", new byte[100]), whenSubmitted);
    }

    /**
     * @param whenSubmitted called when the output is asked for
     */
    private Compaction<Input> compaction(
            LogFixture changelogs, String name, StreamStateHandle source, Runnable whenSubmitted) {
        return compaction(
                changelogs.compactor(),
                changelogs.commit(),
                name,
                List.of(source),
                16,
                whenSubmitted);
    }

    private Compaction<Input> compaction(
            Compactor reader,
            GroupCommit commit,
            String name,
            List<StreamStateHandle> sources,
            long frameOffset,
            Runnable whenSubmitted) {
        List<Tuple2<StreamStateHandle, Long>> frames = new ArrayList<>();
        sources.forEach(source -> frames.add(Tuple2.of(source, frameOffset)));
        CompactionListener<Input> listener =
                new CompactionListener<>() {
                    @Override
                    public long lastCheckpoint() {
                        events.add(name + " is submitted");
                        whenSubmitted.run();
                        return 1;
                    }

                    @Override
                    public void compacted(Compaction<Input> ended, BatchPosition position) {
                        events.add(name + " is durable");
                        whenDurable.run();
                    }

                    @Override
                    public void compactionFailed(
                            Compaction<Input> failed, @Nullable Throwable cause) {
                        events.add(name + " has ended");
                    }
                };
        return new Compaction<>(
                listener,
                reader,
                commit,
                List.of(new Input()),
                new ChangelogStateHandleStreamImpl(frames, LogFixture.KEY_GROUPS, 0, 0, "dstl"),
                UUID.randomUUID());
    }

    private static final class Input implements CompactionInput {

        @Override
        public long sequence() {
            return 0;
        }

        @Override
        public int level() {
            return 0;
        }

        @Override
        public BatchPosition position() {
            throw new IllegalStateException("There is no file");
        }

        @Override
        public long frameBytes() {
            return 1;
        }

        @Override
        public long memoryBytes() {
            return 0;
        }

        @Override
        public boolean isCompactable(long persists) {
            return true;
        }
    }
}
