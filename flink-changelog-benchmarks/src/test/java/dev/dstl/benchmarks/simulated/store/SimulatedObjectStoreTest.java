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

package dev.dstl.benchmarks.simulated.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.dstl.benchmarks.simulated.content.InMemoryContent;
import dev.dstl.benchmarks.simulated.content.StagedObject;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@Timeout(30)
class SimulatedObjectStoreTest {

    private final VirtualTime time = new VirtualTime();
    private final ManualTime manualTime = new ManualTime();
    private final ExecutorService client = Executors.newSingleThreadExecutor();

    @AfterEach
    void stopClient() {
        client.shutdownNow();
    }

    @Test
    void everyRequest_takesItsLatency() throws IOException {
        SimulatedObjectStore store =
                store(StoreProfile.builder().tail(1.0, 40).build()); // all requests take 40 ms
        put(store, "a", 10);
        store.head("a");
        store.list("");
        store.get("a", 0).close();
        store.delete("a");

        assertThat(time.nanoTime()).isEqualTo(TimeUnit.MILLISECONDS.toNanos(5 * 40));
    }

    @Test
    void sameSeed_repeatsTheRunToTheNanosecond() throws IOException {
        StoreProfile profile = StoreProfile.builder().seed(3).latencyMillis(30, 150).build();
        VirtualTime first = new VirtualTime();
        VirtualTime second = new VirtualTime();
        SimulatedObjectStore one = store(profile, first);
        SimulatedObjectStore other = store(profile, second);
        for (int i = 0; i < 50; i++) {
            put(one, "k" + i, i);
            put(other, "k" + i, i);
        }

        assertThat(first.nanoTime()).isEqualTo(second.nanoTime()).isPositive();
    }

    @Test
    void bandwidth_pacesTheBodyOfAPut() throws IOException {
        SimulatedObjectStore store = store(StoreProfile.builder().bytesPerSecond(1000).build());

        put(store, "a", 2500);

        assertThat(time.nanoTime()).isEqualTo(TimeUnit.MILLISECONDS.toNanos(2500));
    }

    @Test
    void bandwidth_pacesTheBodyOfAGet_onlyForTheBytesThatAreRead() throws IOException {
        SimulatedObjectStore store = store(StoreProfile.builder().bytesPerSecond(1000).build());
        put(store, "a", 2500);
        long before = time.nanoTime();

        try (InputStream body = store.get("a", 500)) {
            assertThat(body.readNBytes(1000)).hasSize(1000);
        }

        assertThat(time.nanoTime() - before).isEqualTo(TimeUnit.SECONDS.toNanos(1));
        assertThat(store.counts().bytesRead()).isEqualTo(1000);
    }

    @Test
    void putInFlight_isNotVisible() throws Exception {
        SimulatedObjectStore store =
                store(StoreProfile.builder().tail(1.0, 40).build(), manualTime);
        Future<?> put = client.submit(() -> put(store, "a", 10));
        manualTime.awaitSleepers(1);
        manualTime.advance(39, TimeUnit.MILLISECONDS);
        Future<Boolean> asked = ask(store, "a");
        manualTime.awaitSleepers(2);

        assertThat(put).isNotDone();
        manualTime.advance(1, TimeUnit.MILLISECONDS);
        put.get();
        manualTime.advance(39, TimeUnit.MILLISECONDS);
        assertThat(asked.get()).isTrue();
    }

    @Test
    void throttledRequest_hasNoEffectAndSaysSlowDown() {
        SimulatedObjectStore store = store(StoreProfile.builder().throttledFraction(1).build());

        assertFails(store, RequestOutcome.THROTTLED, "503 Slow Down", "PUT a");
        assertThat(store.counts().failures(RequestType.PUT)).isEqualTo(1);
        assertThat(store.counts().bytesWritten()).isZero();
    }

    @Test
    void throttledPut_doesNotPayForItsBody() {
        SimulatedObjectStore store =
                store(StoreProfile.builder().throttledFraction(1).bytesPerSecond(1).build());

        assertFails(store, RequestOutcome.THROTTLED);

        assertThat(time.nanoTime()).isZero();
    }

    @Test
    void requestsAboveTheRate_areThrottledUntilTimeHasPassed() throws Exception {
        SimulatedObjectStore store = store(StoreProfile.builder().requestsPerSecond(2).build());
        put(store, "a", 1);
        put(store, "b", 1);
        assertFails(store, RequestOutcome.THROTTLED);

        time.sleep(TimeUnit.MILLISECONDS.toNanos(500));

        put(store, "c", 1);
        assertFails(store, RequestOutcome.THROTTLED);
    }

    @Test
    void idleTime_savesUpNoMoreThanASecondOfRequests() throws Exception {
        SimulatedObjectStore store = store(StoreProfile.builder().requestsPerSecond(2).build());
        time.sleep(TimeUnit.HOURS.toNanos(1));
        put(store, "a", 1);
        put(store, "b", 1);

        assertFails(store, RequestOutcome.THROTTLED);
    }

    @Test
    void failedRequest_hasNoEffect() throws IOException {
        SimulatedObjectStore store = store(StoreProfile.instant());
        store.script(RequestType.PUT, RequestPlan.of(RequestOutcome.FAILED, 5));

        assertFails(store, RequestOutcome.FAILED, "500");

        assertThat(store.head("a")).isEmpty();
    }

    @Test
    void lostAcknowledgement_leavesTheObjectAndFailsTheClient() throws IOException {
        SimulatedObjectStore store =
                store(StoreProfile.builder().lostAcknowledgementFraction(1).build());
        assertFails(store, RequestOutcome.ACKNOWLEDGEMENT_LOST, "connection reset");

        assertThat(store.counts().bytesWritten()).isEqualTo(1);
        assertThat(store.counts().failures(RequestType.PUT)).isEqualTo(1);
    }

    @Test
    void failingOutage_refusesEverythingUntilItEnds() throws IOException {
        SimulatedObjectStore store = store(StoreProfile.instant());
        store.outage().begin(Outage.FAILING);

        assertFails(store, RequestOutcome.UNAVAILABLE);
        assertThatThrownBy(() -> store.head("a")).isInstanceOf(SimulatedFailure.class);
        assertThatThrownBy(() -> store.list("")).isInstanceOf(SimulatedFailure.class);
        assertThatThrownBy(() -> store.delete("a")).isInstanceOf(SimulatedFailure.class);
        assertThatThrownBy(() -> store.get("a", 0)).isInstanceOf(SimulatedFailure.class);

        store.outage().end();
        put(store, "a", 1);
        assertThat(store.head("a")).isPresent();
    }

    @ParameterizedTest
    @EnumSource(names = {"FULL", "READ_ONLY", "FORBIDDEN"})
    void outageOfWriting_leavesReadersAlone(Outage outage) throws IOException {
        SimulatedObjectStore store = store(StoreProfile.instant());
        put(store, "a", 1);
        store.outage().begin(outage);

        assertThatThrownBy(() -> put(store, "b", 1))
                .hasMessageContaining(outage.outcome().status());
        assertThat(store.head("a")).isPresent();
        assertThat(store.list("")).hasSize(1);
        assertThat(store.get("a", 0).read()).isZero();
        store.outage().end();
        put(store, "b", 1);
    }

    @Test
    void outageThatBeginsWhileARequestIsInFlight_reachesIt() throws Exception {
        SimulatedObjectStore store =
                store(StoreProfile.builder().tail(1.0, 40).build(), manualTime);
        Future<?> put = client.submit(() -> put(store, "a", 10));
        manualTime.awaitSleepers(1);

        store.outage().begin(Outage.FAILING);
        manualTime.advance(40, TimeUnit.MILLISECONDS);

        assertThatThrownBy(put::get).hasRootCauseInstanceOf(SimulatedFailure.class);
    }

    @Test
    void hangingOutage_holdsRequestsUntilItEnds_andThenTheySucceed() throws Exception {
        SimulatedObjectStore store =
                store(StoreProfile.builder().tail(1.0, 40).build(), manualTime);
        Future<?> put = client.submit(() -> put(store, "a", 10));
        manualTime.awaitSleepers(1);
        store.outage().begin(Outage.HANGING);
        manualTime.advance(1, TimeUnit.HOURS);
        assertThat(put).isNotDone();

        store.outage().end();

        put.get();
        assertThat(store.counts().bytesWritten()).isEqualTo(10);
        assertThat(store.counts().failures(RequestType.PUT)).isZero();
    }

    @Test
    void interruptOfAHangingRequest_endsItWithoutEffect() throws Exception {
        SimulatedObjectStore store = store(StoreProfile.instant());
        store.outage().begin(Outage.HANGING);
        CompletableFuture<Boolean> stillInterrupted = new CompletableFuture<>();
        Thread thread =
                new Thread(
                        () -> {
                            try {
                                put(store, "a", 10);
                            } catch (InterruptedIOException e) {
                                stillInterrupted.complete(Thread.currentThread().isInterrupted());
                            } catch (IOException e) {
                                stillInterrupted.completeExceptionally(e);
                            }
                        });
        thread.start();
        thread.interrupt();

        assertThat(stillInterrupted.get()).isTrue();
        store.outage().end();
        assertThat(store.head("a")).isEmpty();
    }

    @Test
    void requestsAndBytes_areCountedByType() throws IOException {
        SimulatedObjectStore store = store(StoreProfile.instant());
        put(store, "a", 100);
        RequestCounts before = store.counts();
        put(store, "b", 20);
        store.copy("b", "c");
        store.head("b");
        store.get("b", 0).readAllBytes();
        store.list("");
        store.delete("b");

        RequestCounts counts = store.counts().minus(before);

        assertThat(counts)
                .hasToString(
                        "PUT 2, GET 1, HEAD 1, LIST 1, DELETE 1, 20 bytes written, 20 bytes read");
        assertThat(counts.requests()).isEqualTo(6);
        assertThat(counts.plus(before)).isEqualTo(store.counts());
    }

    @Test
    void missingObject_isAnAnswerAndNoFailure() throws IOException {
        SimulatedObjectStore store = store(StoreProfile.instant());

        assertThatThrownBy(() -> store.get("a", 0)).isInstanceOf(FileNotFoundException.class);
        assertThat(store.delete("a")).isFalse();

        assertThat(store.counts().failures(RequestType.GET)).isZero();
    }

    @Test
    void listOfManyObjects_takesARequestForEveryThousand() throws IOException {
        SimulatedObjectStore store = store(StoreProfile.instant());
        for (int i = 0; i < 2001; i++) {
            put(store, "k" + i, 1);
        }

        assertThat(store.list("k")).hasSize(2001);

        assertThat(store.counts().requests(RequestType.LIST)).isEqualTo(3);
    }

    private Future<Boolean> ask(SimulatedObjectStore store, String key) {
        CompletableFuture<Boolean> answer = new CompletableFuture<>();
        Thread thread =
                new Thread(
                        () -> {
                            try {
                                answer.complete(store.head(key).isPresent());
                            } catch (IOException e) {
                                answer.completeExceptionally(e);
                            }
                        });
        thread.setDaemon(true);
        thread.start();
        return answer;
    }

    private SimulatedObjectStore store(StoreProfile profile) {
        return store(profile, time);
    }

    private static SimulatedObjectStore store(StoreProfile profile, StoreTime time) {
        return new SimulatedObjectStore(
                new InMemoryContent(),
                profile,
                time,
                new LocalOutageSwitch(),
                RequestCounters.inMemory());
    }

    private static Void put(SimulatedObjectStore store, String key, int bytes) throws IOException {
        try (StagedObject staged = store.stage()) {
            staged.write(new byte[bytes], 0, bytes);
            store.put(key, staged);
        }
        return null;
    }

    private static void assertFails(
            SimulatedObjectStore store, RequestOutcome outcome, String... parts) {
        assertThatThrownBy(() -> put(store, "a", 1))
                .isInstanceOfSatisfying(
                        SimulatedFailure.class,
                        failure -> assertThat(failure.outcome()).isEqualTo(outcome))
                .hasMessageContainingAll(parts.length == 0 ? new String[] {"PUT"} : parts);
    }
}
