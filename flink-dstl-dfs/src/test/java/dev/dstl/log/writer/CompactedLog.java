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

import static org.assertj.core.api.Assertions.assertThat;

import dev.dstl.log.config.DstlOptions;
import dev.dstl.log.testing.FaultyStore;
import dev.dstl.log.testing.LogFixture;
import dev.dstl.log.testing.ManualExecutor;
import dev.dstl.log.testing.RecordedMetrics;
import dev.dstl.log.testing.ThreadPerTask;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;
import org.apache.flink.runtime.state.changelog.SequenceNumber;

/** A changelog that is compacted while many checkpoints are taken. */
final class CompactedLog implements AutoCloseable {

    /** Bound promised in docs/operations.md. */
    static final int MOST_RUNS = 64;

    static final int CHECKPOINTS = 1_500;

    private static final long INTERVAL_MILLIS = 100;

    final ManualExecutor executor = new ManualExecutor();
    final ThreadPerTask compactions = new ThreadPerTask();
    LogFixture log;
    DstlLogWriter writer;

    /** The state changes that a checkpoint contains. */
    final List<String> expected = new ArrayList<>();

    /** Where checkpoints begin. */
    SequenceNumber base;

    /** Runs of the checkpoint with the most of them. */
    int mostRuns;

    private int checkpointsTaken;

    void open(String retryPolicy) {
        log =
                LogFixture.withCompactionsOn(
                        compactions,
                        executor,
                        new Configuration()
                                .set(DstlOptions.RETRY_POLICY, retryPolicy)
                                .set(DstlOptions.INLINE_THRESHOLD, MemorySize.ZERO));
        compactions.mayHangIn(log.store());
        writer = log.writer();
        writer.addCompactionBoundary();
        base = writer.initialSequenceNumber();
    }

    /** Ends the task in the midst of what it does and starts it again, with an empty changelog. */
    void restart() {
        writer.close();
        writer = log.writer();
        writer.addCompactionBoundary();
        expected.clear();
    }

    FaultyStore store() {
        return log.store();
    }

    RecordedMetrics metrics() {
        return log.metrics();
    }

    void checkpoints(int count) throws Exception {
        for (int i = 0; i < count; i++) {
            checkpoint();
        }
    }

    /** Takes a checkpoint and lets time pass until the next one. */
    ChangelogStateHandleStreamImpl checkpoint() throws Exception {
        ChangelogStateHandleStreamImpl handle = persistAndUpload();
        afterwards();
        return handle;
    }

    ChangelogStateHandleStreamImpl persistAndUpload() throws Exception {
        String text = "change " + checkpointsTaken;
        LogFixture.append(writer, text);
        expected.add(text);
        CompletableFuture<SnapshotResult<ChangelogStateHandleStreamImpl>> persist =
                writer.persist(base, ++checkpointsTaken);
        log.passLinger();
        while (!persist.isDone()) {
            assertThat(executor.size()).isPositive();
            executor.runNext();
        }
        ChangelogStateHandleStreamImpl handle = LogFixture.handleOf(persist);
        mostRuns = Math.max(mostRuns, handle.getHandlesAndOffsets().size());
        return handle;
    }

    /** Runs what happens until the next checkpoint. */
    void afterwards() {
        executor.runAll();
        log.timers().advanceMillis(INTERVAL_MILLIS);
        executor.runAll();
    }

    /** Whatever has happened, nothing may be left in memory and no read may hang. */
    @Override
    public void close() {
        writer.close();
        log.store().releaseHanging();
        compactions.awaitEnd();
        executor.runAll();
        assertThat(log.budget().reservedBytes()).as("bytes in flight").isZero();
        assertThat(log.metrics().value("hangingCompactionReads")).isEqualTo(0);
        log.close();
    }
}
