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

package dev.dstl.log.writer;

import static dev.dstl.log.testing.LogFixture.handleOf;
import static dev.dstl.log.testing.LogFixture.texts;
import static org.assertj.core.api.Assertions.assertThat;

import dev.dstl.log.api.LogRecord;
import dev.dstl.log.api.RecordCursor;
import dev.dstl.log.api.RecordKind;
import dev.dstl.log.compaction.Compaction;
import dev.dstl.log.config.DstlOptions;
import dev.dstl.log.memory.JobMemory;
import dev.dstl.log.memory.MemoryUse;
import dev.dstl.log.memory.ProcessMemory;
import dev.dstl.log.replay.DstlHandleReader;
import dev.dstl.log.testing.LogFixture;
import dev.dstl.log.testing.ManualExecutor;
import dev.dstl.log.testing.WriteFault;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.core.fs.Path;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;
import org.apache.flink.runtime.state.changelog.SequenceNumber;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Compaction reduces the number of runs of a changelog and changes nothing else. */
class LogCompactionTest {

    private static final int RUNS = 4;
    private static final int COMPACTED_RUNS = 16;

    private final ManualExecutor threads = new ManualExecutor();
    private final LogFixture log = LogFixture.on(threads, settings());
    private final DstlLogWriter writer = log.writer();
    private final List<String> expected = new ArrayList<>();
    private int checkpoints;

    private static Configuration settings() {
        return new Configuration()
                .set(DstlOptions.INLINE_THRESHOLD, MemorySize.ZERO)
                .set(DstlOptions.RETRY_POLICY, "none")
                .set(DstlOptions.COMPACTION_MIN_RUNS, RUNS);
    }

    @AfterEach
    void close() {
        writer.close();
        threads.runAll();
        assertThat(log.budget().reservedBytes()).as("bytes in flight").isZero();
        log.close();
    }

    @Test
    void runsOfManyCheckpoints_becomeFew_inOrder() throws Exception {
        writer.addCompactionBoundary();
        ChangelogStateHandleStreamImpl handle = null;
        int most = 0;
        for (int i = 0; i < 300; i++) {
            handle = checkpointWith("change " + i);
            assertThat(texts(handle)).isEqualTo(expected);
            most = Math.max(most, handle.getHandlesAndOffsets().size());
        }
        assertThat(most).as("runs in any of 300 checkpoints").isLessThanOrEqualTo(5 * RUNS);
        assertThat(log.metrics().count("numberOfCompactions")).isPositive();
    }

    /** Small changes travel inline at first, larger ones do not. */
    @ParameterizedTest
    @ValueSource(ints = {100, 30_000})
    void checkpointsOfTenMinutesAt100Millis_nameLessThan64Runs(int bytes) throws Exception {
        String change = "x".repeat(bytes);
        try (LogFixture defaults = LogFixture.on(threads, new Configuration())) {
            DstlLogWriter defaultWriter = defaults.writer();
            defaultWriter.addCompactionBoundary();
            int most = 0;
            for (int checkpoint = 1; checkpoint <= 6_000; checkpoint++) {
                LogFixture.append(defaultWriter, change);
                Future<SnapshotResult<ChangelogStateHandleStreamImpl>> persist =
                        defaultWriter.persist(defaultWriter.initialSequenceNumber(), checkpoint);
                threads.runAll();
                defaults.timers().advanceMillis(100);
                threads.runAll();
                most = Math.max(most, handleOf(persist).getHandlesAndOffsets().size());
            }
            assertThat(most).isLessThan(64);
            defaultWriter.close();
            threads.runAll();
        }
    }

    /**
     * As when 5 MB at a time come in and materializations cannot follow, with everything a
     * thousandth of its size. The first compaction finds out that it saves nothing.
     */
    @Test
    void largeRunsOfDifferentKeys_areLeftAlone_untilThereAreMany() throws Exception {
        try (LogFixture small = LogFixture.on(threads, settingsForLargeRuns())) {
            DstlLogWriter smallWriter = small.writer();
            smallWriter.addCompactionBoundary();
            List<Integer> runs = runsOfCheckpoints(small, smallWriter, 32, 1, 5_000);
            assertThat(small.metrics().count("numberOfCompactions")).isEqualTo(1);

            runs.addAll(runsOfCheckpoints(small, smallWriter, 168, 33, 5_000));
            assertThat(small.metrics().count("numberOfCompactions")).isGreaterThan(10);
            assertThat(Collections.max(runs)).isGreaterThan(32).isLessThan(64);
            smallWriter.close();
            threads.runAll();
        }
    }

    @Test
    void largeRunsOfTheSameKey_areCompactedLikeSmallOnes() throws Exception {
        try (LogFixture small = LogFixture.on(threads, settingsForLargeRuns())) {
            DstlLogWriter smallWriter = small.writer();
            smallWriter.addCompactionBoundary();
            List<Integer> runs = new ArrayList<>();
            for (int i = 0; i < 32; i++) {
                runs.addAll(runsOfCheckpoints(small, smallWriter, 1, 1, 5_000));
            }
            assertThat(Collections.max(runs)).isLessThan(32);
            assertThat(small.metrics().count("numberOfCompactions")).isGreaterThan(1);
            smallWriter.close();
            threads.runAll();
        }
    }

    /** An occasional large run leaves a few small ones between compacted ones. */
    @Test
    void runsOfAllSizes_areNeverMany() throws Exception {
        Configuration settings =
                settingsForLargeRuns()
                        .set(DstlOptions.COMPACTION_MAX_SIZE, MemorySize.parse("3200 kb"));
        try (LogFixture small = LogFixture.on(threads, settings)) {
            DstlLogWriter smallWriter = small.writer();
            smallWriter.addCompactionBoundary();
            List<Integer> runs = new ArrayList<>();
            for (int i = 0; i < 60; i++) {
                runs.addAll(runsOfCheckpoints(small, smallWriter, 19, 20 * i + 1, 1_000));
                runs.addAll(runsOfCheckpoints(small, smallWriter, 1, 20 * i + 20, 120_000));
            }
            assertThat(Collections.max(runs)).isLessThan(40);
            smallWriter.close();
            threads.runAll();
        }
    }

    @Test
    void compactionGivenUpBeforeItsTurn_doesNotStopOthers() throws Exception {
        Compaction<TailBatch> givenUp =
                new Compaction<>(null, log.compactor(), null, List.of(), null, UUID.randomUUID());
        givenUp.abandon();
        log.compactor().start(givenUp);
        threads.runAll();

        writer.addCompactionBoundary();
        for (int i = 0; i <= RUNS; i++) {
            checkpointWith("change " + i);
        }
        assertThat(persisted(writer.initialSequenceNumber()).getHandlesAndOffsets()).hasSize(2);
    }

    private static Configuration settingsForLargeRuns() {
        return new Configuration()
                .set(DstlOptions.INLINE_THRESHOLD, MemorySize.ZERO)
                .set(DstlOptions.COMPRESSION_ENABLED, false)
                .set(DstlOptions.COMPACTION_MIN_RUNS, COMPACTED_RUNS)
                .set(DstlOptions.COMPACTION_MAX_SIZE, MemorySize.parse("32 kb"));
    }

    /** Takes checkpoints with one state change each, of keys from {@code firstKey}. */
    private List<Integer> runsOfCheckpoints(
            LogFixture small, DstlLogWriter smallWriter, int count, int firstKey, int bytes)
            throws Exception {
        List<Integer> runs = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            ByteBuffer change = ByteBuffer.allocate(bytes).putInt(firstKey + i);
            smallWriter.append(RecordKind.PUT, 1, 0, change.array(), 4, 4, change.capacity());
            Future<SnapshotResult<ChangelogStateHandleStreamImpl>> persist =
                    smallWriter.persist(smallWriter.initialSequenceNumber(), ++checkpoints);
            threads.runAll();
            small.passLinger();
            threads.runAll();
            runs.add(handleOf(persist).getHandlesAndOffsets().size());
        }
        return runs;
    }

    @Test
    void obsoleteRecords_areGoneFromTheCompactedRun() throws Exception {
        writer.addCompactionBoundary();
        ChangelogStateHandleStreamImpl before = null;
        for (int i = 0; i < RUNS; i++) {
            before = checkpointOfValue("value " + i);
        }
        checkpointOfValue("the compaction begins here");
        ChangelogStateHandleStreamImpl after = checkpoint();
        assertThat(before.getHandlesAndOffsets()).hasSize(RUNS);
        assertThat(after.getHandlesAndOffsets()).hasSize(2);
        assertThat(payloads(after))
                .containsExactly("value " + (RUNS - 1), "the compaction begins here");
    }

    @Test
    void partsOnBothSidesOfABase_areNeverCompacted() throws Exception {
        writer.addCompactionBoundary();
        for (int i = 0; i < RUNS - 1; i++) {
            checkpointWith("before the base " + i);
        }
        SequenceNumber base = writer.nextSequenceNumber();
        writer.addCompactionBoundary();
        List<String> sinceTheBase = new ArrayList<>();
        for (int i = 0; i < RUNS; i++) {
            checkpointWith("since the base " + i);
            sinceTheBase.add("since the base " + i);
        }
        checkpointWith("one more");
        sinceTheBase.add("one more");

        ChangelogStateHandleStreamImpl handle = persisted(base);
        assertThat(texts(handle)).isEqualTo(sinceTheBase);
        assertThat(handle.getHandlesAndOffsets()).as("since the base").hasSize(2);
        writer.truncate(base);
        assertThat(texts(persisted(base))).isEqualTo(sinceTheBase);
    }

    @Test
    void logWhoseOwnerMarksNoBase_isNotCompacted() throws Exception {
        ChangelogStateHandleStreamImpl handle = null;
        for (int i = 0; i < 3 * RUNS; i++) {
            handle = checkpointWith("change " + i);
        }
        assertThat(handle.getHandlesAndOffsets()).hasSize(3 * RUNS);
    }

    @Test
    void segmentsThatOnlyTheTaskManagerKnows_areDeletedWhenTheyAreCompacted_othersAreNot()
            throws Exception {
        writer.addCompactionBoundary();
        for (int i = 0; i < RUNS; i++) {
            checkpointWith("change " + i);
        }
        List<Path> runs = log.store().segments();
        assertThat(runs).hasSize(RUNS);
        checkpointWith("one more");
        assertThat(log.store().segments()).containsAll(runs).hasSize(RUNS + 2);
    }

    @Test
    void compactionThatFails_leavesEverythingAsItWas_andIsTriedAgain() throws Exception {
        writer.addCompactionBoundary();
        for (int i = 0; i < RUNS; i++) {
            checkpointWith("change " + i);
        }
        log.store().failNext(WriteFault.FAIL_ON_CLOSE);
        ChangelogStateHandleStreamImpl uncompacted = checkpointWith("during the failure");
        assertThat(texts(uncompacted)).isEqualTo(expected);
        assertThat(log.metrics().count("numberOfCompactionFailures")).isEqualTo(1);

        ChangelogStateHandleStreamImpl handle = null;
        for (int i = 0; i < 40; i++) {
            handle = checkpointWith("afterwards " + i);
        }
        assertThat(texts(handle)).isEqualTo(expected);
        assertThat(handle.getHandlesAndOffsets()).hasSizeLessThan(20);
    }

    /** Frames of one repeated letter compress well, but their records are large in memory. */
    @Test
    void recordsThatTakeTooMuchMemory_stayAsTheyAre_withoutComplaint() throws Exception {
        Configuration small =
                settings()
                        .set(DstlOptions.COMPRESSION_ENABLED, true)
                        .set(DstlOptions.COMPACTION_MAX_SIZE, MemorySize.parse("10 kb"));
        try (LogFixture smallLog = LogFixture.on(threads, small)) {
            DstlLogWriter smallWriter = smallLog.writer();
            smallWriter.addCompactionBoundary();
            ChangelogStateHandleStreamImpl handle = null;
            for (int i = 0; i < 3 * RUNS; i++) {
                LogFixture.append(smallWriter, "x".repeat(50_000));
                Future<SnapshotResult<ChangelogStateHandleStreamImpl>> persist =
                        smallWriter.persist(smallWriter.initialSequenceNumber(), i + 1);
                threads.runAll();
                smallLog.passLinger();
                threads.runAll();
                handle = handleOf(persist);
            }
            assertThat(handle.getHandlesAndOffsets()).hasSize(3 * RUNS);
            assertThat(smallLog.metrics().count("numberOfCompactionFailures")).isZero();
            smallWriter.close();
            threads.runAll();
        }
    }

    /**
     * A compacted run is taken to need as much less memory as its frame is smaller. Here the frames
     * consist of a value that is written again and again, the records of others that compress well.
     */
    @Test
    void recordsThatTakeMoreMemoryThanEstimated_countWhileTheyAreRead() throws Exception {
        int runs = 4;
        int wellCompressed = 200_000;
        Configuration compressed =
                new Configuration()
                        .set(DstlOptions.COMPRESSION_ENABLED, true)
                        .set(DstlOptions.COMPACTION_MIN_RUNS, runs);
        try (LogFixture small = LogFixture.on(threads, compressed)) {
            DstlLogWriter smallWriter = small.writer();
            smallWriter.addCompactionBoundary();
            ProcessMemory memory = small.budget().memory().process();
            AtomicLong most = new AtomicLong();
            small.store()
                    .beforeReads(
                            file ->
                                    most.accumulateAndGet(
                                            memory.reservedBytes(MemoryUse.COMPACTION), Math::max));
            byte[] rewritten = new byte[20_000];
            for (int i = 1; i <= runs * runs + 1; i++) {
                new Random(i).nextBytes(rewritten);
                smallWriter.append(RecordKind.PUT, 1, 1, rewritten, 0, 0, rewritten.length);
                runsOfCheckpoints(small, smallWriter, 1, i, wellCompressed);
                small.timers().advanceMillis(1_000);
                threads.runAll();
            }
            assertThat(small.metrics().count("numberOfCompactions")).isEqualTo(runs + 1);
            assertThat(most.get())
                    .as("when the last run is opened, those before it are in memory")
                    .isGreaterThanOrEqualTo((runs - 1L) * runs * wellCompressed);
            smallWriter.close();
            threads.runAll();
            assertThat(memory.reservedBytes(MemoryUse.COMPACTION)).isZero();
        }
    }

    @Test
    void compactionThatFindsNoMemory_beginsWhenThereIsSome_withoutACheckpoint() throws Exception {
        writer.addCompactionBoundary();
        JobMemory memory = log.budget().memory();
        memory.reserve(MemoryUse.READ_AHEAD, 1L << 40);
        for (int i = 0; i < 2 * RUNS; i++) {
            checkpointWith("change " + i);
        }
        assertThat(log.metrics().count("numberOfCompactions")).isZero();

        memory.release(MemoryUse.READ_AHEAD, 1L << 40);
        log.timers().advanceMillis(1_000);
        settle();
        assertThat(log.metrics().count("numberOfCompactions")).isEqualTo(2);
        assertThat(texts(persisted(writer.initialSequenceNumber()))).isEqualTo(expected);
    }

    @Test
    void compactionThatTakesTooMuchMemory_isFollowedByOthers_withoutACheckpoint() throws Exception {
        Configuration small =
                settings()
                        .set(DstlOptions.COMPRESSION_ENABLED, true)
                        .set(DstlOptions.COMPACTION_MAX_SIZE, MemorySize.parse("40 kb"));
        try (LogFixture smallLog = LogFixture.on(threads, small)) {
            DstlLogWriter smallWriter = smallLog.writer();
            smallWriter.addCompactionBoundary();
            JobMemory memory = smallLog.budget().memory();
            memory.reserve(MemoryUse.READ_AHEAD, 1L << 40);
            for (int i = 0; i < 2 * RUNS; i++) {
                LogFixture.append(smallWriter, "x".repeat(i < RUNS ? 50_000 : 10));
                Future<SnapshotResult<ChangelogStateHandleStreamImpl>> persist =
                        smallWriter.persist(smallWriter.initialSequenceNumber(), i + 1);
                threads.runAll();
                smallLog.passLinger();
                threads.runAll();
                assertThat(handleOf(persist).getHandlesAndOffsets()).hasSize(i + 1);
            }
            memory.release(MemoryUse.READ_AHEAD, 1L << 40);
            smallLog.timers().advanceMillis(1_000);
            threads.runAll();
            smallLog.timers().advanceMillis(1_000);
            threads.runAll();
            assertThat(smallLog.metrics().count("numberOfCompactions")).isPositive();
            smallWriter.close();
            threads.runAll();
        }
    }

    @Test
    void truncationDuringACompaction_leavesNothingOfIt() throws Exception {
        writer.addCompactionBoundary();
        for (int i = 0; i < RUNS; i++) {
            checkpointWith("change " + i);
        }
        SequenceNumber base = writer.nextSequenceNumber();
        writer.addCompactionBoundary();
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> persist = persist("one more");
        writer.truncate(base);
        settle();
        handleOf(persist);
        assertThat(texts(persisted(base))).containsExactly("one more");
        assertThat(log.store().segments()).as("no compacted one").hasSize(RUNS + 1);
    }

    @Test
    void closingDuringACompaction_leavesNothingOfIt() throws Exception {
        writer.addCompactionBoundary();
        for (int i = 0; i < RUNS; i++) {
            checkpointWith("change " + i);
        }
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> persist = persist("one more");
        writer.close();
        assertThat(persist).isDone();
        settle();
        assertThat(log.store().segments()).as("what checkpoints were given").hasSize(RUNS);
    }

    private Future<SnapshotResult<ChangelogStateHandleStreamImpl>> persist(String text) {
        LogFixture.append(writer, text);
        expected.add(text);
        return writer.persist(writer.initialSequenceNumber(), checkpoints + 1);
    }

    private ChangelogStateHandleStreamImpl checkpointWith(String text) throws Exception {
        LogFixture.append(writer, text);
        expected.add(text);
        return checkpoint();
    }

    private ChangelogStateHandleStreamImpl checkpointOfValue(String value) throws Exception {
        byte[] bytes = ("k" + value).getBytes(StandardCharsets.UTF_8);
        writer.append(RecordKind.PUT, 1, 0, bytes, 1, 1, bytes.length);
        return checkpoint();
    }

    private ChangelogStateHandleStreamImpl checkpoint() throws Exception {
        return persisted(writer.initialSequenceNumber());
    }

    private ChangelogStateHandleStreamImpl persisted(SequenceNumber from) throws Exception {
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> persist =
                writer.persist(from, ++checkpoints);
        settle();
        return handleOf(persist);
    }

    private static List<String> payloads(ChangelogStateHandleStreamImpl handle) throws Exception {
        List<String> payloads = new ArrayList<>();
        try (RecordCursor cursor = new DstlHandleReader().open(handle)) {
            LogRecord record = new LogRecord();
            while (cursor.next(record)) {
                payloads.add(
                        new String(
                                record.buffer(),
                                record.payloadOffset(),
                                record.payloadLength(),
                                StandardCharsets.UTF_8));
            }
        }
        return payloads;
    }

    private void settle() {
        threads.runAll();
        log.passLinger();
        threads.runAll();
    }
}
