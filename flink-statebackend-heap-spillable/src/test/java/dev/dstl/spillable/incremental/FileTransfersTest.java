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
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.flink.core.fs.CloseableRegistry;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class FileTransfersTest {

    private final CloseableRegistry cancelRegistry = new CloseableRegistry();
    private final CountDownLatch deafEnds = new CountDownLatch(1);

    @AfterEach
    void endDeafThreads() {
        deafEnds.countDown();
    }

    /** Waits for its stream to be closed, as a read that hangs does. */
    private static void hang(CloseableRegistry streams) throws Exception {
        CountDownLatch closed = new CountDownLatch(1);
        Closeable stream = closed::countDown;
        streams.registerCloseable(stream);
        if (!closed.await(30, TimeUnit.SECONDS)) {
            throw new IOException("nobody closed the stream");
        }
        throw new IOException("closed");
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
        transfers.add(FileTransfersTest::hang);
        transfers.add(
                streams -> {
                    throw new IOException("file is gone");
                });
        transfers.add(FileTransfersTest::hang);

        assertThatThrownBy(() -> FileTransfers.run(transfers, "test", cancelRegistry))
                .isInstanceOf(IOException.class)
                .hasMessage("file is gone");
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
