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

import dev.dstl.log.api.LogRecord;
import dev.dstl.log.api.RecordCursor;
import dev.dstl.log.api.RecordKind;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How much memory sorting a changelog takes, and that it gives all of it back. */
@Timeout(60)
class SortingCursorMemoryTest {

    private final SortedLog changelog = new SortedLog();

    @AfterEach
    void close() throws InterruptedException {
        changelog.close();
    }

    @Test
    void ofStatesThatKeepTheirOrder_obsoleteRecordsAreDroppedAsWell() throws IOException {
        FakeMemory little = new FakeMemory(300_000);
        changelog.register(1, "timers");
        for (int i = 0; i < 50_000; i++) {
            changelog.put(1, "key " + i % 100, "value " + i);
        }

        List<String> read =
                SortedLog.drain(
                        changelog.cursor(
                                changelog.written.open(), any -> true, little, changelog.threads));

        assertThat(read).hasSize(101).endsWith("PUT key 98=value 49998", "PUT key 99=value 49999");
        assertThat(little.reserved()).isZero();
    }

    @Test
    void keysThatAreWrittenOften_areAppliedOnce_evenIfTheirRecordsExceedTheMemory()
            throws IOException {
        FakeMemory little = new FakeMemory(300_000);
        changelog.register(1, "known");
        for (int i = 0; i < 50_000; i++) {
            changelog.put(1, "key " + i % 100, "value " + i);
        }
        SortingCursor cursor =
                changelog.cursor(changelog.written.open(), any -> false, little, changelog.threads);
        assertThat(SortedLog.drain(cursor)).hasSize(101).contains("PUT key 99=value 49999");
        assertThat(little.reserved()).isZero();
    }

    @Test
    void recordsThatAreAllNeeded_areAppliedInSeveralRuns_ifTheyExceedTheMemory()
            throws IOException {
        FakeMemory little = new FakeMemory(300_000);
        changelog.register(1, "known");
        for (int i = 0; i < 50_000; i++) {
            changelog.put(1, "key " + i, "value");
        }
        SortingCursor cursor =
                changelog.cursor(changelog.written.open(), any -> false, little, changelog.threads);
        assertThat(SortedLog.drain(cursor)).hasSize(50_001).doesNotHaveDuplicates();
        assertThat(little.reserved()).isZero();
    }

    @ParameterizedTest
    @ValueSource(ints = {1000, 2 << 20})
    void recordsThatKeepTheirOrder_areReadOnlyAsFarAsThereIsMemory(int recordBytes)
            throws Exception {
        FakeMemory little = new FakeMemory(300_000);
        int records = (40 << 20) / recordBytes;
        DistinctRecords opaque = new DistinctRecords(SortedLog.KEY_GROUPS, records, recordBytes, 0);
        ReadingThread reading = new ReadingThread();
        SortingCursor cursor = changelog.cursor(opaque, little, reading);

        reading.awaitRest();
        assertThat(opaque.readBytes()).as("bytes read").isLessThan(5 << 20);

        assertThat(SortedLog.drain(cursor)).hasSize(records);
        assertThat(little.reserved()).isZero();
    }

    @Test
    void nextRunIsRead_whileTheSecondHalfOfThisOneIsApplied() throws Exception {
        FakeMemory little = new FakeMemory(2 << 20);
        changelog.register(1, "known");
        int records = 200_000;
        for (int i = 0; i < records; i++) {
            byte[] bytes = SortedLog.bytes("key " + i + "value");
            changelog.written.append(
                    RecordKind.PUT, i % 8, 1, bytes, 4, bytes.length - 5, bytes.length);
        }
        ReadingThread reading = new ReadingThread();
        SortingCursor cursor = changelog.cursor(changelog.written.open(), little, reading);
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
        changelog.close();
        assertThat(little.reserved()).isZero();
    }

    @Test
    void cursorThatIsClosedBeforeItsEnd_givesAllMemoryBack() throws IOException {
        changelog.register(1, "known");
        for (int i = 0; i < 10_000; i++) {
            changelog.put(1, "key " + i, "value");
        }
        try (SortingCursor cursor = changelog.cursor(changelog.written.open())) {
            assertThat(cursor.next(new LogRecord())).isTrue();
            assertThat(cursor.next(new LogRecord())).isTrue();
        }
    }

    @Test
    void partThatIsStillBeingSortedWhenTheTaskIsInterrupted_givesItsMemoryBack() throws Exception {
        changelog.register(1, "known");
        changelog.put(1, "a", "1");
        List<Runnable> sorting = new CopyOnWriteArrayList<>();
        SortingCursor cursor =
                changelog.cursor(
                        changelog.written.open(), any -> false, changelog.memory, sorting::add);
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
}
