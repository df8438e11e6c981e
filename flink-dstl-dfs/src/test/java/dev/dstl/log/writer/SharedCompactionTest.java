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

import static dev.dstl.log.testing.LogFixture.append;
import static dev.dstl.log.testing.LogFixture.filesOf;
import static dev.dstl.log.testing.LogFixture.handleOf;
import static dev.dstl.log.testing.LogFixture.texts;
import static org.assertj.core.api.Assertions.assertThat;

import dev.dstl.log.config.DstlOptions;
import dev.dstl.log.testing.LogFixture;
import dev.dstl.log.testing.ManualExecutor;
import dev.dstl.log.testing.WriteFault;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.runtime.state.SharedStateRegistry;
import org.apache.flink.runtime.state.SharedStateRegistryImpl;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;
import org.apache.flink.runtime.state.changelog.SequenceNumber;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The compacted runs of two changelogs share segments while the JobManager deletes what it can. */
class SharedCompactionTest {

    private static final int RUNS = 4;
    private static final long WAIT_MILLIS = 1_000;

    private final ManualExecutor threads = new ManualExecutor();
    private final LogFixture log =
            LogFixture.on(
                    threads,
                    new Configuration()
                            .set(DstlOptions.INLINE_THRESHOLD, MemorySize.ZERO)
                            .set(DstlOptions.RETRY_POLICY, "none")
                            .set(DstlOptions.COMPACTION_MIN_RUNS, RUNS));
    private final DstlLogWriter first = log.writer();
    private final DstlLogWriter second = log.writer();
    private final SharedStateRegistry jobManager = new SharedStateRegistryImpl(Runnable::run);
    private final Map<DstlLogWriter, SequenceNumber> begins = new HashMap<>();
    private int checkpoint;

    @BeforeEach
    void allowCompaction() {
        first.addCompactionBoundary();
        second.addCompactionBoundary();
        begins.put(first, first.initialSequenceNumber());
        begins.put(second, second.initialSequenceNumber());
    }

    @AfterEach
    void close() throws Exception {
        first.close();
        second.close();
        pass(WAIT_MILLIS);
        assertThat(log.budget().memory().reservedBytes()).as("reserved memory").isZero();
        jobManager.close();
        log.close();
    }

    @Test
    void runsOfTheSameCheckpoints_becomeOneSegmentOfBothLogs() throws Exception {
        for (int i = 0; i < RUNS; i++) {
            checkpointOf(first, second);
        }
        int before = log.store().requests("create");
        checkpointOf(first, second);
        assertThat(log.store().requests("create") - before)
                .as("one for the checkpoint, one for both compactions")
                .isEqualTo(2);
        List<ChangelogStateHandleStreamImpl> handles = checkpointOf(first, second);
        assertThat(compactions()).isEqualTo(2);
        assertThat(filesOf(handles.get(0))).isEqualTo(filesOf(handles.get(1)));
        assertThat(texts(handles.get(0))).isEqualTo(texts(handles.get(1))).hasSize(RUNS + 2);
    }

    @Test
    void sharedOutput_staysUntilNoCheckpointOfEitherLogNamesIt() throws Exception {
        for (int i = 0; i < RUNS + 1; i++) {
            checkpointOf(first, second);
        }
        String output = filesOf(checkpointOf(first, second).get(0)).get(0);
        truncate(first);
        checkpointOf(second);
        checkpointOf(second);
        assertThat(log.store().segments()).anyMatch(file -> file.toString().equals(output));
        truncate(second);
        checkpointOf(second);
        checkpointOf(second);
        assertThat(log.store().segments()).noneMatch(file -> file.toString().equals(output));
    }

    @Test
    void logWhoseNeighbourHasNothingToCompact_doesNotWaitLong() throws Exception {
        for (int i = 0; i < RUNS; i++) {
            checkpointOf(first);
        }
        persist(first);
        settle();
        assertThat(compactions()).as("waits for the other changelog").isZero();
        pass(WAIT_MILLIS);
        assertThat(compactions()).isEqualTo(1);
    }

    @Test
    void logWithHalfTheRuns_joinsOneThatIsCompacted() throws Exception {
        for (int i = 0; i < RUNS / 2; i++) {
            checkpointOf(first);
        }
        for (int i = 0; i < RUNS / 2; i++) {
            checkpointOf(first, second);
        }
        checkpointOf(first, second);
        assertThat(compactions()).isEqualTo(2);
        List<ChangelogStateHandleStreamImpl> handles = checkpointOf(first, second);
        assertThat(filesOf(handles.get(0))).isEqualTo(filesOf(handles.get(1)));
    }

    @Test
    void logThatEndsWhileItsOutputIsGathered_doesNotDisturbTheOther() throws Exception {
        for (int i = 0; i < RUNS; i++) {
            checkpointOf(first);
        }
        persist(first);
        settle();
        int segments = log.store().segments().size();
        first.close();
        pass(WAIT_MILLIS);
        assertThat(log.store().segments()).hasSizeLessThanOrEqualTo(segments);
        for (int i = 0; i < RUNS + 2; i++) {
            checkpointOf(second);
        }
        assertThat(compactions()).isEqualTo(1);
    }

    @Test
    void outputOfALogThatEnded_doesNotKeepLaterOnesWaiting() throws Exception {
        DstlLogWriter idle = log.writer();
        for (int i = 0; i < RUNS; i++) {
            checkpointOf(first);
        }
        persist(first);
        settle();
        first.close();
        pass(WAIT_MILLIS);
        for (int i = 0; i < RUNS + 2; i++) {
            checkpointOf(second);
        }
        assertThat(compactions()).isEqualTo(1);
        idle.close();
    }

    @Test
    void sharedOutputThatCannotBeWritten_leavesBothLogsAsTheyWere_andIsTriedAgain()
            throws Exception {
        for (int i = 0; i < RUNS; i++) {
            checkpointOf(first, second);
        }
        log.store().failNext(WriteFault.FAIL_ON_CLOSE);
        checkpointOf(first, second);
        assertThat(compactions()).isZero();
        for (int i = 0; i < 4 * RUNS - 1; i++) {
            checkpointOf(first, second);
        }
        List<ChangelogStateHandleStreamImpl> handles = checkpointOf(first, second);
        assertThat(compactions()).isGreaterThan(2);
        assertThat(texts(handles.get(0))).isEqualTo(texts(handles.get(1))).hasSize(5 * RUNS + 1);
    }

    /** Appends to both changelogs, persists them and completes the checkpoint. */
    private List<ChangelogStateHandleStreamImpl> checkpointOf(DstlLogWriter... writers)
            throws Exception {
        checkpoint++;
        List<Future<SnapshotResult<ChangelogStateHandleStreamImpl>>> persists = new ArrayList<>();
        for (DstlLogWriter writer : writers) {
            append(writer, "change of checkpoint " + checkpoint);
            persists.add(writer.persist(begins.get(writer), checkpoint));
        }
        settle();
        pass(WAIT_MILLIS);
        List<ChangelogStateHandleStreamImpl> handles = new ArrayList<>();
        for (Future<SnapshotResult<ChangelogStateHandleStreamImpl>> persist : persists) {
            handles.add(handleOf(persist));
        }
        handles.forEach(handle -> handle.registerSharedStates(jobManager, checkpoint));
        jobManager.unregisterUnusedState(checkpoint);
        return handles;
    }

    private void truncate(DstlLogWriter writer) {
        begins.put(writer, writer.nextSequenceNumber());
        writer.truncate(begins.get(writer));
    }

    private void persist(DstlLogWriter writer) {
        append(writer, "last change");
        Future<?> unused = writer.persist(begins.get(writer), ++checkpoint);
    }

    private long compactions() {
        return log.metrics().count("numberOfCompactions");
    }

    private void settle() {
        threads.runAll();
        log.passLinger();
        threads.runAll();
    }

    private void pass(long millis) {
        threads.runAll();
        for (long passed = 0; passed < millis; passed += 10) {
            log.timers().advanceMillis(10);
            threads.runAll();
        }
    }
}
