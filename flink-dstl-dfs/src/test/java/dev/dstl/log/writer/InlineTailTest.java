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
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.Future;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;
import org.apache.flink.runtime.state.memory.ByteStreamStateHandle;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Small batches that are not durable travel inline in the handle. */
class InlineTailTest {

    private final InlineLog inline = new InlineLog();

    @AfterEach
    void close() {
        inline.close();
    }

    @Test
    void smallTail_isInTheHandle_andNoRequestIsMade() throws Exception {
        append(inline.writer, "a");
        append(inline.writer, "b");
        ChangelogStateHandleStreamImpl handle = inline.persisted();
        assertThat(texts(handle)).containsExactly("a", "b");
        assertThat(InlineLog.parts(handle)).hasSize(1);
        assertThat(inline.log.store().requests("create")).isZero();
        assertThat(handle.getStateSize()).isPositive();
        assertThat(handle.getCheckpointedSize()).isEqualTo(handle.getStateSize());
    }

    @Test
    void encoding_isNotTheTasksWork() {
        append(inline.writer, "a");
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> persist = persistAll(inline.writer);
        assertThat(persist).isNotDone();
        assertThat(inline.executor.size()).isEqualTo(1);
        inline.executor.runAll();
        assertThat(persist).isDone();
    }

    @Test
    void severalBatches_travelInASegmentEach_soThatNoneIsWrittenTwice() throws Exception {
        append(inline.writer, "a");
        inline.writer.nextSequenceNumber();
        append(inline.writer, "b");
        inline.writer.nextSequenceNumber();
        append(inline.writer, "c");
        ChangelogStateHandleStreamImpl handle = inline.persisted();
        assertThat(handle.getHandlesAndOffsets()).hasSize(3);
        assertThat(InlineLog.parts(handle)).hasSize(3);
        assertThat(texts(handle)).containsExactly("a", "b", "c");
    }

    @Test
    void batchInSeveralCheckpoints_isTheSameSegmentInEach() throws Exception {
        append(inline.writer, "a");
        ChangelogStateHandleStreamImpl first = inline.persisted();
        append(inline.writer, "b");
        ChangelogStateHandleStreamImpl second = inline.persisted();
        assertThat(texts(second)).containsExactly("a", "b");
        assertThat(InlineLog.parts(second)).hasSize(2).contains(InlineLog.parts(first).get(0));
        assertThat(InlineLog.parts(second).get(0).getData())
                .isSameAs(InlineLog.parts(first).get(0).getData());
    }

    @Test
    void names_areUniqueForEver() throws Exception {
        DstlLogWriter other = inline.log.writer();
        append(inline.writer, "a");
        append(other, "a");
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> persist = persistAll(other);
        ByteStreamStateHandle mine = InlineLog.parts(inline.persisted()).get(0);
        ByteStreamStateHandle others = InlineLog.parts(handleOf(persist)).get(0);
        assertThat(mine).isNotEqualTo(others);
        assertThat(mine.getHandleName()).matches("dstl-inline/[0-9a-f-]{36}/0-0");
        other.close();
    }

    @Test
    void uploadUnderWay_isNotWaitedFor_ifWhatItHasIsSmall() throws Exception {
        append(inline.writer, "a");
        inline.writer.nextSequenceNumber();
        inline.log.timers().advanceMillis(InlineLog.MAX_AGE_MILLIS + 100);
        assertThat(inline.executor.size()).as("the upload, which does not begin").isEqualTo(1);
        List<Runnable> upload = inline.executor.takeAll();
        append(inline.writer, "b");

        ChangelogStateHandleStreamImpl during = inline.persisted();

        assertThat(texts(during)).containsExactly("a", "b");
        assertThat(filesOf(during)).isEmpty();
        upload.forEach(Runnable::run);
        assertThat(filesOf(inline.persisted())).hasSize(1);
        assertThat(texts(inline.persisted())).containsExactly("a", "b");
    }

    @Test
    void batchThatIsEncodedForItsUpload_canStillTravelInTheHandle() throws Exception {
        inline.log.store().failAlways(WriteFault.FAIL_ON_WRITE);
        append(inline.writer, "a");
        inline.writer.nextSequenceNumber();
        inline.passTime(InlineLog.MAX_AGE_MILLIS + 100);
        assertThat(inline.log.store().requests("create")).isPositive();
        assertThat(texts(inline.persisted())).containsExactly("a");
    }

    @Test
    void outageOfTheStore_doesNotDelayCheckpointsWithASmallTail() throws Exception {
        inline.log.store().failAlways(WriteFault.FAIL_ON_CREATE);
        for (int checkpoint = 1; checkpoint <= 10; checkpoint++) {
            append(inline.writer, "a");
            assertThat(texts(inline.persisted())).hasSize(checkpoint);
            inline.passTime(InlineLog.MAX_AGE_MILLIS);
        }
    }

    /** Other changelogs may rely on this checkpoint not naming the segment. */
    @Test
    void batchThatBecomesDurableWhileItIsEncoded_stillTravelsInTheHandle() throws Exception {
        append(inline.writer, "a");
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> persist = persistAll(inline.writer);
        List<Runnable> encoding = inline.executor.takeAll();
        inline.passTime(InlineLog.MAX_AGE_MILLIS + 100);
        assertThat(inline.log.store().segments()).hasSize(1);
        assertThat(persist).isNotDone();
        encoding.forEach(Runnable::run);
        assertThat(filesOf(handleOf(persist))).isEmpty();
        assertThat(texts(handleOf(persist))).containsExactly("a");
        assertThat(InlineLog.parts(inline.persisted())).isEmpty();
    }

    @Test
    void inlinePart_handsNoSegmentOut() throws Exception {
        append(inline.writer, "a");
        ChangelogStateHandleStreamImpl handle = inline.persisted();
        inline.passTime(InlineLog.MAX_AGE_MILLIS + 100);
        assertThat(inline.log.store().segments()).hasSize(1);
        inline.writer.close();
        inline.executor.runAll();
        assertThat(inline.log.store().segments()).as("no handle names it").isEmpty();
        assertThat(texts(handle)).containsExactly("a");
    }

    @Test
    void truncating_doesNotAffectAPersistThatIsBeingEncoded() throws Exception {
        append(inline.writer, "a");
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> persist = persistAll(inline.writer);
        inline.writer.truncate(inline.writer.nextSequenceNumber());
        inline.executor.runAll();
        assertThat(texts(handleOf(persist))).containsExactly("a");
    }

    @Test
    void closing_cancelsAPersistThatIsBeingEncoded() {
        append(inline.writer, "a");
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> persist = persistAll(inline.writer);
        inline.writer.close();
        assertThatThrownBy(persist::get).isInstanceOf(CancellationException.class);
    }

    @Test
    void concurrentCheckpoints_shareTheEncoding() throws Exception {
        append(inline.writer, "a");
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> first = persistAll(inline.writer);
        append(inline.writer, "b");
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> second = persistAll(inline.writer);
        inline.executor.runAll();
        assertThat(texts(handleOf(first))).containsExactly("a");
        assertThat(texts(handleOf(second))).containsExactly("a", "b");
        assertThat(InlineLog.parts(handleOf(second)))
                .contains(InlineLog.parts(handleOf(first)).get(0));
    }
}
