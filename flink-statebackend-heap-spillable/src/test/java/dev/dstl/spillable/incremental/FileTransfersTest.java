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

package dev.dstl.spillable.incremental;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.util.IOUtils;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Transfers that hang ignore interrupts, as does who waits for them: the limit ends neither. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class FileTransfersTest {

    private final CloseableRegistry cancelRegistry = new CloseableRegistry();
    private final Semaphore hanging = new Semaphore(0);
    private final CountDownLatch deafEnds = new CountDownLatch(1);

    @AfterEach
    void endDeafThreads() {
        deafEnds.countDown();
    }

    /** Waits for its stream to be closed, as a read that hangs does, and for nothing else. */
    private void hang(CloseableRegistry streams) throws IOException {
        CountDownLatch closed = new CountDownLatch(1);
        Closeable stream = closed::countDown;
        streams.registerCloseable(stream);
        hanging.release();
        while (closed.getCount() > 0) {
            try {
                closed.await();
            } catch (InterruptedException e) {
                // Some clients take no notice of it.
            }
        }
        throw new IOException("closed");
    }

    /** Threads of which only the first ones can be started. */
    private static ThreadFactory startable(int count) {
        AtomicInteger made = new AtomicInteger();
        return work ->
                new Thread(work) {
                    private final boolean starts = made.getAndIncrement() < count;

                    @Override
                    public synchronized void start() {
                        if (!starts) {
                            throw new OutOfMemoryError("unable to create native thread");
                        }
                        super.start();
                    }
                };
    }

    /** As a client that reacts to nothing. */
    private void hangDeafly() {
        while (deafEnds.getCount() > 0) {
            Thread.onSpinWait();
        }
    }

    @Test
    void everyTransfer_isRunOnce() throws Exception {
        AtomicInteger run = new AtomicInteger();
        List<FileTransfers.Transfer> transfers = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            transfers.add(streams -> run.incrementAndGet());
        }

        FileTransfers.run(transfers, "test", cancelRegistry);

        assertThat(run).hasValue(100);
        assertThat(cancelRegistry.getNumberOfRegisteredCloseables()).isZero();
    }

    @Test
    void oneThatFails_endsThoseThatHang_andIsWhatTheCallerSees() {
        List<FileTransfers.Transfer> transfers = new ArrayList<>();
        transfers.add(this::hang);
        transfers.add(
                streams -> {
                    hanging.acquire(2);
                    throw new IOException("file is gone");
                });
        transfers.add(this::hang);

        assertThatThrownBy(() -> FileTransfers.run(transfers, "test", cancelRegistry))
                .isInstanceOf(IOException.class)
                .hasMessage("file is gone");
    }

    @Test
    void aTaskThatIsCancelled_endsThoseThatHang() throws Exception {
        List<FileTransfers.Transfer> transfers = List.of(this::hang, this::hang);
        Thread canceller =
                new Thread(
                        () -> {
                            hanging.acquireUninterruptibly(2);
                            IOUtils.closeQuietly(cancelRegistry);
                        });
        canceller.start();

        assertThatThrownBy(() -> FileTransfers.run(transfers, "test", cancelRegistry))
                .isInstanceOf(IOException.class)
                .hasMessage("closed");
        canceller.join();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 3})
    void threadsThatCannotBeStarted_areDoneWithout(int startable) throws Exception {
        AtomicInteger run = new AtomicInteger();
        Set<Thread> used = ConcurrentHashMap.newKeySet();
        FileTransfers.Transfer one =
                streams -> {
                    run.incrementAndGet();
                    used.add(Thread.currentThread());
                };

        FileTransfers.run(Collections.nCopies(100, one), startable(startable), cancelRegistry);

        assertThat(run).hasValue(100);
        assertThat(used).hasSizeBetween(1, Math.max(1, startable));
        assertThat(used.contains(Thread.currentThread())).isEqualTo(startable == 0);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void oneThatFails_closesStreams_alsoWithoutAThreadForIt(int startable) {
        AtomicReference<Thread> closedBy = new AtomicReference<>();
        List<FileTransfers.Transfer> transfers = new ArrayList<>();
        transfers.add(
                streams -> {
                    streams.registerCloseable(() -> closedBy.set(Thread.currentThread()));
                    throw new IOException("file is gone");
                });

        assertThatThrownBy(() -> FileTransfers.run(transfers, startable(startable), cancelRegistry))
                .isInstanceOf(IOException.class)
                .hasMessage("file is gone");
        assertThat(closedBy).hasValue(Thread.currentThread());
    }

    @Test
    void oneThatFails_doesNotWaitForAClientThatReactsToNothing_ifThatMayBeAbandoned() {
        List<FileTransfers.Transfer> transfers = new ArrayList<>();
        transfers.add(
                streams -> {
                    // As clients do that read and close under one lock.
                    streams.registerCloseable(this::hangDeafly);
                    hangDeafly();
                });
        transfers.add(
                streams -> {
                    throw new IOException("file is gone");
                });

        assertThatThrownBy(() -> FileTransfers.runOrAbandon(transfers, "test", cancelRegistry))
                .isInstanceOf(IOException.class)
                .hasMessage("file is gone");
        assertThat(deafEnds.getCount()).isOne();
    }

    @Test
    void aCancelledTask_doesNotWaitForSuchAClientEither() throws Exception {
        CompletableFuture<Throwable> failure = new CompletableFuture<>();
        CountDownLatch begun = new CountDownLatch(1);
        List<FileTransfers.Transfer> transfers = new ArrayList<>();
        transfers.add(
                streams -> {
                    begun.countDown();
                    hangDeafly();
                });
        Thread task =
                new Thread(
                        () -> {
                            try {
                                FileTransfers.runOrAbandon(transfers, "test", cancelRegistry);
                            } catch (Throwable e) {
                                failure.complete(e);
                            }
                        });
        task.start();
        begun.await();

        task.interrupt();

        assertThat(failure.get(20, TimeUnit.SECONDS)).isInstanceOf(InterruptedException.class);
        assertThat(deafEnds.getCount()).isOne();
    }
}
