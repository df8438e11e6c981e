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

package dev.dstl.log.upload;

import static org.assertj.core.api.Assertions.assertThat;

import dev.dstl.log.api.TestRecord;
import dev.dstl.log.batch.LogBatch;
import dev.dstl.log.batch.TestBatches;
import dev.dstl.log.segment.EncodedSegment;
import dev.dstl.log.upload.LinkedTaskManagers.Checkpoint;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Threads that cannot be started because of a limit of the operating system. */
class ThreadStartTest {

    private final LinkedTaskManagers cluster = new LinkedTaskManagers(1, 1_000_000_000);

    @AfterEach
    void close() {
        cluster.close();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 10, 50})
    void uploadsWhoseThreadsDoNotStart_areMadeLater(int failures) {
        cluster.threads.failNextStarts(failures, ThreadStartTest::noThread);
        List<Checkpoint> checkpoints = new ArrayList<>();
        for (int i = 0; i < 60; i++) {
            checkpoints.add(cluster.checkpoint(1_000));
            cluster.timers.advanceMillis(1_000);
        }
        cluster.timers.advanceMillis(10_000);
        assertThat(checkpoints).allMatch(Checkpoint::isComplete);
        assertThat(cluster.durationMillis(checkpoints.get(59))).isLessThan(100);
        assertThat(cluster.metrics.get(0).value("storeHealth")).isEqualTo(0);
        assertThat(cluster.metrics.get(0).max("totalAttemptsPerUpload"))
                .as("attempts that began")
                .isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 10})
    void executorThatRejectsForAWhile_doesNotStopUploads(int rejections) {
        cluster.threads.failNextStarts(
                rejections,
                () -> {
                    throw new RejectedExecutionException("busy");
                });
        List<Checkpoint> checkpoints = new ArrayList<>();
        for (int i = 0; i < 12; i++) {
            checkpoints.add(cluster.checkpoint(1_000));
        }
        cluster.timers.advanceMillis(10_000);
        assertThat(checkpoints).allMatch(Checkpoint::isComplete);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 10})
    void batchesWhoseThreadDoesNotStart_areEncodedLater(int failures) {
        cluster.threads.failNextStarts(failures, ThreadStartTest::noThread);
        List<EncodedSegment> encoded = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            LogBatch batch = TestBatches.batch(i, List.of(TestRecord.opaque(1, "text")));
            cluster.uploaders
                    .get(0)
                    .encode(List.of(batch), (segment, failure) -> encoded.add(segment));
        }
        cluster.timers.advanceMillis(10_000);
        assertThat(encoded).hasSize(6).doesNotContainNull();
    }

    @Test
    void batchesWhoseThreadDoesNotStart_andWhoseRetryCannotBeScheduled_fail_andNotTheNext() {
        cluster.threads.failNextStarts(1, ThreadStartTest::noThread);
        cluster.uploadTimers.failCall(cluster.uploadTimers.calls() + 1);
        List<Throwable> failures = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            LogBatch batch = TestBatches.batch(i, List.of(TestRecord.opaque(1, "text")));
            cluster.uploaders
                    .get(0)
                    .encode(List.of(batch), (segment, failure) -> failures.add(failure));
            cluster.timers.advanceMillis(10_000);
        }
        assertThat(failures).hasSize(2);
        assertThat(failures.get(0)).hasMessage("unable to create native thread");
        assertThat(failures.get(1)).isNull();
    }

    @Test
    void batchesWhoseThreadDoesNotStart_failWhenTheStorageCloses() {
        cluster.threads.failNextStarts(1, ThreadStartTest::noThread);
        List<Throwable> failures = new ArrayList<>();
        cluster.uploaders
                .get(0)
                .encode(
                        List.of(TestBatches.batch(1, List.of(TestRecord.opaque(1, "text")))),
                        (segment, failure) -> failures.add(failure));

        cluster.uploaders.get(0).close();

        assertThat(failures).hasSize(1).doesNotContainNull();
    }

    /** Throws what the JVM throws; uncaught, it would end the process of the tests. */
    private static void noThread() {
        throw new Error("unable to create native thread");
    }
}
