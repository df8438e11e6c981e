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

import dev.dstl.log.testing.LogFixture;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.runtime.state.memory.ByteStreamStateHandle;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** How compactions start while others end, and where threads or memory are lacking. */
class CompactorStartTest {

    private final RecordedCompactions recorded = new RecordedCompactions();

    @AfterEach
    void close() {
        recorded.close();
    }

    /** A changelog may close on another thread just before the output of its compaction waits. */
    @Test
    void compactionThatStartsWhileUnneededOutputsAreDropped_isRead() {
        Compaction<FakeInput> next = recorded.compaction("next", () -> {});
        Compaction<FakeInput> closed =
                recorded.compaction("closed", () -> recorded.log.compactor().start(next));
        closed.abandon();
        recorded.log.compactor().gather(closed, recorded.log.commit(), 100);
        assertThat(recorded.events).isEmpty();

        recorded.log.timers().advanceMillis(GatheredOutputs.LINGER_MILLIS);

        assertThat(recorded.events).containsExactly("closed is submitted", "next has ended");
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
            List<Compaction<FakeInput>> reading = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                Compaction<FakeInput> compaction =
                        recorded.compaction(changelogs, "one", source, () -> {});
                changelogs.compactor().start(compaction);
                if (i < Compactor.MAX_READING) {
                    reading.add(compaction);
                }
            }
            noThread.set(true);

            reading.forEach(Compaction::abandon);

            assertThat(recorded.events)
                    .hasSize(count - Compactor.MAX_READING)
                    .containsOnly("one has ended");
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
        Compaction<FakeInput> next = recorded.compaction("next", () -> {});
        queue.add(recorded.compaction("first", () -> {}));
        queue.add(next);

        queue.runNext();

        assertThat(recorded.events).containsExactly("first has ended");
        assertThat(started).containsExactly(next);
        queue.remove(next);
        assertThat(queue.isReading()).isFalse();
    }

    /** Otherwise its changelog would have no compaction any more, and the output would stay. */
    @Test
    void compactionWhoseOutputCannotTakeThePlaceOfItsInputs_fails_andCanBeAbandoned() {
        recorded.whenDurable =
                () -> {
                    throw new OutOfMemoryError("Java heap space");
                };
        LogFixture log = recorded.log;
        Compaction<FakeInput> compaction =
                recorded.compaction(
                        log.compactor(),
                        log.commit(),
                        "one",
                        List.of(
                                new UnclosingHandle(
                                        "1.seg", new Semaphore(0), new CountDownLatch(0))),
                        UnclosingHandle.FRAME_OFFSET,
                        () -> {});
        log.compactor().start(compaction);
        log.timers().advanceMillis(GatheredOutputs.LINGER_MILLIS);
        assertThat(recorded.events)
                .containsExactly("one is submitted", "one is durable", "one has ended");

        compaction.abandon();

        assertThat(log.store().segments()).isEmpty();
    }
}
