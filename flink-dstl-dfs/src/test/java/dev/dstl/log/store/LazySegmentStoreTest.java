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

package dev.dstl.log.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.dstl.log.memory.JobMemory;
import dev.dstl.log.testing.DeafWait;
import dev.dstl.log.testing.FaultyStore;
import dev.dstl.log.testing.LogLines;
import dev.dstl.log.testing.WriteFault;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.SocketTimeoutException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.flink.api.common.JobID;
import org.apache.flink.configuration.IllegalConfigurationException;
import org.apache.flink.core.fs.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class LazySegmentStoreTest {

    private static final SegmentName NAME =
            new SegmentName(new JobID(), SegmentName.incarnation(1, 2), 3, 1);
    private static final JobMemory MEMORY = JobMemory.alone(Long.MAX_VALUE);
    private static final long SHORT_MILLIS = 20;
    private static final long LONG_MILLIS = 30_000;

    private final FaultyStore files = FaultyStore.create();
    private final LogLines lines = new LogLines();
    private final AtomicInteger openings = new AtomicInteger();
    private final CountDownLatch answer = new CountDownLatch(1);

    @AfterEach
    void close() {
        answer.countDown();
        lines.close();
        files.close();
    }

    @Test
    void fileSystemThatHangsWhileItIsSetUp_holdsNobodyForLong_andOneThreadOnly() throws Exception {
        LazySegmentStore store = hanging(SHORT_MILLIS);
        assertThatCode(store::open).doesNotThrowAnyException();
        for (int attempt = 0; attempt < 10; attempt++) {
            assertThatThrownBy(() -> store.locate(NAME))
                    .isInstanceOf(IOException.class)
                    .hasMessage("The file system was not set up within 20 ms and is waited for");
        }
        assertThat(openings).hasValue(1);
        assertThat(complaints()).hasSize(1);

        answer.countDown();
        awaitLocated(store);
        assertThat(openings).hasValue(1);
    }

    @Test
    void whoWaitsForTheFileSystem_heedsInterrupts() throws Exception {
        LazySegmentStore store = hanging(LONG_MILLIS);
        Thread.currentThread().interrupt();
        assertThatThrownBy(store::open).isInstanceOf(InterruptedIOException.class);
        assertThat(Thread.interrupted()).isTrue();
        assertThat(complaints()).isEmpty();
    }

    @Test
    void fileSystemThatCannotBeSetUp_isTriedAgainByTheNextRequest() throws Exception {
        LazySegmentStore store =
                new LazySegmentStore(
                        basePath(),
                        () -> {
                            if (openings.incrementAndGet() < 3) {
                                throw new IOException("UnknownHostException: namenode");
                            }
                            return opened();
                        },
                        LONG_MILLIS);
        assertThatCode(store::open).doesNotThrowAnyException();
        assertThatThrownBy(() -> store.locate(NAME))
                .hasMessage(
                        "The file system cannot be set up: IOException: UnknownHostException:"
                                + " namenode");
        assertThat(store.locate(NAME)).isNotNull();
        assertThat(store.locate(NAME)).isNotNull();
        assertThat(openings).hasValue(3);
        assertThat(complaints())
                .singleElement()
                .asString()
                .contains("'" + files.basePath() + "'", "UnknownHostException: namenode");
    }

    /** As when the process is at its limit of threads. */
    @Test
    void threadThatCannotBeStarted_isAStoreThatCannotBeSetUpNow() throws Exception {
        AtomicInteger threads = new AtomicInteger();
        LazySegmentStore store =
                new LazySegmentStore(
                        basePath(),
                        this::opened,
                        LONG_MILLIS,
                        System::nanoTime,
                        action ->
                                new Thread(action) {
                                    @Override
                                    public synchronized void start() {
                                        if (threads.incrementAndGet() == 1) {
                                            throw new OutOfMemoryError(
                                                    "unable to create native thread");
                                        }
                                        super.start();
                                    }
                                });
        assertThatCode(store::open).doesNotThrowAnyException();
        assertThat(complaints())
                .singleElement()
                .asString()
                .contains("unable to create native thread");
        assertThat(store.locate(NAME)).isNotNull();
    }

    @Test
    void schemeWithoutFileSystem_isMisuse() {
        LazySegmentStore store =
                new LazySegmentStore(new BasePath(new Path("s4://b/log")), 16, MEMORY);
        assertThatThrownBy(store::open)
                .isInstanceOf(IllegalConfigurationException.class)
                .hasMessageContaining("'state.changelog.dstl.dfs.base-path' is 's4://b/log'")
                .hasNoCause();
        assertThat(complaints()).isEmpty();
    }

    @Test
    void opening_asksTheStoreNothing() throws Exception {
        LazySegmentStore store = new LazySegmentStore(basePath(), 16, MEMORY);
        store.open();
        assertThat(files.requests("create") + files.requests("getFileStatus")).isZero();
    }

    @Test
    void firstFailures_areSaidOnce_andSoIsTheirEnd() throws Exception {
        LazySegmentStore store = new LazySegmentStore(basePath(), 16, MEMORY);
        files.failNext(WriteFault.FAIL_ON_CREATE, WriteFault.FAIL_ON_CLOSE);
        Path file = store.locate(NAME);
        assertThatThrownBy(() -> store.write(file, oneByte())).hasMessage("Access denied");
        assertThatThrownBy(() -> store.write(file, oneByte())).isInstanceOf(IOException.class);
        store.write(file, oneByte());
        store.write(file, oneByte());

        assertThat(complaints())
                .singleElement()
                .asString()
                .startsWith(
                        "WARN 'state.changelog.dstl.dfs.base-path' is '"
                                + files.basePath()
                                + "', where no state changes could be stored so far: IOException:"
                                + " Access denied. Nothing is lost,");
        assertThat(stored()).hasSize(1);
    }

    @Test
    void storeThatWorkedBefore_isLeftToThoseWhoWatchUploads() throws Exception {
        LazySegmentStore store = new LazySegmentStore(basePath(), 16, MEMORY);
        Path file = store.locate(NAME);
        store.write(file, oneByte());
        files.failNext(WriteFault.FAIL_ON_CREATE);
        assertThatThrownBy(() -> store.write(file, oneByte())).isInstanceOf(IOException.class);
        store.write(file, oneByte());

        assertThat(complaints()).isEmpty();
        assertThat(stored()).isEmpty();
    }

    @Test
    void attemptThatWasInterrupted_isNotWhatIsWrongWithTheStore_butOneThatTimedOutIs()
            throws Exception {
        LazySegmentStore store = new LazySegmentStore(basePath(), 16, MEMORY);
        Path file = store.locate(NAME);
        for (Exception interrupted :
                List.of(
                        new InterruptedIOException("interrupted"),
                        new IOException(new InterruptedException()))) {
            assertThatThrownBy(() -> store.write(file, failing(interrupted)))
                    .isInstanceOf(IOException.class);
        }
        assertThat(complaints()).isEmpty();
        assertThat(store.problem()).isEmpty();

        assertThatThrownBy(
                        () -> store.write(file, failing(new SocketTimeoutException("timed out"))))
                .isInstanceOf(SocketTimeoutException.class);
        assertThat(complaints()).hasSize(1);
        assertThat(store.problem())
                .get()
                .asString()
                .contains("could be stored for ", "SocketTimeoutException: timed out");
        store.write(file, oneByte());
        assertThat(store.problem()).isEmpty();
    }

    @Test
    void writeThatTakesItsTime_isNoProblem_butOneThatIsNotAnsweredIs() throws Exception {
        AtomicLong nanos = new AtomicLong();
        LazySegmentStore store =
                new LazySegmentStore(basePath(), this::opened, LONG_MILLIS, nanos::get);
        Path file = store.locate(NAME);
        store.write(file, oneByte());
        List<Optional<String>> problems = new ArrayList<>();
        store.write(
                file,
                during(
                        () -> {
                            problems.add(store.problem());
                            nanos.addAndGet(TimeUnit.SECONDS.toNanos(1));
                            problems.add(store.problem());
                            nanos.addAndGet(TimeUnit.SECONDS.toNanos(9));
                            problems.add(store.problem());
                        }));
        assertThat(problems.subList(0, 2)).as("of a healthy store").allMatch(Optional::isEmpty);
        assertThat(problems.get(2))
                .get()
                .asString()
                .contains("could be stored for 10 s: no request was answered.");
        assertThat(store.problem()).isEmpty();
    }

    /** Otherwise checkpoints would expire, of which Flink tolerates none by default. */
    @Test
    void errorOfTheClient_isWhatIsWrongWithTheStore() throws Exception {
        LazySegmentStore store = new LazySegmentStore(basePath(), this::opened, LONG_MILLIS);
        Path file = store.locate(NAME);
        SegmentContent failing =
                during(
                        () -> {
                            throw new NoClassDefFoundError("software/amazon/awssdk/Client");
                        });
        assertThatThrownBy(() -> store.write(file, failing))
                .isInstanceOf(NoClassDefFoundError.class);
        assertThat(store.problem())
                .hasValueSatisfying(
                        problem ->
                                assertThat(problem)
                                        .contains("NoClassDefFoundError: software/amazon"));
    }

    @Test
    void timeWithoutRequestsAfterAnInterruptedOne_isNotCountedAsAnOutage() throws Exception {
        AtomicLong nanos = new AtomicLong();
        LazySegmentStore store =
                new LazySegmentStore(basePath(), this::opened, LONG_MILLIS, nanos::get);
        Path file = store.locate(NAME);
        assertThatThrownBy(
                        () -> store.write(file, failing(new InterruptedIOException("cancelled"))))
                .isInstanceOf(InterruptedIOException.class);
        nanos.addAndGet(TimeUnit.HOURS.toNanos(1));
        List<Optional<String>> problems = new ArrayList<>();
        store.write(file, during(() -> problems.add(store.problem())));
        assertThat(problems).containsExactly(Optional.empty());
    }

    /**
     * A cancelled attempt that hangs in its client may return long after the one that replaced it.
     */
    @Test
    void attemptThatReturnsAfterItsReplacement_isNoRequestWithoutAnswer() throws Exception {
        AtomicLong nanos = new AtomicLong();
        LazySegmentStore store =
                new LazySegmentStore(basePath(), this::opened, LONG_MILLIS, nanos::get);
        Path file = store.locate(NAME);
        List<Optional<String>> problems = new ArrayList<>();
        SegmentContent overtaken =
                during(
                        () -> {
                            writeQuietly(store, file, oneByte());
                            throw new UncheckedIOException(new InterruptedIOException("cancelled"));
                        });
        SegmentContent deaf =
                during(
                        () -> {
                            assertThatThrownBy(() -> store.write(file, overtaken))
                                    .hasMessageContaining("cancelled");
                            nanos.addAndGet(TimeUnit.SECONDS.toNanos(10));
                            problems.add(store.problem());
                        });
        store.write(file, deaf);
        assertThat(problems).containsExactly(Optional.empty());
    }

    @Test
    void failureOfACancelledAttempt_isNoProblemOfTheStore_whateverItLooksLike() throws Exception {
        LazySegmentStore store = new LazySegmentStore(basePath(), this::opened, LONG_MILLIS);
        Path file = store.locate(NAME);
        AtomicBoolean cancelled = new AtomicBoolean();
        SegmentContent swallowing =
                new SegmentContent() {
                    @Override
                    public long length() {
                        return 1;
                    }

                    @Override
                    public void writeTo(OutputStream out) throws IOException {
                        cancelled.set(true);
                        throw new IOException("Stream is closed");
                    }

                    @Override
                    public boolean isCancelled() {
                        return cancelled.get();
                    }
                };
        assertThatThrownBy(() -> store.write(file, swallowing)).hasMessage("Stream is closed");
        assertThat(store.problem()).isEmpty();
        assertThat(complaints()).isEmpty();
    }

    private static void writeQuietly(LazySegmentStore store, Path file, SegmentContent content) {
        try {
            store.write(file, content);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static SegmentContent during(Runnable action) {
        return new SegmentContent() {
            @Override
            public long length() {
                return 1;
            }

            @Override
            public void writeTo(OutputStream out) throws IOException {
                action.run();
                out.write(1);
            }
        };
    }

    private static SegmentContent failing(Exception failure) {
        return new SegmentContent() {
            @Override
            public long length() {
                return 1;
            }

            @Override
            public void writeTo(OutputStream out) throws IOException {
                throw (IOException) failure;
            }
        };
    }

    @Test
    void closing_endsAnOpeningThatHeedsInterrupts_andIsNoFailureOfTheStore() throws Exception {
        CompletableFuture<Thread> ended = new CompletableFuture<>();
        LazySegmentStore store =
                new LazySegmentStore(
                        basePath(),
                        () -> {
                            try {
                                answer.await();
                            } catch (InterruptedException e) {
                                ended.complete(Thread.currentThread());
                            }
                            throw new IOException("interrupted");
                        },
                        SHORT_MILLIS);
        CompletableFuture<Void> waiting = CompletableFuture.runAsync(() -> openQuietly(store));
        waiting.join();
        store.close();
        ended.join();
        assertThatThrownBy(() -> store.locate(NAME)).isInstanceOf(IOException.class);
    }

    private static void openQuietly(LazySegmentStore store) {
        try {
            store.open();
        } catch (InterruptedIOException e) {
            throw new AssertionError(e);
        }
    }

    private LazySegmentStore hanging(long patienceMillis) {
        return new LazySegmentStore(
                basePath(),
                () -> {
                    openings.incrementAndGet();
                    DeafWait.on(answer);
                    return opened();
                },
                patienceMillis);
    }

    private static void awaitLocated(LazySegmentStore store) throws IOException {
        while (true) {
            try {
                assertThat(store.locate(NAME)).isNotNull();
                return;
            } catch (IOException notYet) {
                assertThat(notYet).hasMessageContaining("was not set up within");
            }
        }
    }

    private FileSystemSegmentStore opened() throws IOException {
        return basePath().open(16, MEMORY);
    }

    private BasePath basePath() {
        return new BasePath(files.basePath());
    }

    private List<String> complaints() {
        return lines.containing("where no state changes could be stored so far");
    }

    private List<String> stored() {
        return lines.containing("INFO State changes are stored below");
    }

    private static SegmentContent oneByte() {
        return new SegmentContent() {
            @Override
            public long length() {
                return 1;
            }

            @Override
            public void writeTo(OutputStream out) throws IOException {
                out.write(1);
            }
        };
    }
}
