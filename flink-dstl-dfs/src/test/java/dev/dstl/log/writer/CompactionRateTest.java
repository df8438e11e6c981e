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

import dev.dstl.log.testing.LogFixture;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;
import org.junit.jupiter.api.Test;

/**
 * 40 changelogs on a TaskManager with a checkpoint every 200 ms, whose compactions find nothing in
 * memory and wait 200 ms for the store: 12.5 of them are due per second.
 */
class CompactionRateTest {

    private static final int LOGS = 40;
    private static final long INTERVAL_MILLIS = 200;
    private static final long READ_MILLIS = 200;
    private static final int CHECKPOINTS = 300;

    /** Half of the runs that a handle may name, plus those gathered and uploaded meanwhile. */
    private static final int MOST_RUNS = 48;

    private final Random random = new Random(1);

    @Test
    void compactionKeepsUp_withManyChangelogsAndSlowReads() throws Exception {
        AtomicReference<LogFixture> fixture = new AtomicReference<>();
        Executor soon = task -> fixture.get().timers().schedule(task, 0);
        Executor afterReading = task -> fixture.get().timers().schedule(task, READ_MILLIS);
        List<DstlLogWriter> writers = new ArrayList<>();
        int mostRuns = 0;
        try (LogFixture log =
                LogFixture.withCompactionsOn(afterReading, soon, new Configuration())) {
            fixture.set(log);
            for (int i = 0; i < LOGS; i++) {
                writers.add(log.writer());
                writers.get(i).addCompactionBoundary();
            }
            for (int checkpoint = 1; checkpoint <= CHECKPOINTS; checkpoint++) {
                mostRuns = Math.max(mostRuns, runsOf(checkpoint, log, writers));
            }
            writers.forEach(DstlLogWriter::close);
            log.timers().advanceMillis(1_000);
        }
        assertThat(mostRuns).as("runs in a handle").isLessThanOrEqualTo(MOST_RUNS);
    }

    private int runsOf(int checkpoint, LogFixture log, List<DstlLogWriter> writers)
            throws Exception {
        List<Future<SnapshotResult<ChangelogStateHandleStreamImpl>>> persists = new ArrayList<>();
        byte[] value = new byte[100];
        for (DstlLogWriter writer : writers) {
            random.nextBytes(value);
            writer.append(random.nextInt(8), value);
            persists.add(writer.persist(writer.initialSequenceNumber(), checkpoint));
        }
        log.timers().advanceMillis(INTERVAL_MILLIS);
        int mostRuns = 0;
        for (Future<SnapshotResult<ChangelogStateHandleStreamImpl>> persist : persists) {
            int runs = LogFixture.handleOf(persist).getHandlesAndOffsets().size();
            mostRuns = Math.max(mostRuns, runs);
        }
        return mostRuns;
    }
}
