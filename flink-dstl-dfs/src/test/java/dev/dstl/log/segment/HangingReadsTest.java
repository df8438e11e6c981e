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

package dev.dstl.log.segment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.dstl.log.testing.DeafWait;
import dev.dstl.log.testing.LogLines;
import dev.dstl.log.testing.UnstartableThread;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Reads that are abandoned and ignore the interrupt. */
@Timeout(60)
class HangingReadsTest {

    private static final int MOST = 25;

    private final AtomicLong clockNanos = new AtomicLong();
    private final HangingReads hanging = new HangingReads(MOST, clockNanos::get);
    private final CountDownLatch store = new CountDownLatch(1);
    private final AtomicInteger running = new AtomicInteger();

    @AfterEach
    void answer() {
        store.countDown();
    }

    @Test
    void threadsThatHang_areBounded_andReadsGoOnOnceTheyReturn() throws Exception {
        abandon(MOST);

        assertThatThrownBy(this::read)
                .isInstanceOf(IOException.class)
                .isNotInstanceOf(ReadTimeoutException.class)
                .hasMessageContaining("25 threads of this process hang");
        assertThat(running).hasValue(MOST);

        store.countDown();
        awaitRoom();
        int answer = new RequestThread(hanging, Thread::new).call(() -> 7, 10_000, () -> 0);
        assertThat(answer).isEqualTo(7);
    }

    @Test
    void manyThreadsThatHang_areReportedOnce_ifTheyHadTimeToReact() throws Exception {
        try (LogLines lines = new LogLines()) {
            abandon(HangingReads.MANY);
            hanging.requireRoom();
            assertThat(lines.containing("reads that were abandoned")).isEmpty();

            clockNanos.addAndGet(TimeUnit.SECONDS.toNanos(11));
            hanging.requireRoom();
            hanging.requireRoom();
            assertThat(lines.containing("reads that were abandoned")).hasSize(1);
        }
    }

    @Test
    void readThatIsAbandonedAfterItsEnd_isNotCounted() throws Exception {
        HangingReads none = new HangingReads(1, clockNanos::get);
        RequestThread requests = new RequestThread(none, Thread::new);
        for (int i = 0; i < 3; i++) {
            int number = i;
            assertThat(requests.<Integer>call(() -> number, 10_000, () -> 0)).isEqualTo(number);
            requests.end();
        }
        none.requireRoom();
    }

    @Test
    void requestThatHasNotBegunWhenAnotherThreadEndsThem_isNotWaitedFor() throws Exception {
        RequestThread requests = new RequestThread(hanging, Thread::new);
        CountDownLatch begun = new CountDownLatch(1);
        ExecutorService waiting = Executors.newFixedThreadPool(2);
        Future<Void> first =
                waiting.submit(
                        () ->
                                requests.call(
                                        () -> {
                                            begun.countDown();
                                            store.await();
                                            return null;
                                        },
                                        60_000,
                                        () -> 0));
        begun.await();
        AtomicReference<Thread> waits = new AtomicReference<>();
        Future<Integer> second =
                waiting.submit(
                        () -> {
                            waits.set(Thread.currentThread());
                            return requests.call(() -> 7, 60_000, () -> 0);
                        });
        while (waits.get() == null || waits.get().getState() != Thread.State.TIMED_WAITING) {
            Thread.sleep(1);
        }

        requests.end();

        assertThatThrownBy(second::get)
                .hasCauseInstanceOf(InterruptedIOException.class)
                .hasMessageContaining("Closed while a segment was being read");
        assertThatThrownBy(first::get).hasRootCauseInstanceOf(InterruptedException.class);
        waiting.shutdownNow();
    }

    @Test
    void readWhoseThreadCannotBeStarted_isNotCounted() throws Exception {
        HangingReads none = new HangingReads(1, clockNanos::get);
        RequestThread requests = new RequestThread(none, UnstartableThread::new);

        assertThatThrownBy(() -> requests.call(() -> 7, 10_000, () -> 0))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("No thread could be started");

        none.requireRoom();
    }

    private void awaitRoom() throws InterruptedException {
        while (true) {
            try {
                hanging.requireRoom();
                return;
            } catch (IOException stillHanging) {
                Thread.sleep(1);
            }
        }
    }

    private void abandon(int reads) {
        for (int i = 0; i < reads; i++) {
            assertThatThrownBy(this::read).isInstanceOf(ReadTimeoutException.class);
        }
    }

    /** Waits until the request runs, and then hardly any longer. */
    private void read() throws IOException {
        int before = running.get();
        AtomicInteger looks = new AtomicInteger();
        new RequestThread(hanging, Thread::new)
                .call(this::hang, 5, () -> running.get() == before ? looks.incrementAndGet() : -1);
    }

    private boolean hang() {
        running.incrementAndGet();
        DeafWait.on(store);
        running.decrementAndGet();
        return true;
    }
}
