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

import dev.dstl.log.api.LogRecord;
import dev.dstl.log.api.RecordCursor;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A changelog that fails or hangs while it is read, and who closes it. */
@Timeout(60)
class SortingCursorCloseTest {

    private final SortedLog changelog = new SortedLog();

    @AfterEach
    void close() throws InterruptedException {
        changelog.close();
    }

    @Test
    void logThatCannotBeRead_failsWhoReplays_withTheReadersMessage() {
        assertThatThrownBy(() -> changelog.read(failing(new IOException("the store is gone"))))
                .isInstanceOf(IOException.class)
                .hasMessage("the store is gone");
    }

    @Test
    void readerWithADefect_failsWhoReplays_withTheDefect() {
        assertThatThrownBy(() -> changelog.read(failing(new IllegalStateException("a defect"))))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("a defect");
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

    @Test
    void logThatTheReaderIsClosing_isNotClosedByTheTaskAsWell() throws Exception {
        CountDownLatch closing = new CountDownLatch(1);
        CountDownLatch taskIsDone = new CountDownLatch(1);
        AtomicInteger closed = new AtomicInteger();
        SortingCursor cursor =
                changelog.cursor(
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

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void whoWaitsForAStoreThatHangs_isFreedByClosing() throws Exception {
        CountDownLatch hanging = new CountDownLatch(1);
        CountDownLatch closed = new CountDownLatch(1);
        SortingCursor cursor =
                changelog.cursor(
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
        Future<Boolean> waiting = changelog.threads.submit(() -> cursor.next(new LogRecord()));
        hanging.await();
        cursor.close();
        assertThatThrownBy(waiting::get)
                .hasRootCauseInstanceOf(InterruptedIOException.class)
                .hasMessageContaining("cancelled");
    }

    @Test
    void logInWhichTheReaderIs_isClosedByTheReader_afterItHasLeft() throws Exception {
        CountDownLatch inside = new CountDownLatch(1);
        CountDownLatch answered = new CountDownLatch(1);
        AtomicBoolean isInside = new AtomicBoolean();
        CompletableFuture<Boolean> insideWhenClosed = new CompletableFuture<>();
        SortingCursor cursor =
                changelog.cursor(
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
                        SortedLog.KEY_GROUPS,
                        ReplayOrder.BY_KEY,
                        any -> false,
                        changelog.memory,
                        changelog.threads);
        cursor.start(neverRun::add);

        cursor.close();
        neverRun.forEach(Runnable::run);

        assertThat(closed).hasValue(1);
    }
}
