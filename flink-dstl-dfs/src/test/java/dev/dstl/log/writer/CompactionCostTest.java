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
import dev.dstl.log.testing.LogFixture;
import dev.dstl.log.testing.ManualExecutor;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Future;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;
import org.junit.jupiter.api.Test;

/**
 * Requests per checkpoint of 24 changelogs on one TaskManager that change 30 KB per second
 * together, with a checkpoint per second and no materialization.
 */
class CompactionCostTest {

    private static final int LOGS = 24;
    private static final int BYTES_PER_CHECKPOINT = 30_000;
    private static final int CHECKPOINTS = 600;
    private static final long INTERVAL_MILLIS = 1_000;

    /** A quarter of the default of {@code upload.max-in-flight}, as in production. */
    private static final long RECENT_SEGMENT_BYTES = 25 << 20;

    private final ManualExecutor threads = new ManualExecutor();
    private final Random random = new Random(1);
    private int logsBegunPerCheckpoint = LOGS;

    @Test
    void compaction_readsNothingFromTheStore_thatTheProcessWroteLately() throws Exception {
        Requests requests = requestsOf(CHECKPOINTS, RECENT_SEGMENT_BYTES);
        assertThat(requests.gets).as("GET per checkpoint").isLessThanOrEqualTo(0.05);
        assertThat(requests.puts).as("PUT per checkpoint").isLessThanOrEqualTo(1.15);
    }

    /** As with skewed keys, or tasks that recover one by one. */
    @Test
    void logsThatBeginAtDifferentCheckpoints_areSoonCompactedTogether() throws Exception {
        logsBegunPerCheckpoint = 2;
        assertThat(requestsOf(CHECKPOINTS, RECENT_SEGMENT_BYTES).puts).isLessThanOrEqualTo(1.2);
    }

    /** The cost without recent segments, for comparison. */
    @Test
    void compactionThatKeepsNothing_readsEachSegmentBackForEachLog() throws Exception {
        assertThat(requestsOf(CHECKPOINTS / 4, 0).gets).isGreaterThan(LOGS * 0.8);
    }

    private Requests requestsOf(int checkpoints, long recentSegmentBytes) throws Exception {
        Configuration everythingUploaded =
                new Configuration().set(DstlOptions.INLINE_THRESHOLD, MemorySize.ZERO);
        List<DstlLogWriter> writers = new ArrayList<>();
        try (LogFixture log =
                LogFixture.keepingSegments(threads, everythingUploaded, recentSegmentBytes)) {
            for (int i = 0; i < LOGS; i++) {
                writers.add(log.writer());
                writers.get(i).addCompactionBoundary();
            }
            for (int checkpoint = 1; checkpoint <= checkpoints; checkpoint++) {
                checkpoint(log, writers, checkpoint);
            }
            Requests requests = new Requests(log, checkpoints);
            writers.forEach(DstlLogWriter::close);
            threads.runAll();
            assertThat(log.recentSegments().keptBytes()).as("kept for nobody").isZero();
            return requests;
        }
    }

    /** Barriers reach the tasks within a few milliseconds. */
    private void checkpoint(LogFixture log, List<DstlLogWriter> writers, int checkpointId)
            throws Exception {
        List<Future<SnapshotResult<ChangelogStateHandleStreamImpl>>> persists = new ArrayList<>();
        int begun = Math.min(LOGS, checkpointId * logsBegunPerCheckpoint);
        writers.subList(0, begun).forEach(this::appendChanges);
        long lateMillis = 0;
        for (DstlLogWriter writer : writers) {
            if (random.nextInt(4) == 0) {
                pass(log, 1);
                lateMillis++;
            }
            persists.add(writer.persist(writer.initialSequenceNumber(), checkpointId));
        }
        pass(log, INTERVAL_MILLIS - lateMillis);
        for (Future<SnapshotResult<ChangelogStateHandleStreamImpl>> persist : persists) {
            ChangelogStateHandleStreamImpl handle = LogFixture.handleOf(persist);
            assertThat(handle == null ? List.of() : handle.getHandlesAndOffsets())
                    .hasSizeLessThan(48);
        }
    }

    private void appendChanges(DstlLogWriter writer) {
        byte[] value = new byte[BYTES_PER_CHECKPOINT / LOGS / 10];
        for (int i = 0; i < 10; i++) {
            random.nextBytes(value);
            writer.append(random.nextInt(8), value);
        }
    }

    private void pass(LogFixture log, long millis) {
        threads.runAll();
        for (long passed = 0; passed < millis; passed++) {
            log.timers().advanceMillis(1);
            threads.runAll();
        }
    }

    /** Requests per checkpoint. */
    private static final class Requests {
        private final double gets;
        private final double puts;

        private Requests(LogFixture log, int checkpoints) {
            gets = (double) log.store().requests("open") / checkpoints;
            puts = (double) log.store().requests("create") / checkpoints;
            System.out.printf("Per checkpoint of %d logs: %.3f GET, %.3f PUT%n", LOGS, gets, puts);
        }
    }
}
