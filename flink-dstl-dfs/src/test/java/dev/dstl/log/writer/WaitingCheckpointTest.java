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
import static dev.dstl.log.testing.LogFixture.persistAll;
import static dev.dstl.log.testing.LogFixture.texts;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.dstl.log.testing.WriteFault;
import java.util.concurrent.Future;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;
import org.apache.flink.runtime.state.changelog.SequenceNumber;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Checkpoints that wait for an upload, for each other, and for none that was aborted. */
class WaitingCheckpointTest {

    private final InlineLog inline = new InlineLog();

    @AfterEach
    void close() {
        inline.close();
    }

    @Test
    void smallTail_waitsBehindAPersistThatWaits_soThatNoCheckpointLacksASegmentInBetween()
            throws Exception {
        append(inline.writer, "small");
        inline.writer.nextSequenceNumber();
        inline.log.store().failNext(WriteFault.FAIL_ON_CLOSE);
        inline.passTime(InlineLog.MAX_AGE_MILLIS + 100);
        append(inline.writer, InlineLog.LARGE);
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> first = persistAll(inline.writer);
        inline.log.passLinger();
        inline.executor.runAll();
        assertThat(inline.log.store().segments()).as("the large batch is durable").hasSize(1);
        assertThat(first).as("the small batch is not").isNotDone();

        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> second =
                inline.writer.persist(inline.writer.initialSequenceNumber(), 2);
        inline.executor.runAll();
        inline.passTime(InlineLog.MAX_AGE_MILLIS);

        assertThat(filesOf(handleOf(first))).hasSize(2);
        assertThat(filesOf(handleOf(second))).isEqualTo(filesOf(handleOf(first)));
        assertThat(InlineLog.parts(handleOf(second))).isEmpty();
    }

    @Test
    void smallTail_doesNotWaitBehindACheckpointThatWasAborted() throws Exception {
        append(inline.writer, "small");
        inline.writer.nextSequenceNumber();
        inline.log.store().failNext(WriteFault.FAIL_ON_CLOSE);
        inline.passTime(InlineLog.MAX_AGE_MILLIS + 100);
        append(inline.writer, InlineLog.LARGE);
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> aborted = persistAll(inline.writer);
        inline.log.passLinger();
        inline.executor.runAll();
        assertThat(inline.log.store().segments()).as("the large batch is durable").hasSize(1);
        aborted.cancel(false);

        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> next =
                inline.writer.persist(inline.writer.initialSequenceNumber(), 2);
        inline.executor.runAll();

        assertThat(next).isDone();
        assertThat(InlineLog.parts(handleOf(next))).hasSize(1);
        assertThat(filesOf(handleOf(next))).hasSize(1);
    }

    @Test
    void checkpointAfterAnAbortedOne_countsWhatTheAbortedOneDidNotDeliver() throws Exception {
        append(inline.writer, InlineLog.LARGE);
        persistAll(inline.writer).cancel(false);
        inline.log.passLinger();
        inline.executor.runAll();
        assertThat(inline.log.store().segments()).hasSize(1);

        ChangelogStateHandleStreamImpl next = inline.persisted();

        assertThat(next.getStateSize()).isPositive();
        assertThat(next.getCheckpointedSize()).isEqualTo(next.getStateSize());
    }

    @Test
    void abortedCheckpoint_holdsNoMemory_onceItsBatchesAreTruncated() {
        append(inline.writer, InlineLog.LARGE);
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> aborted = persistAll(inline.writer);
        SequenceNumber end = inline.writer.nextSequenceNumber();
        aborted.cancel(false);

        inline.writer.truncate(end);
        inline.executor.runAll();

        assertThat(inline.log.budget().reservedBytes()).isZero();
        assertThat(inline.log.store().segments()).isEmpty();
    }

    @Test
    void smallTail_waitsBehindAnotherLogsEarlierCheckpoint_whichMayBeForTheSameSegment()
            throws Exception {
        DstlLogWriter other = inline.log.writer();
        append(inline.writer, "small");
        inline.writer.nextSequenceNumber();
        append(other, InlineLog.LARGE);
        inline.log.store().failNext(WriteFault.FAIL_ON_CLOSE);
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> first = persistAll(other);
        inline.log.passLinger();
        inline.executor.runAll();
        assertThat(first).as("a segment with batches of both changelogs").isNotDone();

        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> sameCheckpoint =
                persistAll(inline.writer);
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> nextCheckpoint =
                inline.writer.persist(inline.writer.initialSequenceNumber(), 2);
        inline.executor.runAll();
        assertThat(InlineLog.parts(handleOf(sameCheckpoint))).hasSize(1);
        assertThat(nextCheckpoint).isNotDone();
        inline.passTime(InlineLog.MAX_AGE_MILLIS);

        assertThat(filesOf(handleOf(nextCheckpoint))).isEqualTo(filesOf(handleOf(first)));
        other.close();
    }

    @Test
    void persistThatFailsAsItCompletes_leavesNoOtherHanging() throws Exception {
        append(inline.writer, "a");
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> first =
                inline.writer.persist(inline.writer.initialSequenceNumber(), 1);
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> second =
                inline.writer.persist(inline.writer.initialSequenceNumber(), 2);
        inline.log.metrics().failNext("numberOfInlinePersists");
        inline.executor.runAll();
        assertThat(first).isDone();
        assertThatThrownBy(first::get).hasMessageContaining("fails once");
        assertThat(texts(handleOf(second))).containsExactly("a");
        assertThat(texts(inline.persisted())).containsExactly("a");
    }
}
