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

import dev.dstl.log.api.RecordKind;
import dev.dstl.log.testing.LogFixture;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;
import org.junit.jupiter.api.Test;

/**
 * Two changelogs on a TaskManager that change 20 MB per second each, over a small base, so that
 * they are compacted all the time. A compaction takes a second and much of the memory.
 */
class FullRateCostTest {

    private static final int LOGS = 2;
    private static final int CHECKPOINTS = 16;
    private static final int SLICES = 20;
    private static final long SLICE_MILLIS = 50;
    private static final int BYTES_PER_SLICE = 1 << 20;
    private static final int RECORD_BYTES = 256;
    private static final int KEYS = 60_000;
    private static final long BASE_BYTES = 16 << 20;
    private static final long READ_MILLIS = 1_000;

    private final SplittableRandom random = new SplittableRandom(1);

    /** Batches of the usual 5 MB, of which some share a segment, and outputs of compactions. */
    @Test
    void compaction_doesNotMakeBatchesSmall() throws Exception {
        AtomicReference<LogFixture> fixture = new AtomicReference<>();
        Executor afterReading = task -> fixture.get().timers().schedule(task, READ_MILLIS);
        List<DstlLogWriter> writers = new ArrayList<>();
        try (LogFixture log =
                LogFixture.withCompactionsOn(afterReading, Runnable::run, new Configuration())) {
            fixture.set(log);
            for (int i = 0; i < LOGS; i++) {
                DstlLogWriter writer = log.writer();
                writer.addCompactionBoundary();
                writer.baseReplaced(BASE_BYTES);
                writers.add(writer);
            }
            for (int checkpoint = 1; checkpoint <= CHECKPOINTS; checkpoint++) {
                checkpoint(log, writers, checkpoint);
            }
            double puts = (double) log.store().requests("create") / CHECKPOINTS;
            assertThat(puts).as("PUT per checkpoint").isLessThanOrEqualTo(8);
            assertThat(log.metrics().count("numberOfCompactions")).isPositive();
            writers.forEach(DstlLogWriter::close);
            log.timers().advanceMillis(2 * READ_MILLIS);
        }
    }

    private void checkpoint(LogFixture log, List<DstlLogWriter> writers, int checkpointId)
            throws Exception {
        for (int slice = 0; slice < SLICES; slice++) {
            writers.forEach(this::appendChanges);
            log.timers().advanceMillis(SLICE_MILLIS);
        }
        List<Future<SnapshotResult<ChangelogStateHandleStreamImpl>>> persists = new ArrayList<>();
        for (DstlLogWriter writer : writers) {
            persists.add(writer.persist(writer.initialSequenceNumber(), checkpointId));
        }
        log.passLinger();
        for (Future<SnapshotResult<ChangelogStateHandleStreamImpl>> persist : persists) {
            assertThat(LogFixture.handleOf(persist)).isNotNull();
        }
    }

    private void appendChanges(DstlLogWriter writer) {
        byte[] record = new byte[RECORD_BYTES];
        for (int bytes = 0; bytes < BYTES_PER_SLICE; bytes += RECORD_BYTES) {
            int key = random.nextInt(KEYS);
            ByteBuffer.wrap(record).putInt(key).putLong(random.nextLong());
            writer.append(RecordKind.PUT, key % 8, 0, record, 4, 4, RECORD_BYTES);
        }
    }
}
