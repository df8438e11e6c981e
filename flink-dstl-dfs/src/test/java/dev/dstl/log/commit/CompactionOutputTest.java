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

package dev.dstl.log.commit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.dstl.log.api.RecordKind;
import dev.dstl.log.api.TestRecord;
import dev.dstl.log.batch.TestBatches;
import dev.dstl.log.testing.LogFixture;
import java.io.IOException;
import java.util.List;
import java.util.UUID;
import org.apache.flink.configuration.Configuration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Compactions of several changelogs share a segment, and each changelog decides when to name it.
 */
class CompactionOutputTest {

    private final LogFixture log = LogFixture.onCallingThread(new Configuration());
    private final GroupCommit commit = log.commit();

    @AfterEach
    void close() {
        log.close();
    }

    @Test
    void outputsOfCheckpointsOneAfterTheOther_shareASegment() {
        commit.submitOutputs(List.of(output(5), output(6), output(5)));
        assertThat(log.store().segments()).hasSize(1);
        assertThat(log.budget().reservedBytes()).as("in flight, which stops tasks").isZero();
    }

    @Test
    void outputsOfCheckpointsFarApart_doNot() {
        commit.submitOutputs(List.of(output(5), output(9), output(6)));
        assertThat(log.store().segments()).hasSize(2);
    }

    /** Checkpoint 7 completes without the second log's run and without the first log's. */
    @Test
    void logThatComesTooLate_neverNamesTheSegment_andTheOthersDo() {
        List<SealedBatch> outputs = List.of(output(5), output(5), output(5));
        commit.submitOutputs(outputs);
        assertThat(commit.enter(outputs.get(0), 5)).isTrue();
        assertThat(commit.enter(outputs.get(1), 7)).isFalse();
        assertThat(commit.enter(outputs.get(2), 6)).isTrue();
    }

    @Test
    void logsThatAreTwoCheckpointsApart_doNotBothEnter_whoeverIsFirst() {
        List<SealedBatch> outputs = List.of(output(5), output(5), output(5));
        commit.submitOutputs(outputs);
        assertThat(commit.enter(outputs.get(0), 7)).isTrue();
        assertThat(commit.enter(outputs.get(1), 6)).isTrue();
        assertThat(commit.enter(outputs.get(2), 8)).isFalse();
    }

    @Test
    void logThatDroppedItsOutputAgain_stillCounts_sinceCheckpointsMayHaveNamedIt() {
        List<SealedBatch> outputs = List.of(output(5), output(5));
        commit.submitOutputs(outputs);
        assertThat(commit.enter(outputs.get(0), 5)).isTrue();
        commit.release(outputs.get(0));
        assertThat(commit.enter(outputs.get(1), 7)).isFalse();
        commit.release(outputs.get(1));
        assertThat(log.store().segments()).isEmpty();
    }

    @Test
    void logThatNeverEntered_doesNotCount() {
        List<SealedBatch> outputs = List.of(output(5), output(5));
        commit.submitOutputs(outputs);
        commit.release(outputs.get(0));
        assertThat(log.store().segments()).hasSize(1);
        assertThat(commit.enter(outputs.get(1), 20)).isTrue();
    }

    private static SealedBatch output(long lastCheckpoint) {
        TestRecord record =
                new TestRecord(RecordKind.PUT, 1, 1, 1, new byte[] {1}, new byte[] {2, 3});
        return SealedBatch.output(
                TestBatches.batch(UUID.randomUUID(), 0, List.of(record)),
                new NoListener(),
                lastCheckpoint);
    }

    private static final class NoListener implements BatchListener {
        @Override
        public void durable(BatchPosition position) {}

        @Override
        public void suspended(IOException cause) {}
    }
}
