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

package dev.dstl.spillable.spill;

import static org.assertj.core.api.Assertions.assertThat;

import dev.dstl.spillable.LoggedLines;
import dev.dstl.spillable.config.SpillConfig;
import dev.dstl.spillable.config.SpillableOptions;
import dev.dstl.spillable.pressure.SpillArbiter;
import dev.dstl.spillable.table.Residency;
import dev.dstl.spillable.table.StateTable;
import dev.dstl.spillable.table.TablePlacement;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.flink.api.common.operators.MailboxExecutor;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.util.FileUtils;
import org.apache.flink.util.function.ThrowingRunnable;
import org.apache.logging.log4j.Level;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How a task is woken, how restores find room, and what a refusal says. */
class SpillSchedulerTest {

    private static final int ENTRIES_PER_GROUP = 2000;
    private static final long HEAP_BYTES = 4_000_000;

    /** Keeps mails until the test runs them. */
    private static final class Mailbox implements MailboxExecutor {
        final Queue<ThrowingRunnable<? extends Exception>> mails = new ArrayDeque<>();
        boolean closed;

        @Override
        public void execute(
                ThrowingRunnable<? extends Exception> command, String format, Object... args) {
            if (closed) {
                throw new RejectedExecutionException("closed");
            }
            mails.add(command);
        }

        @Override
        public void execute(
                MailOptions options,
                ThrowingRunnable<? extends Exception> command,
                String format,
                Object... args) {
            execute(command, format, args);
        }

        @Override
        public void yield() {}

        @Override
        public boolean tryYield() {
            return false;
        }

        @Override
        public boolean shouldInterrupt() {
            return false;
        }

        int runAll() throws Exception {
            int run = 0;
            while (!mails.isEmpty()) {
                mails.poll().run();
                run++;
            }
            return run;
        }
    }

    @TempDir Path disk;
    private final AtomicLong clockNanos = new AtomicLong();
    private final SpillCounters counters = new SpillCounters();
    private final Mailbox mailbox = new Mailbox();
    private final SpillArbiter arbiter = new SpillArbiter(() -> 0, HEAP_BYTES, a -> () -> {});
    private Executor spaceOpener = Runnable::run;
    private PlacedTables tables;
    private StateTable<Integer, VoidNamespace, String> table;
    private SpillScheduler scheduler;

    @BeforeEach
    void open() {
        start(16 << 20);
    }

    private void start(long budgetBytes) {
        tables = new PlacedTables(disk, budgetBytes);
        table = tables.add("state", ENTRIES_PER_GROUP);
        Configuration configuration = new Configuration();
        configuration.set(SpillableOptions.TRIGGER_INTERVAL, Duration.ZERO);
        configuration.set(SpillableOptions.SPILL_SIZE_RATIO, 0.99);
        scheduler =
                new SpillScheduler(
                        SpillConfig.of(configuration),
                        arbiter,
                        tables.states,
                        tables.space,
                        command -> spaceOpener.execute(command),
                        mailbox,
                        // Every look at the clock takes 20 microseconds.
                        () -> clockNanos.addAndGet(20_000),
                        counters);
        scheduler.keySelected();
    }

    @AfterEach
    void close() throws IOException {
        scheduler.close();
        tables.close();
    }

    private int spilled() {
        int spilled = 0;
        for (int group = 0; group < PlacedTables.GROUPS; group++) {
            spilled += table.placement().spilledEntries(group);
        }
        return spilled;
    }

    private void verify() {
        assertThat(table.size()).isEqualTo(PlacedTables.GROUPS * ENTRIES_PER_GROUP);
        for (int key = 0; key < PlacedTables.GROUPS * ENTRIES_PER_GROUP; key++) {
            assertThat(PlacedTables.get(table, key)).isEqualTo("value of " + key);
        }
    }

    @Test
    void anIdleTask_isWokenUntilTheRequestIsDone() throws Exception {
        arbiter.onLiveHeap(3_400_000, HEAP_BYTES);
        assertThat(mailbox.mails).hasSize(1);
        arbiter.onLiveHeap(3_400_000, HEAP_BYTES);
        assertThat(mailbox.mails).as("one mail at a time").hasSize(1);

        int mails = mailbox.runAll();

        assertThat(mails).as("a slice per mail").isGreaterThan(2);
        assertThat(spilled()).isGreaterThan(0);
        assertThat(counters.longestPauseNanos()).isBetween(1L, 10_000_000L);
        verify();
    }

    @Test
    void anUrgentRequest_takesLongerSlices() throws Exception {
        arbiter.onLiveHeap(3_010_000, HEAP_BYTES);
        mailbox.runAll();
        long calm = counters.longestPauseNanos();
        arbiter.onLiveHeap(3_900_000, HEAP_BYTES);
        mailbox.runAll();

        assertThat(calm).isBetween(1_000_000L, 1_500_000L);
        assertThat(counters.longestPauseNanos()).isBetween(4_000_000L, 4_500_000L);
    }

    @Test
    void betweenSlices_theTaskHasAtLeastAsMuchTime() {
        arbiter.onLiveHeap(3_400_000, HEAP_BYTES);
        scheduler.keySelected();
        int afterOneSlice = spilled();
        assertThat(afterOneSlice).isPositive();
        for (int i = 0; i < 10; i++) {
            scheduler.keySelected();
        }
        assertThat(spilled()).as("within the time of a slice").isEqualTo(afterOneSlice);

        clockNanos.addAndGet(2_000_000);
        scheduler.keySelected();
        assertThat(spilled()).isGreaterThan(afterOneSlice);
    }

    @Test
    void aMailOnAnotherThread_movesNothing() throws Exception {
        arbiter.onLiveHeap(3_400_000, HEAP_BYTES);
        onAnotherThread(
                () -> {
                    try {
                        mailbox.mails.poll().run();
                    } catch (Exception e) {
                        throw new AssertionError(e);
                    }
                });

        assertThat(spilled()).isZero();
        scheduler.keySelected();
        assertThat(spilled()).isPositive();
    }

    /** As in PyFlink, where a request of the Python process uses state while the task waits. */
    @Test
    void onceAnotherThreadSelectsKeys_onlyThatThreadMovesState() throws Exception {
        onAnotherThread(scheduler::keySelected);
        arbiter.onLiveHeap(3_400_000, HEAP_BYTES);

        mailbox.runAll();
        assertThat(spilled()).isZero();

        onAnotherThread(scheduler::keySelected);
        assertThat(spilled()).isPositive();
    }

    private static void onAnotherThread(Runnable action) throws InterruptedException {
        Thread other = new Thread(action);
        other.start();
        other.join();
    }

    @Test
    void aDiskThatTakesLongToOpen_holdsUpNeitherTheArbiterNorTheTask() throws Exception {
        Queue<Runnable> openings = new ArrayDeque<>();
        spaceOpener = openings::add;

        assertThat(arbiter.onLiveHeap(3_400_000, HEAP_BYTES)).isTrue();
        assertThat(arbiter.onLiveHeap(3_400_000, HEAP_BYTES)).isTrue();
        scheduler.keySelected();

        assertThat(openings).as("one at a time").hasSize(1);
        assertThat(mailbox.mails).isEmpty();
        assertThat(tables.space.pool()).isNull();

        openings.remove().run();
        mailbox.runAll();

        assertThat(spilled()).isPositive();
        verify();
    }

    @Test
    void withoutAThreadToOpenTheDisk_theTaskDoes() throws Exception {
        spaceOpener =
                command -> {
                    throw new OutOfMemoryError("unable to create native thread");
                };

        arbiter.onLiveHeap(3_400_000, HEAP_BYTES);
        mailbox.runAll();

        assertThat(spilled()).isPositive();
        verify();
    }

    /** A key group with one entry of a megabyte, for which a load had no room. */
    private StateTable<Integer, VoidNamespace, String> largeEntryWithoutRoom() throws Exception {
        StateTable<Integer, VoidNamespace, String> large = tables.add("large", 0);
        PlacedTables.put(large, 0, "x".repeat(1_000_000));
        TablePlacement placement = large.placement();
        for (int i = 0; i < 4; i++) {
            placement.measure();
        }
        placement.startSpill(0);
        placement.spill(0, Integer.MAX_VALUE);
        scheduler.requestLoad(100_000);
        mailbox.runAll();
        assertThat(placement.residency(0)).isEqualTo(Residency.LOADING);
        assertThat(placement.spilledEntries(0)).isOne();
        return large;
    }

    @Test
    void anEntryForWhichThereWasNoRoom_isLoadedOnceThereIs() throws Exception {
        StateTable<Integer, VoidNamespace, String> large = largeEntryWithoutRoom();

        scheduler.requestLoad(100_000_000);
        mailbox.runAll();

        assertThat(large.placement().residency(0)).isEqualTo(Residency.ON_HEAP);
        assertThat(PlacedTables.get(large, 0)).hasSize(1_000_000);
    }

    @Test
    void aGroupWhoseLastSpilledEntryTheJobRemoves_isLoaded() throws Exception {
        StateTable<Integer, VoidNamespace, String> large = largeEntryWithoutRoom();
        tables.remove(large, 0);

        scheduler.requestLoad(100_000);
        mailbox.runAll();

        assertThat(large.placement().residency(0)).isEqualTo(Residency.ON_HEAP);
    }

    @Test
    void aTaskThatHasEnded_isNotWoken() {
        mailbox.closed = true;

        arbiter.onLiveHeap(3_400_000, HEAP_BYTES);

        assertThat(mailbox.mails).isEmpty();
    }

    @Test
    void withoutADirectory_oneErrorSaysSo_andStateStays() throws Exception {
        FileUtils.deleteDirectory(disk.toFile());
        Files.createFile(disk);
        try (LoggedLines errors = new LoggedLines(SpillScheduler.class, Level.ERROR)) {
            for (int i = 0; i < 5; i++) {
                arbiter.onLiveHeap(3_900_000, HEAP_BYTES);
                mailbox.runAll();
            }

            assertThat(errors.lines()).hasSize(1);
            assertThat(errors.lines().get(0))
                    .startsWith("State cannot be spilled and stays on the heap")
                    .contains("state.backend.spillable.directories");
        }
        assertThat(counters.refusals()).isGreaterThan(1);
        assertThat(spilled()).isZero();
        verify();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                PickySerializer.REFUSED,
                PickySerializer.TOO_DEEP,
                PickySerializer.INCOMPLETE
            })
    void anEntryThatCannotBeSerialized_keepsItsKeyGroupOnTheHeap_andNoOther(String refused)
            throws Exception {
        StateTable<Integer, VoidNamespace, String> picky =
                tables.add("picky", ENTRIES_PER_GROUP, new PickySerializer());
        PlacedTables.put(picky, 4, refused);
        try (LoggedLines errors = new LoggedLines(SpillScheduler.class, Level.ERROR)) {
            for (int i = 0; i < 40; i++) {
                scheduler.keySelected();
                arbiter.onLiveHeap(3_900_000, HEAP_BYTES);
                mailbox.runAll();
            }

            assertThat(errors.lines()).hasSize(1);
            assertThat(errors.lines().get(0)).contains("state 'picky', key group 0 stays");
        }
        assertThat(spilled()).isEqualTo(PlacedTables.GROUPS * ENTRIES_PER_GROUP);
        for (int group = 1; group < PlacedTables.GROUPS; group++) {
            assertThat(picky.placement().heapEntries(group)).isZero();
        }
        assertThat(PlacedTables.get(picky, 4)).isEqualTo(refused);
        assertThat(picky.size()).isEqualTo(PlacedTables.GROUPS * ENTRIES_PER_GROUP);

        PlacedTables.put(picky, 4, "can be written");
        picky.placement().coolDown();
        for (int i = 0; i < 10; i++) {
            arbiter.onLiveHeap(3_900_000, HEAP_BYTES);
            mailbox.runAll();
        }
        assertThat(picky.placement().heapEntries(0)).as("tried again").isZero();
        verify();
    }

    @ParameterizedTest
    @ValueSource(strings = {PickySerializer.DAMAGED, PickySerializer.UNKNOWN})
    void anEntryThatCannotBeDeserialized_staysSpilled_andNoOtherDoes(String unreadable)
            throws Exception {
        StateTable<Integer, VoidNamespace, String> picky =
                tables.add("picky", ENTRIES_PER_GROUP, new PickySerializer());
        PlacedTables.put(picky, 4, unreadable);
        for (int group = 0; group < PlacedTables.GROUPS; group++) {
            picky.placement().startSpill(group);
            picky.placement().spill(group, Integer.MAX_VALUE);
            table.placement().startSpill(group);
            table.placement().spill(group, Integer.MAX_VALUE);
        }
        long refusals = counters.refusals();
        try (LoggedLines errors = new LoggedLines(SpillScheduler.class, Level.ERROR)) {
            for (int i = 0; i < 10; i++) {
                scheduler.requestLoad(100_000_000);
                mailbox.runAll();
            }

            assertThat(errors.lines()).hasSize(1);
            assertThat(errors.lines().get(0))
                    .contains("the rest of state 'picky', key group 0 stays spilled");
        }
        assertThat(counters.refusals()).isEqualTo(refusals + 1);
        assertThat(spilled()).isZero();
        for (int group = 1; group < PlacedTables.GROUPS; group++) {
            assertThat(picky.placement().spilledEntries(group)).isZero();
        }
        assertThat(picky.placement().spilledEntries(0)).isPositive();

        PlacedTables.put(picky, 4, "can be read");
        picky.placement().coolDown();
        scheduler.requestLoad(100_000_000);
        mailbox.runAll();
        assertThat(picky.placement().spilledEntries(0)).as("tried again").isZero();
        verify();
    }

    @Test
    void restoredState_goesToTheHeapAsLongAsThereIsRoom() throws IOException {
        int toHeap = 0;
        int key = 1_000_000;
        while (scheduler.restoresToHeap(100)) {
            PlacedTables.put(table, key++, "restored");
            toHeap++;
        }

        long bytesPerEntry = 96 + 2 * 100;
        assertThat(toHeap * bytesPerEntry).isLessThan(HEAP_BYTES);
        assertThat(toHeap).isGreaterThan(1000);
        assertThat(scheduler.restoresToHeap(100)).isFalse();
    }

    @Test
    void afterItLeft_aBackendGetsNoRequest() {
        scheduler.close();

        assertThat(arbiter.onLiveHeap(3_900_000, HEAP_BYTES)).isFalse();
        assertThat(mailbox.mails).isEmpty();
    }
}
