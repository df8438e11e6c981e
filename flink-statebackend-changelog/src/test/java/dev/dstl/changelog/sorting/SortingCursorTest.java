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

package dev.dstl.changelog.sorting;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.dstl.changelog.fixture.InMemoryChangelogWriter;
import dev.dstl.log.api.LogRecord;
import dev.dstl.log.api.RecordCursor;
import dev.dstl.log.api.RecordKind;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class SortingCursorTest {

    private static final KeyGroupRange KEY_GROUPS = KeyGroupRange.of(0, 7);

    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final InMemoryChangelogWriter log = new InMemoryChangelogWriter();
    private final FakeMemory memory = new FakeMemory(Long.MAX_VALUE);

    @AfterEach
    void endThreads() throws InterruptedException {
        threads.shutdownNow();
        assertThat(threads.awaitTermination(30, TimeUnit.SECONDS)).isTrue();
        assertThat(memory.reserved()).isZero();
    }

    @Test
    void recordsBehindAnotherRegistration_areAppliedBehindIt() throws IOException {
        register(1, "old");
        put(1, "b", "old");
        put(1, "a", "old");
        register(1, "old");
        register(1, "new");
        put(1, "b", "new");
        assertThat(sorted())
                .containsExactly("META old", "PUT a=old", "PUT b=old", "META new", "PUT b=new");
    }

    @Test
    void changesOfFlinksBuiltInChangelog_comeAsTheyCame() throws IOException {
        log.append(RecordKind.OPAQUE, 9, 0, bytes("z"), 0, 0, 1);
        log.append(RecordKind.OPAQUE, 1, 0, bytes("a"), 0, 0, 1);
        register(1, "known");
        log.append(RecordKind.OPAQUE, 2, 0, bytes("b"), 0, 0, 1);
        assertThat(sorted()).containsExactly("OPAQUE z", "OPAQUE a", "META known", "OPAQUE b");
    }

    @Test
    void recordThatIsNotRegistered_comesBeforeItsRegistration_toBeRefused() throws IOException {
        register(1, "known");
        put(1, "b", "1");
        put(2, "a", "2");
        register(2, "late");
        assertThat(sorted()).containsExactly("META known", "PUT b=1", "PUT a=2", "META late");
    }

    @Test
    void recordsOfOtherKeyGroups_areLeftOut() throws IOException {
        register(1, "known");
        log.append(RecordKind.PUT, 8, 1, bytes("a"), 1, 1, 1);
        put(1, "b", "1");
        assertThat(sorted()).containsExactly("META known", "PUT b=1");
    }

    @Test
    void logThatCannotBeRead_failsWhoReplays_withTheReadersMessage() {
        assertThatThrownBy(() -> read(failing(new IOException("the store is gone"))))
                .isInstanceOf(IOException.class)
                .hasMessage("the store is gone");
    }

    @Test
    void readerWithADefect_failsWhoReplays_withTheDefect() {
        assertThatThrownBy(() -> read(failing(new IllegalStateException("a defect"))))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("a defect");
    }

    @Test
    void logThatTheReaderIsClosing_isNotClosedByTheTaskAsWell() throws Exception {
        CountDownLatch closing = new CountDownLatch(1);
        CountDownLatch taskIsDone = new CountDownLatch(1);
        AtomicInteger closed = new AtomicInteger();
        SortingCursor cursor =
                cursor(
                        new RecordCursor() {
                            @Override
                            public boolean next(LogRecord record) {
                                return false;
                            }

                            @Override
                            public void close() {
                                closed.incrementAndGet();
                                closing.countDown();
                                await(taskIsDone);
                            }
                        });
        closing.await();
        assertThat(cursor.next(new LogRecord())).isFalse();

        cursor.close();
        taskIsDone.countDown();

        assertThat(closed).hasValue(1);
    }

    @Test
    void whoWaitsForAStoreThatHangs_isFreedByClosing() throws Exception {
        CountDownLatch hanging = new CountDownLatch(1);
        CountDownLatch closed = new CountDownLatch(1);
        SortingCursor cursor =
                cursor(
                        new RecordCursor() {
                            @Override
                            public boolean next(LogRecord record) throws IOException {
                                hanging.countDown();
                                try {
                                    closed.await();
                                } catch (InterruptedException e) {
                                    throw new InterruptedIOException();
                                }
                                throw new IOException("closed");
                            }

                            @Override
                            public void close() {
                                closed.countDown();
                            }
                        });
        Future<Boolean> waiting = threads.submit(() -> cursor.next(new LogRecord()));
        hanging.await();
        cursor.close();
        assertThatThrownBy(waiting::get)
                .hasRootCauseInstanceOf(InterruptedIOException.class)
                .hasMessageContaining("cancelled");
    }

    @Test
    void cursorThatIsClosedBeforeItsEnd_givesAllMemoryBack() throws IOException {
        register(1, "known");
        for (int i = 0; i < 10_000; i++) {
            put(1, "key " + i, "value");
        }
        try (SortingCursor cursor = cursor(log.open())) {
            assertThat(cursor.next(new LogRecord())).isTrue();
            assertThat(cursor.next(new LogRecord())).isTrue();
        }
    }

    @Test
    void partThatIsStillBeingSortedWhenTheTaskIsInterrupted_givesItsMemoryBack() throws Exception {
        register(1, "known");
        put(1, "a", "1");
        List<Runnable> sorting = new CopyOnWriteArrayList<>();
        SortingCursor cursor = cursor(log.open(), any -> false, memory, sorting::add);
        assertThat(cursor.next(new LogRecord())).as("the registration").isTrue();
        CompletableFuture<Boolean> interrupted = new CompletableFuture<>();
        Thread task =
                new Thread(
                        () -> {
                            try {
                                cursor.next(new LogRecord());
                            } catch (IOException e) {
                                interrupted.complete(e instanceof InterruptedIOException);
                            }
                        });
        task.start();
        while (!isWaitingForAPart(task)) {
            Thread.sleep(1);
        }

        task.interrupt();
        assertThat(interrupted.get()).isTrue();
        cursor.close();
        sorting.forEach(Runnable::run);

        assertThat(sorting).isNotEmpty();
    }

    private static boolean isWaitingForAPart(Thread task) {
        return task.getState() == Thread.State.WAITING
                && Stream.of(task.getStackTrace())
                        .anyMatch(frame -> frame.getClassName().contains("CompletableFuture"));
    }

    @Test
    void statesThatKeepTheirOrder_areReadAsWritten() throws IOException {
        register(1, "known");
        register(2, "timers");
        put(2, "b", "added");
        put(1, "b", "1");
        put(2, "a", "removed");
        put(1, "a", "2");
        log.append(RecordKind.PUT, 8, 2, bytes("c"), 1, 1, 1);
        SortingCursor cursor =
                cursor(
                        log.open(),
                        registration -> Arrays.equals(registration, bytes("timers")),
                        memory,
                        threads);

        assertThat(drain(cursor))
                .containsExactly(
                        "META known",
                        "META timers",
                        "PUT a=2",
                        "PUT b=1",
                        "PUT b=added",
                        "PUT a=removed");
    }

    @Test
    void ofStatesThatKeepTheirOrder_obsoleteRecordsAreDroppedAsWell() throws IOException {
        FakeMemory little = new FakeMemory(300_000);
        register(1, "timers");
        for (int i = 0; i < 50_000; i++) {
            put(1, "key " + i % 100, "value " + i);
        }

        List<String> read = drain(cursor(log.open(), any -> true, little, threads));

        assertThat(read).hasSize(101).endsWith("PUT key 98=value 49998", "PUT key 99=value 49999");
        assertThat(little.reserved()).isZero();
    }

    @Test
    void keysThatAreWrittenOften_areAppliedOnce_evenIfTheirRecordsExceedTheMemory()
            throws IOException {
        FakeMemory little = new FakeMemory(300_000);
        register(1, "known");
        for (int i = 0; i < 50_000; i++) {
            put(1, "key " + i % 100, "value " + i);
        }
        SortingCursor cursor = cursor(log.open(), any -> false, little, threads);
        assertThat(drain(cursor)).hasSize(101).contains("PUT key 99=value 49999");
        assertThat(little.reserved()).isZero();
    }

    @Test
    void recordsThatAreAllNeeded_areAppliedInSeveralRuns_ifTheyExceedTheMemory()
            throws IOException {
        FakeMemory little = new FakeMemory(300_000);
        register(1, "known");
        for (int i = 0; i < 50_000; i++) {
            put(1, "key " + i, "value");
        }
        SortingCursor cursor = cursor(log.open(), any -> false, little, threads);
        assertThat(drain(cursor)).hasSize(50_001).doesNotHaveDuplicates();
        assertThat(little.reserved()).isZero();
    }

    @Test
    void bytesRead_includeThoseOfObsoleteRecords() throws IOException {
        register(1, "known");
        for (int i = 0; i < 100; i++) {
            byte[] bytes = bytes("key value" + i);
            log.append(RecordKind.PUT, 1, 1, bytes, 3, 3, bytes.length);
        }
        long expected = 0;
        LogRecord record = new LogRecord();
        try (RecordCursor all = log.open()) {
            while (all.next(record)) {
                expected += record.length();
            }
        }
        SortingCursor cursor =
                cursor(log.open(), any -> false, new FakeMemory(Long.MAX_VALUE), threads);
        assertThat(drain(cursor)).hasSize(2);
        assertThat(cursor.bytesRead()).isEqualTo(expected);
    }

    @ParameterizedTest
    @ValueSource(ints = {1000, 2 << 20})
    void recordsThatKeepTheirOrder_areReadOnlyAsFarAsThereIsMemory(int recordBytes)
            throws Exception {
        FakeMemory little = new FakeMemory(300_000);
        int records = (40 << 20) / recordBytes;
        DistinctRecords opaque = new DistinctRecords(KEY_GROUPS, records, recordBytes, 0);
        ReadingThread reading = new ReadingThread();
        SortingCursor cursor = cursor(opaque, little, reading);

        reading.awaitRest();
        assertThat(opaque.readBytes()).as("bytes read").isLessThan(5 << 20);

        assertThat(drain(cursor)).hasSize(records);
        assertThat(little.reserved()).isZero();
    }

    @Test
    void logInWhichTheReaderIs_isClosedByTheReader_afterItHasLeft() throws Exception {
        CountDownLatch inside = new CountDownLatch(1);
        CountDownLatch answered = new CountDownLatch(1);
        AtomicBoolean isInside = new AtomicBoolean();
        CompletableFuture<Boolean> insideWhenClosed = new CompletableFuture<>();
        SortingCursor cursor =
                cursor(
                        new RecordCursor() {
                            @Override
                            public boolean next(LogRecord record) {
                                isInside.set(true);
                                inside.countDown();
                                // As a store's client that is deaf to interrupts.
                                while (answered.getCount() > 0) {
                                    Thread.onSpinWait();
                                }
                                isInside.set(false);
                                return false;
                            }

                            @Override
                            public void close() {
                                insideWhenClosed.complete(isInside.get());
                            }
                        });
        inside.await();
        cursor.close();
        assertThat(insideWhenClosed).isNotDone();
        answered.countDown();

        assertThat(insideWhenClosed.get()).isFalse();
        assertThatThrownBy(() -> cursor.next(new LogRecord()))
                .isInstanceOf(InterruptedIOException.class);
    }

    @Test
    void logThatNobodyHasBegunToRead_isClosedWithTheCursor() throws IOException {
        AtomicInteger closed = new AtomicInteger();
        List<Runnable> neverRun = new ArrayList<>();
        SortingCursor cursor =
                new SortingCursor(
                        new RecordCursor() {
                            @Override
                            public boolean next(LogRecord record) {
                                throw new IllegalStateException("read after it was closed");
                            }

                            @Override
                            public void close() {
                                closed.incrementAndGet();
                            }
                        },
                        KEY_GROUPS,
                        ReplayOrder.BY_KEY,
                        any -> false,
                        memory,
                        threads);
        cursor.start(neverRun::add);

        cursor.close();
        neverRun.forEach(Runnable::run);

        assertThat(closed).hasValue(1);
    }

    @Test
    void nextRunIsRead_whileTheSecondHalfOfThisOneIsApplied() throws Exception {
        FakeMemory little = new FakeMemory(2 << 20);
        register(1, "known");
        int records = 200_000;
        for (int i = 0; i < records; i++) {
            byte[] bytes = bytes("key " + i + "value");
            log.append(RecordKind.PUT, i % 8, 1, bytes, 4, bytes.length - 5, bytes.length);
        }
        ReadingThread reading = new ReadingThread();
        SortingCursor cursor = cursor(log.open(), little, reading);
        try (RecordCursor closing = cursor) {
            LogRecord record = new LogRecord();
            reading.awaitRest();
            long firstRun = cursor.recordsRead();
            assertThat(firstRun).isBetween(1L, records / 2L);
            for (int i = 0; i < firstRun * 3 / 4; i++) {
                assertThat(closing.next(record)).isTrue();
            }
            while (cursor.recordsRead() == firstRun) {
                Thread.sleep(1);
            }
        }
        reading.awaitEnd();
        endThreads();
        assertThat(little.reserved()).isZero();
    }

    @Test
    void withoutAThreadToSort_theReaderSorts() throws IOException {
        register(1, "known");
        put(1, "b", "1");
        put(1, "a", "2");
        SortingCursor cursor =
                new SortingCursor(
                        log.open(),
                        KEY_GROUPS,
                        ReplayOrder.BY_KEY,
                        any -> false,
                        memory,
                        task -> {
                            throw new RejectedExecutionException("no thread");
                        });
        cursor.start(threads);
        assertThat(drain(cursor)).containsExactly("META known", "PUT a=2", "PUT b=1");
    }

    private void register(int state, String name) throws IOException {
        log.append(RecordKind.META, -1, state, bytes(name), 0, 0, name.length());
    }

    private void put(int state, String key, String value) throws IOException {
        byte[] bytes = bytes(key + value);
        log.append(RecordKind.PUT, 1, state, bytes, key.length(), key.length(), bytes.length);
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }

    private static RecordCursor failing(Exception failure) {
        return new RecordCursor() {
            @Override
            public boolean next(LogRecord record) throws IOException {
                if (failure instanceof IOException) {
                    throw (IOException) failure;
                }
                throw (RuntimeException) failure;
            }

            @Override
            public void close() {}
        };
    }

    private SortingCursor cursor(RecordCursor source) {
        return cursor(source, any -> false, memory, threads);
    }

    private SortingCursor cursor(RecordCursor source, FakeMemory reserved, Executor reader) {
        return cursor(source, any -> false, reserved, threads, reader);
    }

    private SortingCursor cursor(
            RecordCursor source,
            Predicate<byte[]> keepsOrder,
            FakeMemory reserved,
            Executor sorters) {
        return cursor(source, keepsOrder, reserved, sorters, threads);
    }

    private static SortingCursor cursor(
            RecordCursor source,
            Predicate<byte[]> keepsOrder,
            FakeMemory reserved,
            Executor sorters,
            Executor reader) {
        SortingCursor cursor =
                new SortingCursor(
                        source, KEY_GROUPS, ReplayOrder.BY_KEY, keepsOrder, reserved, sorters);
        cursor.start(reader);
        return cursor;
    }

    private List<String> sorted() throws IOException {
        return read(log.open());
    }

    private List<String> read(RecordCursor source) throws IOException {
        return drain(cursor(source));
    }

    private static List<String> drain(SortingCursor cursor) throws IOException {
        List<String> texts = new ArrayList<>();
        try (RecordCursor closing = cursor) {
            LogRecord record = new LogRecord();
            while (closing.next(record)) {
                String recordKey = text(record, record.keyOffset(), record.keyLength());
                String payload = text(record, record.payloadOffset(), record.payloadLength());
                texts.add(
                        record.kind()
                                + " "
                                + (recordKey.isEmpty() ? payload : recordKey + "=" + payload));
            }
        }
        return texts;
    }

    private static String text(LogRecord record, int offset, int length) {
        return new String(record.buffer(), offset, length, StandardCharsets.ISO_8859_1);
    }
}
