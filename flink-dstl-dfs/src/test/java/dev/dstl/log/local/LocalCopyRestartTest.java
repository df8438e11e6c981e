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

package dev.dstl.log.local;

import static dev.dstl.log.local.RecoverableTask.assertCopied;
import static dev.dstl.log.testing.LogFixture.append;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;
import org.apache.flink.runtime.state.changelog.SequenceNumber;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Which copies of segments a task that restarts finds, and which it leaves. */
class LocalCopyRestartTest {

    @TempDir Path disks;
    private RecoverableTask task;

    @BeforeEach
    void open() {
        task = new RecoverableTask(disks);
    }

    @AfterEach
    void close() {
        task.close();
    }

    @Test
    void restartedTask_recoversFromTheCopies_untilItHasABaseOfItsOwn() throws Exception {
        append(task.writer, "a");
        SnapshotResult<ChangelogStateHandleStreamImpl> restored = task.persist();
        task.confirm();
        task.writer.close();
        task.disk.runAll();
        assertCopied(restored, "a");

        task.start();
        append(task.writer, "b");
        task.persist();
        task.confirm();
        append(task.writer, "c");
        task.persist();
        task.confirm();
        task.disk.runAll();
        assertCopied(restored, "a");

        SequenceNumber base = task.writer.nextSequenceNumber();
        task.writer.truncate(base);
        task.disk.runAll();
        assertCopied(restored, "a");
        append(task.writer, "d");
        task.persistFrom(base);
        task.confirm();
        task.disk.runAll();
        assertThat(task.copies()).hasSize(1);
    }

    @Test
    void taskThatFailsAgainAndAgain_leavesNoCopiesOfCheckpointsThatNeverComplete()
            throws Exception {
        append(task.writer, "a");
        SnapshotResult<ChangelogStateHandleStreamImpl> restored = task.persist();
        task.confirm();
        long restoredId = task.checkpoint;
        for (int i = 0; i < 100; i++) {
            task.restart();
            task.writer.restoredFrom(restoredId);
            append(task.writer, "b");
            task.persist();
            if (i % 2 == 0) {
                task.writer.truncate(task.writer.nextSequenceNumber());
            }
        }
        task.disk.runAll();
        assertThat(task.copies())
                .as("of the restored task.checkpoint, and of the last attempt")
                .hasSize(2);
        assertCopied(restored, "a");

        SnapshotResult<ChangelogStateHandleStreamImpl> later = task.persist();
        task.confirm();
        task.restart();
        task.writer.restoredFrom(task.checkpoint);
        task.disk.runAll();
        assertCopied(later, "b");
    }

    @Test
    void taskRestoredFromACheckpointOfWhichItWasNotTold_stillRecoversFromItsCopies()
            throws Exception {
        append(task.writer, "a");
        SnapshotResult<ChangelogStateHandleStreamImpl> restored = task.persist();
        long restoredId = task.checkpoint;
        for (int i = 0; i < 3; i++) {
            task.restart();
            task.writer.restoredFrom(restoredId);
            task.disk.runAll();
            assertCopied(restored, "a");
            append(task.writer, "b");
            task.persist();
        }
    }

    @Test
    void taskThatDoesNotKnowWhatItWasRestoredFrom_keepsTheCopiesOfTheLatestCheckpoint()
            throws Exception {
        append(task.writer, "a");
        SnapshotResult<ChangelogStateHandleStreamImpl> restored = task.persist();
        task.confirm();
        for (int i = 0; i < 10; i++) {
            task.restart();
            task.writer.restoredFromLatest();
            append(task.writer, "b");
            task.persist();
        }
        task.disk.runAll();
        assertThat(task.copies()).hasSize(2);
        assertCopied(restored, "a");
    }

    @Test
    void taskRestartedTwice_stillRecoversFromTheFirstCopies() throws Exception {
        append(task.writer, "a");
        SnapshotResult<ChangelogStateHandleStreamImpl> first = task.persist();
        task.confirm();
        task.restart();
        append(task.writer, "b");
        SnapshotResult<ChangelogStateHandleStreamImpl> second = task.persist();
        task.confirm();
        task.restart();
        append(task.writer, "c");
        task.persist();
        task.confirm();
        task.disk.runAll();
        assertCopied(first, "a");
        assertCopied(second, "b");
    }

    @Test
    void taskRestartedAfterATruncation_stillRecoversFromWhatTheLatestCheckpointContains()
            throws Exception {
        append(task.writer, "a");
        SnapshotResult<ChangelogStateHandleStreamImpl> latest = task.persist();
        task.confirm();
        task.writer.truncate(task.writer.nextSequenceNumber());

        task.restart();
        append(task.writer, "b");
        SnapshotResult<ChangelogStateHandleStreamImpl> next = task.persist();
        task.confirm();
        task.disk.runAll();
        assertCopied(latest, "a");

        task.writer.truncate(task.writer.nextSequenceNumber());
        task.restart();
        append(task.writer, "c");
        task.persist();
        task.confirm();
        task.disk.runAll();
        assertCopied(latest, "a");
        assertCopied(next, "b");

        SequenceNumber base = task.writer.nextSequenceNumber();
        task.writer.truncate(base);
        append(task.writer, "d");
        task.persistFrom(base);
        task.confirm();
        task.disk.runAll();
        assertThat(task.copies()).hasSize(1);
    }

    @Test
    void taskRestartedAfterATruncation_stillRecoversFromCopiesOfAnEarlierProcess()
            throws Exception {
        Path died = task.copyOfAnEarlierProcess();
        append(task.writer, "a");
        task.persist();
        task.confirm();
        task.writer.truncate(task.writer.nextSequenceNumber());

        task.restart();
        append(task.writer, "b");
        task.persist();
        task.confirm();
        task.disk.runAll();
        assertThat(died).as("restored from the checkpoint before the truncation").exists();

        SequenceNumber base = task.writer.nextSequenceNumber();
        task.writer.truncate(base);
        append(task.writer, "c");
        task.persistFrom(base);
        task.confirm();
        task.disk.runAll();
        assertThat(died).doesNotExist();
    }

    @Test
    void
            taskThatTruncatesBeforeItsFirstCheckpointAndFails_stillRecoversFromCopiesOfAnEarlierProcess()
                    throws Exception {
        Path died = task.copyOfAnEarlierProcess();
        append(task.writer, "a");
        task.persist();
        task.confirm();

        task.restart();
        append(task.writer, "b");
        task.writer.truncate(task.writer.nextSequenceNumber());

        task.restart();
        append(task.writer, "c");
        task.persist();
        task.confirm();
        task.disk.runAll();
        assertThat(died).as("restored from the checkpoint before the truncation").exists();

        SequenceNumber base = task.writer.nextSequenceNumber();
        task.writer.truncate(base);
        append(task.writer, "d");
        task.persistFrom(base);
        task.confirm();
        task.disk.runAll();
        assertThat(died).doesNotExist();
    }
}
