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

import dev.dstl.log.testing.WriteFault;
import java.util.concurrent.Future;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;
import org.apache.flink.runtime.state.changelog.SequenceNumber;
import org.apache.flink.runtime.state.memory.ByteStreamStateHandle;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Which batches are too old or too large to travel inline, and are uploaded. */
class InlineThresholdTest {

    private final InlineLog inline = new InlineLog();

    @AfterEach
    void close() {
        inline.close();
    }

    @Test
    void oldTail_goesIntoASegment_andLaterCheckpointsNameThat() throws Exception {
        append(inline.writer, "a");
        ChangelogStateHandleStreamImpl before = inline.persisted();
        assertThat(filesOf(before)).isEmpty();
        inline.passTime(InlineLog.MAX_AGE_MILLIS + 100);
        assertThat(inline.log.store().segments()).hasSize(1);

        ChangelogStateHandleStreamImpl after = inline.persisted();

        assertThat(InlineLog.parts(after)).isEmpty();
        assertThat(filesOf(after)).hasSize(1);
        assertThat(texts(after)).isEqualTo(texts(before)).containsExactly("a");
        assertThat(inline.log.store().segments()).hasSize(1);
    }

    @Test
    void tailThatIsTooLarge_isUploadedAsAWhole_andWaitedFor() throws Exception {
        append(inline.writer, "a");
        assertThat(filesOf(inline.persisted())).isEmpty();
        append(inline.writer, InlineLog.LARGE);
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> persist = persistAll(inline.writer);
        inline.executor.runAll();
        assertThat(persist).isNotDone();
        inline.log.passLinger();
        inline.executor.runAll();

        assertThat(filesOf(handleOf(persist))).hasSize(1);
        assertThat(InlineLog.parts(handleOf(persist))).isEmpty();
        assertThat(texts(handleOf(persist))).containsExactly("a", InlineLog.LARGE);
    }

    @Test
    void manySmallCheckpoints_goIntoOneSegment_asSoonAsTheyAreTooMuch() throws Exception {
        String text = "x".repeat(100);
        int checkpoints = 0;
        while (inline.log.store().segments().isEmpty()) {
            append(inline.writer, text);
            Future<SnapshotResult<ChangelogStateHandleStreamImpl>> persist =
                    persistAll(inline.writer);
            checkpoints++;
            inline.log.passLinger();
            inline.executor.runAll();
            assertThat(texts(handleOf(persist))).hasSize(checkpoints);
        }
        assertThat(checkpoints).isBetween(7, InlineLog.THRESHOLD / text.length() + 1);
        assertThat(InlineLog.parts(inline.persisted())).isEmpty();
        assertThat(texts(inline.persisted())).hasSize(checkpoints);
        assertThat(inline.log.store().segments()).hasSize(1);
    }

    @Test
    void inlinePart_staysBounded_howeverManyCheckpointsThereAre() throws Exception {
        for (int checkpoint = 1; checkpoint <= 300; checkpoint++) {
            append(inline.writer, "x".repeat(checkpoint % 90));
            Future<SnapshotResult<ChangelogStateHandleStreamImpl>> persist =
                    persistAll(inline.writer);
            inline.passTime(250);
            long inlineBytes = 0;
            for (ByteStreamStateHandle part : InlineLog.parts(handleOf(persist))) {
                inlineBytes += part.getStateSize();
            }
            assertThat(inlineBytes).isLessThanOrEqualTo(InlineLog.THRESHOLD + 300);
            assertThat(texts(handleOf(persist))).hasSize(checkpoint);
        }
    }

    @Test
    void inlinePart_isNoLargerThanTheThresholdAndOneFrame_howeverSmallTheBatchesAre()
            throws Exception {
        inline.log.store().failAlways(WriteFault.FAIL_ON_CREATE);
        int checkpoints = 0;
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> persist;
        do {
            append(inline.writer, "a");
            persist = persistAll(inline.writer);
            inline.passTime(250);
            checkpoints++;
            if (persist.isDone()) {
                long inlineBytes = 0;
                for (ByteStreamStateHandle part : InlineLog.parts(handleOf(persist))) {
                    inlineBytes += part.getStateSize() + part.getHandleName().length();
                }
                assertThat(inlineBytes)
                        .as("checkpoint %s", checkpoints)
                        .isLessThanOrEqualTo(InlineLog.THRESHOLD + 300);
            }
        } while (persist.isDone());
        assertThat(checkpoints).isGreaterThan(InlineLog.THRESHOLD / 300);

        inline.log.store().failAlways(WriteFault.NONE);
        inline.passTime(60_000);
        assertThat(texts(handleOf(persist))).hasSize(checkpoints);
        assertThat(InlineLog.parts(handleOf(persist))).isEmpty();
    }

    @Test
    void smallTail_goesAlongWithTheSegmentOfAnotherTask() throws Exception {
        DstlLogWriter large = inline.log.writer();
        append(inline.writer, "a");
        assertThat(persistAll(large)).isDone();
        inline.persisted();
        append(large, InlineLog.LARGE);
        large.nextSequenceNumber();
        inline.log.passLinger();
        inline.executor.runAll();
        assertThat(inline.log.store().segments()).hasSize(1);
        assertThat(filesOf(inline.persisted())).hasSize(1);
        large.close();
    }

    @Test
    void oldActiveBatch_isUploadedEvenIfItIsSmall() {
        append(inline.writer, "a");
        inline.passTime(2 * InlineLog.MAX_AGE_MILLIS);
        append(inline.writer, "b");
        inline.log.passLinger();
        inline.executor.runAll();
        assertThat(inline.log.store().segments()).hasSize(1);
    }

    @Test
    void rangeThatBeginsBehindALargeBatch_isSmall() throws Exception {
        inline.log.store().failAlways(WriteFault.FAIL_ON_CREATE);
        append(inline.writer, InlineLog.LARGE);
        SequenceNumber behind = inline.writer.nextSequenceNumber();
        inline.writer.truncate(behind);
        append(inline.writer, "a");
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> persist =
                inline.writer.persist(behind, 1);
        inline.executor.runAll();
        assertThat(texts(handleOf(persist))).containsExactly("a");
    }

    @Test
    void tailThatIsTruncated_isNeverUploaded() throws Exception {
        append(inline.writer, "a");
        inline.persisted();
        inline.writer.truncate(inline.writer.nextSequenceNumber());
        inline.passTime(3 * InlineLog.MAX_AGE_MILLIS);
        assertThat(inline.log.store().requests("create")).isZero();
        assertThat(inline.log.budget().reservedBytes()).isZero();
    }
}
